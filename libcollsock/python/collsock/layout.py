# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Structures of <linux/collsock.h>: native byte order, no padding.

A newer kernel accepts the structures as they are. selftests/lib compares them with the header.
"""
from __future__ import annotations

import socket
import struct
from typing import NamedTuple

from .lists import Type

AF_COLLSOCK = 25
SOL_COLLSOCK = 425
PORT = 7607
ETHERTYPE = 0x88b5

# Options of the socket
JOIN, SELF = 1, 4

JOIN_HEAD = struct.Struct("=IIQQ16sIIIIHHIQQQ16sBB2sI16s")
# Fields of it that a program may choose which collsock run has started
JOIN_CHOICES = {"max_bytes": 8, "window": 9, "segment_bytes": 10, "liveness_ms": 11, "degree": 16,
                "max_result_bytes": 19}
JOIN_ALGORITHM = 15
MEMBER = struct.Struct("=HHI16s")
POST = struct.Struct("=IBBBBIIIIQ")
COMPLETION = struct.Struct("=IIIIQQQ")
SELF_ANSWER = struct.Struct("=IIIIIIIIHHIIIQQII")
NAME = struct.Struct("=HHIQ")


class Self(NamedTuple):
    """What the option SELF tells of a socket."""

    size: int
    rank: int
    ranks: int
    host: int
    hosts: int
    local: int
    locals: int
    max_bytes: int
    window: int
    segment_bytes: int
    error: int
    failed_rank: int
    completion_bytes: int
    id: int
    nonce: int
    max_result_bytes: int
    reserved: int


def self_of(sock: socket.socket) -> Self:
    """Its rank, its group's limits and failure."""
    return Self._make(SELF_ANSWER.unpack(sock.getsockopt(SOL_COLLSOCK, SELF, SELF_ANSWER.size)))


NO_RANK = 0xffffffff
COOKIE_GROUP = 0xffffffffffffffff
KEY_BYTES = 16
MAX_OPERATIONS = 16
MAX_RANKS = 1048576
MAX_HOSTS = 65536


ELEMENT_BYTES = {
    Type.INT64: 8, Type.UINT64: 8, Type.DOUBLE: 8, Type.INT8: 1, Type.INT16: 2, Type.INT32: 4,
    Type.UINT8: 1, Type.UINT16: 2, Type.UINT32: 4, Type.FLOAT: 4, Type.FLOAT_INT: 8,
    Type.DOUBLE_INT: 12, Type.INT64_INT: 12, Type.INT32_INT: 8, Type.INT16_INT: 6, Type.BYTE: 1,
    Type.EXACT: 288, Type.FLOAT16: 2, Type.BFLOAT16: 2,
}
