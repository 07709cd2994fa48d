#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=1 limit=200
# suites: soak
"""A dump of operations slows running groups no more if a group has many ranks."""

import contextlib
import socket
import time

from collsock_test import Descriptor, at_most, eventually, main, netlink_on, rank_on, test

HOSTS = 18


def seconds(ranks, what):
    """The shortest of a few dumps of a group with this number of ranks, most of them on host 1."""
    placement = [0] + [1] * (ranks - HOSTS + 1) + list(range(2, HOSTS))
    hosts = [1] + [f"10.1.0.{100 + one}" for one in range(HOSTS - 1)]
    rank = rank_on(1)
    rank.join(Descriptor(hosts, placement=placement, window=64, fanout=32), 0)
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


if __name__ == "__main__":
    main(180)
