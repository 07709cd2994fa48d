#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=16 limit=180
# suites: check debug soak
"""Reductions and broadcasts: ranks that receive no result do not block, and nothing is lost."""

import errno
import select
import time

from collsock_test import (
    BINOMIAL, BROADCAST, COOKIE_GROUP, FLAT, IN_USER_SPACE, INT64, KARY, NOP, ON_DEBUG_KERNEL,
    QUIET, REDUCE, Child, Descriptor, Group, Rank, equal, eventually, in_kernel, integers, main,
    netem, outcome, rank_on, refused, seeded, test, test_each, tunables, until_nothing_lingers,
    work)

SIZES = (1, 2, 3, 5) if ON_DEBUG_KERNEL else (1, 2, 3, 5, 16)
TREES = {"binomial": BINOMIAL, "kary": KARY, "flat": FLAT}
DEGREE = 3


def hosts(size):
    return range(1, size + 1)


def reduce_fields(root, **fields):
    return {"operation": REDUCE, "root": root, **fields}


def broadcast_fields(root, **fields):
    return {"operation": BROADCAST, "type": INT64, "op": NOP, "count": 1, "root": root, **fields}


def one_result(rank, expected):
    completion = rank.complete()
    equal("outcome", outcome(completion), "success")
    equal("result", completion.result, expected)


@test_each(*[(size, name) for size in SIZES for name in TREES])
def every_root_receives_reductions_and_sends_broadcasts(size, name):
    chance, tree = seeded("rooted", size, name), TREES[name]
    group = Group(hosts(size), degree=DEGREE,
                  algorithms=sum(1 << number for number in TREES.values()))
    netem(hosts(size), "loss", "5%")
    try:
        for root in chance.sample(range(size), min(size, 1 + work(1))):
            values = [chance.randrange(-1 << 40, 1 << 40) for _ in group]
            for number in chance.sample(range(size), size):
                group[number].post(integers(values[number]),
                                   **reduce_fields(root, algorithm=tree))
            for number, rank in enumerate(group):
                one_result(rank, integers(sum(values)) if number == root else b"")
            for number in chance.sample(range(size), size):
                group[number].post(integers(values[0]) if number == root else b"",
                                   **broadcast_fields(root, algorithm=tree))
            for number, rank in enumerate(group):
                one_result(rank, b"" if number == root else integers(values[0]))
        if size > 1:
            group.barrier(algorithm=tree)
            group.post(*[integers(value) for value in values], algorithm=tree)
            for rank in group:
                one_result(rank, integers(sum(values)))
    finally:
        netem(hosts(size))
    for number, rank in enumerate(group):
        equal(f"packets without sense at rank {number}", rank.stats().invalid, 0)


@test
def a_rank_that_needs_no_result_completes_before_others_post():
    group = Group(hosts(8))
    for number in range(1, 8):
        group[number].post(integers(number), **reduce_fields(0))
        # An inner node, too, whose children have not posted: 4, then 2
        one_result(group[number], b"")
    group[0].post(integers(100), **reduce_fields(0))
    one_result(group[0], integers(128))
    group[3].post(integers(7), **broadcast_fields(3))
    one_result(group[3], b"")


@test
def a_broadcast_passes_hosts_whose_ranks_have_not_posted():
    group = Group(hosts(8))
    group[0].post(integers(42), **broadcast_fields(0))
    # Between it and the root are 6 and 4, which compute
    group[7].post(**broadcast_fields(0))
    one_result(group[7], integers(42))
    for number in (1, 2, 3, 4, 5, 6):
        eventually(f"messages that have come to {number}",
                   lambda rank=group[number]: rank.stats().messages_received, 1)
        group[number].post(**broadcast_fields(0))
        one_result(group[number], integers(42))
    one_result(group[0], b"")


