#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=900
# suites: check debug soak
"""Multicast ahead of the tree, over Ethernet and UDP: hosts at the ports of a bridge, and hosts on
macvlan devices."""

import contextlib
import json
import socket

from collsock_test import (
    SOAK, at_least, at_most, command, equal, eventually, ip_batch, main, member, namespace_has_gone,
    on, rank_on, refused, test, test_each, work)
from ethernet_common import Frames
from frames_common import addressed
from leftovers import load, unload
from multicast_common import (
    BEARERS, HOSTS, KARY, LEARNED, LINK_LOCAL, MAC, TOOL, UDP4, UDP6, addresses, barriers,
    bridge_of_namespaces, copies_lost, copies_of, descriptor_of, doctor, end, group_bytes, mac,
    macvlan_namespaces, names, own, ranks_of, sums_and_numbers)

# ---- operations ----

@test_each(*((name, snooping) for name in BEARERS for snooping in (0, 1)
             if SOAK > 1 or snooping or name == "IPv4"))
def copies_carry_barriers_sums_and_broadcasts(name, snooping):
    with bridge_of_namespaces(snooping):
        ranks = ranks_of(BEARERS[name])
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
        equal("findings", [found["result"] for host in ("b0", "b1") for found in doctor(host)],
              ["ok", "ok"])
        sums_and_numbers(ranks, work(30))
        at_least("copies of another source", ranks[2].stats().copies_sent, 1)
        end(ranks)


