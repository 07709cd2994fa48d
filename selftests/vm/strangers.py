#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=150
# suites: check soak
"""Packets of strangers change nothing, are counted by reason, and are not answered.

Hosts 1 to 3 run operations all the time. Packets are forged on host 1, which is
a member, and on host 4, which is not.
"""

import contextlib
import ctypes
import os
import select
import socket
import struct
import time

from collsock_test import (
    ON_DEBUG_KERNEL, PORT, SOAK, Child, Group, KernelLog, Sniffer, active_objects, at_least,
    at_most, barrier, equal, eventually, inexact_objects, main, netlink_on, on, rank_on, seeded,
    test, test_each, tunables, work)
from forging import MESSAGE, SMALLEST, TYPE, VERSION, Forger, address
from mixed_load import MixedLoad

MEMBERS = 1, 2, 3
STRANGER = 4
NOBODY = 99  # address of no host
COUNTS_OBJECTS = not ON_DEBUG_KERNEL  # the debug kernel keeps freed memory for a while
BATCH = 200  # packets that a host can certainly queue
MOST_OF_A_FIELD = 200 if SOAK > 1 else 45
REFUSALS = ("malformed", "other_version", "unknown_type", "unknown_group", "wrong_source",
            "forged", "wrong_descriptor", "too_long")
FIELDS = {"version": (0, 1), "reserved bytes": (1, 4), "source": (4, 6), "destination": (6, 8),
          "tag": (8, 16), "descriptor": (16, 20), "incarnation": (20, 24), "known": (24, 28),
          "epoch": (28, 32), "type": (32, 33), "ce": (33, 34), "flags": (34, 36),
          "done": (36, 38), "credit": (38, 40), "number": (40, 48), "operation": (48, 56),
          "segment": (56, 58), "round": (58, 59), "signature": (59, 64)}
COUNTED_AS = {"reserved bytes": {"malformed"}, "source": {"wrong_source"},
              "destination": {"unknown_group"}, "tag": {"unknown_group"}}
# By the value: 0 is no version, type, incarnation or number; of a type, and of the parts
# that are flagged, not every length is a packet. By the packet: only messages may have an epoch
COUNTED_BY_VALUE = {"version": {"other_version", "malformed"},
                    "type": {"unknown_type", "malformed", "forged"},
                    "flags": {"unknown_type", "malformed", "forged"},
                    "incarnation": {"malformed", "forged"}, "number": {"malformed", "forged"},
                    "epoch": {"malformed", "forged"}}


