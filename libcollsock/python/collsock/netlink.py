# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Netlink: what kernels answer to a dump, in plain bytes."""
from __future__ import annotations

import errno
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator

GENERIC, GENL_ID_CTRL = 16, 16
ERROR, DONE = 2, 3
REQUEST, ACK, DUMP = 1, 4, 0x300
KIND = 0x3fff  # without the flags of an attribute
HEAD = struct.Struct("=IHHII")
GENL_HEAD = struct.Struct("=BBH")
CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 3, 1, 2
NAME = b"collsock\0"

# Attributes by their numbers; one may come several times
Answer = dict[int, list[bytes]]


def attribute(kind: int, value: bytes) -> bytes:
    """An attribute."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """All attributes: number and value."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            raise OSError(errno.EBADMSG, "an answer of netlink is not understood")
        yield kind & KIND, data[4:length]
        data = data[(length + 3) & ~3:]


def messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """All messages that were received together: type, number of the request, content."""
    while len(data) >= HEAD.size:
        length, kind, _, sequence, _ = HEAD.unpack_from(data)
        if not HEAD.size <= length <= len(data):
            raise OSError(errno.EBADMSG, "an answer of netlink is not understood")
        yield kind, sequence, data[HEAD.size:length]
        data = data[(length + 3) & ~3:]


class Netlink:
    """A socket of a netlink protocol; every wait ends at the deadline."""

    ROOM = 1 << 17

    def __init__(self, protocol: int, deadline: float) -> None:
        self.deadline, self.requests = deadline, 0
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC,
                                    protocol)

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, kind: int, flags: int, body: bytes) -> Iterator[bytes]:
        """The content of each answer."""
        self.requests += 1
        asked = self.requests
        self.socket.send(HEAD.pack(HEAD.size + len(body), kind, REQUEST | flags, asked, 0) + body)
        while True:
            for told, sequence, content in messages(self.receive()):
                if sequence != asked:
                    continue
                if told in (ERROR, DONE):
                    number, = struct.unpack_from("=i", content)
                    if number:
                        raise OSError(-number, os.strerror(-number))
                    return
                yield content

    def receive(self) -> bytes:
        """What the kernel sends. Processes that administer the namespace can send, too."""
        while True:
            self.socket.settimeout(max(0.001, self.deadline - time.monotonic()))
            data, (sender, _) = self.socket.recvfrom(self.ROOM)
            if not sender:
                return data

    def collsock_family(self) -> int:
        """The number of the generic netlink family."""
        body = GENL_HEAD.pack(CTRL_GETFAMILY, 1, 0) + attribute(CTRL_FAMILY_NAME, NAME)
        found = [dict(attributes(content[GENL_HEAD.size:]))
                 for content in self.ask(GENL_ID_CTRL, ACK, body)]
        return struct.unpack("=H", found[0][CTRL_FAMILY_ID])[0]  # type: ignore[no-any-return]

    def dump(self, family: int, command: int, request: bytes = b"") -> Iterator[Answer]:
        """The attributes of each answer of that command."""
        for content in self.ask(family, DUMP, GENL_HEAD.pack(command, 1, 0) + request):
            if content[0] == command:  # else the dump has begun
                yield answer_of(content)


def answer_of(content: bytes) -> Answer:
    """The attributes of an answer."""
    found: Answer = {}
    for kind, value in attributes(content[GENL_HEAD.size:]):
        found.setdefault(kind, []).append(value)
    return found


def answers_in(report: bytes, command: int) -> list[Answer]:
    """Those of that command in a report of ranks in user space."""
    return [answer_of(content) for _, _, content in messages(report)
            if len(content) >= GENL_HEAD.size and content[0] == command]


def number(found: Answer, kind: int) -> int | None:
    """The first value of an attribute, a number; None if there is none."""
    return int.from_bytes(found[kind][0], sys.byteorder) if kind in found else None
