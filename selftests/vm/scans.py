#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=240
# suites: check debug rt arm64 soak
"""Scan and exscan: every type and operator, against whole numbers and fractions, in the order of
Documentation/reductions.md."""

import ctypes
import errno
import fcntl
import pathlib
import socket
import struct
import threading

from arithmetic import REDUCTIONS, draw, name_of, operate, pack
from collsock_test import (
    AUTO, BYTE, DEFAULT_SEGMENT, DOUBLE, EXSCAN, HILLIS_STEELE, INT64, MAX_PAYLOAD, POST, QUIET,
    RUN, RUN_BYTES, RUN_HEAD, SCAN, SOAK, SUM, Completion, Group, barrier, enter, equal, main,
    netem, outcome, refused, run_bytes, seeded, test, test_each)

PLACEMENTS = ((0,), (0, 0, 0), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7),
              (0, 0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 1, 1, 2, 3, 3, 4, 5, 5))
SCATTERED = ((0, 1, 0), (0, 1, 2, 0, 1, 2), (0, 0, 1, 1, 0))
MAX_BYTES = 4096
OUTSTANDING = 8


def group_of(placement, **fields):
    return Group(range(1, max(placement) + 2), placement=placement,
                 **{"max_bytes": MAX_BYTES, **fields})


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


class Case:
    """One operation: what each rank posts, and what it must get."""

    def __init__(self, chance, placement, operation, reduction, count):
        type_, op = reduction
        self.name = f"{'exscan' if operation == EXSCAN else 'scan'} of {name_of(type_, op)}"
        self.fields = {"operation": operation, "type": type_, "op": op, "count": count,
                       "algorithm": chance.choice((AUTO, HILLIS_STEELE))}
        vectors = [[draw(type_, chance) for _ in range(count)] for _ in placement]
        self.payloads = [pack(type_, vector) for vector in vectors]
        prefixes = Prefixes(placement, vectors, lambda left, right: [
            operate(type_, op, *pair) for pair in zip(left, right)])
        results = [prefixes.of(rank, rank - (operation == EXSCAN))
                   for rank in range(len(placement))]
        self.expected = [b"" if one is None else pack(type_, one) for one in results]

    def check(self, rank, completion):
        equal(f"outcome at rank {rank} of {self.name}", outcome(completion), "success")
        equal(f"result at rank {rank} of {self.name}", completion.result, self.expected[rank])


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
def every_rank_gets_its_prefix_by_every_operator(placement, lossy):
    chance = seeded("scans", placement, lossy)
    group = group_of(placement)
    if lossy:
        netem(range(1, 9), "delay", "1ms", "0.5ms", "loss", "5%", "duplicate", "5%")
    try:
        cases = [Case(chance, placement, operation, reduction, chance.choice((1, 2, 3)))
                 for reduction in (REDUCTIONS if SOAK > 1 else chance.sample(REDUCTIONS, 10))
                 for operation in (SCAN, EXSCAN)]
        chance.shuffle(cases)
        for first in range(0, len(cases), OUTSTANDING):
            run_cases(group, cases[first:first + OUTSTANDING], chance)
    finally:
        if lossy:
            netem(range(1, 9))
    for rank in group:
        equal("packets without sense", rank.stats().invalid, 0)


class Words:
    """Vectors of 64-bit words as one large number each: quick enough for 64 KiB"""

    def __init__(self, chance, placement, count):
        self.vectors = [chance.getrandbits(64 * count) >> 1 & int("0f" * 8 * count, 16)
                        for _ in placement]
        self.payloads = [vector.to_bytes(8 * count, "little") for vector in self.vectors]
        self.count = count

    def expected(self, ranks):
        """Of the first ranks; no word exceeds 64 bits."""
        return sum(self.vectors[:ranks]).to_bytes(8 * self.count, "little") if ranks else b""


