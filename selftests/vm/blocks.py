#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=150
# suites: check debug rt arm64 soak
"""Operations whose vector has a block for each rank: allgather, gather, scatter and
reduce_scatter_block, wherever ranks are."""

import errno
import socket
import struct
from itertools import accumulate

import cases
from cases import (
    ROOTED, Case, element_bytes, elements_of_a_part, exclusive_or, in_turn, run_all)
from collsock_test import (
    ALLGATHER, AUTO, BINOMIAL, BITWISE_XOR, BYTE, DEFAULT_SEGMENT, DISSEMINATION, DOUBLE, EXCHANGE,
    GATHER, INT16, INT64, KARY, NOP, QUIET, REDUCE_SCATTER_BLOCK, SCATTER, SUM, UINT8, Memory,
    barrier, equal, faulty, main, outcome, refused, seeded, test, test_each)
from library_ranks import call_library

PLACEMENTS = ((0,), (0, 0, 0), (0, 1), (0, 1, 2, 3), (0, 0, 0, 1, 1, 1, 2, 2, 2),
              (0, 1, 2, 0, 1, 2, 0, 1, 2), (0, 1, 1, 2, 3, 3, 1, 3), (0, 1, 0, 2, 3, 1, 1, 0, 3, 2))
ALGORITHMS = {ALLGATHER: (AUTO, DISSEMINATION), GATHER: (AUTO, BINOMIAL),
              SCATTER: (AUTO, BINOMIAL),
              REDUCE_SCATTER_BLOCK: (AUTO, EXCHANGE, BINOMIAL, KARY)}
MAX_BYTES, DEGREE = 8192, 3
FAULTS = "delay", "1ms", "0.5ms", "loss", "5%", "duplicate", "5%"


def group_of(placement, **fields):
    return cases.group_of(placement, **{"max_bytes": MAX_BYTES, "degree": DEGREE, **fields})


def case_of(chance, ranks, operation, algorithm, count, type_=BYTE):
    op = BITWISE_XOR if operation == REDUCE_SCATTER_BLOCK else NOP
    elements = elements_of_a_part(operation, count, ranks)
    parts = [chance.randbytes(elements * element_bytes(type_)) for _ in range(ranks)]
    return Case(parts, list(accumulate(parts, exclusive_or)) if op else (), operation=operation,
                algorithm=algorithm, type=type_, op=op, count=count,
                root=chance.randrange(ranks) if operation in ROOTED else 0)


