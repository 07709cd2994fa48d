#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=60
# suites: check debug soak
"""Exact sums: the same bits for any number of hosts, any placement of ranks, any algorithm."""

import errno
import struct
from fractions import Fraction

from collsock_test import (
    ALLREDUCE, AUTO, BINOMIAL, EXACT, EXCHANGE, REDUCE, SUM, Group, equal, main, refused, seeded,
    test, test_each, work)

BYTES, WORDS, RANKS = 288, 34, 8
UNIT = Fraction(1, 1 << 1074)
NOT_MINUS_ZERO = 8
MASK = (1 << 64) - 1
PLACEMENTS = ([0] * 8, [0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1],
              [0, 1, 2, 3, 3, 2, 1, 0], [0, 1, 1, 1, 2, 2, 3, 1])


def exact(*doubles):
    """The bytes of a sum, without the library"""
    total = int(sum(map(Fraction, doubles)) / UNIT)
    return struct.pack(f"={WORDS + 2}Q", *(total >> 64 * index & MASK for index in range(WORDS)),
                       NOT_MINUS_ZERO, len(doubles))


def any_double(chance):
    """Of any magnitude"""
    return (chance.random() + 1) * 2.0 ** chance.randrange(-1070, 1000) * chance.choice((-1, 1))


def sums_by(placement, contributions, **fields):
    group = Group(range(1, max(placement) + 2), placement=placement, max_bytes=4096)
    group.post(*map(b"".join, contributions), type=EXACT, op=SUM, count=len(contributions[0]),
               **fields)
    results = [completion.result for completion in group.complete()]
    group.close()
    return results


@test_each(1, 3, 10)
def bits_depend_on_neither_hosts_nor_placement_nor_algorithm(count):
    chance = seeded("exact", count)
    for _ in range(work(1)):
        doubles = [[any_double(chance) for _ in range(count)] for _ in range(RANKS)]
        expected = b"".join(exact(*column) for column in zip(*doubles))
        contributions = [[exact(one) for one in row] for row in doubles]
        for placement in PLACEMENTS:
            for algorithm in (AUTO, EXCHANGE, BINOMIAL):
                for rank, result in enumerate(sums_by(placement, contributions,
                                                      operation=ALLREDUCE,
                                                      algorithm=algorithm)):
                    equal(f"{placement}, algorithm {algorithm}, rank {rank}", result, expected)
            root = chance.randrange(RANKS)
            results = sums_by(placement, contributions, operation=REDUCE, root=root)
            equal(f"{placement}, root {root}", results[root], expected)


@test
def no_element_is_divided():
    for segment, most in ((48, 0), (240, 0), (288, 14), (0, 12), (576, 14), (8640, 14)):
        rank = Group([1], segment_bytes=segment, max_bytes=4096)[0]
        if most:
            rank.post(bytes(most * BYTES), type=EXACT, op=SUM, count=most)
            equal(f"result of {most} with segments of {segment}", rank.complete().result,
                  bytes(most * BYTES))
        refused(errno.EMSGSIZE, f"{most + 1} with segments of {segment}", rank.post,
                bytes((most + 1) * BYTES), type=EXACT, op=SUM, count=most + 1)


if __name__ == "__main__":
    main(60)
