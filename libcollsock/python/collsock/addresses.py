# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""This host: what tells it from others, and the addresses by which they may reach it."""
from __future__ import annotations

import enum
import ipaddress
import os
import socket
import struct
import time
from typing import NamedTuple, Union

from .netlink import DUMP, Netlink, attributes

IPAddress = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

ROUTE = 0
RTM_GETLINK, RTM_GETADDR = 18, 22
LINK = struct.Struct("=BxHiII")
ADDRESS = struct.Struct("=BBBBI")
IFF_UP, IFF_LOOPBACK, IFF_RUNNING = 1, 8, 0x40
IFLA_LINKINFO, IFLA_INFO_KIND = 18, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
IFA_F_DADFAILED, IFA_F_TENTATIVE = 0x08, 0x40
MOST_SECONDS = 5


class Reach(enum.IntEnum):
    """Who can be expected to reach an address: the fewer, the later it is chosen."""

    NETWORK = 0
    BRIDGE = 1  # of a network inside the host: of containers, virtual machines
    UNPLUGGED = 2  # of an interface without a carrier
    HOST = 3  # loopback


class Address(NamedTuple):
    """An address of a host, and the length of its network's prefix."""

    reach: Reach
    address: IPAddress
    prefix: int

    def shares_network(self, other: Address) -> bool:
        """Is the other one in the network of this one?"""
        network = ipaddress.ip_network((self.address, self.prefix), strict=False)
        return other.address in network

    def shares_family(self, other: Address) -> bool:
        """May routers connect its network with the other's?"""
        return self.address.version == other.address.version


def identity() -> bytes:
    """32 bytes, equal for processes that share a host: boot id and network namespace."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as text:
        boot = bytes.fromhex(text.read().replace("-", ""))
    space = os.stat("/proc/thread-self/ns/net")
    return boot + struct.pack("=QQ", space.st_dev, space.st_ino)


def reach_of(flags: int, info: bytes) -> Reach | None:
    """The reach of an interface's addresses; None while it is down."""
    if not flags & IFF_UP:
        return None
    if flags & IFF_LOOPBACK:
        return Reach.HOST
    if not flags & IFF_RUNNING:
        return Reach.UNPLUGGED
    kind = dict(attributes(info)).get(IFLA_INFO_KIND, b"").rstrip(b"\0")
    return Reach.BRIDGE if kind == b"bridge" else Reach.NETWORK


def reaches(netlink: Netlink) -> dict[int, Reach]:
    """By the index of the interface."""
    found = {}
    for content in netlink.ask(RTM_GETLINK, DUMP, LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0)):
        _, _, index, flags, _ = LINK.unpack_from(content)
        reach = reach_of(flags, dict(attributes(content[LINK.size:])).get(IFLA_LINKINFO, b""))
        if reach is not None:
            found[index] = reach
    return found


def of_answer(content: bytes, reach: dict[int, Reach]) -> Address | None:
    """The address in an answer, if others may use it."""
    _, prefix, flags, _, index = ADDRESS.unpack_from(content)
    found = dict(attributes(content[ADDRESS.size:]))
    packed = found.get(IFA_LOCAL) or found.get(IFA_ADDRESS)
    if not packed or index not in reach or flags & (IFA_F_DADFAILED | IFA_F_TENTATIVE):
        return None
    address = ipaddress.ip_address(packed)
    return None if address.is_link_local else Address(reach[index], address, prefix)


def addresses() -> list[Address]:
    """The addresses of this host, the most useful first; IPv4 before IPv6, as its headers are
    shorter."""
    with Netlink(ROUTE, time.monotonic() + MOST_SECONDS) as netlink:
        reach = reaches(netlink)
        answers = list(netlink.ask(RTM_GETADDR, DUMP, ADDRESS.pack(socket.AF_UNSPEC, 0, 0, 0, 0)))
    found = [of_answer(content, reach) for content in answers]
    return sorted((one for one in found if one),
                  key=lambda one: (one.reach, one.address.version))
