# SPDX-License-Identifier: GPL-2.0
"""Hosts at the ports of a bridge, and groups of them that have a multicast address."""

import atexit
import contextlib
import functools
import json
import os
import socket
import subprocess
import typing

from collsock_test import (
    BROADCAST, Descriptor, command, equal, eventually, integers, ip_batch, member,
    namespace_has_gone, on, outcome, rank_on)
from ethernet_common import ETHERTYPE
from frames_common import IPV4, IPV6

HOSTS = 5
MAC = "02:00:00:00:0a:{:02x}"
LINK_LOCAL = "fe80::66:{:x}"
TOOL = os.path.abspath("build/tools/collsock")
KARY = 4
LEARNED = 12  # operations until all hosts count on copies
names = [f"b{number}" for number in range(HOSTS)]


class Bearer(typing.NamedTuple):
    """A bearer in these namespaces: addresses of members, and of groups."""
    family: int
    ethertype: int
    member: str
    group: str
    other: str      # of another group: its frames differ in the last byte
    frames_to: str  # where frames to the group go


ETHERNET = Bearer(socket.AF_PACKET, ETHERTYPE, MAC, "03:00:00:00:00:77", "03:00:00:00:00:18",
                  "03:00:00:00:00:77")
UDP4 = Bearer(socket.AF_INET, IPV4, "10.66.0.{:d}", "239.7.7.7", "239.7.7.24", "01:00:5e:07:07:07")
UDP6 = Bearer(socket.AF_INET6, IPV6, "fd66::{:x}", "ff15::7:7", "ff15::7:18", "33:33:00:07:00:07")
BEARERS = {"Ethernet": ETHERNET, "IPv4": UDP4, "IPv6": UDP6}


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def group_bytes(bearer, text):
    """A multicast address as JOIN has it"""
    if bearer is ETHERNET:
        return mac(text)
    return socket.inet_pton(bearer.family, text)


@functools.cache
def make_namespaces():
    """Namespaces whose device "cable" is at a port of a bridge, in a namespace of its own."""
    for name in names + ["bb"]:
        namespace_has_gone(name)
    ip_batch((), *(f"netns add {name}" for name in names + ["bb"]),
             *(f"link add cable netns {name} address {MAC.format(number)} type veth "
               f"peer name {name} netns bb" for number, name in enumerate(names)))
    ip_batch(("-n", "bb"), "link add bridge0 type bridge", "link set bridge0 up",
             *(f"link set {name} master bridge0 up" for name in names))
    give_addresses(names)
    atexit.register(delete_namespaces)


def give_addresses(hosts):
    for number, name in enumerate(hosts):
        ip_batch(("-n", name), "link set cable up", "link set lo up",
                 f"address add {UDP4.member.format(number + 1)}/24 dev cable",
                 f"address add {UDP6.member.format(number + 1)}/64 dev cable nodad",
                 f"address add {LINK_LOCAL.format(number)}/64 dev cable nodad")


def delete_namespaces():
    ip_batch((), *(f"netns delete {name}" for name in names + ["bb"]))


@contextlib.contextmanager
def bridge_of_namespaces(snooping=1):
    """These, with a bridge that looks which ports need what is sent to a multicast address."""
    make_namespaces()
    command("ip", "-n", "bb", "link", "set", "bridge0", "type", "bridge", "mcast_snooping",
            str(snooping))
    yield


@contextlib.contextmanager
def macvlan_namespaces(outside=0):
    """Namespaces whose device "cable" is a macvlan device, all of one parent; with outside=1 that
    of the first one is the other end of the parent's cable, as if it was another machine."""
    hosts = [f"m{number}" for number in range(HOSTS)]
    other_end = f"cable netns m0 address {MAC.format(0)}" if outside else "end netns mp"
    ip_batch((), *(f"netns add {name}" for name in hosts + ["mp"]),
             f"link add parent netns mp type veth peer name {other_end}")
    try:
        ip_batch(("-n", "mp"), "link set parent up",
                 *(f"link add link parent name cable netns {name} address {MAC.format(number)} "
                   "type macvlan mode bridge"
                   for number, name in enumerate(hosts) if number >= outside),
                 *([] if outside else ["link set end up"]))
        give_addresses(hosts)
        yield hosts
    finally:
        ip_batch((), *(f"netns delete {name}" for name in hosts + ["mp"]))


def own(bearer, number):
    return bearer.member.format(number + (bearer is not ETHERNET))


def descriptor_of(bearer, group=None, hosts=HOSTS, **fields):
    descriptor = Descriptor(range(hosts), bearer.family, **{
        "multicast": group_bytes(bearer, group or bearer.group), **fields})
    descriptor.members = [member(own(bearer, number), bearer.family) for number in range(hosts)]
    return descriptor


def ranks_of(bearer, group=None, hosts=names, **fields):
    descriptor = descriptor_of(bearer, group, **fields)
    ranks = [rank_on(name) for name in hosts]
    for number, rank in enumerate(ranks):
        rank.join(descriptor, number)
    return ranks


def end(ranks, hosts=names):
    for rank in ranks:
        rank.close()
    for name in hosts:
        with rank_on(name) as watcher:
            eventually(f"groups of {name}", lambda w=watcher: w.net_stats().groups, 0)


def barriers(ranks, count):
    for _ in range(count):
        for rank in ranks:
            rank.post()
        for number, rank in enumerate(ranks):
            equal(f"barrier at rank {number}", outcome(rank.complete()), "success")


def sums_and_numbers(ranks, count):
    """All-reduces, and broadcasts of each rank in turn; what they give is checked."""
    for turn in range(count):
        for number, rank in enumerate(ranks):
            rank.post(integers(turn, number))
        for rank in ranks:
            equal("sum", rank.complete().result,
                  integers(HOSTS * turn, sum(range(HOSTS))))
        root = turn % HOSTS
        for number, rank in enumerate(ranks):
            rank.post(integers(turn) if number == root else b"", operation=BROADCAST, type=1,
                      op=0, count=1, root=root)
        for number, rank in enumerate(ranks):
            equal("number", rank.complete().result, b"" if number == root else integers(turn))


@contextlib.contextmanager
def copies_lost(bearer, name):
    """What is for the multicast address does not come in there."""
    tc = "tc", "-n", name
    command(*tc, "qdisc", "add", "dev", "cable", "clsact")
    command(*tc, *"filter add dev cable ingress protocol all flower".split(), "dst_mac",
            bearer.frames_to, "action", "drop")
    try:
        yield
    finally:
        command(*tc, "qdisc", "delete", "dev", "cable", "clsact")


def addresses(name):
    return command("ip", "-n", name, "maddress", "show", "dev", "cable").split()


def copies_of(ranks):
    return [rank.stats().copies_received for rank in ranks]


def doctor(name):
    """What the command finds of multicast."""
    with on(name):
        done = subprocess.run([TOOL, "-j", "doctor"], text=True, stdout=subprocess.PIPE,
                              check=False)
    return [found for found in json.loads(done.stdout) if found["check"] == "multicast"]
