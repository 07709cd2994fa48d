# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The request to join a group: its hosts, its ranks, its key."""
from __future__ import annotations

import enum
import errno
import ipaddress
import os
import re
import socket
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Union

from . import layout, lists

# The host of a rank: an address, or an address and a port
Host = Union[str, tuple[str, int]]


# What a group may choose, equal on all ranks; 0 is the default of each (uapi.md, JOIN)
Limits = Mapping[str, int]
MOST = {"max_bytes": 0xffffffff, "max_result_bytes": 0xffffffff, "window": 0xffff,
        "segment_bytes": 0xffff, "liveness_ms": 0xffffffff, "degree": 0xff}


def parse_address(name: str) -> tuple[int, bytes]:
    """The family of an address, and its bytes."""
    if re.fullmatch("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", name):
        return socket.AF_PACKET, bytes.fromhex(name.replace(":", ""))
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise ValueError(f"{name!r} is not an IPv4, IPv6 or MAC address") from None
    return socket.AF_INET if address.version == 4 else socket.AF_INET6, address.packed


def scope_of(interface: str, family: int) -> int:
    """The index of an interface. That of a MAC address may be another host's: then 0."""
    try:
        return socket.if_nametoindex(interface) if interface else 0
    except OSError:
        if family == socket.AF_PACKET:
            return 0
        raise ValueError(f"{interface!r} is not a network interface of this host") from None


def member(host: Host) -> bytes:
    """A host as bytes."""
    address, port = (host, 0) if isinstance(host, str) else host
    if not 0 <= port <= 0xffff:
        raise ValueError(f"{port} is not a UDP port")
    name, _, interface = address.partition("%")
    family, packed = parse_address(name)
    usual = layout.ETHERTYPE if family == socket.AF_PACKET else layout.PORT
    return layout.MEMBER.pack(family, port or usual, scope_of(interface, family), packed)


def members(hosts: Sequence[Host]) -> Iterator[bytes]:
    """The hosts of all ranks as bytes; an error names the rank."""
    for rank, host in enumerate(hosts):
        try:
            yield member(host)
        except ValueError as error:
            raise ValueError(f"host of rank {rank}: {error}") from None


def check_number(name: str, value: int, most: int) -> int:
    """The value, if it is from 0 to the greatest."""
    if not 0 <= value <= most:
        raise ValueError(f"{name} is {value}, not 0 to {most}")
    return value


def check_key(key: bytes) -> bytes:
    """The key, if it is one."""
    key = bytes(key)
    if len(key) != layout.KEY_BYTES:
        raise ValueError(f"a key has {layout.KEY_BYTES} bytes, not {len(key)}")
    if not any(key):
        raise ValueError("a key of zeros is none: pass None for a group without a key")
    return key


def check_limits(limits: Limits) -> dict[str, int]:
    """All limits, with those that the program has chosen."""
    unknown = set(limits) - set(MOST)
    if unknown:
        raise TypeError(f"no limit {', '.join(sorted(unknown))}; there are {', '.join(MOST)}")
    return {name: check_number(name, limits.get(name, 0), most) for name, most in MOST.items()}


def named(kind: type[enum.IntEnum], name: str, what: str) -> int:
    """The number of a name, as collperf writes it."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not the name of an {what}")
    try:
        return kind[name.upper().replace("-", "_")]
    except KeyError:
        known = ", ".join(one.name.lower().replace("_", "-") for one in kind)
        raise ValueError(f"{name!r} is no {what}; there are {known}") from None


def algorithm_of_each(algorithm: Mapping[str, str] | None) -> bytes:
    """The algorithm of each operation, by its number; 0: the group's choice."""
    numbers = bytearray(layout.MAX_OPERATIONS)
    if algorithm is not None and not isinstance(algorithm, Mapping):
        raise TypeError(f"algorithm is {algorithm!r}, not a dictionary such as "
                        "{'allreduce': 'kary'}")
    for operation, name in (algorithm or {}).items():
        number = named(lists.Kind, operation, "operation")
        if numbers[number]:
            raise ValueError(f"{operation!r} is there twice")
        numbers[number] = named(lists.Algorithm, name, "algorithm")
    return bytes(numbers)


