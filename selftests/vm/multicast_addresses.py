#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=2 limit=120 needs=KPROBES
# suites: check debug soak
"""What the kernel is asked for when groups over Ethernet have multicast addresses."""

import contextlib
import fcntl
import os
import re
import struct

from collsock_test import (
    at_least, command, equal, eventually, ip_batch, main, namespace_has_gone, on, rank_on, test)
from kprobes import recorded
from multicast_common import (
    ETHERNET, LEARNED, MAC, addresses, barriers, bridge_of_namespaces, descriptor_of, end, ranks_of)

PROBES = (*(f"p:{name} {name}" for name in ("rtnl_lock", "rtnl_unlock")),
          *(f"p:{name} {name} first=+0(%si):u8 last=+5(%si):u8"
            for name in ("dev_mc_add", "dev_mc_del")))

TUNSETIFF, TUNSETLINK = 0x400454ca, 0x400454cd
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
ARPHRD_TUNNEL6 = 769


def changes_of(address, trace):
    """What changed on devices with this address, and whether with RTNL held, as far as probes see:
    rtnetlink's own requests for it are not calls."""
    parts = [int(part, 16) for part in address.split(":")]
    ends = f"first={parts[0]} last={parts[-1]}"
    holders, changes = set(), []
    for thread, name, fields in re.findall(r"-(\d+) +\[.*: (\w+): \(.*?\)(.*)", trace()):
        if name == "rtnl_lock":
            holders.add(thread)
        elif name == "rtnl_unlock":
            holders.discard(thread)
        elif fields.strip() == ends:
            changes.append((name, thread in holders))
    return changes


@test
def drivers_learn_of_addresses_with_rtnl_held():
    """They rely on it, as all else that configures a device holds it."""
    with bridge_of_namespaces(), recorded(*PROBES) as trace:
        ranks = ranks_of(ETHERNET)
        barriers(ranks, LEARNED)
        end(ranks)
        eventually("the address is gone", lambda: ETHERNET.group in addresses("b1"), False)
        changes = changes_of(ETHERNET.group, trace)
    at_least("changes", len(changes), 2)
    equal("changes without RTNL", [change for change, held in changes if not held], [])


def names_of(trace):
    return [name for name, _ in changes_of(ETHERNET.group, lambda: trace(go_on=True))]


@contextlib.contextmanager
def namespace():
    namespace_has_gone("bx")
    command("ip", "netns", "add", "bx")
    try:
        yield
    finally:
        command("ip", "netns", "delete", "bx")


@test
def a_device_that_is_removed_loses_the_address_and_a_group_does_not_use_it_again():
    with namespace():
        ip_batch((), f"link add cable netns bx address {MAC.format(1)} type veth "
                 "peer name end netns bx")
        ip_batch(("-n", "bx"), "link set cable up", "link set end up")
        with recorded(*PROBES) as trace:
            rank = rank_on("bx")
            rank.join(descriptor_of(ETHERNET), 1)
            command("ip", "-n", "bx", "link", "delete", "cable")
            equal("changes", names_of(trace), ["dev_mc_add", "dev_mc_del"])
            rank.close()
            eventually("groups", lambda: rank_on("bx").net_stats().groups, 0)
            equal("changes at the end", names_of(trace), ["dev_mc_add", "dev_mc_del"])


@contextlib.contextmanager
def tap(name):
    """A device of this process in that namespace, named cable, which is down"""
    with on(name):
        file = os.open("/dev/net/tun", os.O_RDWR)
    try:
        fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", b"cable", IFF_TAP | IFF_NO_PI))
        command("ip", "-n", name, "link", "set", "cable", "address", MAC.format(1))
        yield file
    finally:
        os.close(file)


@test
def a_device_that_is_no_longer_ethernet_loses_the_address():
    """It would copy as many bytes as its addresses have, and find the address no more."""
    command("modprobe", "tun")
    with namespace(), tap("bx") as file:
        rank = rank_on("bx")
        rank.join(descriptor_of(ETHERNET), 1)
        equal("while it is Ethernet", ETHERNET.group in addresses("bx"), True)
        fcntl.ioctl(file, TUNSETLINK, ARPHRD_TUNNEL6)
        equal("afterwards", [at for at in addresses("bx") if at.startswith(ETHERNET.group)], [])
        rank.close()
        eventually("groups", lambda: rank_on("bx").net_stats().groups, 0)


if __name__ == "__main__":
    main()
