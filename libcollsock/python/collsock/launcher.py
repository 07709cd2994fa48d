# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ranks that another launcher than `collsock run` has started: libcollsock finds the others, as for
programs in C (collsock_join_env(3))."""
from __future__ import annotations

import ctypes
import errno
import os
import socket
import threading

from . import backend as backends
from . import layout, user
from .error import CollectiveError

TEXT_BYTES = 512
NUMBERS = {backends.AUTO: 0, backends.KERNEL: 1, backends.USER: user.BACKEND_USER}
NO_LAUNCHER = ("COLLSOCK_REQUEST is not set: start with collsock run --local N on one machine, or on "
               "each of several with -H HOST,HOST...; other launchers (srun, mpiexec, torchrun) need "
               "libcollsock, which is not installed, or is of another version")


class Options(ctypes.Structure):
    """struct collsock_options"""

    _fields_ = [
        ("size", ctypes.c_uint32), ("open_flags", ctypes.c_uint32), ("spin_us", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32), ("name", ctypes.c_char * 32), ("key", ctypes.c_uint8 * 16),
        ("network", ctypes.c_uint8 * 16), ("prefix", ctypes.c_uint8), ("bearer", ctypes.c_uint8),
        ("family", ctypes.c_uint16), ("port", ctypes.c_uint16), ("window", ctypes.c_uint16),
        ("segment_bytes", ctypes.c_uint16), ("degree", ctypes.c_uint8), ("mac", ctypes.c_uint8),
        ("liveness_ms", ctypes.c_uint32), ("max_bytes", ctypes.c_uint32),
        ("max_result_bytes", ctypes.c_uint32), ("features", ctypes.c_uint64),
        ("algorithms", ctypes.c_uint64), ("degrees", ctypes.c_uint64),
        ("algorithm", ctypes.c_uint8 * 16), ("failed_rank", ctypes.c_void_p),
        ("text", ctypes.c_void_p), ("text_bytes", ctypes.c_size_t), ("backend", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32), ("multicast", ctypes.c_uint8 * 16),
    ]


class Joining(threading.Thread):
    """Joins in a thread, as a call of the library that waits for other ranks goes on after a signal,
    and Python sees none (Ctrl-C) until it returns."""

    def __init__(self, backend: str) -> None:
        super().__init__(name="collsock-join", daemon=True)
        self.library = user.library()
        self.text, self.failed_rank = ctypes.create_string_buffer(TEXT_BYTES), ctypes.c_uint32()
        self.options = Options(
            size=ctypes.sizeof(Options), text=ctypes.addressof(self.text), text_bytes=TEXT_BYTES,
            failed_rank=ctypes.addressof(self.failed_rank), backend=NUMBERS[backend])
        self.handle, self.error = ctypes.c_void_p(), 0
        self.lock, self.has_joined, self.given_up = threading.Lock(), False, False

    def run(self) -> None:
        error = self.library.collsock_join_env(ctypes.byref(self.handle),
                                               ctypes.byref(self.options))
        with self.lock:
            self.error, self.has_joined = -error, not error
            if self.has_joined and self.given_up:
                self.library.collsock_close(self.handle)

    def wait(self) -> ctypes.c_void_p:
        """What the library calls the rank."""
        self.start()
        try:
            self.join()
        except BaseException:
            with self.lock:
                self.given_up = True
                if self.has_joined:
                    self.library.collsock_close(self.handle)
            raise
        if self.error:
            text = self.text.value.decode(errors="replace") or os.strerror(self.error)
            if self.failed_rank.value != layout.NO_RANK:
                raise CollectiveError(self.error, text, self.failed_rank.value)
            raise OSError(self.error, text)
        return self.handle


def join(backend: str) -> socket.socket:
    """A socket that has joined, when all ranks have; an OSError says why not, and what to do."""
    if not user.is_installed():
        raise OSError(errno.ENOENT, NO_LAUNCHER)
    handle = Joining(backends.chosen(backend)).wait()
    with socket.socket(fileno=os.dup(user.library().collsock_fd(handle))) as found:
        if found.family == socket.AF_UNIX:
            return user.Socket(handle)
        # The rank is the descriptor; the library has nothing more to do
        user.library().collsock_close(handle)
        return socket.socket(fileno=found.detach())
