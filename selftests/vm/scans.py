#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=240
# suites: check debug rt arm64 soak
"""Scan and exscan: every type and operator, against whole numbers and fractions, in the order of
Documentation/reductions.md."""

import errno
import socket
import struct
from itertools import accumulate

import cases
from arithmetic import REDUCTIONS, draw, operate, pack
from cases import Case, in_turn, run_all, run_cases
from collsock_test import (
    AUTO, BYTE, DEFAULT_SEGMENT, DOUBLE, EXSCAN, HILLIS_STEELE, INT64, MAX_PAYLOAD, QUIET, SCAN,
    SOAK, SUM, Memory, barrier, equal, faulty, main, outcome, refused, seeded, test, test_each)
from library_ranks import call_library

PLACEMENTS = ((0,), (0, 0, 0), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7),
              (0, 0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 1, 1, 2, 3, 3, 4, 5, 5))
SCATTERED = ((0, 1, 0), (0, 1, 2, 0, 1, 2), (0, 0, 1, 1, 0))
MAX_BYTES = 4096
FAULTS = "delay", "1ms", "0.5ms", "loss", "5%", "duplicate", "5%"


def group_of(placement, **fields):
    return cases.group_of(placement, **{"max_bytes": MAX_BYTES, **fields})


class Prefixes:
    """What each rank must get: of one operator on vectors of elements, folded as documented."""

    def __init__(self, placement, vectors, fold):
        self.placement, self.vectors, self.fold = placement, vectors, fold
        self.first = [placement.index(host) for host in range(max(placement) + 1)]

    def row(self, first, last):
        """L"""
        value = self.vectors[first]
        for rank in range(first + 1, last + 1):
            value = self.fold(value, self.vectors[rank])
        return value

    def register(self, host, rounds):
        """T"""
        if not rounds:
            end = (*self.first, len(self.placement))[host + 1]
            return self.row(self.first[host], end - 1)
        distance = 1 << rounds - 1
        own = self.register(host, rounds - 1)
        if host < distance:
            return own
        return self.fold(self.register(host - distance, rounds - 1), own)

    def below(self, host):
        """E"""
        value = None
        for rounds in reversed(range(host.bit_length())):
            message = self.register(host - (1 << rounds), rounds)
            value = message if value is None else self.fold(value, message)
        return value

    def of(self, rank, last):
        """Of ranks up to @last, that is, to this one or the one before; None: of none"""
        host = self.placement[rank]
        if last == rank and self.placement[rank + 1:rank + 2] != (host,):
            return self.register(host, host.bit_length())
        below = self.below(host)
        if last < self.first[host]:
            return below
        own = self.row(self.first[host], last)
        return own if below is None else self.fold(below, own)


def case_of(chance, placement, operation, reduction, count):
    type_, op = reduction
    vectors = [[draw(type_, chance) for _ in range(count)] for _ in placement]
    prefixes = Prefixes(placement, vectors, lambda left, right: [
        operate(type_, op, *pair) for pair in zip(left, right)])
    exclusive = operation == EXSCAN
    parts = [pack(type_, vector) for vector in vectors]
    results = [pack(type_, prefixes.of(last + exclusive, last))
               for last in range(len(placement) - exclusive)]
    return Case(parts, results, operation=operation, type=type_, op=op, count=count,
                algorithm=chance.choice((AUTO, HILLIS_STEELE)))


@test_each(*in_turn(PLACEMENTS, False, True))
def every_rank_gets_its_prefix_by_every_operator(placement, lossy):
    chance = seeded("scans", placement, lossy)
    group = group_of(placement)
    with faulty(range(1, 9), *(FAULTS if lossy else ())):
        run_all(group, [case_of(chance, placement, operation, reduction, chance.choice((1, 2, 3)))
                        for reduction in (REDUCTIONS if SOAK > 1 else
                                          chance.sample(REDUCTIONS, 10))
                        for operation in (SCAN, EXSCAN)], chance)


def case_of_sums(chance, placement, operation, count):
    """Vectors of 64-bit words as one large number each: quick enough for 64 KiB. No sum of words
    exceeds 64 bits."""
    vectors = [chance.getrandbits(64 * count) >> 1 & int("0f" * 8 * count, 16) for _ in placement]
    parts, prefixes = ([number.to_bytes(8 * count, "little") for number in numbers]
                       for numbers in (vectors, accumulate(vectors)))
    return Case(parts, prefixes, operation=operation, type=INT64, op=SUM, count=count)


