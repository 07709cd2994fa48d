#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=120
# suites: check debug soak
"""The Python package: what its operations give, and what it says of failures."""

import array
import functools
import operator
import os
import random
import select
import signal
import threading
import time

from collsock_test import (
    Child, at_least, equal, errno_name, eventually, main, on, test)
from python_common import Ranks, collsock, each, joined, refused


# ---- values ----

# What rank r contributes, of each kind of data that a program may have
KINDS = {
    "int": lambda r: r * 7 - 3,
    "float": lambda r: r + 0.25,
    "list of int": lambda r: [r, -r, 5],
    "list of float": lambda r: [r * 0.5, 2],
    "bytes": lambda r: bytes([r, 200, 7]),
    **{f"array {code}": lambda r, code=code: array.array(code, [r, 3, 9])
       for code in "bBhHiIlLqQfd"},
}
OPERATORS = {"SUM": operator.add, "PRODUCT": operator.mul, "MIN": min, "MAX": max}


def as_list(value):
    return list(value) if hasattr(value, "__len__") else [value]


def wrapped(value, kind):
    """An element as its type has it."""
    if kind == "bytes" or kind == "array B":
        return value % 256
    if kind == "array b":
        return (value + 128) % 256 - 128
    return value


def combined(parts, function, kind):
    """What the operator makes of all of them, element by element."""
    return [wrapped(functools.reduce(function, column), kind)
            for column in zip(*map(as_list, parts))]


def operators_of(kind):
    """All of them for one kind; the others differ in the type of elements only."""
    return list(OPERATORS) if kind == "int" else ["SUM"]


def reduced(group, kind):
    """What each reduction gives this rank."""
    make = KINDS[kind]
    return {name: (group.allreduce(make(group.rank), op), group.reduce(make(group.rank), 2, op),
                   group.scan(make(group.rank), op), group.exscan(make(group.rank), op))
            for name, op in ((name, collsock.Operator[name]) for name in operators_of(kind))}


def check_reduced(rank, kind, parts, got):
    for name, (all_, root, scan, exscan) in got.items():
        what, function = f"{name} of {kind} at rank {rank}", OPERATORS[name]
        equal(f"allreduce, {what}", as_list(all_), combined(parts, function, kind))
        equal(f"its type, {what}", type(all_), type(parts[0]))
        equal(f"reduce, {what}", root if root is None else as_list(root),
              combined(parts, function, kind) if rank == 2 else None)
        equal(f"scan, {what}", as_list(scan), combined(parts[:rank + 1], function, kind))
        equal(f"exscan, {what}", exscan if rank == 0 else as_list(exscan),
              combined(parts[:rank], function, kind) if rank else None)


@test
def reductions_give_what_python_computes():
    with Ranks([1, 2, 3, 4]) as ranks:
        for kind, make in KINDS.items():
            parts = [make(rank) for rank in range(4)]
            for rank, got in enumerate(each(ranks, lambda g, kind=kind: reduced(g, kind))):
                check_reduced(rank, kind, parts, got)


@test
def what_is_moved_arrives_unchanged():
    with Ranks([1, 2, 3, 4]) as ranks:
        for kind, make in KINDS.items():
            parts = [make(rank) for rank in range(4)]
            got = each(ranks, lambda g, make=make: (
                g.broadcast(make(g.rank), 3), g.allgather(make(g.rank)),
                g.gather(make(g.rank), 1)))
            for rank, (broadcast, allgather, gather) in enumerate(got):
                equal(f"broadcast of {kind} at rank {rank}", broadcast, parts[3])
                equal(f"allgather of {kind} at rank {rank}", allgather, parts)
                equal(f"gather of {kind} at rank {rank}", gather, parts if rank == 1 else None)


@test
def each_rank_gets_its_part_of_what_is_scattered():
    with Ranks([1, 2, 3]) as ranks:
        for items in [5, 6, 7], [0.5, 1, 2], [[1, 2], [3, 4], [5, 6]], [b"ab", b"cd", b"ef"]:
            like = items[0]
            got = each(ranks, lambda g: g.scatter(items if g.rank == 1 else like, 1))
            equal(f"scatter of {items}", got, list(items))
        flat = array.array("i", range(6))
        got = each(ranks, lambda g: g.scatter(flat if g.rank == 0 else array.array("i", [0, 0])))
        equal("scatter of an array", got, [array.array("i", [2 * r, 2 * r + 1]) for r in range(3)])


