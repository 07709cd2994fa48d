#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=600
# suites: check debug soak
"""Multicast ahead of the tree, over Ethernet: hosts at the ports of a bridge."""

import contextlib
import json
import os
import socket

from collsock_test import (
    BROADCAST, ON_DEBUG_KERNEL, Descriptor, Rank, Skipped, at_least, at_most, command, equal,
    eventually, integers, ip_batch, main, member, namespace_has_gone, on, outcome, rank_on, refused,
    test, test_each, work)
from ethernet_common import ETHERTYPE, Frames

HOSTS = 5
GROUP = bytes.fromhex("030000000077")
MAC = "02:00:00:00:0a:{:02x}"
TOOL = os.path.abspath("build/tools/collsock")
KARY = 4
LEARNED = 12  # operations until all hosts count on copies
names = [f"b{number}" for number in range(HOSTS)]


@contextlib.contextmanager
def bridge_of_namespaces(snooping):
    """Namespaces whose device "cable" is at a port of a bridge, in a namespace of its own."""
    for name in names + ["bb"]:
        namespace_has_gone(name)
        command("ip", "netns", "add", name)
    try:
        ip_batch(("-n", "bb"), f"link add bridge0 type bridge mcast_snooping {snooping}",
                 "link set bridge0 up")
        for number, name in enumerate(names):
            ip_batch((), f"link add cable netns {name} address {MAC.format(number)} type veth "
                     f"peer name {name} netns bb")
            ip_batch(("-n", "bb"), f"link set {name} master bridge0 up")
            ip_batch(("-n", name), "link set cable up")
        yield
    finally:
        for name in names + ["bb"]:
            command("ip", "netns", "delete", name)


def ranks_of(**fields):
    descriptor = Descriptor(range(HOSTS), socket.AF_PACKET, **{"multicast": GROUP, **fields})
    descriptor.members = [member(MAC.format(number), socket.AF_PACKET)
                          for number in range(HOSTS)]
    ranks = [rank_on(name) for name in names]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    return ranks


def end(ranks):
    for rank in ranks:
        rank.close()
    for name in names:
        with rank_on(name) as watcher:
            eventually(f"groups of {name}", lambda w=watcher: w.net_stats().groups, 0)


def barriers(ranks, count):
    for _ in range(count):
        for rank in ranks:
            rank.post()
        for number, rank in enumerate(ranks):
            equal(f"barrier at rank {number}", outcome(rank.complete()), "success")


def sums_and_numbers(ranks, count):
    """All-reduces, and broadcasts of each rank in turn; what they give is checked."""
    for turn in range(count):
        for number, rank in enumerate(ranks):
            rank.post(integers(turn, number))
        for rank in ranks:
            equal("sum", rank.complete().result,
                  integers(HOSTS * turn, sum(range(HOSTS))))
        root = turn % HOSTS
        for number, rank in enumerate(ranks):
            rank.post(integers(turn) if number == root else b"", operation=BROADCAST, type=1,
                      op=0, count=1, root=root)
        for number, rank in enumerate(ranks):
            equal("number", rank.complete().result, b"" if number == root else integers(turn))


@contextlib.contextmanager
def copies_lost(name):
    """What is for the multicast address does not come in there."""
    if ON_DEBUG_KERNEL:
        raise Skipped("the debug kernel has no nftables")
    with on(name):
        command("nft", "add table netdev deaf; add chain netdev deaf rules { type filter hook "
                "ingress device cable priority 0; }; add rule netdev deaf rules "
                "ether daddr 03:00:00:00:00:77 drop")
    try:
        yield
    finally:
        with on(name):
            command("nft", "delete table netdev deaf")


def addresses(name):
    return command("ip", "-n", name, "maddress", "show", "dev", "cable")


# ---- operations ----

