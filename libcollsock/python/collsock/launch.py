# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The request that `collsock run` gives each rank: a sealed file, which COLLSOCK_REQUEST names."""
from __future__ import annotations

import errno
import fcntl
import os
import re

from . import layout

VARIABLE = "COLLSOCK_REQUEST"
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
# For the request, the hosts, and the host of each rank
MOST_BYTES = 4096 + layout.MAX_HOSTS * layout.MEMBER.size + 4 * layout.MAX_RANKS


def is_request(descriptor: int, inode: int) -> bool:
    """Is it the file? The number may be that of another file by now."""
    try:
        status = os.fstat(descriptor)
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except (OSError, OverflowError):
        return False
    return (status.st_ino == inode and seals & SEALS == SEALS and
            layout.JOIN_HEAD.size <= status.st_size <= MOST_BYTES)


def take_request() -> bytes:
    """The argument of JOIN for this process. It can be taken once."""
    value = os.environ.get(VARIABLE)
    if not value:
        raise OSError(errno.ENOENT, f"{VARIABLE} is not set: start the program with collsock run")
    named = re.fullmatch("([0-9]{1,9}):([0-9]{1,19})", value, re.ASCII)
    if not named or not is_request(int(named[1]), int(named[2])):
        raise OSError(errno.EBADMSG, f"{VARIABLE} is {value!r}, which is no request, or was used "
                      "already: it is for one rank, of the program that collsock run starts")
    with open(int(named[1]), "rb") as request:
        return os.pread(request.fileno(), MOST_BYTES, 0)
