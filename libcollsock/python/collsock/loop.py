# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Event loops of asyncio that wait for operations of a socket."""
from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from . import error
from .operation import Operation
from .reader import Reader

T = TypeVar("T")


class Watch:
    """A loop that receives completions: for how many coroutines, and of which descriptor."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.coroutines = 0


class Loops:
    """What event loops wait for, each in a thread of its own.

    queued: coroutines that wait until they can post
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.queued = 0
        self._orders: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = \
            weakref.WeakKeyDictionary()
        self._rooms: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._watching: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = \
            weakref.WeakKeyDictionary()

    def order(self) -> asyncio.Lock:
        """Coroutines of this loop post in the order in which they asked."""
        return self._orders.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    @contextlib.contextmanager
    def watched(self) -> Iterator[asyncio.AbstractEventLoop]:
        """Inside, this loop receives completions."""
        loop = asyncio.get_running_loop()
        watch = self._watching.get(loop) or self._watch(loop)
        watch.coroutines += 1
        try:
            yield loop
        finally:
            watch.coroutines -= 1
            if not watch.coroutines:
                self._unwatch(loop, watch)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> Watch:
        """Add the loop's reader. The descriptor stays open until _unwatch(), as for a thread that
        polls."""
        with self.reader.lock:
            if self.reader.closed:
                raise error.closed()
            watch = Watch(self.reader.sock.fileno())
            self.reader.polling.add(watch)
            self._watching[loop] = watch
        try:
            loop.add_reader(watch.number, self.reader.look)
        except BaseException:  # the next coroutine tries again
            self._unwatch(loop, watch)
            raise
        return watch

    def _unwatch(self, loop: asyncio.AbstractEventLoop, watch: Watch) -> None:
        """Remove it, after the last coroutine, unless close() has done so."""
        with self.reader.lock:
            if self._watching.get(loop) is not watch:
                return
            del self._watching[loop]
        loop.remove_reader(watch.number)
        self.reader.leave(watch)

    def forget_socket(self) -> None:
        """It is about to be closed. Each loop must remove its own reader. This thread's does so
        now, others when their coroutines end. A closed loop never does, so it no longer counts."""
        here = asyncio._get_running_loop()  # pylint: disable=protected-access
        for loop, room in list(self._rooms):
            wake(loop, room)
            if loop is here:
                self._rooms.discard((loop, room))
                loop.remove_writer(self.reader.sock)
        with self.reader.lock:  # loops of other threads come and go
            watching = list(self._watching.items())
        for loop, watch in watching:
            if loop is here:
                self._unwatch(loop, watch)
            elif loop.is_closed():
                self.reader.leave(watch)

    @staticmethod
    async def within(seconds: float | None, waiting: Coroutine[Any, Any, None]) -> bool:
        """Wait, for that long at most. False if the time-out expires."""
        try:
            async with asyncio.timeout(seconds) as limit:
                await waiting
        except TimeoutError:
            if not limit.expired():
                raise
            return False
        return True

    @staticmethod
    async def in_a_thread(function: Callable[[], T]) -> T:
        """Call what takes time, which loops do not have."""
        return await asyncio.to_thread(function)

    async def wait_for(self, operation: Operation[Any]) -> None:
        """Wait until it has ended."""
        with self.watched() as loop:
            ended = asyncio.Event()
            with self.reader.lock:
                operation.when_ended(lambda: wake(loop, ended))
            self.reader.look()
            await ended.wait()

    async def wait_for_room(self) -> None:
        """Wait until there may be room to post."""
        with self.watched() as loop:
            room, number = asyncio.Event(), self.reader.sock.fileno()
            self._rooms.add((loop, room))
            self.queued += 1
            try:
                loop.add_writer(number, room.set)
                await room.wait()
            finally:
                self.queued -= 1
                if (loop, room) in self._rooms:
                    self._rooms.remove((loop, room))
                    loop.remove_writer(number)


def wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set an event of a loop, which another thread may run, or may have closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
