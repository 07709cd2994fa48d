#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=1 limit=600 needs=X86_64
# suites: matrix soak
"""Folds in softirq have the same bits with vector instructions and without, special values in every
lane included.

A module that compares them takes the place of the current one (pairs_common.py). User-Mode Linux
cannot forbid vector instructions.
"""

import os
import re

from arithmetic import TYPE_NAMES, operators_of
from collsock_test import command, equal, main, read_file, seeded, test, test_each, work
from pairs_common import compare, faults_of

PAIRS = 1000000  # of each type and operator
TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
found = {}


def load():
    command("rmmod", "collsock")
    module = re.search("^VM_MODULE=['\"]?.*/([^/]*/collsock.ko)", read_file("/run/vm/settings"),
                       re.MULTILINE)
    command("insmod", f"{TREE}/build/pairs-{module[1]}")


@test_each(*TYPE_NAMES.items())
def folds_in_softirq_have_the_bits_of_integer_code(type_, _):
    seed = seeded("pairs").getrandbits(32)
    for op in operators_of(type_):
        found[type_, op] = compare(type_, op, seed, work(PAIRS))
        equal("faults", list(faults_of(type_, op, found[type_, op])), [])


@test
def vector_instructions_were_compared():
    pairs = sum(one["by_vectors"] for one in found.values())
    print(f"# {pairs:,} pairs", flush=True)
    equal("whether there were any", pairs > 0, True)


load()
main(300)
