# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Receives the completions of a socket for all threads and event loops that wait for them.

A completion is received by whichever thread reads, and is often that of another. So one thread at
a time reads, the others sleep until something has changed, and one of them is the next to read.
"""
from __future__ import annotations

import errno
import math
import os
import select
import socket
import threading
import time
from collections.abc import Callable

from . import error, layout, user
from .operation import Operation

MOST_MS = 2**31 - 1


def left_of(deadline: float | None) -> float | None:
    """Seconds until then, 0 at least; None: no limit."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def milliseconds(seconds: float | None) -> int | None:
    """For poll(), which must not return before the time is over."""
    return None if seconds is None else min(math.ceil(seconds * 1000), MOST_MS)


class Reader:
    """The socket's completions.

    changed: lock of the fields below, and what threads sleep on that do not read
    pending: operations that have not ended, by cookie
    reading: a thread polls in order to receive
    polling: how many threads poll, that one included
    closed: the last of these closes the socket, whose number else another file might get
    received: how many completions there were, the end counted
    failed: the failure of the group, once it is known
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.changed = threading.Condition()
        self.pending: dict[int, Operation[object]] = {}
        self.reading = False
        self.polling = 0
        self.closed = False
        self.received = 0
        self.failed: error.CollectiveError | None = None
        self.buffer = bytearray(4096)

    # ---- operations ----

    def add(self, operation: Operation[object]) -> None:
        """It is about to be posted."""
        need = layout.COMPLETION.size + operation.result_bytes
        with self.changed:
            self.pending[operation.cookie] = operation
            if need > len(self.buffer):
                self.buffer = bytearray(need)

    def remove(self, operation: Operation[object]) -> None:
        """It could not be posted."""
        with self.changed:
            self.pending.pop(operation.cookie, None)

    def end_all(self, reason: OSError) -> None:
        """No completion will come any more."""
        with self.changed:
            for operation in list(self.pending.values()):
                operation.end(None, reason)
            self.pending.clear()
            self.received += 1
            self.changed.notify_all()

    def close(self, reason: OSError) -> None:
        """Close the socket, and end what threads wait for."""
        with self.changed:
            self.closed = True
            self.end_all(reason)
            if self.polling:
                self.sock.shutdown(socket.SHUT_RDWR)  # wakes them
            else:
                self.sock.close()

    def reset(self) -> None:
        """In a child, no other thread is left to release a lock."""
        self.changed = threading.Condition()
        self.reading, self.polling = False, 0

    # ---- receiving; the lock is held ----

    def receive(self) -> bool:
        """Receive a completion. False if there is none, or none will come."""
        if self.closed:
            return False
        try:
            received = self.sock.recv_into(self.buffer, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if received:
            self.take()
        else:
            self.end_all(self.failed or BrokenPipeError(
                errno.EPIPE, "the group has failed, or this rank has left it"))
        return received > 0

    def take(self) -> None:
        """The completion in the buffer ends its operation."""
        size, number, rank, count, cookie, _, _ = layout.COMPLETION.unpack_from(self.buffer)
        self.received += 1
        failed = self.failure(number, rank, cookie) if number else None
        operation = self.pending.pop(cookie, None)
        if operation:
            result = bytes(memoryview(self.buffer)[size:size + count])
            operation.end(None if failed else result, failed)

    def failure(self, number: int, rank: int, cookie: int) -> OSError:
        """Why an operation has failed: as its group has, or as the post was refused, which in user
        space a completion says."""
        if rank == layout.NO_RANK and cookie != layout.COOKIE_GROUP and \
                isinstance(self.sock, user.Socket) and not layout.self_of(self.sock).error:
            return error.explained(OSError(number, os.strerror(number)), True)
        failed = error.failure(number, rank)
        self.failed = self.failed or failed
        return failed

    def poll(self, left: float | None, events: int) -> None:
        """Sleep without the lock until the socket is ready."""
        if self.closed:
            return
        poller = select.poll()
        poller.register(self.sock, events)
        self.polling += 1
        self.changed.release()
        try:
            poller.poll(milliseconds(left))
        finally:
            self.changed.acquire()
            self.polling -= 1
            if self.closed and not self.polling:
                self.sock.close()

    def read(self, left: float | None, events: int) -> None:
        """Be the thread that reads, until something has happened."""
        self.reading = True
        try:
            self.poll(left, events)
        finally:
            self.reading = False
            self.changed.notify_all()
        self.receive()

    # ---- for threads and event loops ----

    def look(self) -> None:
        """Receive what is there, without waiting; another thread that reads does so itself."""
        with self.changed:
            while not self.reading and self.receive():
                self.changed.notify_all()

    def wait(self, wanted: Callable[[], bool], deadline: float | None) -> bool:
        """Wait until it is so. False if the time is over before."""
        with self.changed:
            while not wanted():
                left = left_of(deadline)
                if self.reading:
                    if not self.changed.wait(left):
                        return wanted()
                else:
                    self.read(left, select.POLLIN)
                    while not wanted() and self.receive():
                        self.changed.notify_all()
                    if left == 0 and not wanted():
                        return False
            return True

    def wait_for_completion(self, before: int, deadline: float | None) -> bool:
        """Wait until more than that many were received: all completion slots were in use. The
        number is of before the post was tried, as another thread may have received one since."""
        return self.wait(lambda: self.received != before, deadline)

    def wait_for_window(self, deadline: float | None) -> bool:
        """Wait until there may be room in the window. False if the time is over."""
        left = left_of(deadline)
        with self.changed:
            if self.reading:  # completion slots are free, and nobody else posts
                self.poll(left, select.POLLOUT)
            else:
                self.read(left, select.POLLIN | select.POLLOUT)
        return left != 0
