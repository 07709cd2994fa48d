#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The Python package when threads wait for one socket: nobody sleeps when it need not; TAP."""
import random
import select
import socket
import threading
import time

from python_user import main
from collsock import layout, reader as readers
from python_helpers import equal

PATIENCE = 10
UNTIL_IT_SLEEPS = 0.1


class Operation:
    """What a completion ends."""

    result_bytes = 0

    def __init__(self, cookie):
        self.cookie, self.ended = cookie, False

    def end(self, *_):
        self.ended = True


class Sockets:
    """A reader, and the socket by which its completions come; closed after the block."""

    def __init__(self):
        self.mine, self.peer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.reader, self.posted = readers.Reader(self.mine), 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.mine.close()
        self.peer.close()

    def post(self):
        self.posted += 1
        operation = Operation(self.posted)
        self.reader.add(operation)
        return operation

    def complete(self, *operations):
        layout_of = layout.COMPLETION
        for operation in operations:
            self.peer.send(layout_of.pack(layout_of.size, 0, 0, 0, operation.cookie, 0, 0))

    def waiting(self, operation, name=None):
        """A thread that waits for it."""
        thread = threading.Thread(target=self.reader.wait, args=(lambda: operation.ended, None),
                                  name=name, daemon=True)
        thread.start()
        return thread


def ends(*threads):
    """They do, in time."""
    for thread in threads:
        thread.join(PATIENCE)
        equal(thread.is_alive(), False, "a thread waits, though its operation has ended")


class Held:
    """Calls of a function by a thread, which wait before it, or behind it, until they go on."""

    def __init__(self, function, name):
        self.function, self.name = function, name
        self.arrived, self.go_on = threading.Event(), threading.Event()

    def hold(self):
        if threading.current_thread().name == self.name:
            self.arrived.set()
            self.go_on.wait(PATIENCE)

    def before(self, *args):
        self.hold()
        return self.function(*args)

    def behind(self, *args):
        result = self.function(*args)
        self.hold()
        return result


def test_thread_about_to_poll_does_not_wait_for_what_another_has_received():
    with Sockets() as sockets:
        held = Held(sockets.reader.poll, "slow")
        sockets.reader.poll = held.before
        first, second = sockets.post(), sockets.post()
        slow = sockets.waiting(first, "slow")
        held.arrived.wait(PATIENCE)
        quick = sockets.waiting(second)
        time.sleep(UNTIL_IT_SLEEPS)
        sockets.complete(first, second)
        ends(quick)
        held.go_on.set()
        ends(slow)


def test_thread_that_reads_next_loses_nothing_to_the_one_that_has_read():
    """The first one has left; the second is about to poll when the first receives."""
    with Sockets() as sockets:
        left, polls = Held(sockets.reader.leave, "first"), []

        def poll():
            polls.append(Held(select.poll(), threading.current_thread().name))
            held = polls[-1]
            held.poll = lambda *args: (held.name == "second" and held.hold(),
                                       held.function.poll(*args))
            held.register = held.function.register
            return held
        sockets.reader.leave = left.behind
        readers.select, module = type("Select", (), {
            "poll": staticmethod(poll), "POLLIN": select.POLLIN, "POLLOUT": select.POLLOUT}), select
        try:
            first, second = sockets.post(), sockets.post()
            one = sockets.waiting(first, "first")
            time.sleep(UNTIL_IT_SLEEPS)
            other = sockets.waiting(second, "second")
            time.sleep(UNTIL_IT_SLEEPS)
            sockets.complete(second)
            left.arrived.wait(PATIENCE)
            time.sleep(UNTIL_IT_SLEEPS)
            left.go_on.set()
            time.sleep(UNTIL_IT_SLEEPS)
            for held in polls:
                held.go_on.set()
            ends(other)
            sockets.complete(first)
            ends(one)
        finally:
            readers.select = module


def test_thread_that_posts_receives_if_nobody_else_does():
    """The thread that read has left since the one that posts has looked."""
    with Sockets() as sockets:
        reader, another = sockets.reader, object()
        sockets.mine.setblocking(False)
        try:
            while True:
                sockets.mine.send(bytes(1000))
        except BlockingIOError:
            pass
        held = Held(reader.poll, "posts")
        reader.poll, reader.reading = held.before, another
        operation = sockets.post()
        posts = threading.Thread(target=reader.wait_for_window, args=(None,), name="posts",
                                 daemon=True)
        posts.start()
        held.arrived.wait(PATIENCE)
        reader.leave(another)
        held.go_on.set()
        time.sleep(UNTIL_IT_SLEEPS)
        waits = sockets.waiting(operation)
        time.sleep(UNTIL_IT_SLEEPS)
        sockets.complete(operation)
        ends(waits, posts)


def test_threads_that_wait_in_any_order_end():
    until = time.monotonic() + 2
    with Sockets() as sockets:
        while time.monotonic() < until:
            operations = [sockets.post() for _ in range(3)]
            threads = [sockets.waiting(one) for one in operations]
            sockets.complete(*random.sample(operations, 3))
            ends(*threads)


if __name__ == "__main__":
    main(globals())
