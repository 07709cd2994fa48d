# SPDX-License-Identifier: GPL-2.0
"""Structures of callers that know more fields than a kernel does."""

import struct

from collsock_test import POST, RUN_HEAD, run_bytes


def grown(data, size, tail, at=0):
    """Extend the structure of that size at an offset by these bytes, and set its size."""
    return (data[:at] + struct.pack("=I", size + len(tail)) + data[at + 4:at + size] + tail +
            data[at + size:])


def run_parts(longer_head, longer_post, completion_bytes, memory):
    """The buffer of RUN of a payload in that memory, and where the completion is in it."""
    data = run_bytes(memory, memory, {"post_bytes": POST.size + longer_post,
                                      "completion_bytes": completion_bytes})
    data = grown(data, POST.size, bytes(longer_post), RUN_HEAD.size)
    data = grown(data, RUN_HEAD.size, bytes(longer_head))
    completion = RUN_HEAD.size + longer_head + POST.size + longer_post
    return bytearray(data[:completion] + b"\xaa" * completion_bytes), completion
