# SPDX-License-Identifier: GPL-2.0
"""Common code of scenarios that use the socket interface directly."""

import ctypes
import os
import select

from collsock_test import NAME, Group, equal, integers, libc, post_bytes


def two(**fields):
    return Group([1, 2], **fields)


def unchanged_log(log):
    equal("lines in the kernel's log", log.lines(), [])


def post_of_three(**fields):
    return post_bytes(integers(1, 2, 3), **fields) + integers(1, 2, 3)


def sockname(rank):
    """Python's own getsockname() gives addresses of families that it knows."""
    name, length = ctypes.create_string_buffer(64), ctypes.c_uint32(64)
    equal("getsockname", libc.getsockname(rank.fileno(), name, ctypes.byref(length)), 0)
    equal("its length", length.value, NAME.size)
    return NAME.read(name.raw[:NAME.size])


def readable(rank, seconds):
    """Is there a completion, by then?"""
    poll = select.poll()
    poll.register(rank, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def nonblocking(rank):
    os.set_blocking(rank.fileno(), False)
    return rank


def blocking(rank):
    os.set_blocking(rank.fileno(), True)
    return rank
