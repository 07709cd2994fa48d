#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The Python package when signal handlers raise: nothing is lost, and no wait is endless; TAP."""
import array
import contextlib
import gc
import signal
import sys
import threading
import time

from python_user import PACKAGE, Ranks, main
from python_helpers import equal, in_threads

PATIENCE = 60
FILES = tuple(str(PACKAGE / f"collsock/{name}.py") for name in ("reader", "operation", "member"))


class Interruption(Exception):
    """What the handler raises."""


def handle(*_):
    raise Interruption


class Interrupter:
    """Raises at one of the places where the interpreter runs handlers: after a function in C, and
    where one in Python begins. (Or where a loop goes on, which the tests with a timer do.)"""

    def __init__(self, place):
        self.left = place
        self.where = None

    def __call__(self, frame, event, argument):
        if event in ("call", "c_return") and frame.f_code.co_filename in FILES and not self.where:
            self.left -= 1
            if not self.left:
                self.where = f"{frame.f_code.co_qualname}:{frame.f_lineno}, {event}"
                raise Interruption


def interrupted(place, function):
    """The place where the function was interrupted; None if it has fewer places."""
    interrupter = Interrupter(place)
    gc.disable()
    sys.setprofile(interrupter)
    try:
        function()
    except Interruption:
        pass
    finally:
        sys.setprofile(None)
        gc.enable()
    return interrupter.where


def at_each_place(function, check):
    """Interrupt the function once everywhere, and check what follows."""
    place = 0
    where = "the beginning"
    while where:
        place += 1
        argument = check(None, where)
        where = interrupted(place, lambda: function(argument))
        try:
            check(argument, where)
        except Exception as error:
            raise AssertionError(f"interrupted at {where}: {error!r}") from error
    assert place > 20, f"{place} places only"


def works(group):
    """No lock and no turn is left behind, also for other threads."""
    reader = group._reader
    equal((reader.reading, reader.polling, reader.posting, reader.sleepers),
          (None, set(), [], set()))
    in_another = in_threads(1, lambda _: group.allreduce(1, timeout=PATIENCE))
    equal((in_another, group.allreduce(2, timeout=PATIENCE)), ([1], 2))
    equal(reader.pending, {})


def of_posted(group, delay=0.0):
    """Posts an operation, or checks that it has its result."""
    def check(operation, where):
        if not operation:
            posted = group.post_allreduce(array.array("d", [7.5, 1]))
            time.sleep(delay)
            return posted
        equal(operation.wait(timeout=PATIENCE).tolist(), [7.5, 1])
        works(group)
        return None
    return check


def test_wait_that_is_interrupted_anywhere_can_be_repeated():
    with Ranks(1) as ranks:
        for delay in 0, 0.005:
            at_each_place(lambda posted: posted.wait(), of_posted(ranks[0], delay))
        at_each_place(lambda posted: posted.wait(timeout=PATIENCE), of_posted(ranks[0]))


def test_look_that_is_interrupted_anywhere_can_be_repeated():
    with Ranks(1) as ranks:
        at_each_place(lambda posted: posted.done(), of_posted(ranks[0], 0.005))


def test_callbacks_of_an_interrupted_look_are_called():
    """Event loops of other threads wait for them."""
    with Ranks(1) as ranks:
        group = ranks[0]

        def check(state, where):
            if not state:
                posted, ended = group.post_allreduce(1), threading.Event()
                posted.when_ended(ended.set)
                time.sleep(0.005)
                return posted, ended
            group.failure()
            equal(state[1].is_set(), True)
            return works(group)
        at_each_place(lambda state: state[0].done(), check)


def test_post_that_is_interrupted_anywhere_does_not_keep_others_from_posting():
    with Ranks(1) as ranks:
        group = ranks[0]

        def check(state, where):
            if not state:
                return True
            group.barrier(timeout=PATIENCE)
            group._reader.pending = {}  # perhaps one that was not sent
            return works(group)
        at_each_place(lambda state: group.allreduce(1), check)


def test_post_that_waits_for_room_can_be_interrupted():
    with Ranks(2, window=1) as ranks:
        at = 0

        def check(state, where):
            nonlocal at
            at += 1
            if not state:
                in_threads(2, lambda rank: ranks[rank].allreduce(at, timeout=PATIENCE))
                return True
            in_threads(2, lambda rank: ranks[rank].allreduce(at, timeout=PATIENCE))
            return None
        at_each_place(lambda state: [ranks[0]._reader.wait_for_window(time.monotonic() + 0.01),
                                     ranks[0]._reader.wait_for_completion(-1, None)], check)


