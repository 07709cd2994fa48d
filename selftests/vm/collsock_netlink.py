# SPDX-License-Identifier: GPL-2.0
"""Generic netlink in plain bytes: the family "collsock" for the scenarios.

Numbers of commands and attributes come from the header that programs use. Requests
of a test are sent unchanged, well-formed or not.
"""

import errno
import functools
import itertools
import os
import pathlib
import re
import socket
import struct

HEADER = pathlib.Path(__file__).resolve().parents[2] / "uapi/linux/collsock_netlink.h"

NETLINK_GENERIC, GENL_ID_CTRL = 16, 16
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, MULTI, ACK, DUMP_INTERRUPTED, DUMP = 1, 2, 4, 0x10, 0x300
NESTED, TYPE = 0x8000, 0x3fff
SOL_NETLINK, ADD_MEMBERSHIP, EXT_ACK, GET_STRICT_CHK = 270, 1, 11, 12
CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME, CTRL_MCAST_GROUPS = 3, 1, 2, 7
ERROR_TEXT, ERROR_OFFSET = 1, 2


def numbers():
    """The names of the header's enumerations, without COLLSOCK_."""
    values = {}
    for body in re.findall(r"enum[ \w]*\{(.*?)\}", HEADER.read_text(encoding="ascii"), re.DOTALL):
        value = -1
        for name, given in re.findall(r"^\tCOLLSOCK_(\w+)(?: = (\d+))?,", body, re.MULTILINE):
            value = int(given) if given else value + 1
            values[name] = value
    return values


NUMBERS = numbers()


class NetlinkError(OSError):
    """The kernel's error, with its text and the offset of the attribute that caused it."""

    def __init__(self, number, text, offset):
        super().__init__(number, f"{os.strerror(number)}: {text}")
        self.text = text
        self.offset = offset


def attribute(kind, value):
    """An attribute: of bytes, a number of 32 bits, text, or a list of attributes."""
    if isinstance(value, list):
        kind |= NESTED
        value = b"".join(value)
    elif isinstance(value, int):
        value = struct.pack("=I", value)
    elif isinstance(value, str):
        value = value.encode("ascii") + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def attributes(data):
    """All attributes: pairs of number and bytes."""
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found.append((kind & TYPE, data[4:length]))
        data = data[(length + 3) & ~3:]
    return found


def integer(data):
    return int.from_bytes(data, "little")


@functools.cache
def names_of(prefix):
    """The header's names that begin so, by their values. A dump has thousands of messages."""
    return {value: name[len(prefix):].lower() for name, value in NUMBERS.items()
            if name.startswith(prefix)}


def named(data, prefix, nested=None):
    """Attributes by their names; nested ones likewise, repeated ones as lists.

    Numbers are integers, nested is {name: prefix of its attributes}.
    """
    names, result = names_of(prefix), {}
    for kind, value in attributes(data):
        name = names.get(kind, str(kind))
        if nested and name in nested:
            result.setdefault(name, []).append(named(value, nested[name]))
        elif name in ("name", "unit", "description", "version"):
            result[name] = value[:-1].decode("ascii")
        elif name == "address":
            result[name] = value
        elif name == "missing_rank":
            result.setdefault(name, []).append(integer(value))
        else:
            result[name] = integer(value)
    return result


