# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ranks in user space: libcollsock does in this process what the module does in the kernel.

Its descriptor carries the same bytes as a socket of the kernel. Only opening, joining, closing and
queries are calls of the library.
"""
from __future__ import annotations

import ctypes
import errno
import functools
import os
import socket
from typing import Any

from . import layout

LIBRARY = "libcollsock.so.1"
BACKEND_USER = 2


@functools.cache
def library() -> ctypes.CDLL:
    """The library; OSError if it is not installed, or is of an older version."""
    try:
        found = ctypes.CDLL(LIBRARY)
        for name in ("collsock_open_backend", "collsock_join_bytes", "collsock_fd",
                     "collsock_self", "collsock_report", "collsock_join_env"):
            getattr(found, name).restype = ctypes.c_int
        found.collsock_close.restype = None
    except (OSError, AttributeError) as failed:
        raise OSError(errno.ENOPKG, f"ranks in user space need libcollsock, which is not "
                      f"installed, or is of another version ({failed})") from None
    return found


def is_installed() -> bool:
    """Is there a library?"""
    try:
        library()
    except OSError:
        return False
    return True


def check(result: int) -> int:
    """What a function of the library returns; an OSError if that is one."""
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


def report() -> bytes:
    """What ranks of this user do, in all processes of this machine, as messages of netlink."""
    with open(check(library().collsock_report()), "rb") as file:
        return file.read()


class Socket(socket.socket):
    """The descriptor of a rank in user space, which the library owns."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        super().__init__(fileno=library().collsock_fd(handle))
        self._handle: ctypes.c_void_p | None = handle

    @classmethod
    def open(cls) -> Socket:
        """A rank that has not joined."""
        handle = ctypes.c_void_p()
        check(library().collsock_open_backend(ctypes.byref(handle), 0, BACKEND_USER))
        return cls(handle)

    def join(self, asked: bytes, udp: int) -> None:
        """Join as a request says. udp: the socket that has this rank's port, or -1."""
        check(library().collsock_join_bytes(self._handle, asked, ctypes.c_size_t(len(asked)), udp))

    def getsockopt(self, level: int, option: int, buflen: int = 0) -> Any:
        """What the library answers for the kernel."""
        if (level, option) != (layout.SOL_COLLSOCK, layout.SELF):
            return super().getsockopt(level, option, buflen)
        if not self._handle:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        answer = ctypes.create_string_buffer(buflen)
        check(library().collsock_self(self._handle, answer, ctypes.c_size_t(buflen)))
        return answer.raw

    def close(self) -> None:
        """Leave the group. The library closes the descriptor; in a forked child it has done so."""
        leave = library().collsock_close
        handle, self._handle = self._handle, None
        if handle:
            try:
                self.detach()
            finally:
                leave(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()
