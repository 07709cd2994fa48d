# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Which platform a rank has: the kernel's module, or libcollsock in this process."""
from __future__ import annotations

import ctypes
import errno
import os
import socket

from . import error, layout, user

AUTO, KERNEL, USER = "auto", "kernel", "user"
VARIABLE = "COLLSOCK_BACKEND"
# There is no module, or a filter of a container refuses its family.
REFUSED = (errno.EAFNOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.EPERM,
           errno.EACCES)


def chosen(backend: str) -> str:
    """The one that the program names; else that of the environment."""
    if backend not in (AUTO, KERNEL, USER):
        raise ValueError(f"backend is {backend!r}, not kernel, user or auto")
    word = os.environ.get(VARIABLE) or AUTO
    if backend != AUTO:
        return backend
    if word not in (AUTO, KERNEL, USER):
        raise OSError(errno.EINVAL, f"{VARIABLE} is {word!r}, not kernel, user or auto")
    return word


def check_launched(backend: str, launched: str) -> None:
    """The launcher has decided, and so may the program have."""
    wanted = chosen(backend)
    if wanted not in (AUTO, launched):
        raise OSError(errno.EINVAL, f"this rank is to use the backend {wanted}, but collsock run "
                      f"has prepared {launched}: set {VARIABLE} for collsock run, too")


def family() -> int:
    """The number of the socket family on this host."""
    try:
        with open("/sys/module/collsock/parameters/family", encoding="ascii") as parameter:
            return int(parameter.read())
    except (OSError, ValueError):
        return layout.AF_COLLSOCK


def open_socket(backend: str) -> socket.socket:
    """A socket that has not joined. An OSError says what to do."""
    wanted = chosen(backend)
    if wanted == USER:
        return user.Socket.open()
    try:
        return socket.socket(family(), socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC, 0)
    except OSError as failed:
        refused = failed
    if wanted == AUTO and refused.errno in REFUSED and user.is_installed():
        return user.Socket.open()
    raise error.explained(refused)


def open_or_why(backend: str) -> tuple[socket.socket | None, OSError | None]:
    """The same, or why not: other ranks are to be told."""
    try:
        return open_socket(backend), None
    except OSError as failed:
        return None, failed


def host_port(sock: socket.socket | None) -> int:
    """The UDP port of groups with the module in this network namespace, as a socket that has not
    joined tells; 0: none is needed. Python's getsockname() refuses families that it does not
    know."""
    if sock is None or isinstance(sock, user.Socket):
        return 0
    name, length = ctypes.create_string_buffer(layout.NAME.size), ctypes.c_uint32(layout.NAME.size)
    if ctypes.CDLL(None).getsockname(sock.fileno(), name, ctypes.byref(length)):
        return layout.PORT
    port: int = layout.NAME.unpack(name.raw)[1]
    return port or layout.PORT  # an older module has another number there, 0


def join(sock: socket.socket, asked: bytes, udp: int = -1) -> socket.socket:
    """The socket, which has joined; else it is closed. udp: socket that has the port of a rank in
    user space, which is that rank's from now on."""
    try:
        if isinstance(sock, user.Socket):
            sock.join(asked, udp)
        else:
            sock.setsockopt(layout.SOL_COLLSOCK, layout.JOIN, asked)
    except OSError as failed:
        sock.close()
        raise error.explained(failed, isinstance(sock, user.Socket)) from None
    return sock