class Netlink:
    """A socket to the family, on the host where it was opened."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.socket.setsockopt(SOL_NETLINK, GET_STRICT_CHK, 1)
        self.socket.bind((0, 0))
        self.serial = itertools.count(1)
        (family,) = self.ask(GENL_ID_CTRL, CTRL_GETFAMILY,
                             [attribute(CTRL_FAMILY_NAME, "collsock")])
        family = dict(attributes(family))
        self.family = integer(family[CTRL_FAMILY_ID])
        (self.events,) = [integer(dict(attributes(group))[2])
                          for _, group in attributes(family[CTRL_MCAST_GROUPS])]

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()

    def send(self, family, command, body=(), flags=REQUEST | ACK, version=1):
        serial = next(self.serial)
        payload = struct.pack("=BBH", command, version, 0) + b"".join(body)
        self.send_raw(struct.pack("=IHHII", 16 + len(payload), family, flags, serial, 0) +
                      payload)
        return serial

    def send_raw(self, data):
        self.socket.send(data)

    def ask(self, family, command, body=(), flags=REQUEST | ACK):
        """The attributes of each answer, up to the end of a dump."""
        self.send(family, command, body, flags)
        answers, self.interrupted = [], False
        while True:
            data = self.socket.recv(1 << 17)
            while data:
                length, kind, flagged = struct.unpack_from("=IHH", data)
                self.interrupted |= bool(flagged & DUMP_INTERRUPTED)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    self.judge(data[16:length], flagged, kind)
                    return answers
                if data[16] != NUMBERS["CMD_DUMP_BEGUN"]:
                    answers.append(data[20:length])
                data = data[(length + 3) & ~3:]

    @staticmethod
    def judge(data, flags, kind):
        (error,) = struct.unpack_from("=i", data)
        if not error:
            return
        rest = data[4:]
        if kind == NLMSG_ERROR:
            (request,) = struct.unpack_from("=I", rest)
            rest = rest[16 if flags & 0x100 else (request + 3) & ~3:]
        said = dict(attributes(rest)) if flags & 0x200 else {}
        raise NetlinkError(-error, said.get(ERROR_TEXT, b"\0")[:-1].decode("ascii"),
                           integer(said[ERROR_OFFSET]) if ERROR_OFFSET in said else None)

    def do(self, command, *body):
        return self.ask(self.family, NUMBERS[f"CMD_{command}"], body)

    def dump(self, command, *body):
        return self.ask(self.family, NUMBERS[f"CMD_{command}"], body, REQUEST | DUMP)

    # ---- queries ----

    def tunables(self):
        (answer,) = self.do("TUNABLE_GET")
        rows = [named(data, "A_TUNABLE_") for _, data in attributes(answer)]
        return {row["name"]: row for row in rows}

    def set_tunables(self, **values):
        """Sets all of them or none, also while others join; None is a reset."""
        nests = [attribute(NUMBERS["A_TUNABLES_TUNABLE"], [
            attribute(NUMBERS["A_TUNABLE_NAME"], name),
            attribute(NUMBERS["A_TUNABLE_RESET"], b"") if value is None else
            attribute(NUMBERS["A_TUNABLE_VALUE"], value)]) for name, value in values.items()]
        while True:
            try:
                return self.do("TUNABLE_SET", *nests)
            except NetlinkError as error:
                if error.errno != errno.EAGAIN:
                    raise

    def net(self):
        return named(self.do("NET_GET")[0], "A_NET_")

    def group(self, handle):
        return named(self.do("GROUP_GET", attribute(1, handle))[0], "A_GROUP_",
                     {"stats": "A_STATS_"})

    def end(self, handle):
        self.do("GROUP_END", attribute(1, handle))

    def all(self, what, group=None):
        """Of group, host, rank, peer, operation, early-packet: all, or those of one group."""
        body = () if group is None else (attribute(1, group),)
        nested = {"group": {"stats": "A_STATS_"}, "operation": {"missing": "A_MISSING_"}}
        name = what.upper().replace("-", "_")
        return [named(data, f"A_{name}_", nested.get(what))
                for data in self.dump(f"{name}_GET", *body)]

    # ---- events ----

    def listen(self):
        self.socket.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, self.events)

    def hear(self):
        """The events of one message, by their names."""
        data = self.socket.recv(1 << 17)
        kinds = {value: name[6:].lower() for name, value in NUMBERS.items()
                 if name.startswith("EVENT_")}
        (length,) = struct.unpack_from("=I", data)
        event = named(data[20:length], "A_NOTICE_")
        event["event"] = kinds[event["event"]]
        return event
