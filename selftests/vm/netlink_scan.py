#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=1 limit=200
# suites: soak
"""A dump of operations slows running groups no more if a group has many ranks, and a dump of
connections does not hold up ranks that join."""

import contextlib
import socket
import time

from collsock_netlink import Netlink
from collsock_test import (
    Child, Descriptor, at_least, at_most, equal, eventually, main, netlink_on, rank_on, test,
    tunables)

HOSTS = 18
LARGE, MANY_HOSTS = 96, 65536  # groups, each with this number of hosts
FEW = 3
SECONDS = 5


def seconds(ranks, what):
    """The shortest of a few dumps of a group with this number of ranks, most of them on host 1."""
    placement = [0] + [1] * (ranks - HOSTS + 1) + list(range(2, HOSTS))
    hosts = [1] + [f"10.1.0.{100 + one}" for one in range(HOSTS - 1)]
    rank = rank_on(1)
    rank.join(Descriptor(hosts, placement=placement, window=64, degree=32), 0)
    for _ in range(64):
        rank.post(send_flags=socket.MSG_DONTWAIT, algorithm=4)
    times = []
    with netlink_on(1) as netlink:
        for _ in range(3):
            start = time.monotonic()
            told = netlink.all(what)
            times.append(time.monotonic() - start)
        missing = sum(len(one.get("missing", ())) for one in told)
        rank.close()
        for group in netlink.all("group"):
            with contextlib.suppress(OSError):
                netlink.end(group["handle"])
        eventually("groups", lambda: netlink.all("group"), [])
    print(f"# {ranks} ranks, dump of {what}: {len(told)} in {min(times) * 1e3:.1f} ms, {missing} missing")
    return min(times)


@test
def a_dump_takes_no_longer_with_more_ranks():
    for what in ("host", "operation"):
        few, many = seconds(HOSTS, what), seconds(1 << 20, what)
        at_most(f"{what}: times as long", many / few, 10)


def dump_repeatedly(line):
    """Dumps connections until it is told to end; tells how often, and how much was told."""
    netlink, count, told = Netlink(), 0, 0
    line.put("ready")
    line.socket.setblocking(False)
    while True:
        told += len(netlink.all("peer"))
        count += 1
        with contextlib.suppress(BlockingIOError):
            line.get()
            break
    line.socket.setblocking(True)
    line.put((count, told))


@test
def dumps_of_large_groups_do_not_hold_up_ranks_that_join():
    """There is nothing to tell, but much to look at."""
    hosts = [1, *(f"10.{2 + (n >> 16)}.{n >> 8 & 255}.{n & 255}" for n in range(1, MANY_HOSTS))]
    descriptor, joined = Descriptor(hosts, window=1), 0
    large = [rank_on(1) for _ in range(LARGE)]
    with tunables(max_memory_kib=1 << 20):
        for number, rank in enumerate(large):
            rank.join(descriptor, 0, nonce=number)
    child = Child(1, dump_repeatedly)
    equal("the child is", child.get(), "ready")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        rank_on(1).join(Descriptor([1], window=1), 0)
        joined += 1
    child.put("end")
    count, told = child.get()
    child.finish()
    print(f"# {joined} ranks joined beside {count} dumps")
    equal("connections", told, 0)
    at_least("ranks that joined during a dump", joined / count, FEW)


if __name__ == "__main__":
    main(180)
