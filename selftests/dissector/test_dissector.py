#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The dissector for Wireshark reads what the core writes; TAP."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import tap  # noqa: E402

OUTPUT = pathlib.Path(os.environ.get("OUTPUT") or HERE.parent.parent / "build/test-dissector")
SCRIPT = OUTPUT / "collsock.lua"
LINKTYPE_ETHERNET, IP_HEADERS = 1, 28
# In the order in which "packets" tells them; the MAC is the last
ENDS = ("version", "source", "destination", "tag")
PREFIX = (*ENDS, "descriptor", "incarnation", "known", "epoch")
TYPE = (*PREFIX, "type", "flags", "flags.operands", "flags.ack", "flags.position",
        "flags.ack_now", "flags.copied", "flags.copied_below")
FIELDS = (*TYPE, "ce", "number", "operation", "done", "credit", "segment", "round", "kind",
          "data_type", "operator", "algorithm", "degree", "count", "root", "reason", "rank",
          "ack.number", "ack.bits", "position.operation", "position.first", "position.round",
          "position.bits", "payload", "nonce", "waits_for", "waits_rank",
          "waits_operation", "waited_ms", "age_ms", "hops", "mac")
POSITION = ("source", "destination", "tag", "incarnation", "type", "operation", "segment", "round")
# What the dissector shows of a packet that the core counts so, and why it does not show more
SHOWN = {"formed": FIELDS, "malformed": (), "other_version": (*ENDS, "mac"),
         "unknown_type": (*TYPE, "mac")}
REASONS = {"malformed": [f"malformed.{name}" for name in (
               "short", "long", "version", "reserved", "epoch", "position", "all", "incarnation", "type",
               "number")],
           "other_version": ["other_version"], "unknown_type": ["unknown_type", "unknown_part"]}
BEGINNINGS = {"malformed": "malformed", "other_version": "version ",
              "unknown_type": ("type ", "unknown part")}


def tshark(*words):
    done = subprocess.run(["tshark", "-X", f"lua_script:{SCRIPT}", *words], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "HOME": tempfile.gettempdir()})
    complaint = "\n".join(line for line in done.stderr.splitlines()
                          if not line.startswith("Running as user"))
    if done.returncode or complaint:
        raise AssertionError(f"tshark: status {done.returncode}: {complaint}")
    return done.stdout


def fields_of(capture, *names):
    """A row for each packet, a column for each field."""
    words = [word for name in names for word in ("-e", name)]
    return [line.split("\t") for line in
            tshark("-r", capture, "-T", "fields", *words).splitlines()]


def same(what, found, expected):
    assert found == expected, f"{what}: is {found}, expected {expected}"


def all_fields_are_as_the_core_reads_them(capture, told):
    read = fields_of(capture, *(f"collsock.{name}" for name in FIELDS))
    same("packets", len(read), len(told))
    for number, (row, (form, *values)) in enumerate(zip(read, told), 1):
        expected = dict(zip(SHOWN[form], values, strict=True))
        for name, value in zip(FIELDS, row, strict=True):
            same(f"{name} of packet {number} ({form})", value, expected.get(name, ""))


def packets_that_the_core_refuses_have_one_reason_of_their_counter(capture, told):
    names = [name for reasons in REASONS.values() for name in reasons]
    rows = fields_of(capture, "_ws.col.Info", *(f"collsock.{name}" for name in names))
    seen = set()
    for number, ((info, *found), (form, *_)) in enumerate(zip(rows, told, strict=True), 1):
        given = [name for name, value in zip(names, found) if value]
        same(f"reasons of packet {number}", len(given), form != "formed")
        same(f"reasons of packet {number} that is {form}", set(given) - set(REASONS.get(form, [])),
             set())
        for counter, beginning in BEGINNINGS.items():
            same(f"packet {number} is said to be {counter}", info.startswith(beginning),
                 form == counter)
        seen.update(given)
    same("reasons seen", seen, set(names))


