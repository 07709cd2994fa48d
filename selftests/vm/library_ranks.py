# SPDX-License-Identifier: GPL-2.0
"""Ranks that call the C library, each in a thread of its own."""

import ctypes
import pathlib
import random
import threading

from collsock_test import enter, equal

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "build/lib/libcollsock.so"
ID, KEY = 77, bytes(range(16))


class LibraryRank(threading.Thread):
    """Makes its calls; then results has what each returned, and its buffer."""

    def __init__(self, placement, number, nonce, calls):
        super().__init__()
        self.placement, self.number, self.nonce, self.calls = placement, number, nonce, calls
        self.library, self.socket, self.results = ctypes.CDLL(str(LIBRARY)), ctypes.c_void_p(), []

    def run(self):
        try:
            self.join_group()
            for name, data, buffer, arguments in self.calls:
                result = buffer and ctypes.create_string_buffer(buffer, len(buffer))
                error = getattr(self.library, name)(self.socket, data, result, *arguments, None)
                self.results.append((error, result.raw if result else b""))
        except Exception as error:  # pylint: disable=broad-except
            self.results.append(error)

    def join_group(self):
        library, group = self.library, ctypes.c_void_p()
        enter(1 + self.placement[self.number])
        equal("open", library.collsock_open(ctypes.byref(self.socket), 0), 0)
        equal("group", library.collsock_group_new(ctypes.byref(group), ctypes.c_uint64(ID),
                                                  ctypes.c_uint64(self.nonce), KEY), 0)
        for host in self.placement:
            address = f"10.1.0.{1 + host}".encode()
            equal("host", library.collsock_group_add_host(group, address, 0), 0)
        equal("join", library.collsock_join(self.socket, group, self.number), 0)


def call_library(placement, calls):
    """Ranks on these hosts, counted from 0, make calls: a function, the data, what is in the
    buffer of the result, or None, and other arguments. Returns the results of each rank."""
    nonce = random.getrandbits(63)
    ranks = [LibraryRank(placement, number, nonce, of_rank) for number, of_rank in enumerate(calls)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    for rank in ranks:
        rank.library.collsock_close(rank.socket)
    return [rank.results for rank in ranks]
