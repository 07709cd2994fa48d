#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mixed_rank FOLDER RANK RANKS COUNT: joins through files of a folder, with libcollsock, and runs
random operations, the same on all ranks, whose results it checks. Prints the number of those that
were right and the backend, or why one failed."""
import ctypes
import errno
import os
import pathlib
import random
import sys
import time

LIBRARY = "build/lib/libcollsock.so"
NO_RANK = 0xffffffff
INT64, SUM, MAX = 1, 1, 3
MOST = 200  # elements

EXCHANGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.c_size_t)


class Completion(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("error", ctypes.c_uint32),
                ("failed_rank", ctypes.c_uint32), ("bytes", ctypes.c_uint32),
                ("cookie", ctypes.c_uint64), ("posted_ns", ctypes.c_uint64),
                ("completed_ns", ctypes.c_uint64)]


class Rank:
    def __init__(self, folder, rank, ranks):
        self.folder, self.rank, self.ranks = pathlib.Path(folder), rank, ranks
        self.library = ctypes.CDLL(LIBRARY)
        self.exchanges = 0
        self.socket = ctypes.c_void_p()
        self.completion = Completion()
        exchange = EXCHANGE(self.exchange)
        err = self.library.collsock_join_with(ctypes.byref(self.socket), None, rank, ranks,
                                              exchange, None)
        if err:
            sys.exit(f"join: {errno.errorcode[-err]}")

    def exchange(self, _, mine, everything, size):
        number = self.exchanges
        self.exchanges += 1
        own = self.folder / f"{number}-{self.rank}"
        own.with_suffix(".new").write_bytes(ctypes.string_at(mine, size))
        own.with_suffix(".new").rename(own)
        for rank in range(self.ranks):
            path = self.folder / f"{number}-{rank}"
            while not path.exists():
                time.sleep(0.01)
            ctypes.memmove(everything + rank * size, path.read_bytes(), size)
        return 0

    def call(self, name, *arguments):
        err = getattr(self.library, f"collsock_{name}")(
            self.socket, *arguments, ctypes.byref(self.completion))
        if err:
            print(f"{name}: {errno.errorcode[-err]} rank {self.completion.failed_rank}",
                  flush=True)
            sys.exit(1)

    def is_user(self):
        """Only a socket of the kernel has a number of its own family."""
        domain = os.readlink(f"/proc/self/fd/{self.library.collsock_fd(self.socket)}")
        return domain.split("[")[1].rstrip("]") in pathlib.Path("/proc/net/unix").read_text()


def operation(rank, chance):
    """Runs one that all ranks draw alike; returns what it gave and what it should have given."""
    count, root = chance.randint(1, MOST), chance.randrange(rank.ranks)
    values = [[chance.randint(-1000, 1000) for _ in range(count)] for _ in range(rank.ranks)]
    array = ctypes.c_int64 * count
    own, got = array(*values[rank.rank]), array()
    columns = list(zip(*values))
    match chance.choice(("barrier", "allreduce", "broadcast", "reduce", "allgather", "scan")):
        case "barrier":
            rank.call("barrier")
            return None, None
        case "allreduce":
            rank.call("allreduce", own, got, count, INT64, MAX)
            return list(got), [max(column) for column in columns]
        case "broadcast":
            rank.call("broadcast", own, count, INT64, root)
            return list(own), values[root]
        case "reduce":
            rank.call("reduce", own, got, count, INT64, SUM, root)
            should = [sum(column) for column in columns] if rank.rank == root else [0] * count
            return list(got), should
        case "allgather":
            few = count % 3 + 1
            everything = (ctypes.c_int64 * (few * rank.ranks))()
            rank.call("allgather", (ctypes.c_int64 * few)(*([rank.rank] * few)), everything, few,
                      INT64)
            return list(everything), [number for number in range(rank.ranks) for _ in range(few)]
        case "scan":
            rank.call("scan", own, got, count, INT64, SUM)
            return list(got), [sum(column[:rank.rank + 1]) for column in columns]


def main(folder, number, ranks, count):
    rank = Rank(folder, int(number), int(ranks))
    chance = random.Random(int(ranks))
    for done in range(int(count)):
        got, should = operation(rank, chance)
        if got != should:
            sys.exit(f"operation {done}: {got} instead of {should}")
    print(f"{count} right, {'user' if rank.is_user() else 'kernel'}", flush=True)
    rank.library.collsock_close(rank.socket)


main(*sys.argv[1:])
