#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=16 limit=150
# suites: check debug soak
"""Every operation by every algorithm, with several degrees and elements of every class, wherever
ranks are, under loss.

Results are those of whole numbers and fractions in Python (arithmetic.py). Elements are such that
the order of folding does not matter, of which collectives.py and scans.py are tests.
"""

import errno
from functools import cache, partial
from itertools import accumulate

import arithmetic
from arithmetic import ARITHMETIC, BITWISE, LOCATING, LOGICAL
from cases import (
    BLOCKS, NAMES, PREFIXES, ROOTED, Case, element_bytes, elements_of_a_part, group_of, run_all)
from collsock_test import (
    ALLGATHER, ALLREDUCE, BARRIER, BFLOAT16, BINOMIAL, BROADCAST, BYTE, DEFAULT_SEGMENT,
    DISSEMINATION, DOUBLE, DOUBLE_INT, EXACT, EXCHANGE, EXSCAN, FLAT, FLOAT, FLOAT16, FLOAT_INT,
    GATHER, HALVING, HILLIS_STEELE, INT16, INT16_INT, INT32, INT32_INT, INT64, INT64_INT, INT8,
    KARY, MCS, NOP, REDUCE, REDUCE_SCATTER_BLOCK, SCAN, SCATTER, SOAK, SUM, UINT16, UINT32, UINT64,
    UINT8, equal, main, netem, refused, seeded, test, test_each)

ALGORITHMS = {
    BARRIER: (DISSEMINATION, EXCHANGE, BINOMIAL, KARY, FLAT, MCS),
    ALLREDUCE: (EXCHANGE, BINOMIAL, KARY, FLAT, MCS, HALVING),
    REDUCE: (BINOMIAL, KARY, FLAT),
    BROADCAST: (BINOMIAL, KARY, FLAT),
    ALLGATHER: (DISSEMINATION,),
    GATHER: (BINOMIAL,),
    SCATTER: (BINOMIAL,),
    REDUCE_SCATTER_BLOCK: (EXCHANGE, BINOMIAL, KARY, FLAT, MCS, HALVING),
    SCAN: (HILLIS_STEELE,),
    EXSCAN: (HILLIS_STEELE,),
}
NAMED = sum(1 << algorithm for algorithm in {*ALGORITHMS[BARRIER], *ALGORITHMS[ALLREDUCE],
                                             *ALGORITHMS[SCAN]})
REDUCING = ALLREDUCE, REDUCE, REDUCE_SCATTER_BLOCK, *PREFIXES
WITHOUT_DEGREE = BINOMIAL, FLAT, MCS, HILLIS_STEELE, HALVING
DEGREE, MAX_BYTES = 3, 4096
DEGREES = 2, 5, 16  # that posts may name

# Types, and operators of all of them
CLASSES = {
    "unsigned": ((UINT8, UINT16, UINT32, UINT64), ARITHMETIC + LOGICAL + BITWISE),
    "signed": ((INT8, INT16, INT32, INT64), ARITHMETIC + LOGICAL + BITWISE),
    "float": ((FLOAT,), ARITHMETIC),
    "double": ((DOUBLE,), ARITHMETIC),
    "16-bit floats": ((FLOAT16, BFLOAT16), ARITHMETIC),
    "pairs": ((FLOAT_INT, DOUBLE_INT, INT64_INT, INT32_INT, INT16_INT), LOCATING),
    "exact": ((EXACT,), (SUM,)),
    "bytes": ((BYTE,), ()),
}
# A check has a sample of the combinations
SIZES = range(1, 17) if SOAK > 1 else (1, 2, 3, 6, 16)
CLASSES_IN_A_GROUP = SOAK // 4 + 1
MOST_RANKS_OF_A_HOST = 4

# ---- where ranks are ----


def one_on_each_host(_, hosts):
    return tuple(range(hosts))


def in_order(chance, hosts):
    """Different numbers of ranks, one host after the other"""
    return tuple(host for host in range(hosts)
                 for _ in range(chance.randint(1, MOST_RANKS_OF_A_HOST)))


def in_turn(_, hosts):
    return tuple(rank % hosts for rank in range(3 * hosts))


def scattered(chance, hosts):
    """Different numbers of ranks, in no order"""
    hosts_of_ranks = list(in_order(chance, hosts)) + [0]
    while hosts_of_ranks == sorted(hosts_of_ranks):
        chance.shuffle(hosts_of_ranks)
    return tuple(hosts_of_ranks)


PLACES = {"one rank on each": one_on_each_host, "in order": in_order, "in turn": in_turn,
          "scattered": scattered}
# Hosts and place; one host has its ranks in order
GROUPS = [(hosts, place) for place in PLACES for hosts in SIZES
          if hosts > 1 or place in ("one rank on each", "in order")]


def is_in_order(placement):
    return list(placement) == sorted(placement)


# ---- which operations ----


def classes_of(operation):
    if operation == BARRIER:
        return ["none"]
    return [name for name, (_, operators) in CLASSES.items()
            if operators or operation not in REDUCING]


