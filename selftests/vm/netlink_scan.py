#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=200
# suites: soak
"""A dump of operations slows running groups no more if a group has many ranks, and a dump of
connections does not hold up ranks that join."""

import contextlib
import socket
import time

from collsock_netlink import Netlink
from collsock_test import (
    Child, Descriptor, at_most, equal, eventually, main, netlink_on, rank_on, test, tunables)

HOSTS = 18
GROUPS = 96
FEW_HOSTS, MANY_HOSTS = 2, 65536  # of each
ROUNDS, SECONDS = 4, 2


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


def join_groups(host, hosts):
    """Join a rank of groups with this number of hosts, which have no connections."""
    addresses = [host, *(f"10.{2 + (n >> 16)}.{n >> 8 & 255}.{n & 255}" for n in range(1, hosts))]
    descriptor, ranks = Descriptor(addresses, window=1), [rank_on(host) for _ in range(GROUPS)]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, 0, nonce=number)
    return ranks


def joined_beside_dumps(host):
    """How many ranks join there while the host's connections are dumped, and how many dumps."""
    child, joined = Child(host, dump_repeatedly), 0
    equal("the child is", child.get(), "ready")
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        rank_on(host).join(Descriptor([host], window=1), 0)
        joined += 1
    child.put("end")
    count, told = child.get()
    child.finish()
    print(f"# host {host}: {joined} ranks joined beside {count} dumps")
    equal("connections", told, 0)
    return joined, count


@test
def dumps_of_large_groups_do_not_hold_up_ranks_that_join():
    """Of many hosts without connections, a dump looks at no more than of few, on another host. The
    best of some rounds counts, as others use the processors, too."""
    with tunables(max_memory_kib=1 << 20):
        ranks = join_groups(1, FEW_HOSTS) + join_groups(2, MANY_HOSTS)
        rounds = [(joined_beside_dumps(1), joined_beside_dumps(2)) for _ in range(ROUNDS)]
    for rank in ranks:
        rank.close()
    for number, what in enumerate(("ranks that joined", "dumps")):
        few, many = (max(seen[number] for seen in one) for one in zip(*rounds))
        at_most(f"{what}, times as many beside small groups", few / max(many, 1), 10)


if __name__ == "__main__":
    main(180)
