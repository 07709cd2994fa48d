#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=60
# suites: check debug soak
"""Promises of the protocol about packets, peers and context."""

import contextlib
import errno
import socket
import struct
import threading
import time

from api_common import readable
from collsock_test import (
    BROADCAST, DEFAULT_SEGMENT, DISSEMINATION, EXCHANGE, FLAT, INT64, KARY, MCS, NOP, Descriptor,
    Group, Sniffer, at_least, at_most, command, equal, faulty, integers, ip_batch, main, outcome,
    rank_on, refused, seeded, test, test_each, tunables, until_nothing_lingers, work)
from mixed_load import MixedLoad

HOSTS = range(1, 9)
QUEUED_GROUPS, QUEUED_BARRIERS = 4, 8
FAMILIES = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}


@test
def rounds_advance_in_softirq_only():
    group = Group(HOSTS)
    MixedLoad(group, work(30), seeded("rules")).run()
    threads = [threading.Thread(target=rank.run, kwargs={"spin_us": 500}) for rank in group]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, rank in enumerate(group):
        stats = rank.stats()
        equal(f"rounds misplaced at rank {number}", stats.rounds_misplaced, 0)
        at_least(f"rounds at rank {number}", stats.rounds, 3 * work(30))


@test
def the_memory_of_a_packet_is_not_used_for_others_while_it_is_under_way():
    """Hundreds of packets wait in the queue of a device; then each has to arrive once."""
    patience_us = 4_000_000
    with tunables(rto_floor_us=patience_us, rto_initial_us=patience_us,
                  rto_ceiling_us=patience_us, rto_unheard_us=patience_us):
        groups = [Group(HOSTS, window=64) for _ in range(QUEUED_GROUPS)]
    for group in groups:
        group.barrier()
    with faulty(HOSTS, "delay", "50ms", "limit", "10000"):
        for _ in range(QUEUED_BARRIERS):
            for group in groups:
                for rank in group:
                    rank.post()
        for group in groups:
            for rank in group:
                for _ in range(QUEUED_BARRIERS):
                    equal("error", rank.complete().error, 0)
    for rank in (rank for group in groups for rank in group):
        stats = rank.stats()
        equal("packets that arrived twice, or in another group", stats.duplicates + stats.stale, 0)
        equal("messages sent again", stats.retransmits, 0)


@test_each(*FAMILIES)
def joining_sends_nothing(version):
    until_nothing_lingers(*HOSTS)
    sniffers = [Sniffer(host) for host in HOSTS]
    group = Group(HOSTS, FAMILIES[version])
    time.sleep(0.5)
    equal("packets when all have joined", [len(one.packets()) for one in sniffers], [0] * 8)
    equal("peers when all have joined", [rank.stats().peers for rank in group], [0] * 8)
    group.barrier()
    for host, sniffer in zip(HOSTS, sniffers):
        at_least(f"packets of a barrier at host {host}", len(sniffer.packets()), 6)


def addresses(sniffer):
    """Destinations of packets, as host numbers."""
    found = set()
    for outgoing, packet, _ in sniffer.packets():
        if outgoing:
            found.add(packet[19])
    return found


# Of eight hosts: those at the ends of each edge, up and down
EDGES = {
    FLAT: [(0, host) for host in range(1, 8)],
    MCS: [(0, 1), (0, 3), (0, 5), (0, 7), (1, 2), (3, 4), (5, 6),
          (0, 1), (0, 5), (1, 2), (1, 4), (2, 3), (5, 6), (5, 7)],
}


def peers_of(number, algorithm):
    distances = 1, 2, 4
    if algorithm == EXCHANGE:
        return {number ^ distance for distance in distances}
    if algorithm == DISSEMINATION:
        return {(number + distance * sign) % 8 for distance in distances for sign in (1, -1)}
    return {end for edge in EDGES[algorithm] if number in edge for end in edge} - {number}


@test_each(("dissemination", DISSEMINATION), ("pairwise exchange", EXCHANGE), ("flat", FLAT),
           ("mcs", MCS))
