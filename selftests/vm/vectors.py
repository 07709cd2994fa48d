#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=600 smp=2
# suites: check debug rt soak
"""Long vectors of floats: results are exact wherever they are reduced, and programs keep their
floating-point registers."""

import arithmetic
import computing
from arithmetic import ARITHMETIC
from collsock_test import (
    BFLOAT16, DOUBLE, FLOAT, FLOAT16, Group, equal, main, seeded, test, test_each)
from mixed_load import fold

HOSTS = 1, 2, 3
# A segment, several of them, and what fills neither a vector nor a block
COUNTS = 16, 132, 397


def drawn(type_, op, count, ranks, chance):
    """Numbers and special values; by rank."""
    columns = []
    for _ in range(count):
        column = [arithmetic.draw(type_, chance) for _ in range(ranks)]
        column[:2] = arithmetic.draw_operands(type_, op, chance)
        columns.append(column)
    return list(zip(*columns))


@test_each(*((type_, op) for type_ in (DOUBLE, FLOAT, FLOAT16, BFLOAT16)
             for op in ARITHMETIC))
def results_of_long_vectors_are_exact(type_, op):
    chance, group = seeded("vectors", type_, op), Group(HOSTS, max_bytes=8 * max(COUNTS))
    for count in COUNTS:
        values = drawn(type_, op, count, len(HOSTS), chance)
        group.post(*(arithmetic.pack(type_, one) for one in values), type=type_, op=op, count=count)
        expected = [fold(list(column), lambda a, b: arithmetic.operate(type_, op, a, b))
                    for column in zip(*values)]
        for rank, completion in enumerate(group.complete()):
            got = arithmetic.unpack(type_, completion.result)
            for index, (result, wanted) in enumerate(zip(got, expected)):
                equal(f"element {index} of {count} at rank {rank}", hex(result), hex(wanted))


@test
def programs_keep_their_registers_while_softirq_reduces():
    computing.registers_are_kept(HOSTS)


main(120)