def cases_of(chance, ranks):
    """Vectors of one packet, and of many, that end anywhere."""
    most = MAX_BYTES // ranks
    for operation, algorithms in ALGORITHMS.items():
        for algorithm in algorithms:
            for count in (1, 7, most, chance.randrange(most) + 1):
                type_ = UINT8 if operation == REDUCE_SCATTER_BLOCK else BYTE
                yield case_of(chance, ranks, operation, algorithm, count, type_)
            type_ = INT16 if operation == REDUCE_SCATTER_BLOCK else DOUBLE
            yield case_of(chance, ranks, operation, algorithm, most // 8, type_)


@test_each(*in_turn(PLACEMENTS, False, True))
def every_rank_gets_its_blocks(placement, lossy):
    chance = seeded("blocks", placement, lossy)
    group = group_of(placement)
    with faulty(range(1, 5), *(FAULTS if lossy else ())):
        run_all(group, cases_of(chance, len(group)), chance)


@test
def wait_run_and_a_look_give_the_order_of_ranks_too():
    chance, placement = seeded("calls"), (0, 1, 2, 0, 1, 2)
    group = group_of(placement)
    for operation in (ALLGATHER, SCATTER):
        case = case_of(chance, len(group), operation, AUTO, 5)
        root = case.fields["root"]
        for rank in range(len(group)):
            if rank != root:
                group[rank].post(case.payloads[rank], cookie=1, **case.fields)
        case.check(root, group[root].run(case.payloads[root],
                                         memory=Memory(len(case.expected[root])), **case.fields))
        first, second = [rank for rank in range(len(group)) if rank != root][:2]
        case.check(first, group[first].wait(1))
        case.check(second, group[second].complete(socket.MSG_PEEK))
        for rank in range(len(group)):
            if rank not in (first, root):
                case.check(rank, group[rank].complete())


@test
def run_without_room_for_the_vector_is_refused_and_posts_nothing():
    group = group_of((0, 0))
    for operation, payload, result in ((ALLGATHER, 4, 8), (GATHER, 4, 8), (SCATTER, 8, 4),
                                       (REDUCE_SCATTER_BLOCK, 8, 4)):
        fields = {"operation": operation, "type": UINT8, "count": 4,
                  "op": SUM if operation == REDUCE_SCATTER_BLOCK else NOP}
        for sent, room in ((payload - 1, result), (payload, result - 1)):
            refused(errno.EMSGSIZE, f"RUN of {operation} with {sent} and {room} bytes",
                    group[0].run, bytes(sent), memory=Memory(room), **fields)
    equal("operations posted", group[0].stats().posted, 0)
    barrier(group)


@test
def the_limit_is_of_the_vector_of_all_ranks():
    group = group_of((0, 0, 1), max_bytes=63)
    for operation, type_, op in ((ALLGATHER, BYTE, NOP), (GATHER, BYTE, NOP), (SCATTER, BYTE, NOP),
                                 (REDUCE_SCATTER_BLOCK, UINT8, SUM)):
        own = operation in (ALLGATHER, GATHER)
        fields = {"operation": operation, "type": type_, "op": op}
        refused(errno.EMSGSIZE, f"{operation}", group[0].post, bytes(22 if own else 66),
                count=22, **fields)
        refused(errno.EINVAL, f"{operation} with a byte too few", group[0].post,
                bytes(20 if own else 62), count=21, **fields)
        refused(errno.EINVAL, f"{operation} of nothing", group[0].post, b"", count=0, **fields)
    refused(errno.EINVAL, "a reduction of bytes", group[0].post, bytes(3), count=1, type=BYTE,
            operation=REDUCE_SCATTER_BLOCK, op=SUM)
    refused(errno.EINVAL, "an operator of an allgather", group[0].post, bytes(1), count=1,
            type=UINT8, operation=ALLGATHER, op=SUM)
    refused(errno.EINVAL, "a root of an allgather", group[0].post, bytes(1), count=1,
            type=UINT8, operation=ALLGATHER, root=1)
    refused(errno.EINVAL, "a payload of a rank that is not the root", group[1].post, bytes(3),
            count=1, type=UINT8, operation=SCATTER)
    barrier(group)


@test
def ranks_that_gather_for_a_root_do_not_wait():
    group = group_of((0, 1, 2, 3))
    fields = {"operation": GATHER, "type": INT64, "op": NOP, "count": 1}
    for number in (3, 2, 1):
        group[number].post(struct.pack("=q", number), flags=QUIET if number == 2 else 0, **fields)
        if number != 2:
            equal("outcome", outcome(group[number].complete()), "success")
    refused(errno.EINVAL, "a quiet root", group[0].post, bytes(8), flags=QUIET, **fields)
    group[0].post(bytes(8), **fields)
    equal("blocks", group[0].complete().result, struct.pack("=4q", 0, 1, 2, 3))


@test
def a_rank_that_leaves_is_named():
    group = group_of((0, 1, 2, 3))
    fields = {"operation": ALLGATHER, "type": BYTE, "op": NOP, "count": DEFAULT_SEGMENT}
    for number in (0, 1, 3):
        group[number].post(bytes(DEFAULT_SEGMENT), **fields)
    group[2].close()
    for number in (0, 1, 3):
        equal("outcome", outcome(group[number].complete()), "ECONNRESET rank 2")


@test
def the_functions_of_the_library_do_the_same():
    placement, chance = (0, 1, 0, 2), seeded("library")
    size, count, root = len(placement), 3, 2
    blocks = [struct.pack("=3q", *(chance.randrange(1 << 40) for _ in range(count)))
              for _ in range(size)]
    vectors = [struct.pack("=12q", *(chance.randrange(1 << 40) for _ in range(count * size)))
               for _ in range(size)]
    whole, block = b"".join(blocks), len(blocks[0])
    sums = struct.pack("=12q", *(sum(column) for column in
                                 zip(*(struct.unpack("=12q", vector) for vector in vectors))))
    calls, expected = [], []
    for rank in range(size):
        own = slice(rank * block, (rank + 1) * block)
        at_root = rank == root
        calls.append((
            ("collsock_allgather", blocks[rank], bytes(len(whole)), (count, INT64)),
            ("collsock_gather", blocks[rank], bytes(len(whole)) if at_root else None,
             (count, INT64, root)),
            ("collsock_scatter", vectors[root] if at_root else None, bytes(block),
             (count, INT64, root)),
            ("collsock_reduce_scatter_block", vectors[rank], bytes(block), (count, INT64, SUM)),
            ("collsock_allgather", blocks[rank], bytes(len(whole)), (1 << 20, INT64)),
            ("collsock_allgather", blocks[rank], bytes(len(whole)), (count, 99))))
        expected.append([(0, whole), (0, whole if at_root else b""), (0, vectors[root][own]),
                         (0, sums[own]), (-errno.EMSGSIZE, bytes(len(whole))),
                         (-errno.EINVAL, bytes(len(whole)))])
    equal("results by rank", call_library(placement, calls), expected)


main()