def test_interrupted_close_closes():
    place, where = 0, "the beginning"
    while where:
        place += 1
        with Ranks(1) as ranks:
            group, got = ranks[0], []
            posted = group.post_allreduce(1)
            where = interrupted(place, group.close)
            group.close()
            equal((group.fileno(), group._sock.fileno()), (-1, -1), where)
            with contextlib.suppress(OSError):
                got.append(posted.wait(timeout=PATIENCE))
    assert place > 8, f"{place} places only"


def test_follower_of_an_interrupted_thread_goes_on():
    """The main thread reads, is interrupted, and waits no more."""
    with Ranks(2) as ranks:
        first, second = ranks[0].post_barrier(), ranks[0].post_allreduce(1)
        thread = threading.Thread(target=second.wait)
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with contextlib.suppress(Interruption):
            thread_starter = threading.Timer(0.1, thread.start)
            thread_starter.start()
            first.wait()
        thread_starter.join()
        ranks[1].barrier()
        ranks[1].allreduce(1)
        thread.join(PATIENCE)
        equal(thread.is_alive(), False)
        first.wait()


# ---- handlers that raise nothing ----

def at_each_place_do(function, handler):
    """Call the handler, once at each place of the function where the interpreter may do so, with
    what the function returns for that place."""
    place, where = 0, "the beginning"
    while where:
        place += 1
        called, where = function(), None

        def profile(frame, event, _, left=[place], called=called):  # a new list each time
            nonlocal where
            if event in ("call", "c_return") and frame.f_code.co_filename in FILES and not where:
                left[0] -= 1
                if not left[0]:
                    where = f"{frame.f_code.co_qualname}:{frame.f_lineno}, {event}"
                    sys.setprofile(None)
                    handler(called)
        gc.disable()
        sys.setprofile(profile)
        try:
            got = called()
        finally:
            sys.setprofile(None)
            gc.enable()
        equal(got.tolist(), [7.5, 1], where)
    assert place > 20, f"{place} places only"


def test_handler_that_looks_takes_nothing_from_the_call_that_it_interrupts():
    with Ranks(1, max_bytes=1 << 16) as ranks:
        group, later = ranks[0], []

        def waits():
            handles = [group.post_allreduce(array.array("d", [7.5, 1])) for _ in range(2)]
            time.sleep(0.001)
            return lambda: [handle.wait() for handle in handles][0]

        def looks(_):
            group.failure()

        def posts(_):
            """What needs a larger buffer."""
            later.append(group.post_allreduce(bytes(5000 + 8 * len(later))))
            time.sleep(0.001)
            later[-1].done()
        at_each_place_do(waits, looks)
        at_each_place_do(waits, posts)
        equal([len(one.wait(PATIENCE)) for one in later],
              [5000 + 8 * at for at in range(len(later))])
        works(group)


# ---- real signals ----

@contextlib.contextmanager
def other_rank(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    yield
    thread.join(PATIENCE)
    equal(thread.is_alive(), False, "the other rank waits")


def test_completions_that_come_with_a_signal_are_not_lost():
    number = 400
    with Ranks(2) as ranks:
        def late():
            for at in range(number):
                time.sleep(0.00195)
                ranks[1].allreduce(at)
        signal.signal(signal.SIGALRM, handle)
        with other_rank(late):
            for at in range(number):
                posted = ranks[0].post_allreduce(at)
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.002)
                    posted.wait()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except Interruption:
                    pass
                equal(posted.wait(timeout=PATIENCE), 2 * at)
        works_with = in_threads(2, lambda rank: ranks[rank].allreduce(1, timeout=PATIENCE))
        equal(works_with, [2, 2])


def test_wait_goes_on_under_a_ticking_timer():
    number = 400
    with Ranks(2) as ranks:
        def late():
            for at in range(number):
                time.sleep(0.001)
                ranks[1].allreduce(at)
        signal.signal(signal.SIGALRM, handle)
        with other_rank(late):
            for at in range(number):
                posted = ranks[0].post_allreduce(at)
                done = False
                while not done:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 0.0003)
                        posted.wait(timeout=PATIENCE)
                        signal.setitimer(signal.ITIMER_REAL, 0)
                        done = True
                    except Interruption:
                        pass
                equal(posted.wait(), 2 * at)


if __name__ == "__main__":
    main(globals())
