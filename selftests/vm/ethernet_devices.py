#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=60 needs=VLAN_8021Q,BONDING
# suites: check soak
"""Groups over Ethernet on devices that are made of others."""

import json
import os
import socket
import struct
import subprocess
import time

from collsock_test import (
    Descriptor, command, equal, eventually, ip_batch, main, member, rank_on, test, test_each,
    work)
from ethernet_common import Frames, barrier_of, end_pair, pair_of_namespaces, pair_of_ranks

TOOL = os.path.abspath("build/tools/collsock")


@test
def frames_of_a_vlan_have_its_tag_and_priority():
    with pair_of_namespaces("link add v5 link cable address 02:00:00:00:09:05 type vlan id 5 "
                            "egress-qos-map 3:6", "link set v5 up"):
        ip_batch(("-n", "e2"), "link set v5 address 02:00:00:00:09:06")
        frames = Frames("e2", "cable")
        descriptor = Descriptor([1, 2])
        descriptor.members = [member(f"02:00:00:00:09:0{end}", socket.AF_PACKET)
                              for end in (5, 6)]
        ranks = [rank_on("e1"), rank_on("e2")]
        for number, rank in enumerate(ranks):
            rank.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3)
            rank.join(descriptor, number)
        barrier_of(ranks)
        equal("tags", {tag for frame, tag in frames.read() if frame[6:12].endswith(b"\x05")},
              {6 << 13 | 5})
        frames.close()
        for rank in ranks:
            rank.close()


@test
def a_bridge_and_a_bond_are_members():
    with pair_of_namespaces():
        ip_batch(("-n", "e1"), "link add b0 address 02:00:00:00:09:11 type bridge",
                 "link set cable master b0", "link set b0 up")
        ip_batch(("-n", "e2"), "link set cable down", "link add b0 type bond mode active-backup",
                 "link set cable master b0", "link set b0 address 02:00:00:00:09:12 up",
                 "link set cable up")
        ranks = pair_of_ranks(("02:00:00:00:09:11", "02:00:00:00:09:12"))
        for _ in range(work(20)):
            barrier_of(ranks)
        for rank in ranks:
            rank.close()


def packets_of(host, send):
    """How many more packets of groups there are on that host, after that."""
    with rank_on(host) as watcher:
        before = watcher.net_stats().packets
        send()
        time.sleep(0.2)
        return watcher.net_stats().packets - before


KINDS = {"vlan": "type vlan id 5", "macvlan": "type macvlan mode private"}


@test_each(*KINDS)
def packets_of_a_device_on_another_are_not_those_of_its_groups(kind):
    name = "upper"
    with pair_of_namespaces():
        ip_batch(("-n", "e1"), f"link add {name} link cable address 02:00:00:00:09:21 "
                 f"{KINDS[kind]}", f"link set {name} up")
        ranks, frames, arriving = pair_of_ranks(), Frames("e2", "cable"), Frames("e1", name)
        barrier_of(ranks)
        frame = next(frame for frame, _ in frames.read() if frame[11] == 2)
        end_pair(ranks)
        other = bytes.fromhex("020000000921") + frame[6:]
        if kind == "vlan":
            other = other[:12] + struct.pack("!HH", 0x8100, 5) + other[12:]
        equal("packets", packets_of("e1", lambda: frames.send(other)), 0)
        equal("frames", [one[14:] == frame[14:] for one, _ in arriving.read()], [True])
        equal("packets of the device itself", packets_of("e1", lambda: frames.send(frame)), 1)
        frames.close()
        arriving.close()


# ---- the doctor ----

def diagnosis(host):
    """What the doctor of that host finds about Ethernet: results and texts."""
    done = subprocess.run(["ip", "netns", "exec", host, TOOL, "-j", "doctor"], text=True,
                          stdout=subprocess.PIPE, check=False)
    found = json.loads(done.stdout)
    equal("status", done.returncode, 2 if any(one["result"] == "problem" for one in found) else 0)
    return [(one["result"], one["finding"]) for one in found
            if one["check"] == "ethernet" and "delay" not in one["finding"]]


def flags_of(host, device):
    """Flags of a device, as ip shows them."""
    return json.loads(command("ip", "-n", host, "-j", "link", "show", device))[0]["flags"]


@test
def the_doctor_says_why_a_device_carries_no_packets():
    with pair_of_namespaces():
        equal("without a group", diagnosis("e1"),
              [("ok", "no group uses a device, and none is allowed for all users")])
        command("ip", "netns", "exec", "e1", TOOL, "device", "cable", "allow")
        equal("when allowed", diagnosis("e1"), [("ok", "cable, which groups may use, is up")])
        ranks = pair_of_ranks()
        equal("with a group", diagnosis("e1"), [("ok", "cable, which groups use, is up")])
        ip_batch(("-n", "e2"), "link set cable down")
        # The kernel knows at once; the flag that programs read follows up to a second later.
        eventually("no carrier", lambda: "NO-CARRIER" in flags_of("e1", "cable"), True)
        equal("other end down", diagnosis("e1"),
              [("problem", "cable, which groups use, has no carrier")])
        equal("this end down", diagnosis("e2"), [("problem", "cable, which groups use, is down")])
        ip_batch(("-n", "e2"), "link set cable up", "link add b0 type bridge",
                 "link set cable master b0")
        equal("port of a bridge", diagnosis("e2"),
              [("problem", "cable, which groups use, is a port of b0, which gets its packets")])
        end_pair(ranks)


@test
def the_doctor_works_while_a_host_over_ethernet_is_not_heard():
    with pair_of_namespaces():
        ranks = pair_of_ranks()
        ip_batch(("-n", "e2"), "link set cable down")
        ranks[0].post()
        eventually("the state of the other host", lambda: peers("e1"), ["unheard"])
        eventually("no carrier", lambda: "NO-CARRIER" in flags_of("e1", "cable"), True)
        equal("what it says", diagnosis("e1"),
              [("problem", "cable, which groups use, has no carrier")])
        ip_batch(("-n", "e2"), "link set cable up")
        ranks[1].post()
        for rank in ranks:
            rank.complete()
        end_pair(ranks)


def peers(host):
    """The states of hosts that groups of this one communicate with."""
    return [peer["state"] for peer in json.loads(
        command("ip", "netns", "exec", host, TOOL, "-j", "peer", "show"))]


if __name__ == "__main__":
    main()
