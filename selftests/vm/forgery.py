#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=90 needs=KPROBES
# suites: check rt soak
"""What a packet costs a group that nobody with its key has written, and that each is counted.

Packets are forged on host 3, in the name of host 1, and sent to host 2. The costs that are
printed are instructions if the machine counts them:

  tools/vm/vm --icount --hosts 3 -- selftests/vm/forgery.py
"""

import contextlib
import os
import random
import socket
import struct
import time

from collsock_test import (
    MAX_PAYLOAD, MAX_SEGMENT, PORT, Child, Group, Sniffer, at_least, at_most, command, equal,
    eventually, main, on, rank_on, read_file, test, work, write_file)
from forging import FLAGS, MAC_BYTES, MESSAGE, SMALLEST, TYPE
from kprobes import calls

ENTERED = "collsock:coll_group_receive"  # with the group's lock
FLOOD = 8  # forgeries in a tick
LARGEST = SMALLEST + 8 + 16 + MAX_SEGMENT  # with operands and an acknowledgment
AMOUNT = work(1000)
# Priority of a sender in real time, 0 for a normal one: what it sends, in about the same time
SENDERS = {0: 8 * AMOUNT, 10: AMOUNT, 20: AMOUNT}
PAUSE_SECONDS = 500e-6
DEVICE_BACKLOG = "/proc/sys/net/core/netdev_max_backlog"


class Forger:
    """Sends packets from host 3 as if they came from another."""

    def __init__(self):
        with on(3):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def send(self, payload, source, amount=1):
        """Returns the nanoseconds of one packet."""
        packet = struct.pack("!BBHHHBBH4s4sHHHH", 0x45, 0, 28 + len(payload), 0, 0x4000, 64, 17, 0,
                             *(socket.inet_aton(f"10.1.0.{host}") for host in (source, 2)),
                             PORT, PORT, 8 + len(payload), 0) + payload
        begin = time.monotonic_ns()
        for _ in range(amount):
            self.socket.sendto(packet, ("10.1.0.2", 0))
        return (time.monotonic_ns() - begin) / amount


@contextlib.contextmanager
def large_packets():
    """Nothing is fragmented."""
    links = [["ip", "link", "set", "switch"],
             *(["ip", "-n", f"h{host}", "link", "set", "eth0"] for host in (1, 2, 3))]
    for link in links:
        command(*link, "mtu", "9216")
    try:
        yield
    finally:
        for link in reversed(links):
            command(*link, "mtu", "1500")


def packet_of(group, bytes_):
    """A message as host 1 sends it to host 2, of another length and with a wrong MAC."""
    sniffer = Sniffer(1)
    group.barrier()
    right = next(payload for outgoing, packet, payload in sniffer.packets()
                 if outgoing and packet[19] == 2 and payload[TYPE] == MESSAGE)
    sniffer.close()
    head = right[:FLAGS] + bytes(2) + right[FLAGS + 2:SMALLEST - MAC_BYTES]
    return head + random.randbytes(bytes_ - len(head))


class Counts:
    """By how much the counters of host 2 have grown."""

    def __init__(self):
        self.watcher = rank_on(2)
        self.begin = self.watcher.net_stats()

    def __getattr__(self, name):
        return getattr(self.watcher.net_stats(), name) - getattr(self.begin, name)


@test
def a_packet_longer_than_any_of_its_group_is_dropped_before_the_lock():
    with large_packets(), calls(ENTERED) as called:
        group, forger = Group((1, 2), max_bytes=64), Forger()
        packet = packet_of(group, LARGEST)
        time.sleep(0.1)
        counts, before = Counts(), called(ENTERED)
        cost = forger.send(packet, 1, AMOUNT)
        eventually("those that were too long", lambda: counts.too_long, AMOUNT)
        equal("forgeries found by their MAC", counts.forged, 0)
        at_most("packets that took the group's lock", called(ENTERED) - before, AMOUNT // 100)
        stranger = forger.send(packet, 99, AMOUNT)
        print(f"# {LARGEST} bytes: {cost - stranger:.0f} ns more than from no member")
        group.end()


def begin_flood(forger, packet, counts, number):
    """As many as it takes until enough come within a tick."""
    for _ in range(100):
        if counts.forgery_floods == number:
            return
        forger.send(packet, 1, 4 * FLOOD)
    equal("floods", counts.forgery_floods, number)


def flood(bytes_):
    with large_packets():
        group = Group((1, 2), max_bytes=MAX_PAYLOAD, segment_bytes=MAX_SEGMENT)
        forger, packet = Forger(), packet_of(group, bytes_)
        counts = Counts()
        stranger = forger.send(packet, 99, AMOUNT)
        eventually("packets of no member", lambda: counts.wrong_source, AMOUNT)
        alone = sum(forger.send(packet, 1, FLOOD - 1) for _ in range(8) if not time.sleep(0.1)) / 8
        equal("floods of too few forgeries", counts.forgery_floods, 0)
        with calls(ENTERED) as called:
            begin_flood(forger, packet, counts, 1)
            before, early = called(ENTERED), counts.forged
            cost = forger.send(packet, 1, AMOUNT)
            eventually("forgeries found by their MAC", lambda: counts.forged - early, AMOUNT)
            at_most("those that took the group's lock", called(ENTERED) - before, AMOUNT // 100)
            group.barrier()
            at_least("packets of members that took the lock", called(ENTERED) - before, 1)
        time.sleep(0.1)
        group.barrier()
        time.sleep(0.1)  # its last acknowledgments would end the next flood, too
        begin_flood(forger, packet, counts, 2)
        print(f"# {bytes_} bytes forged: {alone - stranger:.0f} ns more than from no "
              f"member when there are few, {cost - stranger:.0f} in a flood")
        group.end()


@test
def in_a_flood_of_small_packets_the_mac_is_checked_before_the_lock():
    flood(SMALLEST)


@test
def in_a_flood_of_large_packets_the_mac_is_checked_before_the_lock():
    flood(LARGEST)


def send_malformed(line, priority, amount):
    """Send packets of a byte, through the loopback device, so that this process also runs the
    softirq that counts them. One in real time sleeps after each: when it wakes up, it interrupts
    the others wherever they are, with PREEMPT_RT in softirq, too."""
    os.sched_setaffinity(0, {0})
    if priority:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("10.1.0.2", PORT))
        line.put("ready")
        line.get()
        for _ in range(amount):
            sender.send(b"?")
            if priority:
                time.sleep(PAUSE_SECONDS)
        line.put("done")


@contextlib.contextmanager
def room_on_the_loopback_device(packets):
    """It drops none of these, however late softirq comes."""
    before = read_file(DEVICE_BACKLOG)
    write_file(DEVICE_BACKLOG, str(packets))
    try:
        yield
    finally:
        write_file(DEVICE_BACKLOG, before)


@test
def counters_lose_nothing_while_threads_of_different_priority_send():
    """On one processor, whose counters they all write"""
    group = Group((1, 2))
    group.barrier()
    sent = sum(SENDERS.values())
    with room_on_the_loopback_device(2 * sent):
        senders = [Child(2, send_malformed, *sender) for sender in SENDERS.items()]
        for sender in senders:
            equal("a sender is", sender.get(), "ready")
        counts = Counts()
        for sender in senders:
            sender.put("go")
        for sender in senders:
            equal("a sender is", sender.get(), "done")
            sender.finish()
        eventually("packets counted as malformed", lambda: counts.malformed, sent)
    at_least("packets that were counted", counts.packets, sent)
    group.barrier()
    equal("packets counted as malformed in the end", counts.malformed, sent)
    group.end()


main(80)
