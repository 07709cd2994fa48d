#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=90
# suites: check debug soak
"""Packets of a long operation pass through the stack together where the device makes them."""

import contextlib
import socket
import struct

from cable import SEGMENTATION, address_on_cable, cable
from collsock_test import (
    BROADCAST, DEFAULT_SEGMENT, MAX_PAYLOAD, NOP, PORT, SMALLEST_PACKET, SUM, UINT64, Descriptor,
    Group, Sniffer, at_least, at_most, barrier, command, equal, eventually, main, netem, on, rank_on,
    seeded, test, test_each)

HOSTS = 1, 2
FAMILIES = socket.AF_INET, socket.AF_INET6
COUNT = MAX_PAYLOAD // 8
LONG = {"max_bytes": MAX_PAYLOAD, "window": 4}
ROUNDS = 4
MAX_TRAIN = 16384 // DEFAULT_SEGMENT
UDP_SEGMENT = 103


def exchange(group, seed):
    """All-reduces and broadcasts of the longest vectors, whose results are right."""
    chance = seeded("trains", seed)
    for _ in range(ROUNDS):
        values = [[chance.getrandbits(32) for _ in range(COUNT)] for _ in group]
        for rank, mine in zip(group, values):
            rank.post(struct.pack(f"={COUNT}Q", *mine), type=UINT64, op=SUM)
        total = struct.pack(f"={COUNT}Q", *map(sum, zip(*values)))
        for rank in group:
            equal("result is right", rank.complete().result == total, True)
        payload = chance.randbytes(MAX_PAYLOAD)
        for rank in group:
            rank.post(payload if rank is group[0] else b"", type=UINT64, op=NOP, count=COUNT,
                      operation=BROADCAST, root=0)
        for rank in group[1:]:
            equal("payload is right", rank.complete().result == payload, True)
        group[0].complete()


def trains_of(group, device="eth0"):
    """Lengths of the trains that a device of host 1 was given."""
    barrier(group)  # the route is known then
    sniffer = Sniffer(1, device)
    exchange(group, device)
    packets = [packet for outgoing, _, packet in sniffer.packets() if outgoing]
    sniffer.close()
    at_least("packets", len(packets), 2 * ROUNDS * (MAX_PAYLOAD // DEFAULT_SEGMENT))
    print(f"# {len(packets)} packets, {sum(sniffer.trains)} of them in {len(sniffer.trains)} trains")
    return sniffer.trains


@test_each(*FAMILIES)
def packets_of_a_long_operation_share_an_skb(family):
    group = Group(HOSTS, family, **LONG)
    trains = trains_of(group)
    group.end()
    # An event sends what it may
    at_least("trains", len(trains), 2 * ROUNDS)
    at_most("packets of a train", max(trains), MAX_TRAIN)


@contextlib.contextmanager
def segments(most):
    command("ip", "-n", "h1", "link", "set", "dev", "eth0", "gso_max_segs", str(most))
    try:
        yield
    finally:
        command("ip", "-n", "h1", "link", "set", "dev", "eth0", "gso_max_segs", "65535")


@test_each(*FAMILIES)
def a_device_that_makes_one_packet_gets_each_alone(family):
    with segments(1):
        equal("trains", trains_of(Group(HOSTS, family, **LONG)), [])


@test
def a_device_without_offload_gets_each_packet_alone():
    descriptor = Descriptor([address_on_cable(host) for host in HOSTS], socket.AF_INET6, **LONG)
    with cable(SEGMENTATION):
        group = [rank_on(host) for host in HOSTS]
        for number, rank in enumerate(group):
            rank.join(descriptor, number)
        equal("trains", trains_of(group, "cable"), [])
        for rank in group:
            rank.close()


@test
def a_device_that_makes_few_packets_at_once_gets_no_more():
    with segments(2):
        equal("lengths of trains", set(trains_of(Group(HOSTS, **LONG))), {2})


@test_each(*FAMILIES)
def results_are_right_if_trains_are_lost(family):
    netem(HOSTS, "loss", "10%", "delay", "1ms")
    try:
        group = Group(HOSTS, family, **LONG)
        exchange(group, "loss")
        group.end()
    finally:
        netem(HOSTS)


def refused(rank):
    stats = rank.net_stats()
    return stats.malformed + stats.other_version


@test_each(*FAMILIES)
def packets_that_a_stranger_sends_together_are_refused_one_by_one(family):
    group = Group(HOSTS, family)
    barrier(group)
    address = {socket.AF_INET: "10.1.0.1", socket.AF_INET6: "fd00:1::1"}[family]
    with on(3):
        stranger = socket.socket(family, socket.SOCK_DGRAM)
    before = refused(group[0])
    packets = 0
    with stranger:
        for bytes_, count in ((SMALLEST_PACKET, 40), (1, 60), (1200, 50), (600, 1)):
            stranger.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, bytes_)
            stranger.sendto(seeded(bytes_).randbytes(bytes_ * count), (address, PORT))
            packets += count
    eventually("packets refused", lambda: refused(group[0]) - before, packets)
    barrier(group)
    group.end()


main(30)
