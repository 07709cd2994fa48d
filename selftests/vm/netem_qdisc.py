# SPDX-License-Identifier: GPL-2.0
"""netem on a device, by netlink: starting tc for each host would take most of the time of
scenarios that lose packets."""

import os
import socket
import struct

from collsock_netlink import ACK, NLMSG_ERROR, REQUEST, attribute

NEW_QDISC, DELETE_QDISC, CREATE, REPLACE = 36, 37, 0x400, 0x100
ROOT = 0xffffffff
KIND, OPTIONS = 1, 2
REORDER, LATENCY64, JITTER64 = 3, 10, 11
DEFAULT_LIMIT = 1000  # packets, as tc has it
UNITS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def nanoseconds(text):
    number = text.rstrip("mus")
    return round(float(number) * UNITS[text[len(number):]])


def share(text):
    """A percentage, of 32 bits"""
    return round(float(text.removesuffix("%")) / 100 * 0xffffffff)


def options(words):
    """What these arguments of tc mean: its structure, and attributes."""
    limit, loss, duplicate, reorder = DEFAULT_LIMIT, 0, 0, 0
    times, words = [], list(words)
    while words:
        word = words.pop(0)
        if word == "delay":
            while words and words[0][0].isdigit():
                times.append(nanoseconds(words.pop(0)))
        elif word == "limit":
            limit = int(words.pop(0))
        elif word == "loss":
            loss = share(words.pop(0))
        elif word == "duplicate":
            duplicate = share(words.pop(0))
        elif word == "reorder":
            reorder = share(words.pop(0))
        else:
            raise ValueError(f"netem: {word}")
    data = struct.pack("=6I", 0, limit, loss, bool(reorder), duplicate, 0)
    for kind, value in zip((LATENCY64, JITTER64), times):
        data += attribute(kind, struct.pack("=q", value))
    if reorder:
        data += attribute(REORDER, struct.pack("=2I", reorder, 0))
    return data


def apply(device, words):
    """To what the device of this network namespace sends; without words, remove it."""
    body = struct.pack("=BxxxiIII", socket.AF_UNSPEC, socket.if_nametoindex(device), 0, ROOT, 0)
    kind, flags = DELETE_QDISC, REQUEST | ACK
    if words:
        kind, flags = NEW_QDISC, flags | CREATE | REPLACE
        body += attribute(KIND, "netem") + attribute(OPTIONS, options(words))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        netlink.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = netlink.recv(1 << 16)
    (answered,), (error,) = (struct.unpack_from("=H", answer, 4),
                             struct.unpack_from("=i", answer, 16))
    if answered != NLMSG_ERROR or error:
        raise OSError(-error, f"netem {' '.join(words)}: {os.strerror(-error)}")
