#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=120
# suites: check debug soak
"""What a member says twice, in another version of the format, or in words of a later one."""

import struct
import time

from collsock_test import (
    PORT, Group, Sniffer, at_most, equal, eventually, main, outcome, test, test_each)
from forging import (
    ACKNOWLEDGMENT, FLAGS, MESSAGE, MULTICAST, NUMBER, POSITION, PROBE, SMALLEST, TYPE, VERSION,
    Forger, sealed)

HOSTS = 1, 2, 3
STRANGER = 4
REFUSALS = ("malformed", "other_version", "unknown_type", "unknown_group", "wrong_source",
            "forged", "wrong_descriptor")
ENDS = 16  # version, hosts, and tag, which all versions have in the same place
WITHIN_MS = 1000


def changed(packet, at, *values):
    return packet[:at] + bytes(values) + packet[at + len(values):]


class Recorded:
    """A group of hosts, and what its first host has sent to its second one."""

    def __init__(self):
        self.sniffers = {host: Sniffer(host) for host in HOSTS}
        self.group = Group(HOSTS)
        self.forgers = {host: Forger(host) for host in (1, STRANGER)}
        self.packets = []
        # What another message implies is not acknowledged alone.
        while not any(packet[TYPE] == ACKNOWLEDGMENT for packet in self.packets):
            for _ in range(3):
                self.group.barrier()
            self.until_quiet()

    def until_quiet(self):
        """All that is under way has come, and what the first host has sent is recorded."""
        left = 5
        while left:
            time.sleep(0.1)
            left -= 1
            for host, sniffer in self.sniffers.items():
                for outgoing, packet, payload in sniffer.packets():
                    left = 5
                    if host == 1 and outgoing and packet[19] == 2:
                        self.packets.append(payload)

    def a(self, packet_type):
        return next(packet for packet in self.packets if packet[TYPE] == packet_type)

    def send(self, packet, forger=1, source=1, port=PORT):
        self.forgers[forger].send(packet, source, 2, port)

    def refused(self):
        stats = self.group[1].net_stats()
        return {name: getattr(stats, name) for name in REFUSALS}

    def counted(self, packets, **sender):
        """Send them; returns which counters of refused packets grow, and by how much."""
        before = self.refused()
        for packet in packets:
            self.send(packet, **sender)
        eventually("packets that are refused", lambda: sum(self.refused().values()),
                   sum(before.values()) + len(packets))
        return {name: count - before[name] for name, count in self.refused().items()
                if count != before[name]}

    def stats(self):
        return vars(self.group[1].stats())

    def nothing_else(self, before, **grown):
        """But for these counters the group is as it was, it has sent nothing, and it works."""
        for name, value in self.stats().items():
            equal(name, value, before[name] + grown.get(name, 0))
        sent = [payload for outgoing, _, payload in self.sniffers[2].packets() if outgoing]
        equal("packets that the host has sent", sent, [])
        self.group.barrier()


@test
def the_scenario_computes_the_mac_of_the_module():
    recorded = Recorded()
    for packet in recorded.packets:
        equal("a packet with its MAC", sealed(packet, recorded.group.descriptor), packet)


@test
def a_packet_that_comes_twice_is_a_duplicate_and_changes_nothing():
    recorded = Recorded()
    group = recorded.group
    # While it waits the first host asks whether the second one is there
    group[0].post()
    eventually("probes", lambda: group[1].stats().probes_received > 0, True)
    for rank in group[1:]:
        rank.post()
    for completion in group.complete():
        equal("barrier", outcome(completion), "success")
    recorded.until_quiet()
    types = {packet[TYPE] for packet in recorded.packets}
    equal("messages, acknowledgments and probes recorded",
          types & {MESSAGE, ACKNOWLEDGMENT, PROBE}, {MESSAGE, ACKNOWLEDGMENT, PROBE})
    before = recorded.stats()
    for _ in range(3):
        for packet in recorded.packets:
            recorded.send(packet)
    again = 3 * len(recorded.packets)
    eventually("duplicates", lambda: recorded.stats()["duplicates"] - before["duplicates"], again)
    time.sleep(0.3)
    recorded.nothing_else(before, duplicates=again)


