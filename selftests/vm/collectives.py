#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=13 limit=60
# suites: check rt arm64 debug soak
"""Barriers and all-reduces: every result is right, and none is early."""

import errno
import math
import socket
import struct
import time

import arithmetic
from collsock_test import (
    DEFAULT_SEGMENT, DISSEMINATION, DOUBLE, IN_USER_SPACE, INT16_INT, MAX, MAXLOC, MAX_SEGMENT, MIN,
    SUM, Child, Descriptor, Group, Rank, at_least, at_most, equal, integers, main, member, outcome,
    rank_on, refused, seeded, test, test_each, work)
from mixed_load import SPECIAL_DOUBLES, MixedLoad, double_operate, fold

SIZES = 2, 3, 5, 8, 13


def hosts(size):
    return range(1, size + 1)


@test_each(1, *SIZES)
def mixed_operations_are_right_and_none_is_early(size):
    chance = seeded("collectives", size)
    for turn in range(work(1)):
        family = (socket.AF_INET, socket.AF_INET6)[(size + turn) % 2]
        group = Group(hosts(size), family, window=chance.choice((1, 2, 7, 16, 64)))
        window = group.descriptor.fields["window"]
        load = MixedLoad(group, 40, chance, min(window, 8)).run()
        for number, rank in enumerate(group):
            stats = rank.stats()
            equal(f"operations of rank {number} that completed and failed",
                  (stats.completed, stats.failed), (load.amount, 0))
            equal(f"packets without sense at rank {number}", stats.invalid, 0)
        group.close()


def meet(line, descriptor, rank, amount, seed):
    """One rank in a separate process: reports when it arrived and when it left."""
    chance, socket_of_rank, times = seeded(seed, rank), Rank(), []
    socket_of_rank.join(descriptor, rank)
    for _ in range(amount):
        time.sleep(chance.choice((0, 0, chance.random() / 300)))
        arrived = time.monotonic_ns()
        completion = socket_of_rank.run(spin_us=chance.choice((0, 50)),
                                        algorithm=DISSEMINATION)
        times.append((arrived, time.monotonic_ns(), outcome(completion)))
    line.put(times)
    line.get()


@test_each(*SIZES)
def no_process_leaves_a_barrier_before_all_have_arrived(size):
    descriptor = Descriptor(hosts(size))
    amount = work(10)
    children = [Child(host, meet, descriptor, rank, amount, size)
                for rank, host in enumerate(hosts(size))]
    times = [child.get() for child in children]
    for number in range(amount):
        last = max(of_rank[number][0] for of_rank in times)
        for rank, of_rank in enumerate(times):
            equal(f"barrier {number} at rank {rank}", of_rank[number][2], "success")
            at_least(f"leaving barrier {number} at rank {rank}", of_rank[number][1], last)
    for child in children:
        child.put("all are done")
        child.finish()


@test_each(*SIZES)
def sums_of_doubles_are_equal_at_all_ranks_and_close_to_the_exact_sum(size):
    chance, group = seeded("doubles", size), Group(hosts(size))
    for _ in range(work(3)):
        values = [[chance.uniform(-1, 1) * 2.0 ** chance.randint(-60, 60) for _ in range(100)]
                  for _ in group]
        group.post(*(struct.pack("=100d", *one) for one in values), type=DOUBLE)
        results = [completion.result for completion in group.complete()]
        for rank, result in enumerate(results):
            equal(f"result of rank {rank}", result, results[0])
        for index, total in enumerate(struct.unpack("=100d", results[0])):
            column = [one[index] for one in values]
            scale = sum(map(abs, column))
            at_most(f"error of {total} as the sum of {column}",
                    abs(total - math.fsum(column)), scale * size * 2.0 ** -53)


@test_each(2, 3)
def every_pair_of_special_doubles_gives_the_promised_bits(size):
    """Infinities, NaNs, zeros and subnormals, in softirq's own arithmetic."""
    group = Group(hosts(size))
    pairs = [(left, right) for left in SPECIAL_DOUBLES for right in SPECIAL_DOUBLES]
    for op in (SUM, MIN, MAX):
        for first in range(0, len(pairs), 128):
            some = pairs[first:first + 128]
            columns = [(pair + pair)[:size] for pair in some]
            group.post(*(struct.pack(f"={len(some)}Q", *(column[rank] for column in columns))
                         for rank in range(size)), type=DOUBLE, op=op)
            expected = [fold(list(column), lambda a, b, op=op: double_operate(op, a, b))
                        for column in columns]
            for rank, completion in enumerate(group.complete()):
                got = struct.unpack(f"={len(some)}Q", completion.result)
                for column, value, wanted in zip(columns, got, expected):
                    equal(f"operator {op} on {[hex(one) for one in column]} at rank {rank}",
                          hex(value), hex(wanted))


@test_each(2, 5)
def every_operator_of_every_type_is_exact(size):
    """Elements that are edge cases, in softirq's own arithmetic."""
    chance, group = seeded("types", size), Group(hosts(size))
    for type_, op in arithmetic.REDUCTIONS:
        count = chance.randint(1, min(40, DEFAULT_SEGMENT // arithmetic.element_bytes(type_)))
        values = [[arithmetic.draw(type_, chance) for _ in range(count)] for _ in group]
        group.post(*(arithmetic.pack(type_, one) for one in values), type=type_, op=op, count=count)
        name = arithmetic.name_of(type_, op)
        results = [arithmetic.unpack(type_, one.result) for one in group.complete()]
        for index, column in enumerate(zip(*values)):
            expected = fold(list(column), lambda a, b, type_=type_, op=op:
                            arithmetic.operate(type_, op, a, b))
            for rank, result in enumerate(results):
                equal(f"{name}, element {index} at rank {rank}, of {column}", result[index],
                      expected)


@test
def operators_that_mpi_does_not_have_are_refused():
    rank = Group(hosts(2))[0]
    for type_ in (*range(INT16_INT + 2), 255):
        size = arithmetic.element_bytes(type_) if type_ in arithmetic.TYPES else 8
        for op in (*range(MAXLOC + 2), 255):
            if (type_, op) not in arithmetic.REDUCTIONS:
                refused(errno.EINVAL, f"operator {op} of type {type_}", rank.post, bytes(size),
                        type=type_, op=op, count=1)
    equal("operations posted", rank.stats().posted, 0)


@test
def the_largest_segment_passes_where_packets_may_be_large():
    descriptor = Descriptor([1, 1, 1], segment_bytes=MAX_SEGMENT)
    port = next(Descriptor.ports) if IN_USER_SPACE else 0  # the default is the module's
    descriptor.members = [member(f"127.0.0.{number}", port=port) for number in (1, 2, 3)]
    ranks = [rank_on(1) for _ in descriptor.members]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    count = MAX_SEGMENT // 8
    for number, rank in enumerate(ranks):
        rank.post(integers(*range(number, count + number)))
    for rank in ranks:
        equal("sums", rank.complete().result, integers(*range(3, 3 * count + 3, 3)))


if __name__ == "__main__":
    main()
