#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=300 icount=1
# suites: check soak
"""Groups of another user do not make the packets of a group expensive, however they are chosen.

One instruction takes one nanosecond here.
"""

import resource
import socket
import subprocess

from collsock_test import (
    Descriptor, Group, at_most, barrier, ip_batch, main, member, netlink_on, rank_on, test, work)
from ethernet_common import barrier_of, end_pair, pair_of_namespaces, pair_of_ranks

KEY = bytes([1] * 16)  # as collider.c has it
GROUPS = 2048
DEVICES = 512
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


def join_over_devices():
    """As root of the container e2"""
    addresses = [f"02:00:00:01:{number >> 8:02x}:{number & 255:02x}" for number in range(DEVICES)]
    ip_batch(("-n", "e2"), *(f"link add d{number} address {address} type dummy"
                             for number, address in enumerate(addresses)))
    ranks = []
    for address in addresses:
        descriptor = Descriptor([1], window=1)
        descriptor.members = [member(address, socket.AF_PACKET)]
        ranks.append(rank_on("e2"))
        ranks[-1].join(descriptor, 0)
    return ranks


@test
def devices_of_other_groups_cost_the_packets_of_a_group_nothing():
    with pair_of_namespaces():
        ranks = pair_of_ranks()
        barrier_of(ranks)
        before = packet_ns(ranks)
        others = join_over_devices()
        after = packet_ns(ranks)
        print(f"# {before} instructions from host to host, {after} beside {len(others)} devices")
        for rank in others:
            rank.close()
        end_pair(ranks)
    at_most("times as many instructions", after / before, MOST_MORE)


main(120)