@test_each(*((version, length) for version in (1, 3, 255) for length in ("shortest", "whole")))
def a_member_that_speaks_another_version_ends_the_group_and_is_named(version, length):
    recorded = Recorded()
    group = recorded.group
    packet = changed(recorded.a(MESSAGE), 0, version)
    if length == "shortest":
        packet = packet[:ENDS] + bytes(8)
    for rank in group[1:]:
        rank.post()
    sent_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    equal("how it is counted", recorded.counted([sealed(packet, group.descriptor)]),
          {"other_version": 1})
    # Rank 0 posts last: a barrier that all have begun may end well where nobody has heard yet
    for number in (1, 2, 0):
        completion = group[number].complete() if number else group[0].run()
        equal(f"rank {number}", outcome(completion), "EPROTO rank 0")
        at_most(f"milliseconds until rank {number} knows",
                (completion.completed_ns - sent_ns) / 1e6, WITHIN_MS)
    equal("the next one", outcome(group[1].run()), "EPROTO rank 0")


@test
def another_version_that_no_member_speaks_changes_nothing():
    recorded = Recorded()
    descriptor = recorded.group.descriptor
    before = recorded.stats()
    forged = [changed(packet, 0, version) for packet in recorded.packets for version in (1, 3, 255)]
    right = sealed(forged[1], descriptor)
    everything = {"other_version": len(forged)}
    equal("with a wrong MAC", recorded.counted(forged), everything)
    equal("cut off", recorded.counted([right[:length] for length in range(24, len(right))]),
          {"other_version": len(right) - 24})
    equal("too short for any version", recorded.counted([right[:length] for length in range(24)]),
          {"malformed": 24})
    equal("a right one from a stranger",
          recorded.counted([right], forger=STRANGER, source=STRANGER), {"other_version": 1})
    equal("from another member's address", recorded.counted([right], source=3),
          {"other_version": 1})
    equal("from another port", recorded.counted([right], port=PORT + 1), {"other_version": 1})
    equal("to a group that is not here",
          recorded.counted([sealed(changed(right, 8, right[8] ^ 1), descriptor)]),
          {"other_version": 1})
    equal("of the version 0", recorded.counted([sealed(changed(right, 0, 0), descriptor)]),
          {"malformed": 1})
    recorded.nothing_else(before)


@test
def types_and_parts_of_a_later_module_are_counted_and_change_nothing():
    recorded = Recorded()
    before = recorded.stats()
    message = recorded.a(MESSAGE)
    later = [changed(message, TYPE, packet_type) for packet_type in (7, 8, 128, 255)]
    later += [changed(message, FLAGS + 1, message[FLAGS + 1] | 1 << bit) for bit in range(3, 8)]
    # They may have another length, and use what is 0 so far
    later += [later[0][:28] + b"\0\0\0\1" + later[0][32:], later[0][:-8] + bytes(100)]
    packets = [sealed(packet, recorded.group.descriptor) for packet in later]
    equal("how they are counted", recorded.counted(packets), {"unknown_type": len(packets)})
    equal("one that is too short", recorded.counted([packets[0][:SMALLEST - 1]]), {"malformed": 1})
    recorded.nothing_else(before)


@test
def what_belongs_to_multicast_is_malformed_elsewhere():
    """A packet for all that is for one host, and a position that is no acknowledgment's"""
    recorded = Recorded()
    before = recorded.stats()
    message = recorded.a(MESSAGE)
    wrong = [changed(message, TYPE, MULTICAST),
             changed(message, FLAGS + 1, message[FLAGS + 1] | POSITION)]
    packets = [sealed(packet, recorded.group.descriptor) for packet in wrong]
    equal("how they are counted", recorded.counted(packets), {"malformed": len(packets)})
    recorded.nothing_else(before)


@test
def a_remark_that_is_not_known_is_ignored():
    recorded = Recorded()
    before, refused = recorded.stats(), recorded.refused()
    packet = changed(recorded.a(ACKNOWLEDGMENT), FLAGS, 0xfe)
    for ahead in (10, 11):
        (number,) = struct.unpack_from("!Q", packet, NUMBER)
        packet = changed(packet, NUMBER, *struct.pack("!Q", number + ahead))
        packet = sealed(packet, recorded.group.descriptor)
        # It is taken, or the second one would not be the same again
        recorded.send(packet)
        recorded.send(packet)
    eventually("duplicates", lambda: recorded.stats()["duplicates"] - before["duplicates"], 2)
    equal("refused packets", recorded.refused(), refused)
    recorded.nothing_else(before, duplicates=2)


@test
def a_group_that_another_version_has_ended_leaves_the_next_one_alone():
    recorded = Recorded()
    group = recorded.group
    packet = sealed(changed(recorded.a(MESSAGE), 0, VERSION + 1), group.descriptor)
    equal("how it is counted", recorded.counted([packet]), {"other_version": 1})
    equal("the group", outcome(group[1].run()), "EPROTO rank 0")
    following = Group(HOSTS)
    for _ in range(3):
        recorded.send(packet)
        following.barrier()


main()