@test
@in_kernel("a process sees its own groups only")
def a_host_folds_and_forwards_after_its_rank_has_closed():
    # Host 3 forwards what host 4 contributes.
    until_nothing_lingers(3)
    group = Group(hosts(4), reduce_algorithm=BINOMIAL)
    watcher = rank_on(3)
    group[2].post(integers(2), **reduce_fields(0))
    group[2].close()
    group[0].post(integers(10), **reduce_fields(0))
    time.sleep(0.2)
    equal("groups on the host whose rank has closed", watcher.net_stats().groups, 1)
    group[1].post(integers(1), **reduce_fields(0))
    group[3].post(integers(3), **reduce_fields(0))
    one_result(group[0], integers(16))
    eventually("groups on the host whose rank has closed",
               lambda: watcher.net_stats().groups, 0)


def contribute(line, descriptor, number, amount):
    """A rank that posts, and waits only for room in the window."""
    rank = Rank()
    rank.join(descriptor, number)
    for value in range(amount):
        rank.post(integers(value), **reduce_fields(0, flags=QUIET))
    equal("completions", select.select([rank], [], [], 0)[0], [])
    line.put("all are posted")
    line.get()


@test
def ranks_that_never_wait_lose_nothing_and_leave_no_memory():
    descriptor, amount = Descriptor(hosts(4)), work(100 if IN_USER_SPACE else 1000)
    children = [Child(host, contribute, descriptor, host - 1, amount) for host in (2, 3, 4)]
    until_nothing_lingers(1)
    root = rank_on(1)
    root.join(descriptor, 0)
    memory = root.net_stats().memory
    begin = time.monotonic()
    for value in range(amount):
        completion = root.run(integers(value), **reduce_fields(0))
        equal(f"reduction {value}", completion.result, integers(4 * value))
    print(f"# {amount / (time.monotonic() - begin):.0f} reductions a second")
    equal("bytes that groups have", root.net_stats().memory, memory)
    # A rank that leaves ends the group for the others: all have checked before
    for child in children:
        equal("a rank that never waits", child.get(), "all are posted")
    for child in children:
        child.put("the root has them")
        child.finish()


@test
def quiet_posts_are_for_ranks_that_receive_no_result():
    group = Group(hosts(2))
    refused(errno.EINVAL, "a quiet root", group[0].post, integers(1),
            **reduce_fields(0, flags=QUIET))
    refused(errno.EINVAL, "a quiet barrier", group[0].post, flags=QUIET)
    refused(errno.EINVAL, "a quiet receiver", group[0].post,
            **broadcast_fields(1, flags=QUIET))
    refused(errno.EINVAL, "RUN of a quiet one", group[1].run, integers(1),
            **reduce_fields(0, flags=QUIET))
    refused(errno.EINVAL, "a receiver that contributes something", group[0].post, integers(1),
            **broadcast_fields(1))
    refused(errno.EINVAL, "a root that contributes nothing", group[1].post, **broadcast_fields(1))
    refused(errno.EINVAL, "a root that does not exist", group[0].post, integers(1),
            **reduce_fields(2))
    refused(errno.ERANGE, "a tree of a degree that JOIN does not name", group[0].post,
            integers(1), **reduce_fields(0, algorithm=KARY, degree=3))
    group.barrier()


@test
def a_rank_that_has_its_completion_sees_a_later_failure():
    with tunables(liveness_ms=1000):
        group = Group(hosts(4), reduce_algorithm=BINOMIAL)
    group.barrier()
    # 2 waits for 3 on behalf of the root
    group[2].post(integers(2), **reduce_fields(0))
    one_result(group[2], b"")
    group[0].post(integers(0), **reduce_fields(0))
    group[3].close()
    equal("outcome at the root", outcome(group[0].complete()), "ECONNRESET rank 3")
    poll = select.poll()
    poll.register(group[2], select.POLLIN)
    equal("POLLIN", bool(poll.poll(10000)), True)
    completion = group[2].complete()
    equal("what reports it", (completion.cookie, outcome(completion)),
          (COOKIE_GROUP, "ECONNRESET rank 3"))
    refused(errno.EPIPE, "the next one", group[2].post, integers(2),
            **reduce_fields(0, flags=QUIET))


if __name__ == "__main__":
    main()
