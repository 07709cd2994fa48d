# SPDX-License-Identifier: GPL-2.0
"""Traces: lines of text as tracefs, trace-cmd and perf print them, to events."""

import dataclasses
import re

# What stands before the time differs: process, CPU, flags. "collsock:" is perf's.
LINE = re.compile(r"\s(\d+)\.(\d+): +(?:collsock:)?coll_(\w+): +(.*)")
FIELD = re.compile(r"(\w+)=(\S+)")
WRITTEN = re.compile(r"# entries-in-buffer/entries-written: (\d+)/(\d+)")
LOST = re.compile(r"\[LOST (\d+) EVENTS\]")


@dataclasses.dataclass(eq=False)
class Event:
    """What happened at a time in ns, by the clock of the trace of that number."""
    at: int
    name: str  # without "coll_"
    clock: int
    fields: dict


class Unreadable(Exception):
    """The text says what is wrong with a trace."""


def value_of(name, text):
    if name == "tag":
        return text
    try:
        return int(text)
    except ValueError:
        return text


def event_of(line, clock):
    """The event of a line, or None if it holds none of collsock's."""
    found = LINE.search(line)
    if not found:
        return None
    seconds, fraction, name, rest = found.groups()
    at = int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0"))
    fields = {key: value_of(key, text) for key, text in FIELD.findall(rest)}
    return Event(at, name, clock, fields)


def read_trace(path, clock, warn):
    """The events of a file in their order."""
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
        raise Unreadable(f"{path}: no event of collsock is in it; one that has some is "
                         "recorded by 'collsock-picture --record SECONDS'")
    if missing:
        warn(f"{path}: {missing} events are not in it any more; record for a shorter time or "
             "with a larger buffer")
    return events


def is_packet(event):
    return event.name in ("packet_sent", "packet_received")


def place(event):
    """The host at which it happened, by the tag of its group: None if nobody can tell."""
    fields = event.fields
    if event.name in ("packet_sent", "message_again"):
        host = fields.get("source")
    elif event.name == "packet_received":
        host = fields.get("destination")
    else:
        host = fields.get("host")
    return None if host is None else (fields.get("tag"), host)