def most_elements(type_):
    """Of a vector; segments have whole exact sums."""
    if type_ != EXACT:
        return MAX_BYTES // element_bytes(type_)
    return -(-MAX_BYTES // DEFAULT_SEGMENT) * (DEFAULT_SEGMENT // element_bytes(type_))


def placement_of(chance, group):
    hosts, place = group
    return PLACES[place](chance, hosts)


@cache
def placement_dealt(group):
    return placement_of(seeded("matrix", *group), group)


def has_room(operation, name, placement):
    return not (operation in BLOCKS and name == "exact" and
                len(placement) > most_elements(EXACT))


def deal_one(operation, algorithm, groups):
    """The classes of elements that the last of the groups gets. Each group gets those that have
    waited longest, of those that it has room for."""
    waiting, given = classes_of(operation), []
    seeded("deal", operation, algorithm).shuffle(waiting)
    for group in groups:
        placement = placement_dealt(group)
        given = [name for name in waiting if has_room(operation, name, placement)]
        given = given[:CLASSES_IN_A_GROUP]
        if operation in PREFIXES and not is_in_order(placement):
            given = []
        waiting = [name for name in waiting if name not in given] + given
    return given


def deal(number):
    """Operation, algorithm and class of elements of the cases of a group: in the groups of a
    check, one after the other, each operation by each algorithm gets all classes in turn."""
    return [(operation, algorithm, name)
            for operation, algorithms in ALGORITHMS.items() for algorithm in algorithms
            for name in deal_one(operation, algorithm, GROUPS[:number + 1])]


class Columns:
    """Elements of all ranks. Vectors are made of a few of these columns, in any order, as
    computing results takes time."""

    AMOUNT = 5

    def __init__(self, chance, type_, op, ranks):
        self.parts = [[] for _ in range(ranks)]
        self.prefixes = [[] for _ in range(ranks)] if op != NOP else []
        for _ in range(self.AMOUNT):
            self.add(chance, type_, op)

    def add(self, chance, type_, op):
        if op == NOP:
            for part in self.parts:
                part.append(chance.randbytes(element_bytes(type_)))
            return
        column = [arithmetic.draw_orderless(type_, op, chance) for _ in self.parts]
        prefixes = accumulate(column, partial(arithmetic.operate, type_, op))
        for vectors, elements in (self.parts, column), (self.prefixes, prefixes):
            for vector, element in zip(vectors, elements):
                vector.append(arithmetic.pack(type_, [element]))

    def vectors(self, chance, count):
        """Of each rank, and of it together with those below"""
        picked = chance.choices(range(self.AMOUNT), k=count)
        return [[b"".join(map(vector.__getitem__, picked)) for vector in vectors]
                for vectors in (self.parts, self.prefixes)]


def draw_count(chance, type_, blocks):
    """One element, a segment or what fits in it, one more, as many as the group can carry"""
    segment = DEFAULT_SEGMENT // element_bytes(type_) // blocks
    most = most_elements(type_) // blocks
    return min(most, chance.choice((1, max(segment, 1), segment + 1, most)))


def case_of(chance, ranks, operation, algorithm, name):
    fields = {"operation": operation, "algorithm": algorithm,
              "degree": 0 if algorithm in WITHOUT_DEGREE else
              chance.choice((0, DEGREE, *DEGREES)),
              "root": chance.randrange(ranks) if operation in ROOTED else 0}
    if operation == BARRIER:
        return Case([b""] * ranks, [b""], **fields)
    types, operators = CLASSES[name]
    type_ = chance.choice(types)
    op = chance.choice(operators) if operation in REDUCING else NOP
    count = draw_count(chance, type_, ranks if operation in BLOCKS else 1)
    columns = Columns(chance, type_, op, ranks)
    vectors = columns.vectors(chance, elements_of_a_part(operation, count, ranks))
    return Case(*vectors, type=type_, op=op, count=count, **fields)


# ---- tests ----

def refuses_prefixes(group):
    for operation in PREFIXES:
        for rank in group:
            refused(errno.EOPNOTSUPP, NAMES[operation], rank.post, bytes(8), type=INT64, op=SUM,
                    count=1, operation=operation, algorithm=HILLIS_STEELE)


@test_each(*GROUPS)
def every_algorithm_gives_the_right_result(hosts, place):
    chance = seeded("matrix", hosts, place)
    placement = placement_of(chance, (hosts, place))
    group = group_of(placement, degree=DEGREE, degrees=sum(1 << degree - 1 for degree in DEGREES),
                     max_bytes=MAX_BYTES, algorithms=NAMED)
    if not is_in_order(placement):
        refuses_prefixes(group)
    run_all(group, [case_of(chance, len(placement), *kind)
                    for kind in deal(GROUPS.index((hosts, place)))], chance)


@test
def each_check_has_every_operation_by_every_algorithm_with_every_class():
    dealt = {case for number in range(len(GROUPS)) for case in deal(number)}
    equal("what no group has", {(operation, algorithm, name)
                                for operation, algorithms in ALGORITHMS.items()
                                for algorithm in algorithms
                                for name in classes_of(operation)} - dealt, set())


netem(range(1, 17), "delay", "1ms", "0.5ms", "reorder", "10%", "duplicate", "5%", "loss", "5%")
main()
