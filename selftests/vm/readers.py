#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=90
# suites: check debug soak
"""Programs in many languages read a collective socket, and get a failure once."""

import asyncio
import contextlib
import errno
import os
import socket
import subprocess

from collsock_test import (
    BROADCAST, COOKIE_GROUP, INT64, NOP, POST, QUIET, Completion, Failed, Group, Skipped, equal,
    integers, main, netem, outcome, post_bytes, refused, test, test_each)

READERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/readers")
NO_IO_URING = 77
TOLD = f"error {errno.ECONNRESET} rank 1 group 1"


def met():
    """A group whose hosts have heard from each other, so that a rank that leaves is noticed."""
    group = Group([1, 2])
    group.barrier()
    return group


def start(rank, program, *words):
    """A program that inherits the socket."""
    try:
        return subprocess.Popen([os.path.join(READERS, program), *words, str(rank.fileno())],
                                pass_fds=[rank.fileno()], stdout=subprocess.PIPE, text=True)
    except OSError as error:
        # User-Mode Linux
        if program == "bits32" and error.errno == errno.ENOEXEC:
            raise Skipped("this kernel runs no programs of 32 bits") from None
        raise


def read_by_program(rank, *words):
    """The output of a program that inherits the socket, after the line "ready"."""
    reader = start(rank, *words)
    with reader.stdout as said:
        first = said.readline().strip()
        if first != "ready":
            if reader.wait() == NO_IO_URING:
                raise Skipped(first)
            raise Failed(f"{words}: {first}")
        yield
        yield said.read().split("\n")[:-1]
    equal("status", reader.wait(), 0)


# Requests that are answered, or calls that return: one for the completion, one for the end
@test_each(("uring", "poll"), ("uring", "recv"), ("reader-go",), ("reader-rust",))
def a_reader_gets_the_failure_once_and_does_not_spin(*words):
    rank, other = met()
    reader = read_by_program(rank, *words)
    next(reader)
    other.close()
    polls = words[-1] == "poll"
    one = ["events POLLIN"] * polls
    equal("what it says", next(reader),
          [*one, TOLD, *one, "end 0", f"wakeups {2 + 2 * polls}"])
    equal("the rest", list(reader), [])
    equal("SO_ERROR", rank.error(), "ECONNRESET")


@test_each(("uring", "poll"), ("uring", "recv"), ("reader-go",), ("reader-rust",))
def a_reader_gets_the_failure_from_operations_under_way(*words):
    rank, other = met()
    for _ in range(3):
        rank.post()
    reader = read_by_program(rank, *words)
    next(reader)
    other.close()
    polls = words[-1] == "poll"
    one = ["events POLLIN"] * polls
    equal("what it says", next(reader),
          [*[*one, TOLD.replace("group 1", "group 0")] * 3, *one, "end 0",
           f"wakeups {4 + 4 * polls}"])
    equal("the rest", list(reader), [])


@test
def a_post_by_io_uring_that_waits_for_room_is_posted_then():
    group = Group([1, 2], window=1)
    netem([2], "loss", "100%")
    # It takes no slot for a completion, only room in the window, until host 2 has it.
    group[0].post(bytes(8), operation=BROADCAST, op=NOP, flags=QUIET, count=1)
    try:
        writer = read_by_program(group[0], "uring", "post")
        next(writer)
    finally:
        netem([2])
    equal("what it says", next(writer), [f"sent {POST.size}"])
    equal("the rest", list(writer), [])
    group[1].post(operation=BROADCAST, type=INT64, op=NOP, count=1)
    group[1].complete()
    group[1].post()
    equal("the barrier", [outcome(rank.complete()) for rank in group], ["success"] * 2)


@test
def a_program_of_32_bits_uses_the_same_structures():
    group = Group([1, 2])
    program = read_by_program(group[1], "bits32")
    next(program)
    for value in 10, 20, 30:
        equal("sum", group[0].run(integers(value)).result, integers(value + 1))
    sums = [f"{how} error 0 bytes 8 cookie 1 result {value + 1}"
            for how, value in (("recv", 10), ("WAIT", 20), ("RUN", 30))]
    equal("what it says", next(program), [*sums, "page 3 3 3", "rank 1 of 2"])
    equal("the rest", list(program), [])


@contextlib.contextmanager
def plain_socket(rank):
    """The same as a plain Python socket."""
    copy = socket.socket(fileno=os.dup(rank.fileno()))
    copy.setblocking(False)
    try:
        yield copy
    finally:
        copy.close()


def told(data):
    completion = Completion(data)
    return f"error {completion.error} rank {completion.failed_rank} " \
           f"group {int(completion.cookie == COOKIE_GROUP)}"


@test
def a_plain_python_socket_gets_the_failure_once():
    rank, other = met()
    with plain_socket(rank) as plain:
        plain.setblocking(True)
        other.close()
        equal("recv", told(plain.recv(4096)), TOLD)
        equal("recv again", plain.recv(4096), b"")
        equal("recv_into", plain.recv_into(bytearray(64)), 0)
        refused(errno.EPIPE, "send", plain.send, post_bytes(b""))


@test
def a_callback_of_asyncio_is_called_for_the_completion_and_for_the_end():
    async def read():
        done, said = asyncio.get_running_loop().create_future(), []

        def readable():
            data = plain.recv(4096)
            said.append(told(data) if data else "end")
            if not data:
                asyncio.get_running_loop().remove_reader(plain)
                done.set_result(said)
        asyncio.get_running_loop().add_reader(plain, readable)
        await asyncio.sleep(0.1)
        equal("calls before", said, [])
        other.close()
        return await done

    rank, other = met()
    with plain_socket(rank) as plain:
        equal("calls", asyncio.run(read()), [TOLD, "end"])


@test
def a_writer_of_asyncio_is_not_called_because_of_a_failure():
    """A writer is called only when there is room; one that no longer waits, never."""
    async def write():
        loop, calls = asyncio.get_running_loop(), []
        loop.add_writer(plain, lambda: (calls.append(1), loop.remove_writer(plain)))
        await asyncio.sleep(0.1)
        other.close()
        data = await loop.sock_recv(plain, 4096)
        await asyncio.sleep(0.1)
        return told(data), len(calls)

    rank, other = met()
    with plain_socket(rank) as plain:
        equal("recv, calls", asyncio.run(write()), (TOLD, 1))


@test
def sock_recv_of_asyncio_returns_the_completion_and_then_the_end():
    async def read():
        loop = asyncio.get_running_loop()
        first = asyncio.create_task(loop.sock_recv(plain, 4096))
        await asyncio.sleep(0.1)
        equal("done before", first.done(), False)
        other.close()
        return told(await first), await loop.sock_recv(plain, 4096)

    rank, other = met()
    with plain_socket(rank) as plain:
        equal("recv, recv", asyncio.run(read()), (TOLD, b""))


main()