@test_each(*BEARERS)
def a_host_that_copies_do_not_reach_gets_them_along_the_tree(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces():
        ranks = ranks_of(bearer, degree=2, barrier_algorithm=KARY, allreduce_algorithm=KARY)
        barriers(ranks, LEARNED)
        with copies_lost(bearer, "b1"):
            barriers(ranks, work(30))
            sums_and_numbers(ranks, work(15))
            received = ranks[1].stats().copies_received
            barriers(ranks, work(10))
            equal("copies where none comes in", ranks[1].stats().copies_received, received)
        barriers(ranks, LEARNED)
        at_least("copies again", ranks[1].stats().copies_received, received + 1)
        end(ranks)


@test_each("Ethernet", "IPv4")
def a_network_without_multicast_costs_a_few_packets(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces(), contextlib.ExitStack() as stack:
        for host in names:
            stack.enter_context(copies_lost(bearer, host))
        ranks = ranks_of(bearer)
        barriers(ranks, 60)
        at_most("copies", ranks[0].stats().copies_sent, 16 + 2)
        equal("copies that came", copies_of(ranks), [0] * HOSTS)
        for host, words in ("b0", "rarely report"), ("b1", "come here"):
            equal(f"{words} at {host}", [found["result"] for found in doctor(host)
                                         if words in found["finding"]], ["note"])
        end(ranks)


# Broadcasts until each host has been the root twice: the first one tells others its epoch
TWICE = 2 * HOSTS


def ways_down(ranks, count):
    """How many of that many barriers reached each rank but the first, the source, by a copy, and
    how many by a message: each by one of both, if no host but the source sends to that rank."""
    before = [rank.stats() for rank in ranks[1:]]
    barriers(ranks, count)
    return [(rank.stats().copies_received - first.copies_received,
             rank.stats().messages_received - first.messages_received)
            for rank, first in zip(ranks[1:], before)]


def copies_arrive(ranks):
    """Barriers reach all hosts by copies; so do sums and broadcasts, from each of them."""
    count = work(30)
    for number, (copies, messages) in enumerate(ways_down(ranks, count), 1):
        at_least(f"copies at rank {number}", copies, count * 3 // 4)
        equal(f"copies and messages at rank {number}", copies + messages, count)
    before = [rank.stats() for rank in ranks]
    sums_and_numbers(ranks, work(15) + TWICE)
    for number, (rank, first) in enumerate(zip(ranks, before)):
        at_least(f"copies from rank {number}", rank.stats().copies_sent, first.copies_sent + 1)
        at_least(f"copies of sums and numbers at rank {number}", rank.stats().copies_received,
                 first.copies_received + 1)


@test_each("Ethernet", "IPv4")
def macvlan_devices_of_one_parent_carry_copies(name):
    """A host that they do not reach gets messages of the source instead."""
    bearer, lost = BEARERS[name], HOSTS - 1
    with macvlan_namespaces() as hosts:
        ranks = ranks_of(bearer, hosts=hosts)
        barriers(ranks, LEARNED)
        copies_arrive(ranks)
        barriers(ranks, LEARNED)
        repaired, count = ranks[0].stats().copies_repaired, work(10)
        with copies_lost(bearer, hosts[lost]):
            equal("copies and messages where none comes in", ways_down(ranks, count)[lost - 1],
                  (0, count))
            at_least("copies repaired", ranks[0].stats().copies_repaired, repaired + 1)
            sums_and_numbers(ranks, work(5))
        barriers(ranks, LEARNED)
        copies_arrive(ranks)
        end(ranks, hosts)


@test_each("Ethernet", "IPv4")
def copies_pass_between_macvlan_devices_and_another_machine(name):
    """Those that come from there are late, as the kernel queues them, so that most are not used."""
    with macvlan_namespaces(outside=1) as hosts:
        ranks, count = ranks_of(BEARERS[name], hosts=hosts), work(40)
        for number, ways in enumerate(ways_down(ranks, count), 1):
            equal(f"copies and messages at rank {number}", sum(ways), count)
        for number, rank in enumerate(ranks[1:], 1):
            eventually(f"rank {number} has got copies", lambda r=rank: bool(
                r.stats().copies_received + r.stats().copies_unused), True)
        sums_and_numbers(ranks, work(5) + TWICE)
        at_least("copies at rank 0", copies_of(ranks)[0], 1)
        end(ranks, hosts)


@test
def addresses_of_a_link_carry_copies():
    """Members whose addresses are valid on their link only, and a group of that scope"""
    with bridge_of_namespaces():
        descriptor = descriptor_of(UDP6, "ff12::7:7")
        ranks = []
        for number, name in enumerate(names):
            with on(name):
                scope = socket.if_nametoindex("cable")
            descriptor.members = [member(LINK_LOCAL.format(other), socket.AF_INET6, scope_id=scope)
                                  for other in range(HOSTS)]
            ranks.append(rank_on(name))
            ranks[-1].join(descriptor, number)
        barriers(ranks, LEARNED)
        before = copies_of(ranks)
        barriers(ranks, 10)
        for number in range(1, HOSTS):
            at_least(f"copies at rank {number}", copies_of(ranks)[number], before[number] + 5)
        end(ranks)


# ---- addresses ----

@test_each(*BEARERS)
def the_address_is_there_while_a_group_needs_it(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces():
        def there():
            return bearer.group in addresses("b1")

        equal("before", there(), False)
        first, second = ranks_of(bearer), ranks_of(bearer)
        equal("with two groups", there(), True)
        end_one(first)
        equal("with one group", there(), True)
        barriers(second, LEARNED)
        end(second)
        eventually("without groups", there, False)


@test_each(*BEARERS)
def it_is_gone_with_the_module_and_the_namespace(name):
    """Also of a group that lingers, as others have not acknowledged what it has posted"""
    bearer = BEARERS[name]
    with bridge_of_namespaces():
        ranks = ranks_of(bearer)
        barriers(ranks, 2)
        command("ip", "-n", "bb", "link", "set", "b1", "down")
        try:
            ranks[1].post()
            for rank in ranks:
                rank.close()
            equal("while it lingers", bearer.group in addresses("b1"), True)
            unload()
            equal("without the module", bearer.group in addresses("b1"), False)
            load()
        finally:
            command("ip", "-n", "bb", "link", "set", "b1", "up")
        namespace_has_gone("bx")
        command("ip", "netns", "add", "bx")
        try:
            ip_batch((), "link add cable netns bx address 02:00:00:00:0a:01 type veth "
                     "peer name end netns bx")
            ip_batch(("-n", "bx"), "link set cable up", "address add 10.66.0.2/24 dev cable",
                     "address add fd66::2/64 dev cable nodad")
            rank = rank_on("bx")
            rank.join(descriptor_of(bearer), 1)
            rank.post()
            rank.close()
        finally:
            command("ip", "netns", "delete", "bx")


def end_one(ranks):
    for rank in ranks:
        rank.close()
    with rank_on("b1") as watcher:
        eventually("groups", lambda: watcher.net_stats().groups, 1)


REFUSED = {
    "Ethernet": ("020000000077", "ffffffffffff", "0180c200000e", "03000000007700000001"),
    "IPv4": ("0a420007", "ffffffff", "e0000001", "e00000fb", "ef07070701", "f0000001",
             "ff15" + 13 * "00" + "77"),
    "IPv6": ("fd66" + 13 * "00" + "77", "ff11" + 13 * "00" + "77", "ff10" + 13 * "00" + "77",
             "ff02" + 13 * "00" + "01", "ff1f" + 13 * "00" + "77", "ef070707"),
}


@test_each(*REFUSED)
def addresses_that_are_none_of_a_group_are_refused(name):
    with bridge_of_namespaces():
        for text in REFUSED[name]:
            descriptor = descriptor_of(BEARERS[name], hosts=2, multicast=bytes.fromhex(text))
            with rank_on("b0") as rank:
                refused("EINVAL", f"a join with {text}", rank.join, descriptor, 0)


@test
def members_with_other_ports_have_no_multicast_address():
    with bridge_of_namespaces(), rank_on("b0") as rank:
        descriptor = descriptor_of(UDP4)
        descriptor.members[1] = member(own(UDP4, 1), UDP4.family, port=7700)
        refused("EINVAL", "a join", rank.join, descriptor, 0)


@test
def a_device_without_multicast_has_no_group():
    with bridge_of_namespaces():
        descriptor = descriptor_of(UDP4, hosts=2)
        loopback = descriptor_of(UDP4, hosts=2)
        loopback.members = [member(f"127.0.0.{host}") for host in (1, 2)]
        with rank_on("b0") as rank:
            refused("EADDRNOTAVAIL", "a join on the loopback device", rank.join, loopback, 0)
        with rank_on("b0") as rank:
            rank.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
            refused("EADDRNOTAVAIL", "a join by another device", rank.join, descriptor, 0)
        command("ip", "-n", "b0", "link", "set", "cable", "multicast", "off")
        try:
            with rank_on("b0") as rank:
                refused("EADDRNOTAVAIL", "a join without multicast", rank.join, descriptor, 0)
        finally:
            command("ip", "-n", "b0", "link", "set", "cable", "multicast", "on")
        equal("joined", UDP4.group in addresses("b0"), False)


@test_each(*BEARERS)
def the_command_shows_the_address(name):
    with bridge_of_namespaces():
        ranks = ranks_of(BEARERS[name])
        with on("b1"):
            shown = json.loads(command(TOOL, "-j", "group"))
        equal("address", shown[0]["multicast"], BEARERS[name].group)
        end(ranks)


# ---- packets ----

@test_each("IPv4", "IPv6")
def copies_stay_on_the_network(name):
    """They pass no router, routers do not mark them, and the source does not get its own."""
    bearer = BEARERS[name]
    with bridge_of_namespaces(), captured(bearer, "b2", "b3") as (ranks, frames, _):
        packets = [frame[14:] for frame in frames if frame[:6] == mac(bearer.frames_to)]
        at_least("copies", len(packets), 1)
        for packet in packets:
            hops, marks = (packet[8], packet[1] & 3) if bearer is UDP4 else \
                (packet[7], packet[1] >> 4 & 3)
            equal("hop limit and marks", (hops, marks), (1, 0))
        with rank_on("b0") as watcher:
            before = watcher.net_stats().wrong_source
            barriers(ranks, LEARNED)
            equal("copies that came back", watcher.net_stats().wrong_source, before)


# ---- strangers ----

@contextlib.contextmanager
def captured(bearer, taken_at, sent_from):
    """Ranks, frames that one namespace received, and a function that sends from another one."""
    frames, sender = Frames(taken_at, "cable", bearer.ethertype), \
        Frames(sent_from, "cable", bearer.ethertype)
    ranks = ranks_of(bearer)
    barriers(ranks, LEARNED)
    yield ranks, [frame for frame, _ in frames.read()], sender.send
    barriers(ranks, 2)
    frames.close()
    sender.close()
    end(ranks)


def is_refused(send, frame):
    """Sent so, b1 drops it as one from or to a wrong address."""
    with rank_on("b1") as watcher:
        before = watcher.net_stats()
        send(frame)
        eventually("wrong source", lambda: watcher.net_stats().wrong_source,
                   before.wrong_source + 1)


@test_each(*BEARERS)
def only_packets_for_all_are_received_by_it(name):
    """A message that was captured, to the multicast address, is none of the group."""
    bearer = BEARERS[name]
    with bridge_of_namespaces(), captured(bearer, "b2", "b3") as (_, frames, send):
        mine = [frame for frame in frames if frame[:6] == mac(MAC.format(2))]
        at_least("messages to b2", len(mine), 1)
        is_refused(send, addressed(mine[-1], mac(bearer.frames_to),
                                   target=group_bytes(bearer, bearer.group)))


@test_each(*BEARERS)
def a_copy_to_one_host_or_to_another_group_is_refused(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces(), captured(bearer, "b2", "b3") as (_, frames, send):
        copies = [frame for frame in frames if frame[:6] == mac(bearer.frames_to)]
        at_least("copies", len(copies), 1)
        is_refused(send, addressed(copies[-1], mac(MAC.format(1)),
                                   target=group_bytes(bearer, own(bearer, 1))))
        others = ranks_of(bearer, bearer.other)
        is_refused(send, addressed(copies[-1], mac(bearer.frames_to)[:5] + b"\x18",
                                   target=group_bytes(bearer, bearer.other)))
        for rank in others:
            rank.close()


@test_each(*BEARERS)
def a_copy_from_another_address_is_refused(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces(), captured(bearer, "b2", "b3") as (_, frames, send):
        copies = [frame for frame in frames if frame[:6] == mac(bearer.frames_to)]
        is_refused(send, addressed(copies[-1], source_mac=mac(MAC.format(3)),
                                   source=group_bytes(bearer, own(bearer, 3))))


@test_each(*BEARERS)
def a_copy_that_was_changed_or_comes_again_changes_nothing(name):
    bearer = BEARERS[name]
    with bridge_of_namespaces(), captured(bearer, "b2", "b0") as (ranks, frames, send):
        copy = [frame for frame in frames if frame[:6] == mac(bearer.frames_to)][-1]
        with rank_on("b1") as watcher:
            before = watcher.net_stats().forged
            send(addressed(copy[:-1] + bytes([copy[-1] ^ 1])))
            eventually("forged", lambda: watcher.net_stats().forged, before + 1)
        before = ranks[1].stats().copies_unused
        send(addressed(copy))
        eventually("unused", lambda: ranks[1].stats().copies_unused, before + 1)


if __name__ == "__main__":
    main(180)
