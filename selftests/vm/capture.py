#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=180
# suites: soak
"""The trace and the Wireshark dissector agree with the packets that were sent."""

import collections
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess

from collsock_test import (
    BROADCAST, DISSEMINATION, INT64, NOP, Group, Sniffer, equal, eventually, integers, main,
    read_file, test)

TREE = pathlib.Path(__file__).resolve().parents[2]
PICTURE = TREE / "build/tools/collsock-picture"
DISSECTOR = TREE / "build/tools/collsock.lua"
INSTANCES = pathlib.Path("/sys/kernel/tracing/instances")
TYPES = {"1": "message", "2": "acknowledgment", "3": "goodbye", "4": "probe", "5": "answer",
         "6": "multicast"}
FIELDS = ("tag", "source", "destination", "type", "operation", "segment", "round", "packet",
          "ack", "bytes")
LINKTYPE_RAW = 101


def traffic():
    """Cause packets of all types: operations, of which broadcasts are sent to all at once, a
    straggler, the end of the group."""
    group = Group(range(1, 5), barrier_algorithm=DISSEMINATION, max_bytes=4096,
                  multicast=socket.inet_aton("239.7.7.7"))
    group.barrier()
    group.post(*[integers(*range(300))] * 4)
    group.complete()
    payload = integers(*range(100))
    for number, rank in enumerate(group):
        rank.post(b"" if number else payload, operation=BROADCAST, type=INT64, op=NOP, count=100)
    group.complete()
    for rank in group[1:]:
        rank.post()
    eventually("probes to the rank that does not post",
               lambda: group[0].stats().probes_received > 0, True)
    group[0].post()
    group.complete()
    group.end()


def recorded(path):
    """All packets that the hosts send, as captured, while their trace goes to @path."""
    sniffers = [Sniffer(host) for host in range(1, 5)]
    with subprocess.Popen([PICTURE, "--record", "1000", "-o", path]) as recorder:
        enable = INSTANCES / f"collsock-picture-{recorder.pid}/events/collsock/enable"
        try:
            eventually("tracepoints enabled",
                       lambda: enable.exists() and read_file(enable).strip(), "1", 60)
            traffic()
        finally:
            recorder.send_signal(signal.SIGINT)
    equal("exit status of the recorder", recorder.returncode, 0)
    equal("trace buffers that are left", os.listdir(INSTANCES), [])
    return [packet for sniffer in sniffers
            for outgoing, packet, _ in sniffer.packets() if outgoing]


def write_capture(path, packets):
    with open(path, "wb") as file:
        file.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, LINKTYPE_RAW))
        for packet in packets:
            file.write(struct.pack("=IIII", 0, 0, len(packet), len(packet)) + packet)


def traced(path):
    """The packets that were sent, with all fields that the trace has."""
    found = collections.Counter()
    for line in path.read_text(encoding="ascii").splitlines():
        event = re.search(r" coll_packet_sent: (.*)", line)
        if event:
            fields = dict(word.split("=") for word in event[1].split())
            found[tuple(fields[name] for name in FIELDS)] += 1
    return found


def dissected(path):
    """The same with all fields of the dissector; and its expert messages."""
    names = ("tag", "source", "destination", "type", "operation", "segment", "round", "number",
             "ack.number")
    words = [word for name in names for word in ("-e", f"collsock.{name}")]
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-T", "fields",
                           *words, "-e", "udp.length", "-e", "_ws.malformed", "-e",
                           "_ws.expert.severity"], stdout=subprocess.PIPE, text=True, check=True)
    found, complaints = collections.Counter(), []
    for line in done.stdout.splitlines():
        tag, source, destination, number, *rest, ack, length, broken, severity = line.split("\t")
        found[(tag.removeprefix("0x"), source, destination, TYPES[number], *rest, ack or "0",
               str(int(length) - 8))] += 1
        if broken or str(8 << 20) in severity.split(","):
            complaints.append(line)
    return found, complaints


@test
def trace_and_dissector_agree_on_packets_of_all_types():
    trace, capture = pathlib.Path("/tmp/capture.txt"), pathlib.Path("/tmp/capture.pcap")
    write_capture(capture, recorded(trace))
    found, complaints = dissected(capture)
    equal("malformed packets", complaints, [])
    equal("types seen", {name[3] for name in found}, set(TYPES.values()))
    equal("packets captured and not traced", found - traced(trace), collections.Counter())
    equal("packets traced and not captured", traced(trace) - found, collections.Counter())


main(limit=170)