def a_filter_finds_the_packets_of_an_operation(capture, told):
    rows = [row for row in told if row[0] == "formed"]
    name = {name: index for index, name in enumerate(FIELDS, 1)}
    wanted = next(row for row in rows if row[name["type"]] == "1")
    found = tshark("-r", capture, "-Y", "collsock.type == 1 && collsock.operation == "
                   + wanted[name["operation"]], "-T", "fields", "-e", "collsock.tag").split()
    same("tags of the messages of an operation", found,
         [row[name["tag"]] for row in rows if row[name["type"]] == "1" and
          row[name["operation"]] == wanted[name["operation"]]])


def another_port_is_a_preference(capture, told):
    found = tshark("-r", capture, "-o", "collsock.ports:1-9", "-T", "fields", "-e",
                   "collsock.version").split()
    same("packets dissected on another port", found, [])
    found = tshark("-r", capture, "-o", "collsock.ports:7600-7610", "-T", "fields", "-e",
                   "collsock.version").split()
    same("packets dissected on its port", len(found), sum(row[0] != "malformed" for row in told))


def over_ethernet(capture, ethertype):
    """The same packets behind Ethernet headers: the name of the file."""
    name = f"{capture}.{ethertype}"
    data = pathlib.Path(capture).read_bytes()
    with open(name, "wb") as file:
        file.write(data[:20] + struct.pack("=I", LINKTYPE_ETHERNET))
        at = 24
        while at < len(data):
            *times, captured, _ = struct.unpack_from("=4I", data, at)
            packet = data[at + 16 + IP_HEADERS:at + 16 + captured]
            frame = bytes.fromhex("020000000002020000000001") + struct.pack("!H", ethertype) + packet
            file.write(struct.pack("=4I", *times, len(frame), len(frame)) + frame)
            at += 16 + captured
    return name


def packets_over_ethernet_are_the_same(capture, told):
    names = [f"collsock.{name}" for name in FIELDS]
    expected = fields_of(capture, *names)
    same("fields", fields_of(over_ethernet(capture, 0x88b5), *names), expected)
    same("fields of another EtherType", fields_of(over_ethernet(capture, 0x88b6), *names),
         [[""] * len(names)] * len(told))
    found = tshark("-r", over_ethernet(capture, 0x88b6), "-o", "collsock.ethertype:34998",
                   "-T", "fields", "-e", "collsock.version").split()
    same("packets of the EtherType of the preference", len(found),
         sum(row[0] != "malformed" for row in told))


def retransmissions_lead_to_the_first_packet(capture, told):
    """A message or a goodbye, but not the goodbye of a time-wait entry."""
    rows = fields_of(capture, "_ws.col.Info", "collsock.same_as")
    first, again = {}, 0
    for number, ((info, same_as), (form, *values)) in enumerate(zip(rows, told), 1):
        packet = dict(zip(SHOWN[form], values))
        expected = ""
        if form == "formed" and packet["type"] in "13" and (
                packet["type"] == "1" or int(packet["number"]) < 1 << 63):
            name = tuple(packet[field] for field in POSITION)
            expected = str(first[name]) if name in first else ""
            first.setdefault(name, number)
        same(f"first packet of what packet {number} says", same_as, expected)
        same(f"packet {number} is marked", "[again]" in info, expected != "")
        again += expected != ""
    assert again > 10, f"only {again} repetitions"


TESTS = (all_fields_are_as_the_core_reads_them,
         packets_that_the_core_refuses_have_one_reason_of_their_counter,
         a_filter_finds_the_packets_of_an_operation, another_port_is_a_preference,
         packets_over_ethernet_are_the_same, retransmissions_lead_to_the_first_packet)


def main():
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "packets.pcap")
        done = subprocess.run([OUTPUT / "packets", capture], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        print(done.stderr, end="")
        told = [line.split("\t") for line in done.stdout.splitlines()]
        return tap.run(tap.listed(TESTS, capture, told))


if __name__ == "__main__":
    sys.exit(main())
