#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=150
# suites: check debug rt arm64 soak
"""Operations whose vector has a block for each rank: allgather, gather, scatter and
reduce_scatter_block, wherever ranks are."""

import ctypes
import errno
import fcntl
import pathlib
import socket
import struct
import threading

from collsock_test import (
    ALLGATHER, AUTO, BINOMIAL, BITWISE_XOR, BYTE, DEFAULT_SEGMENT, DISSEMINATION,
    DOUBLE, EXCHANGE, GATHER, INT16, INT64, KARY, NOP, POST, QUIET, REDUCE_SCATTER_BLOCK, RUN,
    RUN_BYTES, RUN_HEAD, SCATTER, SUM, UINT8, Completion, Group, barrier, enter, equal, main,
    netem, outcome, refused, run_bytes, seeded, test, test_each)

PLACEMENTS = ((0,), (0, 0, 0), (0, 1), (0, 1, 2, 3), (0, 0, 0, 1, 1, 1, 2, 2, 2),
              (0, 1, 2, 0, 1, 2, 0, 1, 2), (0, 1, 1, 2, 3, 3, 1, 3), (0, 1, 0, 2, 3, 1, 1, 0, 3, 2))
ALGORITHMS = {ALLGATHER: (AUTO, DISSEMINATION), GATHER: (AUTO, BINOMIAL),
              SCATTER: (AUTO, BINOMIAL),
              REDUCE_SCATTER_BLOCK: (AUTO, EXCHANGE, BINOMIAL, KARY)}
MAX_BYTES, DEGREE = 8192, 3
ELEMENT = {BYTE: 1, UINT8: 1, INT16: 2, INT64: 8, DOUBLE: 8}


def group_of(placement, **fields):
    return Group(range(1, max(placement) + 2), placement=placement,
                 **{"max_bytes": MAX_BYTES, "degree": DEGREE, **fields})


class Case:
    """One operation: what each rank posts, and what it must get."""

    def __init__(self, chance, size, operation, algorithm, count, type_=BYTE):
        root = chance.randrange(size) if operation in (GATHER, SCATTER) else 0
        reduces = operation == REDUCE_SCATTER_BLOCK
        block = count * ELEMENT[type_]
        self.fields = {"operation": operation, "algorithm": algorithm, "type": type_,
                       "op": BITWISE_XOR if reduces else NOP, "count": count, "root": root}
        vectors = [chance.randbytes(block * size) for _ in range(size)]
        if operation in (ALLGATHER, GATHER):
            self.payloads = [vector[:block] for vector in vectors]
            whole = b"".join(self.payloads)
            self.expected = [whole if operation == ALLGATHER or rank == root else b""
                             for rank in range(size)]
            return
        self.payloads = [vector if reduces or rank == root else b""
                         for rank, vector in enumerate(vectors)]
        whole = 0
        for payload in self.payloads:
            whole ^= int.from_bytes(payload, "little")
        whole = whole.to_bytes(block * size, "little")
        self.expected = [whole[rank * block:(rank + 1) * block] for rank in range(size)]

    def check(self, rank, completion):
        equal(f"outcome at rank {rank} of {self.fields}", outcome(completion), "success")
        equal(f"result at rank {rank} of {self.fields}", completion.result, self.expected[rank])