@test
def each_rank_gets_its_part_of_what_is_combined():
    with Ranks([1, 2, 3]) as ranks:
        got = each(ranks, lambda g: (
            g.reduce_scatter_block([g.rank, 10, 100 * g.rank]),
            g.reduce_scatter_block([[g.rank, 1.5]] * 3, collsock.MAX),
            g.reduce_scatter_block(array.array("H", range(6)), collsock.PRODUCT)))
    for rank, (numbers, lists, block) in enumerate(got):
        equal(f"numbers at rank {rank}", numbers, [3, 30, 300][rank])
        equal(f"lists at rank {rank}", lists, [2.0, 1.5])
        equal(f"array at rank {rank}", block,
              array.array("H", [(2 * rank) ** 3, (2 * rank + 1) ** 3]))


@test
def pairs_have_the_index_of_the_extreme_value():
    values = [2.5, -1.0, 9.0, 9.0]
    with Ranks([1, 2, 3, 4]) as ranks:
        got = each(ranks, lambda g: (
            g.allreduce((values[g.rank], g.rank), collsock.MINLOC),
            g.allreduce((values[g.rank], g.rank), collsock.MAXLOC),
            g.allreduce([(g.rank, 5), (-g.rank, g.rank)], collsock.MINLOC)))
    equal("pairs", got, [((-1.0, 1), (9.0, 2), [(0, 5), (-3, 3)])] * 4)


@test
def bits_and_truth_are_combined():
    with Ranks([1, 2, 3]) as ranks:
        got = each(ranks, lambda g: [
            g.allreduce(1 << g.rank, collsock.BITWISE_OR),
            g.allreduce(6 + g.rank, collsock.BITWISE_AND),
            g.allreduce(g.rank + 1, collsock.BITWISE_XOR),
            g.allreduce(g.rank, collsock.LOGICAL_AND), g.allreduce(g.rank, collsock.LOGICAL_OR),
            g.allreduce(1, collsock.LOGICAL_XOR),
            g.allreduce(b"\x01\x80" if g.rank else b"\x02\x00", collsock.BITWISE_OR)])
    equal("results", got, [[7, 0, 0, 0, 1, 1, b"\x03\x80"]] * 3)


@test
def results_go_into_buffers_of_the_program():
    with Ranks([1, 2]) as ranks:
        def fill(g):
            own, both, other = array.array("d", [g.rank, 1]), array.array("d", bytes(32)), \
                bytearray(4)
            equal("the value", g.allreduce(own) is own, True)
            equal("the value of out", g.allgather(own, out=both) is both, True)
            view = memoryview(bytearray(16)).cast("i", (2, 2))
            view[0, 1] = g.rank + 1
            g.allreduce(view, collsock.MAX)
            g.broadcast(b"root" if g.rank else other, 1)
            return own.tolist(), both.tolist(), view.tolist(), bytes(other)
        got = each(ranks, fill)
    equal("buffers", got, [([1, 2], [1, 2, 1, 2], [[0, 2], [0, 0]], other)
                           for other in (b"root", bytes(4))])


@test
def long_vectors_need_a_group_that_allows_them():
    data = array.array("d", range(8192))
    with Ranks([1, 2], max_bytes=65536, max_result_bytes=131072) as ranks:
        got = each(ranks, lambda g: (g.allreduce(array.array("d", data)), g.allgather(data)))
    for sums, parts in got:
        equal("the sum", sums[8191], 16382.0)
        equal("the parts", parts, [data, data])
    with Ranks([1]) as ranks:
        refused("a long vector", OSError, "larger max_bytes", ranks[0].allreduce, data)


# ---- posting ----

@test
def posted_operations_overlap_and_are_waited_for_in_any_order():
    with Ranks([1, 2]) as ranks:
        first = [ranks[0].post_allreduce(number) for number in range(10)]
        equal("done before the other rank has posted", first[0].done(), False)
        second = [ranks[1].post_allreduce(number) for number in range(10)]
        equal("results", [one.wait() for one in reversed(first + second)],
              [2 * number for number in range(10)][::-1] * 2)
        equal("done", all(one.done() for one in first), True)
        equal("again", first[3].wait(), 6)


@test
def more_posts_than_the_window_wait_for_room():
    def post(g):
        return [one.wait() for one in [g.post_allreduce(n + g.rank) for n in range(24)]]
    with Ranks([1, 2, 2], window=2) as ranks:
        equal("results", each(ranks, post), [[3 * n + 3 for n in range(24)]] * 3)


