#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=3000 icount=1
# suites: check soak
"""Groups of another user do not make the packets of a group expensive, however they are chosen.

One instruction takes one nanosecond here; while the machine is idle or reads files, its clock runs
ahead, so that limits of time are long.
"""

import resource
import subprocess

from collsock_test import (
    Descriptor, Group, at_most, barrier, main, netlink_on, rank_on, test, work)

KEY = bytes([1] * 16)  # as collider.c has it
GROUPS = 2048
MOST_MORE = 1.1


def packet_ns(group):
    """From the post of the last rank to the other host's completion: one packet, no process."""
    shortest = []
    for _ in range(work(30)):
        for rank in group:
            rank.post()
        first, last = (rank.complete() for rank in group)
        shortest.append(first.completed_ns - last.posted_ns)
    return min(shortest)


def tag_of(host):
    with netlink_on(host) as netlink:
        return netlink.all("group")[0]["tag"]


def join_groups_that_collide(tag):
    """As a user of host 1 who has read that tag."""
    number = next(Descriptor.numbers)
    nonces = subprocess.run(["build/fuzz/collider", f"{tag:x}", str(number), str(GROUPS)],
                            stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    ranks = []
    for nonce in nonces:
        rank = rank_on(1)
        rank.join(Descriptor([1], id=number, nonce=int(nonce), key=KEY, window=1), 0)
        ranks.append(rank)
    return ranks


@test
def groups_whose_tags_were_chosen_cost_the_packets_of_others_nothing():
    resource.setrlimit(resource.RLIMIT_NOFILE, (GROUPS + 1000, GROUPS + 1000))
    group = Group((1, 2))
    barrier(group)
    before = packet_ns(group)
    flood = join_groups_that_collide(tag_of(1))
    after = packet_ns(group)
    print(f"# {before} instructions from host to host, {after} beside {len(flood)} groups")
    at_most("times as many instructions", after / before, MOST_MORE)


main(limit=2900)
