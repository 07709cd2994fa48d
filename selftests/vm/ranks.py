#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=90
# suites: check debug rt arm64 soak
"""Several ranks on a host: they combine in the kernel, and the network sees hosts."""

import errno
import socket
import struct

from cases import group_of
from collsock_test import (
    ALLREDUCE, BROADCAST, DOUBLE, IN_USER_SPACE, INT64, PRODUCT, REDUCE, SUM, Child, Descriptor,
    Rank, equal, eventually, in_kernel, integers, main, outcome, rank_on, refused, test, test_each,
    tunables, until_nothing_lingers,
)

BLOCKS, ROUND_ROBIN, UNEVEN, SCATTERED = (
    (0, 0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 2, 0, 1, 2, 0, 1, 2),
    (0, 1, 1, 1, 1, 1, 2, 2, 3), (0, 1, 0, 2, 3, 1, 1, 0, 3, 2))
PLACEMENTS = (BLOCKS, ROUND_ROBIN, UNEVEN, SCATTERED, (0, 0, 0, 0))


def one_result(rank, expected):
    completion = rank.complete()
    equal("outcome", outcome(completion), "success")
    equal("result", completion.result, expected)


def nothing_yet(rank):
    refused(errno.EAGAIN, "a completion", rank.complete, socket.MSG_DONTWAIT)