@test_each(0, 1)
def copies_carry_barriers_sums_and_broadcasts(snooping):
    with bridge_of_namespaces(snooping):
        ranks = ranks_of()
        barriers(ranks, LEARNED)
        before = [rank.stats() for rank in ranks]
        count = work(50)
        barriers(ranks, count)
        after = [rank.stats() for rank in ranks]
        equal("copies of the source", after[0].copies_sent - before[0].copies_sent, count)
        for number in range(1, HOSTS):
            at_least(f"barriers by copies at rank {number}",
                     after[number].copies_received - before[number].copies_received,
                     count * 3 // 4)
        sums_and_numbers(ranks, work(30))
        at_least("copies of another source", ranks[2].stats().copies_sent, 1)
        end(ranks)


@test
def a_host_that_copies_do_not_reach_gets_them_along_the_tree():
    with bridge_of_namespaces(1):
        ranks = ranks_of(degree=2, barrier_algorithm=KARY, allreduce_algorithm=KARY)
        barriers(ranks, LEARNED)
        with copies_lost("b1"):
            barriers(ranks, work(30))
            sums_and_numbers(ranks, work(15))
            received = ranks[1].stats().copies_received
            barriers(ranks, work(10))
            equal("copies where none comes in", ranks[1].stats().copies_received, received)
        barriers(ranks, LEARNED)
        at_least("copies again", ranks[1].stats().copies_received, received + 1)
        end(ranks)


@test
def a_network_without_multicast_costs_a_few_frames():
    with bridge_of_namespaces(1), contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(copies_lost(name))
        ranks = ranks_of()
        barriers(ranks, 60)
        at_most("copies", ranks[0].stats().copies_sent, 16 + 2)
        equal("copies that came", [rank.stats().copies_received for rank in ranks], [0] * HOSTS)
        end(ranks)


# ---- addresses ----

@test
def the_address_is_there_while_a_group_needs_it():
    with bridge_of_namespaces(1):
        shown = "03:00:00:00:00:77"
        equal("before", shown in addresses("b1"), False)
        first, second = ranks_of(), ranks_of()
        equal("with two groups", shown in addresses("b1"), True)
        end_one(first)
        equal("with one group", shown in addresses("b1"), True)
        barriers(second, LEARNED)
        end(second)
        eventually("without groups", lambda: shown in addresses("b1"), False)


def end_one(ranks):
    for rank in ranks:
        rank.close()
    with rank_on("b1") as watcher:
        eventually("groups", lambda: watcher.net_stats().groups, 1)


@test
def addresses_that_are_none_of_a_group_are_refused():
    with bridge_of_namespaces(1):
        for text in "020000000077", "ffffffffffff", "0180c200000e", "03000000007700000001":
            with rank_on("b0") as rank:
                descriptor = Descriptor([0, 1], socket.AF_PACKET, multicast=bytes.fromhex(text))
                descriptor.members = [member(MAC.format(number), socket.AF_PACKET)
                                      for number in range(2)]
                refused("EINVAL", f"a join with {text}", rank.join, descriptor, 0)
        with Rank() as rank:
            refused("EINVAL", "a join over UDP", rank.join, Descriptor([1, 2], multicast=GROUP), 0)


@test
def the_command_shows_the_address():
    with bridge_of_namespaces(1):
        ranks = ranks_of()
        shown = json.loads(command("ip", "netns", "exec", "b1", TOOL, "-j", "group"))
        equal("address", shown[0]["multicast"], "03:00:00:00:00:77")
        end(ranks)


# ---- strangers ----

@test
def only_packets_for_all_are_received_by_it():
    """A message that was captured, to the multicast address, is none of the group."""
    with bridge_of_namespaces(1):
        frames = Frames("b2", "cable", ETHERTYPE)
        ranks = ranks_of()
        barriers(ranks, 2)
        sent = [frame for frame, _ in frames.read() if frame[:6] == bytes.fromhex(
            MAC.format(2).replace(":", ""))]
        at_least("messages to b2", len(sent), 1)
        with rank_on("b1") as watcher:
            before = watcher.net_stats()
            with on("b3"):
                sender = Frames("b3", "cable", ETHERTYPE)
            sender.send(GROUP + sent[-1][6:])
            eventually("wrong source", lambda: watcher.net_stats().wrong_source,
                       before.wrong_source + 1)
        barriers(ranks, 2)
        frames.close()
        sender.close()
        end(ranks)


if __name__ == "__main__":
    main()
