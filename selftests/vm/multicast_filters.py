#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=120 needs=CGROUP_BPF
# suites: check soak
"""What the owner's filters see of multicast."""

import contextlib
import os

from collsock_test import at_least, equal, main, rank_on, test_each, write_file
from filters_common import CGROUPS, EGRESS, INGRESS, ControlGroup, deny_address
from multicast_common import (
    LEARNED, UDP4, barriers, bridge_of_namespaces, copies_of, end, group_bytes, ranks_of)


@contextlib.contextmanager
def in_control_group(name):
    """Sockets that are made now are of this control group."""
    pid = str(os.getpid())
    write_file(f"{CGROUPS}/{name}/cgroup.procs", pid)
    try:
        yield
    finally:
        write_file(f"{CGROUPS}/cgroup.procs", pid)


@test_each(EGRESS, INGRESS)
def filters_of_the_control_group_see_copies(direction):
    with bridge_of_namespaces(), ControlGroup("copies") as cgroup:
        with in_control_group("copies"):
            ranks = ranks_of(UDP4)
        barriers(ranks, LEARNED)
        cgroup.attach(deny_address(16, group_bytes(UDP4, UDP4.group)), direction)
        before = copies_of(ranks)
        watcher, counter = (rank_on("b0"), "send_refused") if direction == EGRESS else \
            (rank_on("b1"), "receive_refused")
        refusals = getattr(watcher.net_stats(), counter)
        barriers(ranks, 10)
        at_least(counter, getattr(watcher.net_stats(), counter), refusals + 1)
        equal("copies that came", copies_of(ranks), before)
        cgroup.detach()
        barriers(ranks, 2 * LEARNED)
        at_least("copies again", sum(copies_of(ranks)), sum(before) + 1)
        watcher.close()
        end(ranks)


main(60)
