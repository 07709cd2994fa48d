#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=60 smp=2
# suites: check soak
"""Devices that leave while packets of a group over Ethernet arrive, on another processor."""

import threading
import time

from collsock_test import at_least, equal, ip_batch, main, outcome, rank_on, test_each
from ethernet_common import collsock, devices, pair_of_namespaces, pair_of_ranks

LIVENESS_MS = 600


def exchange(ranks, ends):
    """Barriers until one fails"""
    while not ends:
        for rank in ranks:
            rank.post()
        for rank in ranks:
            said = outcome(rank.complete())
            if said != "success":
                ends.append(said)


LEAVING = {"is removed": "link delete cable", "moves": "link set cable netns h3"}


@test_each(*LEAVING)
def under_traffic_a_device(leaves):
    """It leaves at once, although a group uses it; and the group does not wait indefinitely."""
    with pair_of_namespaces():
        ranks, ends = pair_of_ranks(liveness_ms=LIVENESS_MS), []
        collsock("e1", "device", "cable", "allow")
        thread = threading.Thread(target=exchange, args=(ranks, ends), daemon=True)
        thread.start()
        time.sleep(0.1)
        before, watcher = rank_on("e1").net_stats().no_route, rank_on("e1")
        ip_batch(("-n", "e1"), LEAVING[leaves])
        thread.join(20)
        equal("who fell silent", set(ends) <= {"ETIMEDOUT rank 0", "ETIMEDOUT rank 1"}, True)
        at_least("operations that failed", len(ends), 1)
        at_least("packets without a route", watcher.net_stats().no_route - before, 1)
        watcher.close()
        equal("open devices", devices("e1"), [])
        equal("allowed devices", devices("e1", "allowed"), [])
        for rank in ranks:
            rank.close()
    if leaves == "moves":
        equal("allowed devices", devices(3, "allowed"), [])


main()