@test_each(*((placement, segment) for placement in PLACEMENTS for segment in (0, 48)))
def vectors_of_many_segments_are_exact_under_loss(placement, segment):
    chance = seeded("segments", placement, segment)
    group = group_of(placement, max_bytes=MAX_PAYLOAD // (8 if segment else 1),
                     segment_bytes=segment, window=4)
    most = MAX_PAYLOAD // (64 if segment else 8)
    netem(range(1, 9), "delay", "1ms", "0.5ms", "loss", "2%", "reorder", "10%")
    try:
        for count in (most, DEFAULT_SEGMENT // 8 + 1, most - 1):
            for operation in (SCAN, EXSCAN):
                words, ranks = Words(chance, placement, count), list(range(len(placement)))
                chance.shuffle(ranks)
                for rank in ranks:
                    group[rank].post(words.payloads[rank], operation=operation, type=INT64,
                                     op=SUM, count=count)
                for rank in ranks:
                    completion = group[rank].complete()
                    equal(f"outcome at rank {rank}", outcome(completion), "success")
                    equal(f"result at rank {rank} of {count}",
                          completion.result == words.expected(rank + (operation == SCAN)), True)
    finally:
        netem(range(1, 9))


@test
def rank_0_of_an_exscan_gets_nothing_and_its_buffer_is_left_alone():
    group = group_of((0, 1))
    fields = {"operation": EXSCAN, "type": INT64, "op": SUM, "count": 1}
    group[1].post(struct.pack("=q", 5), **fields)
    data = bytearray(run_bytes(struct.pack("=q", 7), **fields))
    fcntl.ioctl(group[0], RUN, data)
    completion = Completion(data, RUN_HEAD.size + POST.size, RUN_BYTES)
    equal("outcome", outcome(completion), "success")
    equal("result", completion.result, b"")
    equal("buffer", bytes(data[RUN_BYTES:]), struct.pack("=q", 7))
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
            for name, data, arguments in self.calls[self.number]:
                result = ctypes.create_string_buffer(b"?" * len(data), len(data))
                error = getattr(self.library, name)(self.socket, data, result, *arguments, None)
                self.results.append((error, result.raw))
        except OSError as error:
            self.results.append(error)

    def join(self):
        library = self.library
        enter(1 + self.placement[self.number])
        self.socket, group = ctypes.c_void_p(), ctypes.c_void_p()
        equal("open", library.collsock_open(ctypes.byref(self.socket), 0), 0)
        equal("group", library.collsock_group_new(ctypes.byref(group), ctypes.c_uint64(78),
                                                  ctypes.c_uint64(self.nonce), bytes(range(16))), 0)
        for host in self.placement:
            address = f"10.1.0.{1 + host}".encode()
            equal("host", library.collsock_group_add_host(group, address, 0), 0)
        equal("join", library.collsock_join(self.socket, group, self.number), 0)


@test
def the_functions_of_the_library_do_the_same():
    placement, chance, count = (0, 0, 1, 2), seeded("library"), 3
    values = [[chance.randrange(1 << 40) for _ in range(count)] for _ in placement]
    blocks = [struct.pack("=3q", *row) for row in values]
    sums = [struct.pack("=3q", *map(sum, zip(*values[:ranks]))) if ranks else b"?" * 24
            for ranks in range(len(placement) + 1)]
    calls = [(("collsock_scan", block, (count, INT64, SUM)),
              ("collsock_exscan", block, (count, INT64, SUM)),
              ("collsock_scan", block, (count, BYTE, SUM)),
              ("collsock_exscan", block, (1 << 20, INT64, SUM))) for block in blocks]
    library = ctypes.CDLL(str(LIBRARY))
    nonce = chance.getrandbits(63)
    ranks = [LibraryRank(library, placement, number, nonce, calls)
             for number in range(len(placement))]
    for rank in ranks:
        rank.thread.join()
    for number, rank in enumerate(ranks):
        equal(f"results of rank {number}", rank.results,
              [(0, sums[number + 1]), (0, sums[number]), (-errno.EINVAL, b"?" * 24),
               (-errno.EMSGSIZE, b"?" * 24)])
        library.collsock_close(rank.socket)


main()
