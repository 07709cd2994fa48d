# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Ranks that another launcher than `collsock run` has started: libcollsock finds the others, as for
programs in C (collsock_join_env(3))."""
from __future__ import annotations

import ctypes
import errno
import os
import socket
import threading
from collections.abc import Mapping
from typing import Any

from . import backend as backends
from . import layout, request, user
from .error import CollectiveError

TEXT_BYTES = 512
NUMBERS = {backends.AUTO: 0, backends.KERNEL: 1, backends.USER: user.BACKEND_USER}
LOOK_SECONDS = 0.2
NO_LAUNCHER = ("COLLSOCK_REQUEST is not set: start with collsock run --local N on one machine, or "
               "on each of several with -H HOST,HOST...; with other launchers (srun, mpiexec, "
               "torchrun)")


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
    """Joins in a thread, as a call of the library that waits for ranks goes on after a signal,
    and Python sees none (Ctrl-C) until it returns."""

    def __init__(self, backend: str, chosen: dict[str, int], algorithm: bytes) -> None:
        super().__init__(name="collsock-join", daemon=True)
        self.library, self.asked = user.library(), (backend, chosen, algorithm)
        self.text, self.failed_rank = ctypes.create_string_buffer(TEXT_BYTES), ctypes.c_uint32()
        self.options = Options(
            size=ctypes.sizeof(Options), text=ctypes.addressof(self.text), text_bytes=TEXT_BYTES,
            failed_rank=ctypes.addressof(self.failed_rank), backend=NUMBERS[backend],
            algorithm=(ctypes.c_uint8 * len(algorithm))(*algorithm), **chosen)
        self.handle, self.error = ctypes.c_void_p(), 0
        self.lock, self.ended, self.given_up = threading.Lock(), threading.Event(), False

    def run(self) -> None:
        error = self.library.collsock_join_env(ctypes.byref(self.handle),
                                               ctypes.byref(self.options))
        with self.lock:
            self.error = -error
            self.ended.set()
            if self.given_up:
                self.leave()

    def leave(self) -> None:
        """Nobody wants the rank any more."""
        if not self.error:
            self.library.collsock_close(self.handle)

    def give_up(self) -> None:
        """The call cannot be ended; what it gives is left."""
        with self.lock:
            self.given_up = True
            if self.ended.is_set():
                self.leave()

    def take_up(self) -> bool:
        """Want the rank again, unless the call has ended."""
        with self.lock:
            self.given_up = self.ended.is_set()
            return not self.given_up

    def result(self) -> ctypes.c_void_p:
        """What the library calls the rank, when the call has ended. (After join() was interrupted,
        Python 3.11 holds that the thread has ended.)"""
        # The kernel may give a signal to the library's thread, which does not wake this one.
        while not self.ended.wait(LOOK_SECONDS):
            pass
        if self.error:
            text = self.text.value.decode(errors="replace") or os.strerror(self.error)
            if self.failed_rank.value != layout.NO_RANK:
                raise CollectiveError(self.error, text, self.failed_rank.value)
            raise OSError(self.error, text)
        return self.handle


# A call that was interrupted and goes on: it is this process's rank, and no other may compete
_interrupted: list[Joining] = []
# Its thread does not go on in a child.
os.register_at_fork(after_in_child=_interrupted.clear)


def joining(*asked: Any) -> Joining:
    """The call that was interrupted, if it goes on, or a new one."""
    while _interrupted:
        earlier = _interrupted.pop()
        if earlier.take_up():
            if earlier.asked == asked:
                return earlier
            _interrupted.append(earlier)
            earlier.give_up()
            backend, limits, _ = earlier.asked
            raise OSError(errno.EALREADY, "an interrupted join_env() goes on, with the backend "
                          f"{backend} and {limits}: name that, or wait until it gives up")
    return Joining(*asked)


def socket_of(handle: ctypes.c_void_p) -> socket.socket:
    """The socket of the kernel, which then is the rank, or that of the library."""
    number = os.dup(user.library().collsock_fd(handle))
    try:
        found = socket.socket(fileno=number)
    except BaseException:
        os.close(number)
        raise
    if found.family != socket.AF_UNIX:
        return found
    found.close()
    return user.Socket(handle)


def join(backend: str, limits: request.Limits,
         algorithm: Mapping[str, str] | None) -> socket.socket:
    """A socket that has joined, when all ranks have; an OSError says why not, and what to do."""
    chosen = backends.chosen(backend)
    try:
        library = user.library()
    except OSError as failed:
        raise OSError(errno.ENOENT, f"{NO_LAUNCHER}: {failed.strerror}") from None
    call = joining(chosen, request.check_limits(limits), request.algorithm_of_each(algorithm))
    try:
        if call.ident is None:
            call.start()
        handle = call.result()
    except BaseException:
        # Also what a handler of signals raises
        if not call.ended.is_set():
            _interrupted.append(call)
        call.give_up()
        raise
    try:
        found = socket_of(handle)
    except BaseException:
        library.collsock_close(handle)
        raise
    if not isinstance(found, user.Socket):
        library.collsock_close(handle)
    return found
