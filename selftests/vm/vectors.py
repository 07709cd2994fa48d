#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=600 smp=2
# suites: check debug rt soak
"""Long vectors of floats: results are exact wherever they are reduced, and programs keep their
floating-point registers."""

import itertools
import os
import re
import select
import struct
import subprocess

import arithmetic
from arithmetic import ARITHMETIC
from collsock_test import (
    BFLOAT16, DOUBLE, FLOAT, FLOAT16, SUM, Group, at_least, equal, main, netem, seeded, test,
    test_each, work)
from mixed_load import fold

HOSTS = 1, 2, 3
PROGRAM = "build/registers/registers"
# A segment, several of them, and what fills neither a vector nor a block
COUNTS = 16, 132, 397
ROUNDS = 200


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
    count, group = 132, Group(HOSTS, window=16)
    values = [[0.1 * rank + 1 / (index + 1) for index in range(count)] for rank in range(3)]
    payloads = [struct.pack(f"={count}d", *one) for one in values]
    expected = struct.pack(f"={count}d", *(a + b + c for a, b, c in zip(*values)))
    # Then packets come in an interrupt of whatever runs
    netem(HOSTS, "delay", "100us")
    try:
        # It runs whenever we wait
        with subprocess.Popen(["nice", PROGRAM, str(2 * os.cpu_count())], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as program:
            equal("the program says", program.stdout.readline(), b"ready\n")
            for number in itertools.count():
                if number >= work(ROUNDS) and select.select([program.stdout], [], [], 0)[0]:
                    break
                group.post(*payloads, type=DOUBLE, op=SUM, count=count)
                for completion in group.complete():
                    equal(f"whether result {number} is right", completion.result == expected, True)
            equal("then", program.stdout.readline(), b"enough\n")
            said = program.communicate()[0].decode()
    finally:
        netem(HOSTS)
    print(f"# {said.strip()}", flush=True)
    amounts = {name: int(amount) for amount, name in re.findall(r"(\d+) (\w+)", said)}
    at_least("chains", amounts["done"], 2 * os.cpu_count())
    equal("chains whose result is wrong", amounts["wrong"], 0)
    equal("chains during which the settings changed", amounts["changed"], 0)


main(120)