def multicast_address(name: str | None, hosts: Sequence[bytes]) -> bytes:
    """A multicast address as bytes, of the family of the hosts; zeros for none."""
    if name is None:
        return bytes(16)
    family, packed = parse_address(name)
    several = packed[0] & 1 if family == socket.AF_PACKET else ipaddress.ip_address(
        packed).is_multicast
    if not several:
        raise ValueError(f"{name!r} is not a multicast address")
    if family != layout.MEMBER.unpack(hosts[0])[0]:
        raise ValueError(f"{name!r} is of another address family than the hosts")
    return packed.ljust(16, b"\0")


def join_request(hosts: Sequence[Host], rank: int, group_id: int, nonce: int,
                 key: bytes | None, limits: Limits, multicast: str | None = None,
                 algorithm: Mapping[str, str] | None = None) -> bytes:
    """The argument of JOIN: the request, the hosts, and the host of each rank."""
    if isinstance(hosts, str):
        raise TypeError(f"hosts is {hosts!r}, not a list with the host of each rank")
    if not 0 <= rank < len(hosts) <= layout.MAX_RANKS:
        raise ValueError(f"rank {rank} of {len(hosts)} hosts: hosts has one item for each rank, "
                         f"from 0, {layout.MAX_RANKS} at most")
    value = check_limits(limits)
    index: dict[bytes, int] = {}
    host_of_rank = [index.setdefault(host, len(index)) for host in members(hosts)]
    head = layout.JOIN_HEAD.pack(
        layout.JOIN_HEAD.size, 0, check_number("id", group_id, 2**64 - 1),
        check_number("nonce", nonce, 2**64 - 1),
        bytes(layout.KEY_BYTES) if key is None else check_key(key), len(index), len(hosts), rank,
        value["max_bytes"], value["window"], value["segment_bytes"], value["liveness_ms"], 0, 0, 0,
        algorithm_of_each(algorithm), value["degree"], 0, bytes(2), value["max_result_bytes"],
        multicast_address(multicast, list(index)))
    return head + b"".join(index) + struct.pack(f"={len(hosts)}I", *host_of_rank)


def with_choices(asked: bytes, limits: Limits, algorithm: Mapping[str, str] | None) -> bytes:
    """The same argument with what a program chooses; 0 leaves what the argument says."""
    value, own = check_limits(limits), algorithm_of_each(algorithm)
    head = list(layout.JOIN_HEAD.unpack_from(asked))
    for name, field in layout.JOIN_CHOICES.items():
        head[field] = value[name] or head[field]
    head[layout.JOIN_ALGORITHM] = bytes(
        mine or theirs for mine, theirs in zip(own, head[layout.JOIN_ALGORITHM]))
    return layout.JOIN_HEAD.pack(*head) + asked[layout.JOIN_HEAD.size:]


def open_nonblocking(path: str, flags: int) -> int:
    """For open(): a FIFO does not block."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def key_from_file(path: str | os.PathLike[str]) -> bytes:
    """A key from a file of 32 hexadecimal digits that only its owner, this user or root, may
    access, as `collsock keygen` writes it."""
    with open(path, encoding="ascii", opener=open_nonblocking) as lines:
        status = os.fstat(lines.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{os.fspath(path)}: a key is in a plain file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(errno.EPERM, "others can read the key: chmod 600",
                                  os.fspath(path))
        if status.st_uid not in (os.geteuid(), 0):
            raise PermissionError(errno.EPERM, "another user's file: its owner can read the key",
                                  os.fspath(path))
        text = lines.read(4 * layout.KEY_BYTES).strip()
    if not re.fullmatch("[0-9a-fA-F]{32}", text):
        raise ValueError(f"{os.fspath(path)}: a key has 32 hexadecimal digits")
    return check_key(bytes.fromhex(text))
