# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The request that `collsock run` gives each rank: a sealed file, which COLLSOCK_REQUEST names. For
a rank in user space COLLSOCK_SOCKET names the UDP socket that has its port, likewise."""
from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable

from . import layout

VARIABLE, SOCKET = "COLLSOCK_REQUEST", "COLLSOCK_SOCKET"
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
# For the request, the hosts, and the host of each rank
MOST_BYTES = 4096 + layout.MAX_HOSTS * layout.MEMBER.size + 4 * layout.MAX_RANKS


def is_request(descriptor: int) -> bool:
    """Is it a request that nobody can change?"""
    try:
        size, seals = os.fstat(descriptor).st_size, fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError:
        return False
    return seals & SEALS == SEALS and layout.JOIN_HEAD.size <= size <= MOST_BYTES


def is_socket(descriptor: int) -> bool:
    """Is it a socket?"""
    return stat.S_ISSOCK(os.fstat(descriptor).st_mode)


def file_of(name: str, is_one: Callable[[int], bool]) -> int:
    """The file that a variable names, if it is still that; its number may be another file's."""
    value = os.environ[name]
    named = re.fullmatch("([0-9]{1,9}):([0-9]{1,19})", value, re.ASCII)
    try:
        if named and os.fstat(int(named[1])).st_ino == int(named[2]) and is_one(int(named[1])):
            return int(named[1])
    except OSError:
        pass
    raise OSError(errno.EBADMSG, f"{name} is {value!r}, which is no {name[9:].lower()}, or was "
                  "used already: it is for one rank, of the program that collsock run starts")


def backend() -> str:
    """The platform for which the launcher has prepared this rank."""
    return "user" if os.environ.get(SOCKET) else "kernel"


def take_socket() -> int:
    """The socket of this rank's port, or -1: it is in the kernel. It can be taken once."""
    if not os.environ.get(SOCKET):
        return -1
    found = file_of(SOCKET, is_socket)
    os.set_inheritable(found, False)
    return found


def has_request() -> bool:
    """Has `collsock run` started this process?"""
    return bool(os.environ.get(VARIABLE))


def take_request() -> bytes:
    """The argument of JOIN for this process. It can be taken once."""
    with open(file_of(VARIABLE, is_request), "rb") as request:
        return os.pread(request.fileno(), MOST_BYTES, 0)
