# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Event loops of asyncio that wait for operations of a socket."""
from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from .operation import Operation
from .reader import Reader

T = TypeVar("T")


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
        self._watching: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int] = \
            weakref.WeakKeyDictionary()

    def order(self) -> asyncio.Lock:
        """Coroutines of this loop post in the order in which they asked."""
        return self._orders.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    @contextlib.contextmanager
    def watched(self) -> Iterator[asyncio.AbstractEventLoop]:
        """Inside, this loop receives completions."""
        loop, number = asyncio.get_running_loop(), self.reader.sock.fileno()
        if loop not in self._watching:
            loop.add_reader(number, self.reader.look)
        self._watching[loop] = self._watching.get(loop, 0) + 1
        try:
            yield loop
        finally:
            self._unwatch(loop, number)

    def _unwatch(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        """One less waits; the last removes the descriptor, also one that is closed by now."""
        if loop in self._watching:
            self._watching[loop] -= 1
            if not self._watching[loop]:
                del self._watching[loop]
                loop.remove_reader(number)

    def forget_socket(self) -> None:
        """It is about to be closed: another file may have its number next."""
        rooms, self._rooms = self._rooms, set()
        for loop, room in rooms:
            wake(loop, room)
        with contextlib.suppress(RuntimeError):  # no loop is running in this thread
            loop = asyncio.get_running_loop()
            loop.remove_reader(self.reader.sock)
            loop.remove_writer(self.reader.sock)
            self._watching.pop(loop, None)

    @staticmethod
    async def within(seconds: float | None, waiting: Coroutine[Any, Any, None]) -> bool:
        """Wait, for that long at most. False if the time is over."""
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
            loop.add_writer(number, room.set)
            self._rooms.add((loop, room))
            self.queued += 1
            try:
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
