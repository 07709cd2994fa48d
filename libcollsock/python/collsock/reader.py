# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Receives the completions of a socket for all threads and event loops that wait for them.

A completion is received by whichever thread reads, and is often that of another. So one thread at
a time reads, the others sleep until something has changed, and one of them is the next to read.

Only the thread in `reading` receives, and it looks whether it still has to wait after it has become
that thread: so what it waits for cannot be received by another while it polls. Any other thread
that waits for completions finds, in one section of the lock, that it has to wait and that somebody
reads, and is then among `sleepers`, all of which are woken after whatever was received, when the
reader leaves. An exception changes none of this, as the thread that has become the reader leaves
in a `finally`, and a sleeper that ends takes nothing away from others: they are all woken.

A signal handler may raise an exception (KeyboardInterrupt) after each call of a function. Nothing
is lost by that, as all that changes the state can be done again, and is: a completion is looked at
first, and leaves the socket when its operation has ended. Locks are taken by `with` alone, of locks
that are no class of Python: the interpreter runs no handler before it is inside. A handler that
raises nothing has the lock, too, if its thread has: it may look, and finds that somebody reads.
"""
from __future__ import annotations

import errno
import math
import os
import queue
import select
import socket
import threading
import time
from collections.abc import Callable

from . import error, layout, user
from .operation import Operation

MOST_MS = 2**31 - 1
# Plain numbers: to combine those of Python's enumerations is a call of a function
NOW = int(socket.MSG_DONTWAIT)
PEEK = int(socket.MSG_DONTWAIT | socket.MSG_PEEK)


def left_of(deadline: float | None) -> float | None:
    """Seconds until then, 0 at least; None: no limit."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def milliseconds(seconds: float | None) -> int | None:
    """For poll(), which must not return before the time-out expires."""
    return None if seconds is None else min(math.ceil(seconds * 1000), MOST_MS)


