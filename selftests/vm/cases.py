# SPDX-License-Identifier: GPL-2.0
"""Operations whose results are known before they are posted, whatever the operation.

What each rank posts and must get follows from what all ranks have, by the table of
Documentation/uapi.md (Post).
"""

import arithmetic
from collsock_test import (
    ALLGATHER, ALLREDUCE, BARRIER, BROADCAST, BYTE, EXSCAN, GATHER, ON_DEBUG_KERNEL, REDUCE,
    REDUCE_SCATTER_BLOCK, SCAN, SCATTER, SOAK, Group, equal, outcome)

NAMES = {BARRIER: "barrier", ALLREDUCE: "allreduce", REDUCE: "reduce", BROADCAST: "broadcast",
         ALLGATHER: "allgather", GATHER: "gather", SCATTER: "scatter",
         REDUCE_SCATTER_BLOCK: "reduce_scatter_block", SCAN: "scan", EXSCAN: "exscan"}
ROOTED = REDUCE, BROADCAST, GATHER, SCATTER
BLOCKS = ALLGATHER, GATHER, SCATTER, REDUCE_SCATTER_BLOCK
PREFIXES = SCAN, EXSCAN


def in_turn(placements, *values):
    """Each placement with one of the values, on a debug kernel with the next one; in a soak with
    all of them."""
    return [(placement, value) for index, placement in enumerate(placements)
            for value in (values if SOAK > 1 else
                          (values[(index + ON_DEBUG_KERNEL) % len(values)],))]


def element_bytes(type_):
    return 1 if type_ == BYTE else arithmetic.element_bytes(type_)


def elements_of_a_part(operation, count, ranks):
    """Of what each rank has: its block, or a vector, with a block for each rank or without."""
    return count * ranks if operation in (SCATTER, REDUCE_SCATTER_BLOCK) else count


def exclusive_or(left, right):
    number = int.from_bytes(left, "little") ^ int.from_bytes(right, "little")
    return number.to_bytes(len(left), "little")


class Case:
    """One operation: what each rank posts, and what it must get."""

    def __init__(self, parts, prefixes=(), **fields):
        """
        parts: what each rank has, also where it does not contribute
        prefixes: what it has together with ranks below it, where that is combined; the last one
        is of all ranks, and of no use in an exscan
        """
        operation, root = fields["operation"], fields.get("root", 0)
        self.fields = fields
        self.name = f"{NAMES[operation]} with {fields}"
        self.payloads = [part if operation not in (BROADCAST, SCATTER) or rank == root else b""
                         for rank, part in enumerate(parts)]
        if operation in PREFIXES:
            self.expected = prefixes if operation == SCAN else [b"", *prefixes]
            return
        if operation in (ALLGATHER, GATHER):
            whole = b"".join(parts)
        else:
            whole = prefixes[-1] if prefixes else parts[root]
        self.expected = [self.share(rank, whole) for rank in range(len(parts))]

    def share(self, rank, whole):
        """What this rank gets of the vector."""
        operation, root = self.fields["operation"], self.fields.get("root", 0)
        if operation in (SCATTER, REDUCE_SCATTER_BLOCK):
            block = self.fields["count"] * element_bytes(self.fields["type"])
            return whole[rank * block:(rank + 1) * block]
        if operation in ROOTED and (rank == root) == (operation == BROADCAST):
            return b""
        return whole

    def check(self, rank, completion):
        equal(f"outcome at rank {rank} of {self.name}", outcome(completion), "success")
        equal(f"result at rank {rank} of {self.name}", completion.result, self.expected[rank])


def run_cases(group, cases, chance, **how):
    """All ranks post all operations; the order of ranks differs each time. Arguments of complete()
    may follow."""
    ranks = list(range(len(group)))
    for cookie, case in enumerate(cases):
        chance.shuffle(ranks)
        for rank in ranks:
            group[rank].post(case.payloads[rank], cookie=cookie, **case.fields)
    for rank in ranks:
        for _ in cases:
            completion = group[rank].complete(**how)
            cases[completion.cookie].check(rank, completion)


def run_all(group, cases, chance, outstanding=8):
    """In any order, some at a time; all packets make sense."""
    cases = list(cases)
    chance.shuffle(cases)
    for first in range(0, len(cases), outstanding):
        run_cases(group, cases[first:first + outstanding], chance)
    for rank in group:
        equal("packets without sense", rank.stats().invalid, 0)


def group_of(placement, **fields):
    """Ranks on these hosts, counted from 0"""
    return Group(range(1, max(placement) + 2), placement=placement, **fields)
