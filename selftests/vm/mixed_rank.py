#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mixed_rank FOLDER RANK RANKS COUNT: joins through files of a folder, with libcollsock, and runs
random operations, several at a time and the same on all ranks, whose results it checks. Prints the
number of those that were right and the backend, or why one failed."""
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
AHEAD = 16  # operations under way

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

    def post(self, name, *arguments):
        err = getattr(self.library, f"collsock_post_{name}")(self.socket, *arguments)
        if err == -errno.EPIPE:
            self.hear_of_failure()
        self.check(name, err)

    def hear_of_failure(self):
        """In user space no post is accepted from when a completion that says it can be received."""
        room = (ctypes.c_int64 * (MOST * self.ranks))()
        while not self.completion.error:
            self.check("complete", self.library.collsock_complete(
                self.socket, ctypes.byref(self.completion), room,
                ctypes.c_size_t(ctypes.sizeof(room))))
        self.check("result", -self.completion.error)

    def wait(self, cookie):
        """The result of the operation with this cookie."""
        result = (ctypes.c_int64 * (MOST * self.ranks))()
        self.check("wait", self.library.collsock_wait(
            self.socket, ctypes.c_uint64(cookie), ctypes.byref(self.completion), result,
            ctypes.c_size_t(ctypes.sizeof(result))))
        self.check("result", -self.completion.error)
        return result[:self.completion.bytes // ctypes.sizeof(ctypes.c_int64)]

    def check(self, what, err):
        if err:
            print(f"{what}: {errno.errorcode[-err]} rank {self.completion.failed_rank}",
                  flush=True)
            sys.exit(1)

    def is_user(self):
        """Only a socket of the kernel has a number of its own family."""
        domain = os.readlink(f"/proc/self/fd/{self.library.collsock_fd(self.socket)}")
        return domain.split("[")[1].rstrip("]") in pathlib.Path("/proc/net/unix").read_text()


def post(rank, chance, cookie):
    """Posts an operation that all ranks draw alike; returns what its result should be."""
    count, root = chance.randint(1, MOST), chance.randrange(rank.ranks)
    values = [[chance.randint(-1000, 1000) for _ in range(count)] for _ in range(rank.ranks)]
    own = (ctypes.c_int64 * count)(*values[rank.rank])
    columns, last = list(zip(*values)), ctypes.c_uint64(cookie)
    match chance.choice(("barrier", "allreduce", "broadcast", "reduce", "allgather", "scan")):
        case "barrier":
            rank.post("barrier", last)
            return []
        case "allreduce":
            rank.post("allreduce", own, count, INT64, MAX, last)
            return [max(column) for column in columns]
        case "broadcast":
            is_root = rank.rank == root
            rank.post("broadcast", own if is_root else None, count, INT64, root, 0, last)
            return [] if is_root else values[root]
        case "reduce":
            rank.post("reduce", own, count, INT64, SUM, root, 0, last)
            return [sum(column) for column in columns] if rank.rank == root else []
        case "allgather":
            few = count % 3 + 1
            rank.post("allgather", (ctypes.c_int64 * few)(*([rank.rank] * few)), few, INT64, last)
            return [number for number in range(rank.ranks) for _ in range(few)]
        case "scan":
            rank.post("scan", own, count, INT64, SUM, last)
            return [sum(column[:rank.rank + 1]) for column in columns]


def main(folder, number, ranks, count):
    rank, count = Rank(folder, int(number), int(ranks)), int(count)
    chance = random.Random(rank.ranks)
    expected = []
    for done in range(count):
        while len(expected) < min(done + AHEAD, count):
            expected.append(post(rank, chance, len(expected)))
        got = rank.wait(done)
        if got != expected[done]:
            sys.exit(f"operation {done}: {got} instead of {expected[done]}")
        expected[done] = None
    print(f"{count} right, {'user' if rank.is_user() else 'kernel'}", flush=True)
    rank.library.collsock_close(rank.socket)


main(*sys.argv[1:])
