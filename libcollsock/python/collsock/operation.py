# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""One operation: what is posted, and what has become of it."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import elements, layout
from .lists import Kind, Operator, Type

if TYPE_CHECKING:
    from .group import Group

T = TypeVar("T")


def deadline_after(timeout: float | None) -> float | None:
    """When a time-out in seconds expires; None: never."""
    if timeout is None or timeout > threading.TIMEOUT_MAX:
        return None
    if not timeout >= 0:
        raise ValueError(f"timeout is {timeout}, not a number of seconds from 0")
    return time.monotonic() + timeout


class Operation(Generic[T]):
    """An operation that was posted. done() looks, wait() waits, and await does.

    The result is complete when one of them says so, also that in a buffer.
    """

    def __init__(self, group: Group, kind: Kind, data: elements.Elements | None = None,
                 op: Operator = Operator.NOP, root: int = 0) -> None:
        self.group, self.kind, self.op, self.root = group, kind, op, root
        self.type, self.count = (data.type, data.number) if data else (Type.NONE, 0)
        self.payload = b""
        self.result_bytes = 0
        self.cookie = 0
        self.ended = False
        self._decode: Callable[[bytes], Any] = lambda result: None
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        state = "ended" if self.ended else "posted" if self.cookie else "not posted"
        return f"<collsock.Operation {self.kind.name.lower()}, {state}>"

    # ---- for the group ----

    def contributes(self, payload: bytes) -> None:
        """This rank has a payload."""
        self.payload = payload

    def receives(self, result_bytes: int, decode: Callable[[bytes], Any]) -> None:
        """This rank gets a result, of which the value is made."""
        self.result_bytes, self._decode = result_bytes, decode

    def gives(self, value: Any) -> None:
        """The value is known before."""
        self._decode = lambda result: value

    def request(self) -> bytes:
        """What is sent."""
        return layout.POST.pack(layout.POST.size, self.kind, self.type, self.op, 0, 0, self.root,
                                self.count, 0, self.cookie) + self.payload

    def end(self, result: bytes | None, error: BaseException | None) -> None:
        """It has ended, well or not; the group's lock is held. A call that a signal handler has
        interrupted is made again."""
        if not self.ended:
            failed = self._take(self._decode, result)  # a handler that closes the group forgets it
            self._error = failed or error
            self.ended = True
        self.payload = b""
        self._decode = lambda result: None  # it may hold the program's buffer
        while self._callbacks:
            self._callbacks[-1]()
            self._callbacks.pop()

    def _take(self, decode: Callable[[bytes], Any], result: bytes | None) -> Exception | None:
        """Make the value of a result; returns why there is none, such as a buffer that was released
        meanwhile. What is raised once only is a signal handler's."""
        if result is None:
            return None
        try:
            self._value = decode(result)
        except Exception as interruption:  # pylint: disable=broad-except
            try:
                self._value = decode(result)
            except Exception as failed:  # pylint: disable=broad-except
                return failed
            raise interruption
        return None

    def when_ended(self, callback: Callable[[], None]) -> None:
        """Call this when it ends, or now; the group's lock is held."""
        if self.ended:
            callback()
        else:
            self._callbacks.append(callback)

    # ---- for the program ----

    def done(self) -> bool:
        """Has it ended, well or not? Does not wait."""
        return self.group.look(self)

    def wait(self, timeout: float | None = None) -> T:
        """Wait until it has ended, for that many seconds at most, and return the result.

        Raises CollectiveError if it has failed, and CollectiveTimeout (a TimeoutError) if the time-out
        expires: then it is still posted, and can be waited for again.
        """
        self.group.wait_for(self, deadline_after(timeout))
        return self.value()

    def value(self) -> T:
        """What wait() returns or raises, of an operation that has ended."""
        if self._error:
            raise self._error.with_traceback(None)
        value: T = self._value
        return value

    def __await__(self) -> Generator[Any, None, T]:
        yield from self.group.wait_in_loop(self).__await__()
        return self.value()
