# SPDX-License-Identifier: GPL-2.0
"""Parses traces, lines of text as printed by tracefs, trace-cmd and perf, into events."""

import dataclasses
import re

# The text before the time varies: process, CPU, flags. perf adds "collsock:".
LINE = re.compile(r"\s(\d+)\.(\d+): +(?:collsock:)?coll_(\w+): +(.*)")
FIELD = re.compile(r"(\w+)=(\S+)")
WRITTEN = re.compile(r"# entries-in-buffer/entries-written: (\d+)/(\d+)")
LOST = re.compile(r"\[LOST (\d+) EVENTS\]")


@dataclasses.dataclass(eq=False)
class Event:
    """An event at a time in ns, by the clock of the trace of that number."""
    at: int
    name: str  # without "coll_"
    clock: int
    fields: dict


class Unreadable(Exception):
    """A trace cannot be used; the text says why."""


def value_of(name, text):
    if name == "tag":
        return text
    try:
        return int(text)
    except ValueError:
        return text


def event_of(line, clock):
    """The event of a line, or None if it is not one of collsock's."""
    found = LINE.search(line)
    if not found:
        return None
    seconds, fraction, name, rest = found.groups()
    at = int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0"))
    fields = {key: value_of(key, text) for key, text in FIELD.findall(rest)}
    return Event(at, name, clock, fields)


def read_trace(path, clock, warn):
    """The events of a file in order."""
    events, missing = [], 0
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                written = WRITTEN.match(line)
                lost = LOST.search(line)
                if written:
                    missing += int(written[2]) - int(written[1])
                elif lost:
                    missing += int(lost[1])
                else:
                    event = event_of(line, clock)
                    if event:
                        events.append(event)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    if not events:
        raise Unreadable(f"{path}: it has no events of collsock; "
                         "record some with 'collsock-picture --record SECONDS'")
    if missing:
        warn(f"{path}: {missing} events were overwritten; record for a shorter time or "
             "with a larger buffer")
    return events


def is_packet(event):
    return event.name in ("packet_sent", "packet_received")


def place(event):
    """Tag of the group and host at which it happened: None if unknown."""
    fields = event.fields
    if event.name in ("packet_sent", "message_again"):
        host = fields.get("source")
    elif event.name == "packet_received":
        host = fields.get("destination")
    else:
        host = fields.get("host")
    return None if host is None else (fields.get("tag"), host)