def cases_of(chance, size):
    """Vectors of one packet, and of many, that end anywhere."""
    most = MAX_BYTES // size
    for operation, algorithms in ALGORITHMS.items():
        for algorithm in algorithms:
            for count in (1, 7, most, chance.randrange(most) + 1):
                type_ = UINT8 if operation == REDUCE_SCATTER_BLOCK else BYTE
                yield Case(chance, size, operation, algorithm, count, type_)
            type_ = INT16 if operation == REDUCE_SCATTER_BLOCK else DOUBLE
            yield Case(chance, size, operation, algorithm, most // 8, type_)


def run_cases(group, cases, chance):
    ranks = list(range(len(group)))
    for cookie, case in enumerate(cases):
        chance.shuffle(ranks)
        for rank in ranks:
            group[rank].post(case.payloads[rank], cookie=cookie, **case.fields)
    for rank in ranks:
        for _ in cases:
            completion = group[rank].complete()
            cases[completion.cookie].check(rank, completion)


@test_each(*((placement, lossy) for placement in PLACEMENTS for lossy in (False, True)))
def every_rank_gets_its_blocks(placement, lossy):
    chance = seeded("blocks", placement, lossy)
    group = group_of(placement)
    if lossy:
        netem(range(1, 5), "delay", "1ms", "0.5ms", "loss", "5%", "duplicate", "5%")
    try:
        cases = list(cases_of(chance, len(group)))
        chance.shuffle(cases)
        for first in range(0, len(cases), 8):
            run_cases(group, cases[first:first + 8], chance)
    finally:
        if lossy:
            netem(range(1, 5))
    for rank in group:
        equal("packets without sense", rank.stats().invalid, 0)


@test
def wait_run_and_a_look_give_the_order_of_ranks_too():
    chance, placement = seeded("calls"), (0, 1, 2, 0, 1, 2)
    group = group_of(placement)
    for operation in (ALLGATHER, SCATTER):
        case = Case(chance, len(group), operation, AUTO, 5)
        root = case.fields["root"]
        for rank in range(len(group)):
            if rank != root:
                group[rank].post(case.payloads[rank], cookie=1, **case.fields)
        # RUN needs room for the result, too.
        room = max(len(case.payloads[root]), len(case.expected[root]))
        data = bytearray(run_bytes(case.payloads[root].ljust(room, b"\0"), **case.fields))
        fcntl.ioctl(group[root], RUN, data)
        case.check(root, Completion(data, RUN_HEAD.size + POST.size, RUN_BYTES))
        first, second = [rank for rank in range(len(group)) if rank != root][:2]
        case.check(first, group[first].wait(1))
        case.check(second, group[second].complete(socket.MSG_PEEK))
        for rank in range(len(group)):
            if rank not in (first, root):
                case.check(rank, group[rank].complete())


@test
def run_without_room_for_the_vector_is_refused_and_posts_nothing():
    group = group_of((0, 0))
    for operation, fits in ((ALLGATHER, 8), (GATHER, 8), (SCATTER, 8),
                            (REDUCE_SCATTER_BLOCK, 8)):
        fields = {"operation": operation, "type": UINT8, "count": 4,
                  "op": SUM if operation == REDUCE_SCATTER_BLOCK else NOP}
        refused(errno.EMSGSIZE, f"RUN of {operation}", fcntl.ioctl, group[0], RUN,
                bytearray(run_bytes(bytes(fits - 1), **fields)))
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


# ---- the library ----

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "build/lib/libcollsock.so"


class LibraryRank:
    """A rank that calls the library, in a thread of its own."""

    def __init__(self, library, placement, number, nonce, calls):
        self.library, self.placement, self.number = library, placement, number
        self.nonce, self.calls, self.results = nonce, calls, []
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        try:
            self.join()
            for name, data, room, arguments in self.calls[self.number]:
                result = ctypes.create_string_buffer(room) if room else None
                error = getattr(self.library, name)(self.socket, data, result, *arguments, None)
                self.results.append((error, result.raw if room else b""))
        except OSError as error:
            self.results.append(error)

    def join(self):
        library = self.library
        enter(1 + self.placement[self.number])
        self.socket, group = ctypes.c_void_p(), ctypes.c_void_p()
        equal("open", library.collsock_open(ctypes.byref(self.socket), 0), 0)
        equal("group", library.collsock_group_new(ctypes.byref(group), ctypes.c_uint64(77),
                                                  ctypes.c_uint64(self.nonce), bytes(range(16))), 0)
        for host in self.placement:
            address = f"10.1.0.{1 + host}".encode()
            equal("host", library.collsock_group_add_host(group, address, 0), 0)
        equal("join", library.collsock_join(self.socket, group, self.number), 0)


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
            ("collsock_allgather", blocks[rank], len(whole), (count, INT64)),
            ("collsock_gather", blocks[rank], len(whole) if at_root else 0, (count, INT64, root)),
            ("collsock_scatter", vectors[root] if at_root else None, block, (count, INT64, root)),
            ("collsock_reduce_scatter_block", vectors[rank], block, (count, INT64, SUM)),
            ("collsock_allgather", blocks[rank], len(whole), (1 << 20, INT64)),
            ("collsock_allgather", blocks[rank], len(whole), (count, 99))))
        expected.append([(0, whole), (0, whole if at_root else b""), (0, vectors[root][own]),
                         (0, sums[own]), (-errno.EMSGSIZE, bytes(len(whole))),
                         (-errno.EINVAL, bytes(len(whole)))])
    library = ctypes.CDLL(str(LIBRARY))
    nonce = chance.getrandbits(63)
    ranks = [LibraryRank(library, placement, number, nonce, calls) for number in range(size)]
    for rank in ranks:
        rank.thread.join()
    for rank in ranks:
        equal(f"results of rank {rank.number}", rank.results, expected[rank.number])
        library.collsock_close(rank.socket)


main()
