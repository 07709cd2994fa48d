#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The dissector for Wireshark reads what the core writes; TAP."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "tools/wireshark/collsock.lua"
OUTPUT = pathlib.Path(os.environ.get("OUTPUT") or HERE.parent.parent / "build/test-dissector")
FIELDS = ("source", "destination", "tag", "descriptor", "incarnation", "known", "connection",
          "type", "flags.ack", "flags.operands", "round", "segment", "seq", "done", "credit",
          "operation", "kind", "data_type", "operator", "algorithm", "count", "root", "reason",
          "rank", "ack.connection", "ack.seq", "ack.bits", "payload", "nonce", "waits_for",
          "waits_rank", "waits_operation", "waited_ms", "age_ms", "hops", "mac")
MALFORMED = ("short", "long", "version", "reserved", "incarnation", "type", "seq")


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
    for number, (row, (form, *expected)) in enumerate(zip(read, told), 1):
        if form == "formed":
            for name, value, right in zip(FIELDS, row, expected, strict=True):
                same(f"{name} of packet {number}", value, right)
        else:
            same(f"fields of packet {number}, which is malformed", "".join(row), "")


def packets_that_the_core_refuses_are_malformed_for_one_reason(capture, told):
    rows = fields_of(capture, "_ws.col.Info", *(f"collsock.malformed.{name}"
                                                for name in MALFORMED))
    reasons = set()
    for number, ((info, *found), (form, *_)) in enumerate(zip(rows, told, strict=True), 1):
        given = [name for name, value in zip(MALFORMED, found) if value]
        same(f"reasons of packet {number}", len(given), form == "malformed")
        same(f"summary of packet {number}", info.startswith("malformed"), form == "malformed")
        reasons.update(given)
    same("reasons seen", reasons, set(MALFORMED))


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
    same("packets dissected on its port", len(found), sum(row[0] == "formed" for row in told))


TESTS = (all_fields_are_as_the_core_reads_them,
         packets_that_the_core_refuses_are_malformed_for_one_reason,
         a_filter_finds_the_packets_of_an_operation, another_port_is_a_preference)


def main():
    print(f"TAP version 13\n1..{len(TESTS)}")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "packets.pcap")
        done = subprocess.run([OUTPUT / "packets", capture], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        print(done.stderr, end="")
        told = [line.split("\t") for line in done.stdout.splitlines()]
        for number, test in enumerate(TESTS, 1):
            name = test.__name__.replace("_", " ")
            try:
                test(capture, told)
                print(f"ok {number} {name}")
            except (AssertionError, ValueError) as error:
                failed = True
                print("\n".join(f"# {line}" for line in str(error).splitlines()))
                print(f"not ok {number} {name}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