class AnswerWatch:
    """Captures what a member sends, or tries to send, to addresses that are no members."""

    SO_ATTACH_FILTER, IPV4, ARP, ARP_REQUEST = 26, 0x0800, 0x0806, 1
    LOAD, LOAD_SHORT, AND, EQUAL, RETURN = 0x20, 0x28, 0x54, 0x15, 0x06
    PACKET_TYPE, PROTOCOL = 0xfffff004, 0xfffff000  # as used in filters

    def __init__(self, host):
        self.sniffer = Sniffer(host)
        network = int.from_bytes(socket.inet_aton("10.1.0.0"), "big")
        program = [(self.LOAD, 0, 0, self.PACKET_TYPE), (self.EQUAL, 0, "no", 4),
                   (self.LOAD, 0, 0, self.PROTOCOL), (self.EQUAL, "ipv4", 0, self.IPV4),
                   (self.EQUAL, 0, "no", self.ARP), (self.LOAD_SHORT, 0, 0, 6),
                   (self.EQUAL, 0, "no", self.ARP_REQUEST), (self.LOAD, 0, 0, 24),
                   (self.EQUAL, "to", "to", 0), "ipv4", (self.LOAD, 0, 0, 16), "to",
                   *((self.EQUAL, "no", 0, network + member) for member in MEMBERS),
                   (self.AND, 0, 0, 0xffffff00), (self.EQUAL, 0, "no", network),
                   (self.RETURN, 0, 0, 0xffff), "no", (self.RETURN, 0, 0, 0)]
        code, labels = [], {}
        for line in program:
            if isinstance(line, str):
                labels[line] = len(code)
            else:
                code.append(line)
        code = b"".join(struct.pack("=HBBI", line[0], *(
            labels[jump] - at - 1 if jump else 0 for jump in line[1:3]), line[3])
            for at, line in enumerate(code))
        memory = ctypes.create_string_buffer(code, len(code))
        self.sniffer.socket.setsockopt(
            socket.SOL_SOCKET, self.SO_ATTACH_FILTER,
            struct.pack("@HP", len(code) // 8, ctypes.addressof(memory)))
        self.packets()  # packets from before the filter

    def packets(self):
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                found.append(self.sniffer.socket.recv(1 << 16))
        return found


def run_load(line, hosts):
    """Mixed operations until the parent sends a message; an error ends the process."""
    group = Group(hosts)
    chance, amount = seeded("strangers"), 0
    group.barrier()
    line.put("runs")
    while not select.select([line.socket], [], [], 0)[0]:
        MixedLoad(group, 10, chance).run()
        amount += 10
        time.sleep(0.02)
    line.get()
    line.put((amount, [vars(rank.stats()) for rank in group]))
    line.get()


class Siege:
    """The load, a capture of what it sends, and the counters of refused packets."""

    def __init__(self):
        self.log = KernelLog()
        self.watchers = {host: rank_on(host) for host in MEMBERS}
        self.sniffers = {host: Sniffer(host) for host in (*MEMBERS, STRANGER)}
        self.forgers = {host: Forger(host) for host in (1, STRANGER)}
        self.load = Child(None, run_load, MEMBERS)
        equal("the load", self.load.get(), "runs")
        self.groups = self.state()
        time.sleep(0.3)
        self.captured = {}
        for host in MEMBERS:
            for outgoing, packet, payload in self.sniffers[host].packets():
                if outgoing:
                    self.captured.setdefault((host, packet[19]), []).append(payload)

    def state(self):
        return {host: (watcher.net_stats().groups, watcher.net_stats().peers)
                for host, watcher in self.watchers.items()}

    def refused(self, host):
        stats = self.watchers[host].net_stats()
        return {name: getattr(stats, name) for name in REFUSALS}

    def attack(self, packets, target, forger=STRANGER, source=STRANGER, port=PORT):
        """Send them; returns by how much each counter has grown."""
        before = self.refused(target)

        def counted():
            after = self.refused(target)
            return {name: after[name] - before[name] for name in REFUSALS}

        for first in range(0, len(packets), BATCH):
            some = packets[first:first + BATCH]
            for packet in some:
                self.forgers[forger].send(packet, source, target, port)
            eventually("packets that are refused", lambda: sum(counted().values()),
                       first + len(some))
        return {name: count for name, count in counted().items() if count}

    def end(self):
        """Check that the attacks have not changed anything."""
        equal("groups and peers", self.state(), self.groups)
        sniffer = self.sniffers[STRANGER]
        answers = [payload for outgoing, _, payload in sniffer.packets() if not outgoing] \
            if sniffer.socket.fileno() >= 0 else []
        equal("answers to the stranger", answers, [])
        self.load.put("end")
        amount, stats = self.load.get()
        at_least("operations of the load", amount, 10)
        for rank, of_rank in enumerate(stats):
            equal(f"operations that failed at rank {rank}", of_rank["failed"], 0)
            equal(f"packets without sense at rank {rank}", of_rank["invalid"], 0)
        self.load.put("end")
        self.load.finish()
        for forger in self.forgers.values():
            forger.close()
        equal("lines in the kernel's log", self.log.lines(), [])
        return stats


def samples(siege, source, destination):
    """A packet of each length and type that was captured on this path."""
    return list({(len(packet), packet[TYPE]): packet
                 for packet in siege.captured[source, destination]}.values())


FORGERS = {"a stranger": (STRANGER, STRANGER), "a stranger with a member's address": (STRANGER, 1),
           "a member's host": (1, 1)}


@test_each(*FORGERS)
def random_bytes_are_refused_from(kind):
    siege, chance = Siege(), seeded("random bytes", kind)
    forger, source = FORGERS[kind]
    amount = work(1500)
    raw = [chance.randbytes(chance.choice((0, 1, SMALLEST - 1, SMALLEST, 100,
                                           chance.randrange(1400)))) for _ in range(amount)]
    counted = siege.attack(raw, 2, forger, source)
    equal("how they are counted", set(counted), {"malformed", "other_version"})
    for name, share in (("malformed", 4), ("other_version", 2)):
        at_least(f"packets that are {name}", counted[name], amount // share)
    # A valid version, epoch and type, no parts; the length of a barrier's message
    formed = [bytes([VERSION, 0, 0, 0]) + chance.randbytes(24) + bytes([0, 0, 0, 0, MESSAGE]) +
              chance.randbytes(2) + bytes(1) + chance.randbytes(36) for _ in range(amount)]
    equal("how well formed ones are counted", siege.attack(formed, 2, forger, source),
          {"unknown_group": amount})
    siege.end()


@test
def truncated_packets_are_refused():
    siege = Siege()
    for packet in samples(siege, 1, 2):
        short = [packet[:length] for length in range(SMALLEST)]
        equal("how packets below the least length are counted", siege.attack(short, 2, source=1),
              {"malformed": SMALLEST})
        more = [packet[:length] for length in range(SMALLEST, len(packet))] + \
            [packet + bytes(extra) for extra in (1, 2, 7, 8, 100)]
        counted = siege.attack(more, 2, source=1)
        equal("how those of another length are counted",
              set(counted) - {"malformed", "forged", "too_long"}, set())
    siege.end()


@test
def packets_with_any_field_changed_are_refused():
    siege, chance = Siege(), seeded("fields")
    for packet in samples(siege, 1, 2):
        fields = {**FIELDS, "what follows": (56, len(packet) - 8),
                  "MAC": (len(packet) - 8, len(packet))}
        for name, (begin, end) in fields.items():
            changed = []
            for bit in range(begin * 8, end * 8):
                one = bytearray(packet)
                one[bit // 8] ^= 1 << bit % 8
                changed.append(bytes(one))
            for _ in range(work(20) if end > begin else 0):
                one = bytearray(packet)
                one[begin:end] = chance.randbytes(end - begin)
                if one != packet:
                    changed.append(bytes(one))
            if len(changed) > MOST_OF_A_FIELD:
                changed = chance.sample(changed, MOST_OF_A_FIELD)
            counted = siege.attack(changed, 2, 1, 1)
            expected = COUNTED_AS.get(name, {"forged"}) if changed else set()
            if name in COUNTED_BY_VALUE:
                expected = COUNTED_BY_VALUE[name] & set(counted)
                at_least(f"counters that rise when the {name} changes", len(expected), 1)
            equal(f"counters that rise when the {name} changes", set(counted), expected)
    siege.end()


@test
def a_valid_packet_from_a_wrong_address_is_refused():
    siege = Siege()
    packets = samples(siege, 1, 2) * work(20)
    everything = {"wrong_source": len(packets)}
    equal("from the stranger's address", siege.attack(packets, 2), everything)
    equal("from another member's address", siege.attack(packets, 2, source=3), everything)
    equal("from another port", siege.attack(packets, 2, source=1, port=PORT + 1), everything)
    equal("from another port of a member's host", siege.attack(packets, 2, 1, 1, 1024),
          everything)
    equal("to the wrong member", siege.attack(packets, 3, source=1),
          {"unknown_group": len(packets)})
    siege.end()


@test
def a_reflected_packet_is_refused():
    siege = Siege()
    packets = samples(siege, 1, 2) * work(20)
    equal("as it was sent", siege.attack(packets, 1, source=2),
          {"unknown_group": len(packets)})
    turned = [packet[:4] + packet[6:8] + packet[4:6] + packet[8:] for packet in packets]
    equal("with source and destination exchanged", siege.attack(turned, 1, source=2),
          {"forged": len(packets)})
    siege.end()


@test
def a_packet_of_an_earlier_instance_is_refused():
    sniffer = Sniffer(1)
    group = Group(MEMBERS)
    for _ in range(5):
        group.barrier()
    old = [payload for outgoing, packet, payload in sniffer.packets()
           if outgoing and packet[19] == 2]
    # The members, id and key are the same, the nonce is not
    group.descriptor.fields["nonce"] ^= 1
    again = [rank_on(host) for host in MEMBERS]
    for number, rank in enumerate(again):
        rank.join(group.descriptor, number)
    forger, received = Forger(1), again[1].stats()
    group.close()
    for packet in old * work(10):
        forger.send(packet, 1, 2)
    time.sleep(0.2)
    equal("messages before their time", again[1].stats().early, received.early)
    equal("duplicates", again[1].stats().duplicates, received.duplicates)
    barrier(again)


def replays_at(host):
    with netlink_on(host) as netlink:
        (group,) = netlink.all("group")
    return group["stats"][0]["duplicates"] + group["stats"][0]["stale"]


@test
def replayed_packets_change_nothing():
    siege, chance = Siege(), seeded("replay")
    packets = {path: captured * 10 for path, captured in siege.captured.items() if path[0] == 1}
    sent = 0
    for (_, target), captured in packets.items():
        for _ in range(work(5)):
            some = chance.sample(captured, min(BATCH, len(captured)))
            for packet in some:
                siege.forgers[1].send(packet, 1, target)
            sent += len(some)
            time.sleep(0.05)
    # They wait for a busy host before that counts them.
    for _, target in packets:
        eventually(f"are ten replays counted at host {target}",
                   lambda host=target: replays_at(host) >= 10, True)
    stats = siege.end()
    for rank in (1, 2):
        at_least(f"of {sent} replays, repeated packets at rank {rank}",
                 stats[rank]["duplicates"] + stats[rank]["stale"], 10)


@test
def a_flood_changes_nothing_is_not_answered_and_leaves_no_memory_behind():
    """Forged packets of all kinds, of a member's host and of a stranger's, during barriers."""
    siege, chance = Siege(), seeded("flood")
    packets = [(*path, packet) for path in siege.captured for packet in samples(siege, *path)]
    for sniffer in siege.sniffers.values():
        sniffer.close()  # it stores all packets
    watches = [AnswerWatch(host) for host in MEMBERS]

    def refusals():
        counted = [siege.refused(host) for host in MEMBERS]
        return {name: sum(one[name] for one in counted) for name in REFUSALS}

    def flood(amount):
        before = refusals()
        for forger in siege.forgers.values():
            forger.forge(amount // 2, packets, (*MEMBERS, STRANGER, NOBODY), MEMBERS,
                         chance.getrandbits(32))
        sent = sum(forger.forged() for forger in siege.forgers.values())
        eventually("packets that are refused", lambda: sum(refusals().values()),
                   sent + sum(before.values()))
        return {name: count - before[name] for name, count in refusals().items()}

    flood(1000)
    objects = active_objects() if COUNTS_OBJECTS else {}
    counted = flood(work(50000 if "COLLSOCK_SOAK" in os.environ else 20000))
    print(f"# {sum(counted.values())} packets: {counted}")
    if COUNTS_OBJECTS:
        for cache, active in active_objects().items():
            at_most(f"objects more in {cache}", active - objects.get(cache, 0),
                    1000 + inexact_objects(cache))
    for name in set(REFUSALS) - {"wrong_descriptor", "too_long"}:
        at_least(f"packets counted as {name}", counted[name], 1)
    equal("packets to those who are no members",
          [packet.hex() for watch in watches for packet in watch.packets()], [])
    siege.end()


@test
def the_capture_of_answers_works():
    """The silence required by the previous test is not caused by a failure to capture."""
    watch = AnswerWatch(1)
    with on(1), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talker:
        for host in (2, STRANGER, NOBODY):
            talker.sendto(b"hello", (address(host), 9))
    at_least("packets and questions to other hosts", len(watch.packets()), 2)


@test
def a_late_packet_for_a_closed_group_is_answered_once():
    """Also if the group that would get the answer is closed, too, which answers nothing."""
    sniffers = {host: Sniffer(host) for host in (1, 2)}
    with tunables(liveness_ms=60000):
        group = Group((1, 2))
    group.barrier()
    watchers = [rank_on(1), rank_on(2)]
    before = [watcher.net_stats().timewait_entries for watcher in watchers]
    group.close()
    eventually("timewait_entries", lambda: [watcher.net_stats().timewait_entries for watcher in watchers],
               [count + 1 for count in before])
    late = [payload for outgoing, _, payload in sniffers[1].packets()
            if outgoing and payload[TYPE] == MESSAGE][0]
    sniffers[2].packets()

    def answered():
        return [watcher.net_stats().timewait_answered for watcher in watchers]

    before = answered()
    forger = Forger(1)
    forger.send(late, 1, 2)
    forger.close()
    seen = []

    def packets():
        seen.extend(outgoing for outgoing, _, _ in sniffers[2].packets())
        return len(seen)

    eventually("it and its answer", packets, 2)
    time.sleep(0.3)
    equal("packets, and whether the host has sent them", (packets(), seen), (2, [False, True]))
    equal("packets that each host has answered", [now - then for now, then in
                                                  zip(answered(), before)], [0, 1])


main()
