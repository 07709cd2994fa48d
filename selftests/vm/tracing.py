#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=16 limit=60
# suites: check soak
"""The tracepoints report what happens, and the picture shows it."""

import collections
import errno
import pathlib
import re
import socket
import struct
import sys
from xml.etree import ElementTree

from collsock_test import (
    DISSEMINATION, PORT, Group, at_least, equal, main, netem, on, outcome, read_file, test,
    test_each, write_file)

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/picture/src"))
from drawing import draw  # noqa: E402 pylint: disable=wrong-import-position
from events import read_trace  # noqa: E402 pylint: disable=wrong-import-position
from operation import choose  # noqa: E402 pylint: disable=wrong-import-position

HOSTS = 16
ROUNDS = (HOSTS - 1).bit_length()
BARRIERS = 3
FAMILIES = {"UDP": socket.AF_INET, "Ethernet": socket.AF_PACKET}
TRACEFS = "/sys/kernel/tracing"
EVENT = re.compile(r" coll_(\w+): (.*)")


# ---- recording ----

class Trace:
    """A recording: the text, and the event's name and fields of each line."""

    def __init__(self, path):
        self.path = path
        self.events = []
        for line in path.read_text(encoding="ascii").splitlines():
            found = EVENT.search(line)
            if found:
                self.events.append((found[1], dict(word.split("=") for word in found[2].split())))

    def of(self, name, **wanted):
        """The events of that name whose fields have these values."""
        return [fields for event, fields in self.events if event == name and
                all(fields[key] == str(value) for key, value in wanted.items())]

    def count(self, name, *keys, **wanted):
        """The number of them for each value, or tuple of values, of these fields."""
        return collections.Counter(
            int(fields[keys[0]]) if len(keys) == 1 else tuple(fields[key] for key in keys)
            for fields in self.of(name, **wanted))


def recorded(function):
    """The trace of what happens in a function."""
    write_file(f"{TRACEFS}/trace_clock", "mono")
    write_file(f"{TRACEFS}/events/collsock/enable", "1")
    try:
        function()
    finally:
        write_file(f"{TRACEFS}/events/collsock/enable", "0")
    path = pathlib.Path("/tmp/tracing.txt")
    path.write_text(read_file(f"{TRACEFS}/trace"), encoding="ascii")
    write_file(f"{TRACEFS}/trace", "")
    return Trace(path)


# ---- what must be in a trace of barriers ----

def check_operations(trace):
    print("# events:", dict(collections.Counter(event for event, _ in trace.events)))
    each = collections.Counter({number: BARRIERS for number in range(HOSTS)})
    equal("posts of each rank", trace.count("post", "rank", kind="barrier"), each)
    equal("completions of each rank", trace.count("complete", "rank", error=0), each)
    for number in range(BARRIERS):
        rounds = [(event["host"], event["round"])
                  for event in trace.of("round", operation=number)]
        equal(f"rounds of operation {number}", sorted(rounds), sorted(
            (str(host), str(rnd)) for host in range(HOSTS) for rnd in range(ROUNDS)))


def packets(trace, name, **wanted):
    """Packets identified by their fields."""
    return collections.Counter(tuple(sorted(fields.items())) for fields in trace.of(name, **wanted))


def lost_of(trace, number):
    """Messages of an operation that were sent more often than received."""
    return (packets(trace, "packet_sent", type="message", operation=number) -
            packets(trace, "packet_received", type="message", operation=number))


def check_messages(trace):
    """One for each edge, and one more for each reported retransmission."""
    names = ("source", "destination", "operation", "round")
    expected = collections.Counter(
        (str(host), str((host + 2 ** rnd) % HOSTS), str(number), str(rnd))
        for number in range(BARRIERS) for rnd in range(ROUNDS) for host in range(HOSTS))
    expected.update(trace.count("message_again", *names, type="message"))
    equal("messages", trace.count("packet_sent", *names, type="message"), expected)


# ---- what must be in a picture ----

def drawn(trace, number):
    """Elements of the picture of an operation, by class."""
    events = read_trace(trace.path, 0, lambda text: equal("warning", text, None))
    root = ElementTree.fromstring(draw(choose(events, None, number)).encode())
    ignored = set(root.find(".//*[@class='legend']").iter())
    return collections.Counter(word for element in root.iter() if element not in ignored
                               for word in element.get("class", "").split())