def a_host_has_exactly_the_peers_that_its_schedule_names(_, algorithm):
    sniffers = [Sniffer(host) for host in HOSTS]
    group = Group(HOSTS, barrier_algorithm=algorithm)
    for _ in range(3):
        group.barrier()
    for number, rank in enumerate(group):
        expected = peers_of(number, algorithm)
        equal(f"peers of rank {number}", rank.stats().peers, len(expected))
        spoken_to = {host - 1 for host in addresses(sniffers[number])}
        equal(f"destinations of rank {number} beyond its peers", spoken_to - expected, set())
        equal(f"peers without packets from rank {number}",
              expected - spoken_to if algorithm == EXCHANGE else set(), set())


# The first host retransmits after 10, 30, 70, … 1270, 2270 and 3270 ms.
BETWEEN_RETRANSMISSIONS_S = 2.35


@test_each(*FAMILIES)
def a_late_joiner_gets_earlier_messages_at_once(version):
    descriptor = Descriptor((1, 2), FAMILIES[version])
    first, second = rank_on(1), rank_on(2)
    first.join(descriptor, 0)
    first.post(integers(40))
    time.sleep(BETWEEN_RETRANSMISSIONS_S)
    at_least("packets for unknown groups there", second.net_stats().unknown_group, 1)
    second.join(descriptor, 1)
    second.post(integers(2))
    for name, rank in (("first", first), ("second", second)):
        completion = rank.complete()
        equal(f"sum at the {name}", completion.result, integers(42))
    took_ms = (completion.completed_ns - completion.posted_ns) / 1e6
    at_most("milliseconds from the second post to the second completion", took_ms, 450)