@test
def the_descriptor_is_readable_when_an_operation_has_ended():
    with Ranks([1, 2]) as ranks:
        one = ranks[0].post_barrier()
        poller = select.poll()
        poller.register(ranks[0], select.POLLIN)
        equal("before", poller.poll(0), [])
        ranks[1].post_barrier()
        equal("after", poller.poll(20000), [(ranks[0].fileno(), select.POLLIN)])
        equal("done", one.done(), True)


@test
def threads_that_wait_get_their_own_results():
    with Ranks([1, 2], window=64) as ranks:
        handles, got = [ranks[0].post_allreduce(number) for number in range(32)], [None] * 32

        def take(number):
            got[number] = handles[number].wait(20)
        threads = [threading.Thread(target=take, args=(number,)) for number in range(32)]
        for thread in threads:
            thread.start()
        for number in range(32):
            ranks[1].post_allreduce(number)
        for thread in threads:
            thread.join()
    equal("results", got, [2 * number for number in range(32)])


@test
def threads_that_post_to_a_full_window_and_wait_all_go_on():
    def work(g):
        done = []
        threads = [threading.Thread(target=lambda: [done.append(g.barrier(60)) for _ in range(5)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(done)
    with Ranks([1, 2], window=1) as ranks:
        equal("barriers", each(ranks, work), [20, 20])


# ---- time-outs and failures ----

def missing_in_barrier(group, expected):
    """Post a barrier, which has its time-out until it says that these ranks are missing; returns
    the last error."""
    begin = time.monotonic()
    errors = [refused("a barrier", TimeoutError, "timed out", group.barrier, 0.2)]
    at_least("seconds until the time-out", time.monotonic() - begin, 0.2)

    def missing():
        errors.append(refused("the wait", TimeoutError, "stays posted", errors[0].operation.wait,
                              0.2))
        return list(errors[-1].missing)
    eventually("missing ranks", missing, expected)
    return errors[-1]


@test
def a_timeout_names_the_missing_rank_and_leaves_the_group_usable():
    with Ranks([1, 2, 3]) as ranks:
        each(ranks, lambda g: g.barrier())

        errors = each(ranks, lambda g: g.rank < 2 and missing_in_barrier(g, [2]))
        for error in errors[:2]:
            equal("failed rank", error.failed_rank, None)
            equal("the group's failure", error.operation.group.failure(), None)
        ranks[2].barrier(20)
        for error in errors[:2]:
            equal("the operation", error.operation.wait(20), None)
        equal("later", each(ranks, lambda g: g.allreduce(g.rank)), [3] * 3)


@test
def a_rank_of_the_same_host_that_has_not_posted_is_missing():
    with Ranks([1, 1, 2]) as ranks:
        error = each(ranks, lambda g: g.rank == 0 and missing_in_barrier(g, [1]))[0]
        equal("why", error.missing[1], "is on this host, and has not posted it")


@test
def a_rank_that_was_never_heard_from_is_missing():
    with Ranks([1, 2], only=[0]) as ranks:
        error = each(ranks, lambda g: missing_in_barrier(g, [1]))[0]
        equal("why", error.missing[1].split(":")[0], "has not been heard from")


@test
def a_timeout_says_so_where_netlink_does_not_tell():
    with Ranks([1, 2]) as ranks:
        # This thread's network namespace does not have the group
        error = refused("the barrier", TimeoutError, "ask collsock wait", ranks[0].barrier,
                        timeout=0.05)
        equal("missing ranks", error.missing, None)


@test
def a_timeout_for_want_of_room_has_posted_nothing():
    with Ranks([1, 2], window=1) as ranks:
        first = ranks[0].post_barrier()
        error = refused("the second", TimeoutError, "nothing was posted", ranks[0].barrier,
                        timeout=0.1)
        equal("the operation", error.operation, None)
        ranks[1].barrier(20)
        first.wait(20)
        equal("later", each(ranks, lambda g: g.allreduce(1)), [2, 2])


def post_nothing_more(line, *args):
    with joined(*args) as group:
        group.barrier()
        line.put("met")
        line.get()


@test
def a_killed_rank_is_named_by_all():
    with Ranks([1, 2, 3], only=[0, 2]) as ranks:
        child = Child(2, post_nothing_more, *ranks.arguments(1))
        each(ranks, lambda g: g.barrier())
        child.get()
        handles = [g.post_allreduce(1.5) for g in ranks]
        child.kill()
        child.end()
        for rank, handle in zip((0, 2), handles):
            error = refused(f"rank {rank}", collsock.CollectiveError, "rank 1 has left the group",
                            handle.wait, 20)
            equal("errno", errno_name(error.errno), "ECONNRESET")
            equal("failed rank", error.failed_rank, 1)
            equal("is a time-out", isinstance(error, TimeoutError), False)
        for g in ranks:
            equal("failure", g.failure().failed_rank, 1)
            error = refused("later", collsock.CollectiveError, "rank 1 has left", g.barrier)
            equal("failed rank later", error.failed_rank, 1)


@test
def ranks_that_disagree_are_told():
    with Ranks([1, 2]) as ranks:
        got = each(ranks, lambda g: refused(
            "operations that differ", collsock.CollectiveError, "different operation",
            g.barrier if g.rank else lambda: g.allreduce(1)))
    equal("errno", {errno_name(error.errno) for error in got}, {"EPROTO"})


@test
def joining_explains_what_is_refused():
    one = {"nonce": random.getrandbits(64), "key": bytes(range(16))}
    with on(1):
        refused("another host's address", OSError, "not one of this host", collsock.join,
                ["10.1.0.2"], 0, **one)
        refused("no key", PermissionError, "give a key", collsock.join, ["10.1.0.1"], 0, nonce=1)
        with collsock.join(["10.1.0.1"], 0, **one):
            refused("twice", OSError, "new nonce", collsock.join, ["10.1.0.1"], 0, **one)


@test
def closing_ends_what_other_threads_wait_for():
    with Ranks([1, 2]) as ranks:
        got = []
        thread = threading.Thread(target=lambda: got.append(refused(
            "a barrier", OSError, "the group is closed", ranks[0].barrier)))
        thread.start()
        eventually("a thread that reads", lambda: bool(ranks[0]._reader.reading), True)
        ranks[0].close()
        thread.join()
        equal("errno", errno_name(got[0].errno), "EBADF")
        equal("descriptor", ranks[0].fileno(), -1)
        refused("a post", OSError, "the group is closed", ranks[0].post_barrier)


# ---- fork ----

def fork_and_be_killed(line, keep, *args):
    """Join, fork a child that lives on, and tell its process id."""
    group = joined(*args, keep_in_child=keep)
    group.barrier()
    pid = os.fork()
    if not pid:
        closed = group.closed
        line.put((os.getpid(), closed, None if keep else str(refused(
            "a post of the child", OSError, "forked child", group.barrier))))
        signal.pause()
    line.get()


@test
def a_forked_child_does_not_keep_a_killed_rank_alive():
    with Ranks([1, 2], only=[0]) as ranks:
        child = Child(2, fork_and_be_killed, False, *ranks.arguments(1))
        ranks[0].barrier(20)
        pid, closed, _ = child.get()
        try:
            equal("closed in the child", closed, True)
            child.kill()
            child.end()
            error = refused("the barrier", collsock.CollectiveError, "has left", ranks[0].barrier,
                            20)
            equal("failed rank", error.failed_rank, 1)
        finally:
            os.kill(pid, signal.SIGKILL)


@test
def a_forked_child_keeps_the_rank_if_asked_to():
    with Ranks([1, 2], only=[0]) as ranks:
        child = Child(2, fork_and_be_killed, True, *ranks.arguments(1))
        ranks[0].barrier(20)
        pid, closed, _ = child.get()
        try:
            equal("closed in the child", closed, False)
            child.kill()
            child.end()
            refused("the barrier", TimeoutError, "timed out", ranks[0].barrier, 1)
        finally:
            os.kill(pid, signal.SIGKILL)
        error = refused("the next", collsock.CollectiveError, "has left", ranks[0].barrier, 20)
        equal("failed rank", error.failed_rank, 1)


@test
def a_group_works_in_a_child_that_forks_while_threads_wait():
    with Ranks([1, 2], keep_in_child=True) as ranks:
        thread = threading.Thread(target=ranks[0].barrier)
        thread.start()
        eventually("a thread that reads", lambda: bool(ranks[0]._reader.reading), True)
        pid = os.fork()
        if not pid:
            ranks[1].barrier(20)
            os._exit(0)
        equal("status of the child", os.waitpid(pid, 0)[1], 0)
        thread.join()


if __name__ == "__main__":
    main()