@test_each(*in_turn(PLACEMENTS, 48, 0))
def vectors_of_many_segments_are_exact_under_loss(placement, segment):
    chance = seeded("segments", placement, segment)
    group = group_of(placement, max_bytes=MAX_PAYLOAD // (8 if segment else 1),
                     segment_bytes=segment, window=4)
    most = MAX_PAYLOAD // (64 if segment else 8)
    with faulty(range(1, 9), "delay", "1ms", "0.5ms", "loss", "2%", "reorder", "10%"):
        for count in (most, DEFAULT_SEGMENT // 8 + 1, most - 1):
            for operation in (SCAN, EXSCAN):
                run_cases(group, [case_of_sums(chance, placement, operation, count)], chance)


@test
def rank_0_of_an_exscan_gets_nothing_and_its_buffer_is_left_alone():
    group = group_of((0, 1))
    fields = {"operation": EXSCAN, "type": INT64, "op": SUM, "count": 1}
    for memory in b"untouched", b"":
        group[1].post(struct.pack("=q", 5), **fields)
        memory = Memory(memory)
        completion = group[0].run(struct.pack("=q", 7), memory=memory, **fields)
        equal("outcome", outcome(completion), "success")
        equal("result", completion.result, b"")
        equal("memory", bytes(memory), b"untouched"[:len(memory)])
        equal("result of rank 1", group[1].complete(socket.MSG_PEEK).result, struct.pack("=q", 7))
        equal("and again", group[1].complete().result, struct.pack("=q", 7))


@test_each(*SCATTERED)
def ranks_that_are_not_placed_in_their_order_are_refused_alike(*placement):
    group = group_of(placement)
    for operation in (SCAN, EXSCAN):
        for algorithm in (AUTO, HILLIS_STEELE):
            for rank in group:
                refused(errno.EOPNOTSUPP, f"operation {operation}", rank.post, bytes(8), count=1,
                        type=INT64, op=SUM, operation=operation, algorithm=algorithm)
    equal("operations posted", [rank.stats().posted for rank in group], [0] * len(group))
    barrier(group)


@test
def what_has_no_prefixes_is_refused():
    group = group_of((0, 0, 1))
    fields = {"type": INT64, "op": SUM, "count": 1}
    for operation in (SCAN, EXSCAN):
        refused(errno.EINVAL, "bytes", group[0].post, bytes(1), operation=operation,
                **{**fields, "type": BYTE})
        refused(errno.EINVAL, "a root", group[0].post, bytes(8), operation=operation, root=1,
                **fields)
        refused(errno.EINVAL, "a quiet scan", group[0].post, bytes(8), operation=operation,
                flags=QUIET, **fields)
        refused(errno.EINVAL, "no payload", group[0].post, b"", operation=operation, **fields)
        refused(errno.EMSGSIZE, "a vector beyond the limit", group[0].post, bytes(MAX_BYTES + 8),
                operation=operation, **{**fields, "count": MAX_BYTES // 8 + 1})
    barrier(group)


@test
def a_rank_waits_for_those_below_alone():
    group = group_of((0, 1, 2, 3))
    fields = {"operation": SCAN, "type": INT64, "op": SUM, "count": 1}
    for number, rank in enumerate(group):
        rank.post(struct.pack("=q", 1), **fields)
        equal("result", rank.complete().result, struct.pack("=q", number + 1))


@test
def a_rank_below_that_leaves_is_named():
    group = group_of((0, 1, 2, 3))
    fields = {"operation": SCAN, "type": DOUBLE, "op": SUM, "count": 1}
    group[0].post(bytes(8), **fields)
    equal("outcome of rank 0", outcome(group[0].complete()), "success")
    for number in (2, 3):
        group[number].post(bytes(8), **fields)
    group[1].close()
    for number in (2, 3):
        equal("outcome", outcome(group[number].complete()), "ECONNRESET rank 1")


@test
def the_functions_of_the_library_do_the_same():
    placement, chance, count = (0, 0, 1, 2), seeded("library"), 3
    values = [[chance.randrange(1 << 40) for _ in range(count)] for _ in placement]
    blocks = [struct.pack("=3q", *row) for row in values]
    sums = [struct.pack("=3q", *map(sum, zip(*values[:ranks]))) if ranks else b"?" * 24
            for ranks in range(len(placement) + 1)]
    calls = [(("collsock_scan", block, b"?" * 24, (count, INT64, SUM)),
              ("collsock_exscan", block, b"?" * 24, (count, INT64, SUM)),
              ("collsock_scan", block, b"?" * 24, (count, BYTE, SUM)),
              ("collsock_exscan", block, b"?" * 24, (1 << 20, INT64, SUM))) for block in blocks]
    equal("results by rank", call_library(placement, calls),
          [[(0, sums[rank + 1]), (0, sums[rank]), (-errno.EINVAL, b"?" * 24),
            (-errno.EMSGSIZE, b"?" * 24)] for rank in range(len(placement))])


main()
