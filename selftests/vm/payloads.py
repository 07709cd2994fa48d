#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=120
# suites: check debug rt soak
"""Payloads of up to 64 KiB: many segments, and nothing is fragmented."""

import errno
import random
import re
import socket
import struct

from collsock_test import (
    BROADCAST, DEFAULT_SEGMENT, INT8, MAX_PAYLOAD, NOP, REDUCE, SUM, UINT64, Descriptor, Group,
    Sniffer, at_least, at_most, equal, in_kernel, main, netem, outcome, rank_on, read_file,
    refused, seeded, set_tunables, test, test_each, until_nothing_lingers)

COUNT = MAX_PAYLOAD // 8


def words(chance, count=COUNT):
    return [chance.getrandbits(64) for _ in range(count)]


def pack(values):
    return struct.pack(f"={len(values)}Q", *values)


def expect(rank, result):
    completion = rank.complete()
    equal("outcome", outcome(completion), "success")
    equal("whether the result is right", completion.result == result, True)


def operations(group, chance):
    """One operation of each kind with the largest payload."""
    values = [words(chance) for _ in group]
    total = pack([sum(column) & (1 << 64) - 1 for column in zip(*values)])
    root = chance.randrange(len(group))
    for rank, mine in zip(group, values):
        rank.post(pack(mine), type=UINT64, op=SUM)
        rank.post(pack(mine), type=UINT64, op=SUM, operation=REDUCE, root=root)
        rank.post(pack(mine) if rank is group[root] else b"", type=UINT64, op=NOP, count=COUNT,
                  operation=BROADCAST, root=root)
    for rank in group:
        # Ranks that receive nothing complete first
        got = sorted((rank.complete() for _ in range(3)), key=lambda c: len(c.result))
        equal("outcomes", [outcome(one) for one in got], ["success"] * 3)
        results = [one.result for one in got if one.result]
        wanted = [total, total] if rank is group[root] else [total, pack(values[root])]
        equal("whether results are right", sorted(results) == sorted(wanted), True)


@test_each((2,), (5,), (8,))
def the_largest_payload_gets_through(size):
    group = Group(range(1, size + 1), max_bytes=MAX_PAYLOAD, window=4)
    operations(group, seeded("payloads", size))


@test
def ranks_of_one_host_combine_the_largest_payload():
    group = Group((1, 2), placement=(0, 1, 0, 1, 1), max_bytes=MAX_PAYLOAD, window=4)
    operations(group, seeded("payloads of siblings"))


@test
def loss_does_not_change_results():
    netem(range(1, 6), "delay", "1ms", "reorder", "10%", "duplicate", "5%", "loss", "5%")
    try:
        group = Group(range(1, 6), max_bytes=MAX_PAYLOAD, window=4)
        operations(group, seeded("payloads and loss"))
    finally:
        netem(range(1, 6))


@test
@in_kernel("routers may fragment packets")
def nothing_is_fragmented():
    sniffer = Sniffer(2)
    group = Group((1, 2), max_bytes=MAX_PAYLOAD, window=4)
    group.post(bytes(MAX_PAYLOAD), bytes(MAX_PAYLOAD))
    group.complete()
    packets = sniffer.packets()
    at_least("packets", len(packets), 2 * (MAX_PAYLOAD // DEFAULT_SEGMENT))
    for _, packet, _ in packets:
        equal("flags and offset of a fragment", struct.unpack_from("!H", packet, 6)[0], 0x4000)
        at_most("bytes of a packet", len(packet), 1500)
    sniffer.close()


@test
def a_rank_that_runs_ahead_stays_within_its_window_and_its_memory():
    window = 8
    until_nothing_lingers(1, 2)
    group = Group((1, 2), max_bytes=MAX_PAYLOAD, window=window)
    memory = [rank.net_stats().memory for rank in group]
    payload = random.randbytes(MAX_PAYLOAD)
    group[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", 2, 0))
    # The other host stores a window of them; as many are held here until it has room
    for _ in range(2 * window):
        group[0].post(payload, type=UINT64, operation=REDUCE, root=1)
        equal("outcome", outcome(group[0].complete()), "success")
    refused(errno.EAGAIN, "one more", group[0].post, payload, type=UINT64, operation=REDUCE,
            root=1)
    for _ in range(2 * window):
        group[1].post(bytes(MAX_PAYLOAD), type=UINT64, operation=REDUCE, root=1)
        expect(group[1], payload)
    equal("memory", [rank.net_stats().memory for rank in group], memory)


@test_each((1,), (5,), (8,))
def the_limit_of_payloads_is_exact(most):
    group = Group((1, 2), max_bytes=most)
    group.barrier()
    group.post(b"\1" * most, b"\2" * most, type=INT8, count=most)
    for rank in group:
        expect(rank, b"\3" * most)
    refused(errno.EMSGSIZE, "a byte more", group[0].post, bytes(most + 1), type=INT8,
            count=most + 1)
    group.barrier()


@test
@in_kernel("there are no limits but those of the process")
def a_group_that_is_too_large_is_refused_before_it_allocates():
    set_tunables(1, max_memory_kib=8192)
    try:
        many = Descriptor((1, 2), placement=(0,) * 60 + (1,), max_bytes=MAX_PAYLOAD, window=64)
        before = int(re.search(r"MemFree: *(\d+)", read_file("/proc/meminfo"))[1])
        refused(errno.ENOMEM, "half a gigabyte", rank_on(1).join, many, 0)
        after = int(re.search(r"MemFree: *(\d+)", read_file("/proc/meminfo"))[1])
        at_most("KiB taken", before - after, 100000)
        equal("refusals", rank_on(1).net_stats().over_memory, 1)
    finally:
        set_tunables(1, max_memory_kib=None)
    refused(errno.E2BIG, "more ranks than can be folded in one event", rank_on(1).join,
            Descriptor((1, 2), placement=(0,) * 65 + (1,), max_bytes=MAX_PAYLOAD), 0)


@test
def larger_payloads_are_refused():
    group = Group((1, 2), max_bytes=MAX_PAYLOAD, window=1)
    refused(errno.EMSGSIZE, "a larger payload", group[0].post, bytes(MAX_PAYLOAD + 8))
    small = Group((1, 2), max_bytes=2048)
    refused(errno.EMSGSIZE, "more than max_bytes", small[0].post, bytes(2056))
    refused(errno.EINVAL, "a larger max_bytes", rank_on(1).join, Descriptor((1, 2)), 0,
            max_bytes=MAX_PAYLOAD + 1)
    group.barrier()
    small.barrier()


if __name__ == "__main__":
    main()