class Reader:
    """The socket's completions.

    lock: of the fields below
    sleepers: threads that sleep until something has changed, each at a queue of its own
    pending: operations that have not ended, by cookie
    posting: threads that post, in their order; it is the first one's turn
    reading: the thread that receives, or polls in order to, if there is one
    polling: threads that use the descriptor, that one included
    closed: the last of these closes the socket, whose number else another file might get
    received: how many completions there were at least, the end counted
    failed: the failure of the group, once it is known

    A thread is an object() of each of its calls.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.pending: dict[int, Operation[object]] = {}
        self.closed = False
        self.received = 0
        self.failed: error.CollectiveError | None = None
        self.buffer = bytearray(4096)
        self.reset()

    def reset(self) -> None:
        """No thread has a lock or waits; in a child, none is left that had, or did."""
        self.lock = threading.RLock()
        self.sleepers: set[queue.SimpleQueue[None]] = set()
        self.posting: list[object] = []
        self.reading: object | None = None
        self.polling: set[object] = set()

    # ---- operations ----

    def add(self, operation: Operation[object]) -> None:
        """It is about to be posted."""
        need = layout.COMPLETION.size + operation.result_bytes
        with self.lock:
            self.pending[operation.cookie] = operation
            if need > len(self.buffer):
                self.buffer = bytearray(need)

    def remove(self, operation: Operation[object]) -> None:
        """It could not be posted."""
        with self.lock:
            self.pending.pop(operation.cookie, None)

    def end_all(self, reason: OSError) -> None:
        """No completion will come any more."""
        with self.lock:
            self.received += 1
            for operation in list(self.pending.values()):
                operation.end(None, reason)
            self.pending.clear()
            self.wake()

    def close(self, reason: OSError) -> None:
        """Close the socket, and end what threads wait for."""
        try:
            self.close_again(reason)
        except BaseException:
            self.close_again(reason)
            raise

    def close_again(self, reason: OSError) -> None:
        """The same, or what an interrupted call has left of it."""
        with self.lock:
            self.closed = True
            self.end_all(reason)
            if not self.polling:
                self.sock.close()
            elif self.sock.fileno() >= 0:
                self.sock.shutdown(socket.SHUT_RDWR)  # wakes them

    # ---- receiving; the lock is held, by the thread that reads ----

    def receive(self) -> bool:
        """Receive a completion. False if there is none, or none will come."""
        if self.closed:
            return False
        buffer = self.buffer  # a signal handler may post, and so need a larger one
        try:
            received = self.sock.recv_into(buffer, 0, PEEK)
        except BlockingIOError:
            return False
        if received:
            self.take(buffer)
            self.sock.recv_into(buffer, 0, NOW)
        else:
            self.end_all(self.failed or BrokenPipeError(
                errno.EPIPE, "the group has failed, or this rank has left it"))
        return received > 0

    def take(self, buffer: bytearray) -> None:
        """The completion in the buffer ends its operation. It may have done so before, in part."""
        size, number, rank, count, cookie, _, _ = layout.COMPLETION.unpack_from(buffer)
        self.received += 1
        failed = self.failure(number, rank, cookie) if number else None
        operation = self.pending.get(cookie)
        if operation:
            result = bytes(memoryview(buffer)[size:size + count])
            operation.end(None if failed else result, failed)
            self.pending.pop(cookie, None)

    def failure(self, number: int, rank: int, cookie: int) -> OSError:
        """Why an operation has failed: as its group has, or as the post was refused, which in user
        space a completion says."""
        if rank == layout.NO_RANK and cookie != layout.COOKIE_GROUP and \
                isinstance(self.sock, user.Socket) and not layout.self_of(self.sock).error:
            return error.explained(OSError(number, os.strerror(number)), True, posting=True)
        failed = error.failure(number, rank)
        self.failed = self.failed or failed
        return failed

    # ---- sleeping; the lock is not held ----

    def wake(self) -> None:
        """Something has changed for threads that sleep."""
        with self.lock:
            for sleeper in list(self.sleepers):
                sleeper.put(None)
                self.sleepers.discard(sleeper)

    def sleep(self, until: Callable[[], bool], deadline: float | None) -> bool:
        """Sleep until it is so. False if the time-out expires first."""
        mine: queue.SimpleQueue[None] = queue.SimpleQueue()
        try:
            while True:
                with self.lock:
                    self.sleepers.add(mine)
                    if until():
                        return True
                left = left_of(deadline)
                try:
                    mine.get(timeout=left)
                except queue.Empty:
                    return until()
        finally:
            with self.lock:
                self.sleepers.discard(mine)  # else the next one to wake threads does so

    # ---- reading; the lock is not held ----

    def poll(self, left: float | None, events: int, wanted: Callable[[], bool]) -> None:
        """Sleep until the socket is ready, and receive until it is so; as the thread that reads if
        there is none. Another one does not wait for completions."""
        mine, poller = object(), select.poll()
        try:
            with self.lock:
                self.polling.add(mine)
                if not self.reading:
                    self.reading, events = mine, events | select.POLLIN
                if self.closed or wanted() or events & select.POLLIN and self.reading is not mine:
                    return
                poller.register(self.sock, events)
            poller.poll(milliseconds(left))
            with self.lock:
                if self.reading is mine:
                    self.receive_until(wanted)
        finally:
            try:
                self.leave(mine)
            except BaseException:
                self.leave(mine)
                raise

    def receive_until(self, wanted: Callable[[], bool]) -> None:
        """Receive what is there until it is so, without waiting; the lock is held, by the thread
        that reads."""
        while not wanted() and self.receive():
            pass

    def leave(self, thread: object) -> None:
        """It does not read, poll, or post, any more; it may have been interrupted when it began, so
        callers try again."""
        with self.lock:
            if thread in self.posting:
                self.posting.remove(thread)
            if self.reading is thread:
                self.reading = None
            self.polling.discard(thread)
            if self.closed and not self.polling:
                self.sock.close()
            self.wake()

    # ---- for threads and event loops ----

    def look(self) -> None:
        """Receive what is there, without waiting; another thread that reads does so itself."""
        if self.reading:
            return
        mine = object()
        try:
            with self.lock:
                if not self.reading:
                    self.polling.add(mine)
                    self.reading = mine
                    self.receive_until(lambda: False)
        finally:
            try:
                self.leave(mine)
            except BaseException:
                self.leave(mine)
                raise

    def take_turn(self, thread: object, deadline: float | None) -> bool:
        """Wait until it may post, until it leaves. False if the time-out expires."""
        with self.lock:
            self.posting.append(thread)
        return self.sleep(lambda: self.posting[0] is thread, deadline)

    def wait(self, wanted: Callable[[], bool], deadline: float | None) -> bool:
        """Wait until it is so. False if the time-out expires first."""
        while not wanted():
            left = left_of(deadline)
            if self.reading:
                if not self.sleep(lambda: wanted() or not self.reading, deadline):
                    return False
            else:
                self.poll(left, select.POLLIN, wanted)
                if left == 0 and not wanted():
                    return False
        return True

    def wait_for_completion(self, before: int, deadline: float | None) -> bool:
        """Wait until more than that many were received: all completion slots were in use. The
        number is of before the post was tried, as another thread may have received one since."""
        return self.wait(lambda: self.received != before, deadline)

    def wait_for_window(self, deadline: float | None) -> bool:
        """Wait until there may be room in the window. False if the time-out expires."""
        left, received = left_of(deadline), self.received
        # If a thread reads, completion slots are free, and nobody else posts
        events = select.POLLOUT if self.reading else select.POLLIN | select.POLLOUT
        self.poll(left, events, lambda: self.received != received)
        return left != 0
