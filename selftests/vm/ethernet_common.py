# SPDX-License-Identifier: GPL-2.0
"""Groups over Ethernet, for the scenarios about them."""

import contextlib
import os
import socket
import struct

from collsock_test import (
    Descriptor, command, equal, eventually, ip_batch, member, namespace_has_gone, netlink_on, on,
    outcome, rank_on)

ETHERTYPE = 0x88b5
TOOL = os.path.abspath("build/tools/collsock")
SOL_PACKET, PACKET_AUXDATA, VLAN_VALID = 263, 8, 0x10


def collsock(host, *words):
    name = host if isinstance(host, str) else f"h{host}"
    with on(name):
        return command(TOOL, *words)


def devices(host, which="open"):
    """The names of those that groups use, or that all users may use ("allowed")."""
    with netlink_on(host) as netlink, on(host):
        return [socket.if_indextoname(one["ifindex"]) for one in netlink.all("device")
                if which in one and (which == "open" or one[which])]


class Frames:
    """The frames of one EtherType on a device, in both directions."""

    def __init__(self, host, device="eth0", ethertype=ETHERTYPE):
        with on(host):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self.socket.bind((device, 3))
        self.socket.setblocking(False)
        self.ethertype = struct.pack("!H", ethertype)

    def read(self):
        """Those since the last time: (frame, its tag of a VLAN or None)"""
        found = []
        while True:
            try:
                frame, others, _, _ = self.socket.recvmsg(1 << 16, 1 << 10)
            except BlockingIOError:
                return [one for one in found if one[0][12:14] == self.ethertype]
            tag = None
            for level, kind, data in others:
                if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                    status, *_, tci, _ = struct.unpack_from("=IIIHHHH", data)
                    tag = tci if status & VLAN_VALID else None
            found.append((frame, tag))

    def send(self, frame):
        self.socket.send(frame)

    def close(self):
        self.socket.close()


@contextlib.contextmanager
def pair_of_namespaces(*lines):
    """Two namespaces, e1 and e2, whose devices "cable" are the ends of a veth pair."""
    for name in "e1", "e2":
        namespace_has_gone(name)
    ip_batch((), "netns add e1", "netns add e2")
    try:
        ip_batch((), "link add cable netns e1 address 02:00:00:00:09:01 type veth "
                 "peer name cable netns e2 address 02:00:00:00:09:02")
        for name in "e1", "e2":
            ip_batch(("-n", name), "link set cable up", *lines)
        yield
    finally:
        ip_batch((), "netns delete e1", "netns delete e2")


def pair_of_ranks(own=("02:00:00:00:09:01", "02:00:00:00:09:02"), **fields):
    descriptor = Descriptor([1, 2], **fields)
    descriptor.members = [member(address, socket.AF_PACKET) for address in own]
    ranks = [rank_on("e1"), rank_on("e2")]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    return ranks


def end_pair(ranks):
    """Nothing of their groups is under way any more."""
    for rank in ranks:
        rank.close()
    for name in "e1", "e2":
        with rank_on(name) as watcher:
            eventually(f"groups of {name}", lambda w=watcher: w.net_stats().groups, 0)


def barrier_of(ranks):
    for rank in ranks:
        rank.post()
    for rank in ranks:
        equal("barrier", outcome(rank.complete()), "success")
