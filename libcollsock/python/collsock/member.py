# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The socket of a rank: what is posted to it, and who waits."""
from __future__ import annotations

import errno
import socket
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import children, error, layout, missing, user
from .operation import Operation, deadline_after
from .reader import Reader

if TYPE_CHECKING:
    from .loop import Loops

G = TypeVar("G", bound="Member")
T = TypeVar("T")


def is_of_a_handler(raised: OSError) -> bool:
    """Has a signal handler raised what the caller has caught, and no call that it made itself?
    Then it has come by a function of Python."""
    return bool(raised.__traceback__ and raised.__traceback__.tb_next)


class Member:
    """A socket that has joined.

    rank, ranks: the number of this rank, and how many the group has
    id, nonce: what the group was described with
    """

    def __init__(self, sock: socket.socket, keep_in_child: bool = False) -> None:
        known = layout.self_of(sock)
        self.rank, self.ranks = known.rank, known.ranks
        self.id, self.nonce = known.id, known.nonce
        sock.settimeout(None)
        self._sock = sock
        self._reader = Reader(sock)
        self._loops: Loops | None = None
        self._cookie = 0
        children.add(self, keep_in_child and not isinstance(sock, user.Socket))

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"fd {self._sock.fileno()}"
        return f"<collsock.Group {self.id}, rank {self.rank} of {self.ranks}, {state}>"

    # ---- the descriptor ----

    def fileno(self) -> int:
        """For poll() and select(): readable means that done() may tell more. -1: closed."""
        return -1 if self.closed else self._sock.fileno()

    @property
    def closed(self) -> bool:
        """Is it closed, here?"""
        return self._reader.closed

    def close(self) -> None:
        """Leave the group. What was posted still completes for the other ranks."""
        if self.closed:
            return
        if self._loops:
            self._loops.forget_socket()
        self._reader.close(error.closed())
        children.remove(self)

    def __enter__(self: G) -> G:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def after_fork_in_child(self, keep: bool) -> None:
        """In a child, where no other thread and no event loop goes on."""
        self._loops = None
        self._reader.reset()
        if not keep:
            self._reader.close(error.closed())

    def failure(self) -> error.CollectiveError | None:
        """Why the group has failed, as far as this socket has said so; None while it works."""
        if not self.closed:
            self._reader.look()
        return self._reader.failed

    # ---- posting ----

    def _try_to_post(self, operation: Operation[Any]) -> int:
        """Post without waiting. Returns 0, or why there is no room: EAGAIN or ENOBUFS."""
        if self.closed:
            raise error.closed()
        self._cookie += 1
        operation.cookie = self._cookie
        self._reader.add(operation)
        try:
            with self._reader.lock:
                if self.closed:
                    raise error.closed()
                self._sock.send(operation.request(), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError as failed:
            if is_of_a_handler(failed):
                raise
            self._reader.remove(operation)
            operation.cookie = 0
            if failed.errno in (errno.EAGAIN, errno.ENOBUFS):
                return failed.errno
            raise self._failure(failed) from None
        return 0

    def _failure(self, failed: OSError) -> OSError:
        """Why posting is impossible: where the group has failed, its failure."""
        in_user_space = isinstance(self._sock, user.Socket)
        if failed.errno != errno.EPIPE:
            return error.explained(failed, in_user_space, posting=True)
        with self._reader.lock:
            if self.closed:
                return error.closed()
            known = layout.self_of(self._sock)
        if known.error:
            return error.failure(known.error, known.failed_rank)
        return error.explained(failed, in_user_space, posting=True)

    def _post(self, operation: Operation[T], timeout: float | None) -> Operation[T]:
        """Post, and wait for room if there is none."""
        self._post_until(operation, deadline_after(timeout))
        return operation

    def _post_until(self, operation: Operation[Any], deadline: float | None) -> None:
        """The same; CollectiveTimeout if the time-out expires."""
        if self._loops and self._loops.queued:
            raise RuntimeError("operations that an event loop awaits wait for room, and come first")
        thread = object()
        try:
            posted = self._reader.take_turn(thread, deadline) and \
                self._post_in_turn(operation, deadline)
        finally:
            try:
                self._reader.leave(thread)
            except BaseException:
                self._reader.leave(thread)
                raise
        if not posted:
            raise self._timeout(operation)

    def _post_in_turn(self, operation: Operation[Any], deadline: float | None) -> bool:
        """The same, while no other thread posts. False if the time-out expires."""
        while True:
            received = self._reader.received
            full = self._try_to_post(operation)
            if not full:
                return True
            if not self._wait_for_room(full, received, deadline):
                return False

    def _wait_for_room(self, full: int, received: int, deadline: float | None) -> bool:
        """Wait until there may be room, as the kernel has said what is full, when that many
        completions had been received. False if the time-out expires."""
        if full == errno.ENOBUFS:
            return self._reader.wait_for_completion(received, deadline)
        return self._reader.wait_for_window(deadline)

    def _run(self, operation: Operation[T], timeout: float | None) -> T:
        """Post and wait."""
        deadline = deadline_after(timeout)
        self._post_until(operation, deadline)
        self.wait_for(operation, deadline)
        return operation.value()

    def _in_loops(self) -> Loops:
        """What event loops wait for. Programs without one do not load asyncio."""
        from .loop import Loops  # pylint: disable=import-outside-toplevel
        with self._reader.lock:
            if not self._loops:
                self._loops = Loops(self._reader)
            return self._loops

    async def _run_in_loop(self, operation: Operation[T], timeout: float | None) -> T:
        """The same for an event loop, which goes on meanwhile."""
        limit = None if deadline_after(timeout) is None else timeout
        loops = self._in_loops()
        if await loops.within(limit, self._post_and_await(operation)) or operation.ended:
            return operation.value()
        raise await loops.in_a_thread(lambda: self._timeout(operation))

    async def _post_and_await(self, operation: Operation[Any]) -> None:
        """The same without a time-out."""
        loops = self._in_loops()
        async with loops.order():
            while self._post_in_loop(operation):
                await loops.wait_for_room()
        await self.wait_in_loop(operation)

    def _post_in_loop(self, operation: Operation[Any]) -> int:
        """Post without waiting; another thread that posts does so first, and does not take long,
        unless it waits for room."""
        with self._reader.lock:
            return errno.EAGAIN if self._reader.posting else self._try_to_post(operation)

    # ---- waiting; for operations ----

    def look(self, operation: Operation[Any]) -> bool:
        """Has it ended?"""
        if not operation.ended:
            self._check_posted(operation)
            self._reader.look()
        return operation.ended

    def wait_for(self, operation: Operation[Any], deadline: float | None) -> None:
        """Wait until it has ended; CollectiveTimeout if the time-out expires."""
        if operation.ended:
            return
        self._check_posted(operation)
        if not self._reader.wait(lambda: operation.ended, deadline):
            raise self._timeout(operation)

    async def wait_in_loop(self, operation: Operation[Any]) -> None:
        """The same for an event loop."""
        if not operation.ended:
            self._check_posted(operation)
            await self._in_loops().wait_for(operation)

    def _check_posted(self, operation: Operation[Any]) -> None:
        with self._reader.lock:
            if operation.cookie not in self._reader.pending and not operation.ended:
                raise error.closed()

    def _timeout(self, operation: Operation[Any]) -> error.CollectiveTimeout:
        """What a call says whose time-out has expired."""
        if isinstance(self._sock, user.Socket):
            ranks = missing.ranks_missing_in_user_space(self.id, self.nonce, self.rank)
        else:
            ranks = missing.ranks_missing(self.id, self.nonce)
        posted = operation if operation.cookie else None
        state = "it stays posted" if posted else "nothing was posted, as the window is full"
        return error.CollectiveTimeout(
            f"{operation.kind.name.lower()} timed out, and {state}: "
            f"{error.not_posted_by(ranks)}", posted, ranks)