@test_each(*FAMILIES)
def no_packet_exceeds_the_path_mtu_and_none_is_fragmented(version):
    family = FAMILIES[version]
    headers = 96 + 8 + {"IPv4": 20, "IPv6": 40}[version]
    segment = (1500 - headers) // 16 * 16
    refused(errno.EMSGSIZE, f"a segment of {segment + 16}", rank_on(1).join,
            Descriptor(HOSTS, family, segment_bytes=segment + 16), 0)
    # A group whose payloads are smaller than a segment needs no more than they do
    rank_on(1).join(Descriptor(HOSTS, family, segment_bytes=segment + 16, max_bytes=segment), 0)
    sniffers = [Sniffer(host) for host in HOSTS]
    group = Group(HOSTS, family, segment_bytes=segment)
    for _ in range(5):
        group.post(*(integers(*range(segment // 8)) for _ in group))
        for completion in group.complete():
            equal("sums", completion.result, integers(*range(0, segment, 8)))
    largest = 0
    for sniffer in sniffers:
        for _, packet, _ in sniffer.packets():
            largest = max(largest, len(packet))
            if version == "IPv4":
                equal("don't-fragment, more-fragments and offset",
                      struct.unpack_from("!H", packet, 6)[0], 0x4000)
    at_most("bytes of the largest packet", largest, 1500)
    at_least("bytes of the largest packet", largest, segment)


@test
def a_smaller_path_mtu_is_emsgsize():
    command("ip", "-n", "h1", "link", "set", "eth0", "mtu", "1000")
    try:
        refused(errno.EMSGSIZE, "the default segment", rank_on(1).join, Descriptor((1, 2)), 0)
        group = Group((1, 2), max_bytes=800)
        group.post(bytes(800), bytes(800))
        group.complete()
    finally:
        command("ip", "-n", "h1", "link", "set", "eth0", "mtu", "1500")


@test
def the_default_segment_fits_the_least_mtu_of_ipv6():
    command("ip", "-n", "h3", "link", "set", "eth0", "mtu", "1280")
    try:
        group = Group((3, 4), socket.AF_INET6)
        values = range(DEFAULT_SEGMENT // 8)
        group.post(integers(*values), integers(*values))
        for completion in group.complete():
            equal("sums", completion.result, integers(*(2 * value for value in values)))
    finally:
        command("ip", "-n", "h3", "link", "set", "eth0", "mtu", "1500")


RULES = range(1000, 5000)
NEVER_AGAIN = dict.fromkeys(("rto_floor_us", "rto_initial_us", "rto_ceiling_us",
                             "rto_unheard_us"), 4_000_000)


@contextlib.contextmanager
def slow_look_ups():
    """Each look-up of a route on host 1 goes through all rules. Yields a function by which all
    routes are to be looked up again."""
    def change():
        ip_batch(("-n", "h1"), f"rule add pref {RULES.start - 1} from 192.0.2.1 table 200",
                 f"rule delete pref {RULES.start - 1}")

    # Each becomes the first one.
    ip_batch(("-n", "h1"), *(f"rule add pref {number} from 192.0.2.1 table 200"
                             for number in reversed(RULES)))
    try:
        yield change
    finally:
        ip_batch(("-n", "h1"), *(f"rule delete pref {number}" for number in RULES))


def run_all(ranks, payload=b"", **fields):
    """The first one is the root."""
    for rank in ranks:
        rank.post(payload if rank is ranks[0] else b"", **fields)
    completions = [rank.complete() for rank in ranks]
    equal("outcomes", {outcome(one) for one in completions}, {"success"})
    return [one.result for one in completions]


@test
def packets_whose_routes_take_long_to_find_are_sent_one_after_the_other():
    """One event finds only some of the routes; none of the packets is lost."""
    with tunables(**NEVER_AGAIN), slow_look_ups() as change:
        group = Group(HOSTS, barrier_algorithm=FLAT)
        for _ in range(3):
            group.barrier()
            change()
        group.barrier()
        equal("messages that were sent again", group[0].stats().retransmits, 0)
        equal("packets without a route", group[0].net_stats().no_route, 0)


@test
def packets_that_wait_for_routes_need_no_other_event():
    """Host 1 receives nothing, and has no timer that is due soon."""
    fields = {"operation": BROADCAST, "type": INT64, "op": NOP, "count": 1, "algorithm": KARY}
    with tunables(**NEVER_AGAIN, liveness_ms=3_600_000), slow_look_ups() as change:
        group = Group(HOSTS, degree=7)
        run_all(group, integers(0), **fields)
        change()
        with faulty(HOSTS[1:], "loss", "100%"):
            group.post(integers(1), *[b""] * 7, **fields)
            equal("results of the others", {readable(rank, 10) and rank.complete().result
                                            for rank in group[1:]}, {integers(1)})
            equal("messages that were sent again", group[0].stats().retransmits, 0)
        group[0].complete()
        run_all(group, integers(2), **fields)


@test
def packets_that_wait_for_routes_fill_the_send_buffer():
    """Each of the seven children is sent one packet, for which there would be room in the end.
    Those that find no room are counted, and sent again."""
    with slow_look_ups() as change:
        ranks, descriptor = [rank_on(host) for host in HOSTS], Descriptor(HOSTS, degree=7)
        ranks[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        for number, rank in enumerate(ranks):
            rank.join(descriptor, number)
        fields = {"operation": BROADCAST, "type": INT64, "op": NOP, "count": 128,
                  "algorithm": KARY}
        run_all(ranks, integers(*range(128)), **fields)
        before = ranks[0].net_stats().send_buffer_full
        change()
        results = run_all(ranks, integers(*range(128)), **fields)
        equal("results of the others", set(results[1:]), {integers(*range(128))})
        at_least("packets that found it full", ranks[0].net_stats().send_buffer_full - before, 1)


@test
def goodbyes_whose_routes_take_long_to_find_are_all_sent():
    with tunables(**NEVER_AGAIN, liveness_ms=3_600_000), slow_look_ups() as change:
        group = Group(HOSTS, barrier_algorithm=FLAT)
        group.barrier()
        for rank in group[1:]:
            rank.post()
        change()
        group[0].close()
        for rank in group[1:]:
            equal(f"{rank}", outcome(rank.complete()), "ECONNRESET rank 0")


@test
def in_a_tight_loop_messages_acknowledge_each_other():
    """The number of lone acknowledgments is printed, not checked."""
    for name, algorithm in (("dissemination", DISSEMINATION),
                            ("pairwise exchange", EXCHANGE)):
        group, count = Group(HOSTS, barrier_algorithm=algorithm), work(50)
        for _ in range(5):
            group.barrier()
        before = [rank.stats() for rank in group]
        for _ in range(count):
            group.barrier()
        after = [rank.stats() for rank in group]
        messages, alone, again = (
            sum(getattr(new, field) - getattr(old, field) for old, new in zip(before, after))
            for field in ("messages_sent", "lone_acks", "retransmits"))
        equal(f"messages of {count} barriers by {name}", messages, count * 8 * 3)
        print(f"# {name}: {messages} messages, {alone} acknowledgments alone, "
              f"{again} sent again")


main()