def check_picture(trace, number):
    found = drawn(trace, number)
    messages = trace.of("packet_sent", type="message", operation=number)
    again = trace.of("message_again", type="message", operation=number)
    equal("lines, posts, rounds and completions",
          tuple(found[name] for name in ("timeline", "post", "round", "completion")),
          (HOSTS, HOSTS, HOSTS * ROUNDS, HOSTS))
    equal("arrows of messages and of those sent again", (found["message"], found["again"]),
          (len(messages) - len(again), len(again)))
    at_least("crosses", found["cross"], lost_of(trace, number).total())


def run_barriers(bearer, lossy):
    """Run barriers while half of the packets of some hosts are lost."""
    group = Group(range(1, HOSTS + 1), FAMILIES[bearer], barrier_algorithm=DISSEMINATION)
    if lossy:
        netem(lossy, "delay", "1ms", "loss", "50%")
    for _ in range(BARRIERS):
        group.barrier()
    if lossy:
        netem(lossy)
    group.end()


def trace_barriers(bearer="UDP", lossy=()):
    trace = recorded(lambda: run_barriers(bearer, lossy))
    check_operations(trace)
    check_messages(trace)
    return trace


# ---- tests ----

@test_each(*FAMILIES)
def each_packet_that_is_sent_is_received_and_drawn(bearer):
    trace = trace_barriers(bearer)
    equal("packets that are received, beside those sent", packets(trace, "packet_received"),
          packets(trace, "packet_sent"))
    equal("groups begun, ended", [len(trace.of(f"group_{what}", hosts=HOSTS, ranks=HOSTS))
                                  for what in ("began", "ended")], [HOSTS, HOSTS])
    check_picture(trace, 1)


@test
def lost_messages_are_retransmitted_and_drawn():
    trace = trace_barriers(lossy=(2, 7, 12))
    equal("packets that are received and were never sent",
          set(packets(trace, "packet_received")) - set(packets(trace, "packet_sent")), set())
    number = max(range(BARRIERS), key=lambda number: lost_of(trace, number).total())
    at_least("lost messages", lost_of(trace, number).total(), 1)
    at_least("messages sent again", len(trace.of("message_again", operation=number)), 1)
    check_picture(trace, number)


def formed_packet(tag, source, destination):
    """A well-formed lone acknowledgment, with an invalid MAC."""
    return struct.pack("!B3xHHQIIII", 2, source, destination, tag, 0, 1, 0, 0) + \
        struct.pack("!BBHhhQQ8x", 2, 0, 0, 0, 0, 1, 0) + bytes(8)


def run_trouble(peers):
    """Forged packets, and a rank that leaves too early; fills in the number of peers of hosts."""
    group = Group(range(1, 5), barrier_algorithm=DISSEMINATION)
    group.barrier()
    peers.update({number: rank.stats().peers for number, rank in enumerate(group)})
    with on(1), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        packet = formed_packet(0xabc, 3, 1)
        for packet in b"\0nonsens" * 8, b"nonsense" * 9, packet[:32] + b"\7" + packet[33:], packet:
            stranger.sendto(packet, ("10.1.0.2", PORT))
    group[0].close()
    group[1].post()
    equal("outcome of a post", outcome(group[1].complete()), "ECONNRESET rank 0")
    group.end()


@test
def peers_failures_and_drops_are_traced_with_their_reason():
    peers = collections.Counter()
    trace = recorded(lambda: run_trouble(peers))
    equal("peers opened on each host", trace.count("peer_opened", "host"), peers)
    equal("completions with an error",
          [(event["rank"], event["operation"], event["error"], event["failed_rank"])
           for event in trace.of("complete") if event["error"] != "0"],
          [("1", "1", str(errno.ECONNRESET), "0")])
    equal("failures told on host 1 first", trace.of("group_failed", host=1)[0]["reason"], "left")
    for reason, length in (("malformed", 64), ("other_version", 72), ("unknown_type", 72)):
        equal(f"packets dropped as {reason}",
              len(trace.of("packet_dropped", reason=reason, bytes=length)), 1)
    equal("packets for an unknown group",
          len(trace.of("packet_dropped", reason="unknown_group", source=3, destination=1,
                       tag=f"{0xabc:016x}")), 1)


main()
