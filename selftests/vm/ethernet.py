#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=300
# suites: check debug soak
"""Groups over Ethernet: their packets follow the Ethernet header."""

import contextlib
import errno
import json
import os
import socket
import struct
import subprocess
import time

from collsock_test import (
    ADDRESSES, BROADCAST, BYTE, NOP, PORT, Child, Descriptor, Group, Rank, Sniffer, at_least,
    clean_up, command, equal, errno_name, eventually, faulty, integers, ip_batch, link_down, main,
    make_namespace, member, namespace_has_gone, on, outcome, rank_on, refused, seeded,
    set_tunables, test, test_each, work)
from ethernet_common import (
    ETHERTYPE, TOOL, Frames, barrier_of, collsock, devices, end_pair, pair_of_namespaces,
    pair_of_ranks)
from forging import MESSAGE, TYPE
from leftovers import load, unload

OTHER_ETHERTYPE = 0x88b6
LIVENESS_MS = 600
LONG_MS = 60000  # nobody counts as dead meanwhile
USER = 1000
BROADCAST_MAC = b"\xff" * 6
HEADER_BYTES = 14


def refused_by_command(what, *words):
    done = subprocess.run(["ip", "netns", "exec", "h1", TOOL, *words], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(f"status, {what}", done.returncode, 1)
    at_least(f"bytes of an error, {what}", len(done.stderr), 10)


def group(hosts, **fields):
    return Group(hosts, socket.AF_PACKET, **fields)


def mac(host):
    return bytes.fromhex(ADDRESSES[socket.AF_PACKET].format(host).replace(":", ""))


# ---- operations ----

@test
def packets_of_operations_follow_the_ethernet_header():
    frames, packets = Frames(1), Sniffer(1)
    ranks = group([1, 2, 3, 4], placement=[0, 0, 1, 2, 2, 3])
    for turn in range(work(8)):
        ranks.barrier()
        ranks.post(*(integers(turn, rank) for rank in range(6)))
        for one in ranks.complete():
            equal("sum", one.result, integers(6 * turn, 15))
    equal("packets of UDP", packets.packets(), [])
    seen = frames.read()
    at_least("frames", len(seen), 2)
    equal("sources and destinations", {frame[:6] for frame, _ in seen} |
          {frame[6:12] for frame, _ in seen} <= {mac(host) for host in (1, 2, 3, 4)}, True)
    frames.close()


@test
def long_vectors_take_several_frames():
    ranks = group([1, 2, 3], max_bytes=16384)
    values = seeded("vectors").randbytes(16384)
    ranks.post(values, b"", b"", operation=BROADCAST, type=BYTE, op=NOP, count=len(values))
    equal("results", [one.result for one in ranks.complete()], [b"", values, values])


@test_each("loss 20%", "delay 2ms 2ms reorder 50%", "duplicate 30%")
def operations_survive(faults):
    with faulty([1, 2, 3], *faults.split()):
        ranks = group([1, 2, 3], window=8)
        for turn in range(work(40)):
            ranks.post(*(integers(turn * rank) for rank in range(3)))
            for one in ranks.complete():
                equal("sum", one.result, integers(3 * turn))
        ranks.close()


@test
def a_silent_host_is_named():
    ranks = group([1, 2, 3], liveness_ms=LIVENESS_MS)
    ranks.barrier()
    with faulty([2], "loss", "100%"):
        ranks.post()
        for number in 0, 2:
            equal(f"rank {number}", outcome(ranks[number].complete()), "ETIMEDOUT rank 1")


@test
def a_host_that_joins_late_takes_part():
    descriptor = Descriptor([1, 2], socket.AF_PACKET)
    first = rank_on(1)
    first.join(descriptor, 0)
    first.post()
    time.sleep(0.05)
    second = rank_on(2)
    second.join(descriptor, 1)
    second.post()
    for rank in first, second:
        equal("barrier", outcome(rank.complete()), "success")


@test
def a_group_that_was_closed_still_answers():
    """A message that was captured, sent again: the answer is a frame, too."""
    frames, watcher = Frames(2), rank_on(1)
    ranks = group([1, 2])
    ranks.barrier()
    sent = [frame for frame, _ in frames.read()
            if frame[6:12] == mac(2) and frame[HEADER_BYTES + TYPE] == MESSAGE]
    ranks.close()
    eventually("groups", lambda: watcher.net_stats().groups, 0)
    before = watcher.net_stats().timewait_answered
    frames.read()
    for frame in sent:
        frames.send(frame)
    eventually("answers", lambda: watcher.net_stats().timewait_answered - before, len(sent))
    eventually("an answer is seen", lambda: any(frame[:6] == mac(2) for frame, _ in frames.read()),
               True)
    frames.close()


@test
def frames_to_all_and_to_others_are_none_of_a_group():
    with pair_of_namespaces():
        ranks, watcher = pair_of_ranks(), rank_on("e1")
        frames = Frames("e2", "cable")
        barrier_of(ranks)
        frame = next(frame for frame, _ in frames.read() if frame[11] == 2)
        end_pair(ranks)
        before, arriving = watcher.net_stats().packets, Frames("e1", "cable")
        for destination in BROADCAST_MAC, b"\x02" + bytes(4) + b"\x77", frame[:6]:
            frames.send(destination + frame[6:])
        seen = []
        eventually("frames", lambda: seen.extend(arriving.read()) or
                   sum(one[14:] == frame[14:] for one, _ in seen), 3)
        eventually("packets", lambda: watcher.net_stats().packets - before, 1)
        frames.close()
        arriving.close()
        watcher.close()


@test
def packets_of_a_group_over_udp_are_refused_in_frames():
    """They have its tag and are otherwise right, but no UDP header."""
    packets, frames, watcher = Frames(2, ethertype=0x0800), Frames(2), rank_on(1)
    over_ethernet, over_udp = group([1, 2]), Group([1, 2])
    over_ethernet.barrier()
    over_udp.barrier()
    sent = [frame[42:] for frame, _ in packets.read() if frame[6:12] == mac(2)]
    at_least("packets over UDP", len(sent), 1)
    before = watcher.net_stats().wrong_source
    for packet in sent:
        frames.send(mac(1) + mac(2) + struct.pack("!H", ETHERTYPE) + packet)
    eventually("refused", lambda: watcher.net_stats().wrong_source - before, len(sent))
    over_udp.barrier()
    frames.close()
    packets.close()


# ---- who may ----

def join_as_user(line, descriptor, number):
    os.setgroups([])
    os.setresuid(USER, USER, USER)
    while line.get():
        rank = Rank()
        try:
            rank.join(descriptor, number)
            line.put("joined")
        except OSError as error:
            line.put(errno_name(error.errno))
            rank.close()
            continue
        line.get()
        line.put(outcome(rank.run()))


@test
def users_need_a_device_that_the_administrator_allows():
    descriptor = Descriptor([1, 2], socket.AF_PACKET)
    children = [Child(host, join_as_user, descriptor, number)
                for number, host in enumerate((1, 2))]

    def ask(expected):
        for child in children:
            child.put(True)
            equal("a user joins", child.get(), expected)

    ask("EPERM")
    for host in 1, 2:
        collsock(host, "device", "eth0", "allow")
        equal("allowed devices", devices(host, "allowed"), ["eth0"])
    ask("joined")
    for host in 1, 2:
        collsock(host, "device", "eth0", "deny")
        equal("allowed devices", devices(host, "allowed"), [])
        equal("open devices", devices(host), ["eth0"])
    for child in children:
        child.put(True)
    for child in children:
        equal("barrier of a group that exists", child.get(), "success")
    other = Descriptor([1], socket.AF_PACKET)
    third = Child(1, join_as_user, other, 0)
    third.put(True)
    equal("a user joins", third.get(), "EPERM")
    for child in (*children, third):
        child.put(False)
        child.finish()


@test
def who_may_is_for_the_administrator_to_say():
    def attempt(line):
        os.setresuid(USER, USER, USER)
        line.put(os.system(f"{TOOL} device eth0 allow 2>/dev/null") >> 8)

    child = Child(1, attempt)
    equal("status of collsock device", child.get(), 1)
    child.finish()
    equal("allowed devices", devices(1, "allowed"), [])
    refused_by_command("no such device", "device", "eth7", "allow")
    refused_by_command("no such word", "device", "eth0", "open")


# ---- which device ----

def joins(host, own, *others, port=0, scope_id=0):
    """How joining as that member ends."""
    descriptor = Descriptor([1])
    descriptor.members = [own if isinstance(own, bytes) else
                          member(own, socket.AF_PACKET, port, scope_id),
                          *(one if isinstance(one, bytes) else
                            member(one, socket.AF_PACKET, port) for one in others)]
    descriptor.host_of_rank = list(range(len(descriptor.members)))
    descriptor.fields.update(hosts=len(descriptor.members), ranks=len(descriptor.members))
    with rank_on(host) as rank:
        try:
            rank.join(descriptor, 0)
        except OSError as error:
            return errno_name(error.errno)
    return "joined"


def index_of(host, device):
    with on(host):
        return socket.if_nametoindex(device)


@test
def addresses_that_no_interface_can_have_are_refused():
    for bad in ("00:00:00:00:00:00", "01:00:5e:00:00:01", "33:33:00:00:00:01",
                "ff:ff:ff:ff:ff:ff"):
        equal(f"this host is {bad}", joins(1, bad, 2), "EINVAL")
        equal(f"a member {bad}", joins(1, 1, bad), "EINVAL")
    equal("more than six bytes", joins(1, member(1, socket.AF_PACKET)[:-1] + b"\1", 2), "EINVAL")
    for bad in 0x5ff, 0x0800, 0x86dd, 0x8100, 0x888e:
        equal(f"of type {bad:x}", joins(1, 1, 2, port=bad), "EINVAL")
        equal(f"a member of type {bad:x}",
              joins(1, 1, member(2, socket.AF_PACKET, bad)), "EINVAL")
    equal("a member of the other type",
          joins(1, 1, member(2, socket.AF_PACKET, OTHER_ETHERTYPE)), "EINVAL")
    equal("itself", joins(1, 1, 1), "EINVAL")
    equal("an address of another host", joins(1, 2, 3), "EADDRNOTAVAIL")
    equal("the loopback device", joins(1, 1, 2, scope_id=1), "EADDRNOTAVAIL")
    equal("no device", joins(1, 1, 2, scope_id=4711), "EADDRNOTAVAIL")


@test
def the_ethertype_is_that_of_the_namespace():
    equal("the default", joins(1, 1, 2, port=ETHERTYPE), "joined")
    equal("another", joins(1, 1, 2, port=OTHER_ETHERTYPE), "EADDRNOTAVAIL")
    for host in 1, 2:
        set_tunables(host, ethertype=OTHER_ETHERTYPE)
    frames = Frames(1, ethertype=OTHER_ETHERTYPE)
    descriptor = Descriptor([1, 2])
    descriptor.members = [member(host, socket.AF_PACKET, OTHER_ETHERTYPE) for host in (1, 2)]
    ranks = [rank_on(1), rank_on(2)]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
        rank.post()
    for rank in ranks:
        equal("barrier", outcome(rank.complete()), "success")
    at_least("frames", len(frames.read()), 2)
    frames.close()
    for host in 1, 2:
        set_tunables(host, ethertype=None)


@contextlib.contextmanager
def links(host, *lines):
    """Inside there are these links besides; the first words of them are deleted afterwards."""
    ip_batch(("-n", f"h{host}"), *(f"link add {line}" for line in lines))
    try:
        yield
    finally:
        ip_batch(("-n", f"h{host}"), *(f"link delete {line.split()[0]}" for line in lines))


@test
def of_two_devices_with_one_address_the_scope_id_selects():
    twin = "02:00:00:00:01:01"
    with links(1, f"one address {twin} type dummy", f"two address {twin} type dummy"):
        equal("either", joins(1, twin, 2), "ENOTUNIQ")
        for device in "one", "two":
            equal(device, joins(1, twin, 2, scope_id=index_of(1, device)), "joined")
        equal("a third", joins(1, twin, 2, scope_id=index_of(1, "eth0")), "EADDRNOTAVAIL")


@test
def a_port_of_a_bridge_or_a_bond_is_no_member():
    own, others = "02:00:00:00:02:01", "02:00:00:00:02:02"
    with links(1, f"bridge0 address {others} type bridge", f"port0 address {own} type dummy"):
        equal("alone", joins(1, own, 2), "joined")
        ip_batch(("-n", "h1"), "link set port0 master bridge0")
        equal("as a port", joins(1, own, 2), "EXDEV")
        equal("as a port, by its index", joins(1, own, 2, scope_id=index_of(1, "port0")), "EXDEV")
        equal("the bridge", joins(1, others, 2), "joined")


@test
def segments_that_the_device_does_not_carry_are_refused():
    equal("frames of 1500 bytes", joins_with_segment(1392), "joined")
    equal("frames of 1500 bytes", joins_with_segment(1440), "EMSGSIZE")


def joins_with_segment(segment):
    descriptor = Descriptor([1, 2], socket.AF_PACKET, segment_bytes=segment, max_bytes=segment)
    with rank_on(1) as rank:
        try:
            rank.join(descriptor, 0)
        except OSError as error:
            return errno_name(error.errno)
    return "joined"


@test
def the_port_of_udp_is_not_needed():
    make_namespace("e1", "10.1.0.51")
    try:
        with on("e1"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("0.0.0.0", PORT))
            address = address_of("e1", "eth0")
            equal("over Ethernet", joins("e1", address, 2), "joined")
            descriptor = Descriptor(["10.1.0.51", 2])
            refused(errno.EADDRINUSE, "over UDP", rank_on("e1").join, descriptor, 0)
    finally:
        command("ip", "netns", "delete", "e1")


def address_of(host, device):
    name = host if isinstance(host, str) else f"h{host}"
    return json.loads(command("ip", "-n", name, "-j", "link", "show", device))[0]["address"]


# ---- devices that change ----

@test
def a_device_may_be_renamed_and_go_down_for_a_while():
    with pair_of_namespaces():
        ranks = pair_of_ranks(liveness_ms=LONG_MS)
        barrier_of(ranks)
        ip_batch(("-n", "e1"), "link set cable down", "link set cable name wire")
        for rank in ranks:
            rank.post()
        time.sleep(0.1)
        ip_batch(("-n", "e1"), "link set wire up")
        for rank in ranks:
            equal("barrier", outcome(rank.complete()), "success")
        for rank in ranks:
            rank.close()


CHANGES = {"another address": ("address 02:00:00:00:09:77", "address 02:00:00:00:09:01"),
           "a smaller MTU": ("mtu 1000", "mtu 1500")}


@test_each(*CHANGES)
def nothing_is_sent_meanwhile_by_a_device_with(what):
    change, undo = (f"link set cable {words}" for words in CHANGES[what])
    with pair_of_namespaces():
        segment = 1392
        ranks = pair_of_ranks(segment_bytes=segment, max_bytes=segment, liveness_ms=LONG_MS)
        barrier_of(ranks)
        watcher, frames = rank_on("e1"), Frames("e1", "cable")
        time.sleep(0.1)
        ip_batch(("-n", "e1"), change)
        before = watcher.net_stats().no_route
        frames.read()
        for number, rank in enumerate(ranks):
            rank.post(b"" if number else bytes(segment), operation=BROADCAST, type=BYTE, op=NOP,
                      count=segment)
        eventually("packets without a route",
                   lambda: watcher.net_stats().no_route - before > 0, True)
        time.sleep(0.1)
        equal("long frames", [len(frame) for frame, _ in frames.read() if len(frame) > segment],
              [])
        ip_batch(("-n", "e1"), undo)
        equal("results", [rank.complete().result for rank in ranks], [b"", bytes(segment)])
        for one in (*ranks, watcher, frames):
            one.close()


@test
def the_module_can_be_removed_while_a_device_is_open():
    descriptor = Descriptor([1], socket.AF_PACKET)
    with rank_on(1) as rank:
        rank.join(descriptor, 0)
        equal("open devices", devices(1), ["eth0"])
    clean_up()
    unload()
    load()
    equal("open devices", devices(1), [])


@test
def a_namespace_ends_with_a_group_over_ethernet():
    def join(line, descriptor):
        rank = Rank()
        rank.join(descriptor, 0)
        rank.post()
        line.put("joined")
        line.get()

    make_namespace("e1", "10.1.0.51")
    descriptor = Descriptor([1])
    descriptor.members = [member(address_of("e1", "eth0"), socket.AF_PACKET),
                          member(4, socket.AF_PACKET)]
    descriptor.host_of_rank = [0, 1]
    descriptor.fields.update(hosts=2, ranks=2)
    child = Child("e1", join, descriptor)
    equal("child", child.get(), "joined")
    command("ip", "netns", "delete", "e1")
    child.kill()
    child.end()
    namespace_has_gone("e1")


# ---- long frames ----

@test
def jumbo_frames_carry_long_segments():
    segment = 8592
    with pair_of_namespaces("link set cable mtu 9000"):
        frames = Frames("e2", "cable")
        ranks = pair_of_ranks(segment_bytes=segment, max_bytes=segment)
        values = seeded("jumbo").randbytes(segment)
        for number, rank in enumerate(ranks):
            rank.post(b"" if number else values, operation=BROADCAST, type=BYTE, op=NOP,
                      count=segment)
        equal("results", [rank.complete().result for rank in ranks], [b"", values])
        at_least("longest frame", max(len(frame) for frame, _ in frames.read()), segment)
        frames.close()
        for rank in ranks:
            rank.close()


# ---- what administrators see ----

def devices_told(host):
    return [one.get("name") for one in json.loads(collsock(host, "-j", "device"))
            if one.get("open")]


@test
def the_command_shows_addresses_and_devices():
    ranks = group([1, 2])
    ranks.barrier()
    equal("addresses", [one["address"] for one in json.loads(collsock(1, "-j", "host"))],
          ["02:00:00:00:00:01%eth0", "02:00:00:00:00:02%eth0"])
    equal("open devices", devices_told(1), ["eth0"])
    ranks.end()
    eventually("open devices", lambda: devices(1), [])
    equal("open devices", devices_told(1), [])


@test
def a_link_that_is_down_for_a_moment_costs_nothing_but_time():
    ranks = group([1, 2, 3], liveness_ms=LONG_MS)
    ranks.barrier()
    with link_down(2):
        ranks.post()
        time.sleep(0.2)
    for one in ranks.complete():
        equal("barrier", outcome(one), "success")


if __name__ == "__main__":
    main()