@test_each(*((placement,) for placement in PLACEMENTS))
def every_operation_gives_every_rank_its_result(placement):
    group = group_of(placement)
    size = len(placement)
    for root in range(size):
        group.barrier()
        for number, rank in enumerate(group):
            rank.post(integers(1 << number, number))
        for rank in group:
            one_result(rank, integers((1 << size) - 1, size * (size - 1) // 2))
        for number, rank in enumerate(group):
            rank.post(integers(number + root), operation=REDUCE, root=root)
        for number, rank in enumerate(group):
            one_result(rank, integers(size * (size - 1) // 2 + size * root)
                       if number == root else b"")
        for number, rank in enumerate(group):
            rank.post(integers(root, 7) if number == root else b"", operation=BROADCAST,
                      type=INT64, op=0, count=2, root=root)
        for number, rank in enumerate(group):
            one_result(rank, b"" if number == root else integers(root, 7))


@test
def a_barrier_is_over_when_the_last_rank_of_the_last_host_has_posted():
    group = group_of(SCATTERED)
    for last, late in enumerate(group):
        for rank in group:
            if rank is not late:
                rank.post()
        for rank in group:
            nothing_yet(rank)
        late.post()
        for rank in group:
            one_result(rank, b"")
    sharing = 1 if IN_USER_SPACE else SCATTERED.count(0)
    equal("operations", group[0].stats().posted, len(group) * sharing)


@test
@in_kernel("each rank is a host")
def the_network_sees_hosts():
    group = group_of(BLOCKS)
    group.barrier()
    before = [group[number].stats() for number in (0, 3, 6)]
    for rank in group:
        rank.post(integers(1))
    for rank in group:
        one_result(rank, integers(9))
    # Three hosts, each of which sends to both others
    sent = sum(group[number].stats().messages_sent - stats.messages_sent
               for number, stats in zip((0, 3, 6), before))
    equal("messages", sent, 6)


@test
@in_kernel("each rank is a host")
def contributions_are_folded_in_rank_order_whichever_comes_first():
    # (1e308 + -1e308) + 1 is 1; in any other order it is 0
    values = [1e308, -1e308, 1.0]
    group = group_of((0, 0, 0))
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
        for number in order:
            group[number].post(struct.pack("=d", values[number]), type=DOUBLE)
        for rank in group:
            one_result(rank, struct.pack("=d", 1.0))


@test
def ranks_that_receive_nothing_do_not_wait_for_their_siblings():
    group = group_of(BLOCKS)
    for number in (4, 5, 7, 3):
        group[number].post(integers(number), operation=REDUCE)
        one_result(group[number], b"")
    for number in (0, 1, 2, 6):
        group[number].post(integers(number), operation=REDUCE)
    nothing_yet(group[0])
    group[8].post(integers(8), operation=REDUCE)
    one_result(group[0], integers(36))


@test
def a_broadcast_does_not_wait_for_siblings_of_the_root_or_of_forwarding_hosts():
    group = group_of((0, 0, 0, 1, 1, 2, 2, 3, 3))
    fields = {"operation": BROADCAST, "type": INT64, "op": 0, "count": 1, "root": 1}
    group[2].post(**fields)
    nothing_yet(group[2])
    group[1].post(integers(5), **fields)
    one_result(group[1], b"")
    one_result(group[2], integers(5))
    for number in (8, 3, 6, 0, 4, 5, 7):
        group[number].post(**fields)
        one_result(group[number], integers(5))
    group.barrier()


@test
def siblings_may_be_ahead_of_each_other():
    group = group_of((0, 0, 1, 1), window=8)
    for value in range(8):
        group[0].post(integers(value))
    refused(errno.EAGAIN, "a ninth one", group[0].post, integers(8), socket.MSG_DONTWAIT)
    for value in range(8):
        for number in (1, 3, 2):
            group[number].post(integers(10 * value))
    for value in range(8):
        for rank in group:
            one_result(rank, integers(31 * value))


@test
def ranks_may_join_at_any_time():
    until_nothing_lingers(1)
    descriptor = Descriptor((1, 2), placement=(0, 0, 1, 1))
    ranks = {}
    for number, host in ((1, 1), (2, 2)):
        ranks[number] = rank_on(host)
        ranks[number].join(descriptor, number)
        ranks[number].post(integers(number))
    for number, host in ((3, 2), (0, 1)):
        for rank in ranks.values():
            nothing_yet(rank)
        ranks[number] = rank_on(host)
        ranks[number].join(descriptor, number)
        ranks[number].post(integers(number))
    for rank in ranks.values():
        one_result(rank, integers(6))
    equal("groups on a host", ranks[0].net_stats().groups, 1)


@test
@in_kernel("a rank does not see what others of its host have joined with")
def a_rank_is_joined_once_and_only_with_the_same_description():
    descriptor = Descriptor((1, 2), placement=(0, 0, 1, 1))
    first = rank_on(1)
    first.join(descriptor, 0)
    other = rank_on(1)
    refused(errno.EADDRINUSE, "a rank that has joined", other.join, descriptor, 0)
    refused(errno.EPROTO, "another window", other.join, descriptor, 1, window=2)
    refused(errno.EADDRNOTAVAIL, "a rank of another host", other.join, descriptor, 2)
    other.join(descriptor, 1)
    other.close()
    refused(errno.EADDRINUSE, "one that has left", rank_on(1).join, descriptor, 1)


@test
@in_kernel("a rank does not see what others of its host have joined with")
def descriptions_with_equal_hashes_are_compared():
    # Chosen so that the hashes of 32 bits are equal; the payloads are not
    def description(other, max_bytes):
        return Descriptor((1, other), placement=(0, 0, 1), id=7, nonce=99, key=b"k" * 16,
                          window=64, max_bytes=max_bytes)

    first, second = rank_on(1), rank_on(1)
    first.join(description("10.10.61.143", 65536), 0)
    refused(errno.EPROTO, "another description", second.join, description("10.2.44.80", 8), 1)
    second.join(description("10.10.61.143", 65536), 1)


@test
def ranks_that_join_at_the_same_time_make_one_group():
    until_nothing_lingers(1)
    descriptor = Descriptor((1, 2), placement=(0,) * 16 + (1,))
    children = [Child(1, post_and_wait, descriptor, number) for number in range(16)]
    other = rank_on(2)
    other.join(descriptor, 16)
    other.post(integers(16))
    one_result(other, integers(136))
    for child in children:
        equal("child", (child.get(), child.get()), ("joined", "once"))
    if not IN_USER_SPACE:
        equal("groups", rank_on(1).net_stats().groups, 1)


@test
def only_operations_posted_before_a_rank_left_complete():
    group = group_of((0, 0, 1, 1))
    for number in (0, 1, 2):
        group[number].post(integers(number), cookie=1)
    group[0].post(integers(0), cookie=2)
    group[1].close()
    # The first one still waits for a rank when it is known that the second one is in vain
    completion = group[0].complete()
    equal("outcome beyond", (completion.cookie, outcome(completion)), (2, "ECONNRESET rank 1"))
    nothing_yet(group[0])
    group[3].post(integers(3))
    for number in (0, 2, 3):
        one_result(group[number], integers(6))
    for number in (0, 2, 3):
        equal("outcome", outcome(group[number].run(integers(0))), "ECONNRESET rank 1")


def post_and_wait(line, descriptor, number):
    rank = Rank()
    rank.join(descriptor, number)
    line.put("joined")
    rank.run(integers(number))
    line.put("once")
    line.get()


@test
def a_killed_process_ends_its_own_ranks_only():
    descriptor = Descriptor((1, 2), placement=(0, 0, 1, 1))
    child = Child(1, post_and_wait, descriptor, 1)
    equal("child", child.get(), "joined")
    ranks = [(rank_on(1), 0), (rank_on(2), 2), (rank_on(2), 3)]
    for rank, number in ranks:
        rank.join(descriptor, number)
        rank.post(integers(number))
    for rank, number in ranks:
        one_result(rank, integers(6))
    equal("child", child.get(), "once")
    for rank, number in ranks:
        rank.post(integers(number))
    child.kill()
    for rank, number in ranks:
        equal("outcome", outcome(rank.complete()),
              "ETIMEDOUT rank 1" if IN_USER_SPACE else "ECONNRESET rank 1")


@test
@in_kernel("each rank is a host, which blames another one")
def siblings_that_disagree_get_eproto():
    group = group_of((0, 0, 1, 1))
    group[1].post(integers(1), op=PRODUCT)
    group[0].post(integers(1), op=SUM)
    equal("outcome", outcome(group[0].complete()), "EPROTO rank 1")
    equal("outcome", outcome(group[1].complete()), "EPROTO rank 1")
    group[2].post(integers(1))
    group[3].post(integers(1))
    equal("outcome", outcome(group[2].complete()), "EPROTO rank 1")


@test
@in_kernel("the join time-out is five minutes")
def a_rank_that_does_not_join_is_named_after_the_join_time_out():
    descriptor = Descriptor((1, 2), placement=(0, 0, 1, 1))
    with tunables(join_timeout_ms=2000, liveness_ms=1000):
        ranks = [rank_on(1), rank_on(2), rank_on(2)]
        for rank, number in zip(ranks, (0, 2, 3)):
            rank.join(descriptor, number)
    for rank in ranks:
        rank.post(integers(1))
    for rank in ranks:
        equal("outcome", outcome(rank.complete()), "ETIMEDOUT rank 1")


@test
def a_host_continues_for_a_rank_that_joins_after_the_others_left():
    descriptor = Descriptor((1, 2), placement=(0, 0, 1))
    early, root = rank_on(1), rank_on(2)
    early.join(descriptor, 0)
    root.join(descriptor, 2)
    early.post(integers(1), operation=REDUCE, root=2)
    early.close()
    root.post(integers(4), operation=REDUCE, root=2)
    nothing_yet(root)
    late = rank_on(1)
    late.join(descriptor, 1)
    late.post(integers(2), operation=REDUCE, root=2)
    one_result(late, b"")
    one_result(root, integers(7))
    late.close()
    root.close()
    watcher = rank_on(1)
    eventually("groups that are left", lambda: watcher.net_stats().groups, 0)


@test
def several_groups_of_the_same_ranks_do_not_mix():
    groups = [group_of(UNEVEN) for _ in range(3)]
    for turn in range(4):
        for number in range(len(UNEVEN)):
            for index, group in enumerate(groups):
                group[number].post(integers(index, turn), operation=ALLREDUCE)
    for turn in range(4):
        for index, group in enumerate(groups):
            for rank in group:
                one_result(rank, integers(9 * index, 9 * turn))


if __name__ == "__main__":
    main()
