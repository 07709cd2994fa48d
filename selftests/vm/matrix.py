#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=16 limit=150
# suites: check soak
"""Every operation by every algorithm, with several degrees, under loss; on hosts of one rank and
of several."""

from collsock_test import (
    ALLREDUCE, BARRIER, BINOMIAL, BITWISE_XOR, BROADCAST, DEFAULT_SEGMENT, DISSEMINATION, EXCHANGE,
    EXSCAN, FLAT, HILLIS_STEELE, KARY, MCS, NOP, REDUCE, SCAN, SOAK, UINT64, Group, equal, main,
    netem, outcome, seeded, test_each)

SIZES = range(1, 17) if SOAK > 1 else (1, 2, 3, 6, 16)
RANKS_PER_HOST = 1, 3
DEGREE, MAX_BYTES = 3, 4096
DEGREES = 2, 5, 16  # that posts may name
COUNTS = 1, DEFAULT_SEGMENT // 8, DEFAULT_SEGMENT // 8 + 1, MAX_BYTES // 8
ALGORITHMS = {
    BARRIER: (DISSEMINATION, EXCHANGE, BINOMIAL, KARY, FLAT, MCS),
    ALLREDUCE: (EXCHANGE, BINOMIAL, KARY, FLAT, MCS),
    REDUCE: (BINOMIAL, KARY, FLAT),
    BROADCAST: (BINOMIAL, KARY, FLAT),
    # If ranks are placed in their order; scans.py has others
    SCAN: (HILLIS_STEELE,),
    EXSCAN: (HILLIS_STEELE,),
}
NAMED = sum(1 << algorithm for algorithm in ALGORITHMS[BARRIER] + ALGORITHMS[SCAN])
WITHOUT_DEGREE = BINOMIAL, FLAT, MCS, HILLIS_STEELE
OUTSTANDING = 8  # operations


class Case:
    """One operation: what each rank posts, and what it must get."""

    def __init__(self, chance, size, operation, algorithm):
        root = chance.randrange(size) if operation in (REDUCE, BROADCAST) else 0
        count = chance.choice(COUNTS)
        degree = 0 if algorithm in WITHOUT_DEGREE else chance.choice((0, DEGREE, *DEGREES))
        self.fields = {"operation": operation, "algorithm": algorithm, "degree": degree,
                       "root": root}
        if operation == BARRIER:
            self.payloads = self.expected = [b""] * size
            return
        self.fields.update(type=UINT64, op=NOP if operation == BROADCAST else BITWISE_XOR,
                           count=count)
        values = [chance.getrandbits(64 * count) for _ in range(size)]
        result, before = 0, []
        for value in values:
            before.append(result)
            result ^= value
        if operation == BROADCAST:
            result = values[root]
        self.payloads = [value.to_bytes(8 * count, "little")
                         if operation != BROADCAST or rank == root else b""
                         for rank, value in enumerate(values)]
        self.expected = [result.to_bytes(8 * count, "little")
                         if operation == ALLREDUCE or (operation == REDUCE) == (rank == root)
                         else b"" for rank in range(size)]
        if operation in (SCAN, EXSCAN):
            prefixes = before[1:] + [result] if operation == SCAN else before
            self.expected = [prefix.to_bytes(8 * count, "little") for prefix in prefixes]
            self.expected[0] *= operation == SCAN


def run_cases(group, cases, chance):
    """All ranks post all operations; the order of ranks differs each time."""
    ranks = list(range(len(group)))
    for cookie, case in enumerate(cases):
        chance.shuffle(ranks)
        for rank in ranks:
            group[rank].post(case.payloads[rank], cookie=cookie, **case.fields)
    for rank in ranks:
        for _ in cases:
            completion = group[rank].complete()
            case = cases[completion.cookie]
            equal(f"outcome at rank {rank} of {case.fields}", outcome(completion), "success")
            equal(f"result at rank {rank} of {case.fields}", completion.result,
                  case.expected[rank])


@test_each(*((size, ranks) for size in SIZES for ranks in RANKS_PER_HOST))
def every_algorithm_gives_the_right_result(size, ranks):
    chance = seeded("matrix", size, ranks)
    group = Group(range(1, size + 1), placement=[rank % size for rank in range(size * ranks)],
                  degree=DEGREE, degrees=sum(1 << degree - 1 for degree in DEGREES),
                  max_bytes=MAX_BYTES, algorithms=NAMED)
    kinds = [(operation, algorithm) for operation, algorithms in ALGORITHMS.items()
             if operation not in (SCAN, EXSCAN) or 1 in (size, ranks)
             for algorithm in algorithms] * max(1, SOAK // 4)
    chance.shuffle(kinds)
    for first in range(0, len(kinds), OUTSTANDING):
        cases = [Case(chance, len(group), *kind) for kind in kinds[first:first + OUTSTANDING]]
        run_cases(group, cases, chance)
    for rank in group[:size]:
        equal("packets without sense", rank.stats().invalid, 0)


netem(range(1, 17), "delay", "1ms", "0.5ms", "reorder", "10%", "duplicate", "5%", "loss", "5%")
main()
