# SPDX-License-Identifier: GPL-2.0
"""collsock-picture: draw one operation of a group from a trace."""

import argparse
import contextlib
import os
import sys

from clocks import estimate
from drawing import draw
from events import Unreadable, read_trace
from flights import flights_of
from operation import choose
from record import Unrecordable, record


def warn(text):
    print(f"collsock-picture: {text}", file=sys.stderr)


def microseconds(text):
    """A list of offsets, in ns."""
    return [round(float(word) * 1000) for word in text.split(",")]


def number(text):
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def seconds(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise ValueError
    return value


def options():
    parser = argparse.ArgumentParser(
        prog="collsock-picture", description="Draw one operation of a collective socket as "
        "SVG: a time line for each host, an arrow for each packet.",
        epilog="Several traces are from several machines; their clocks are compared by "
        "the packets that they exchanged. Exit status: 0 done, 1 failed, 2 wrong "
        "usage.")
    parser.add_argument("trace", nargs="*", metavar="TRACE",
                        help="text of a trace, of all hosts or of those of one machine")
    parser.add_argument("--operation", type=number, metavar="N",
                        help="number of the operation; by default the first that was traced "
                        "completely")
    parser.add_argument("--group", metavar="TAG",
                        help="tag of its group, or the beginning of it; required if the trace "
                        "has several groups")
    parser.add_argument("--offsets", type=microseconds, metavar="US,...",
                        help="microseconds to add to the times of each trace")
    parser.add_argument("--record", type=seconds, metavar="SECONDS",
                        help="draw nothing, but record a trace (as root)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to "
                        "standard output")
    chosen = parser.parse_args()
    if chosen.record and (chosen.trace or chosen.group or chosen.operation is not None or
                          chosen.offsets):
        parser.error("--record needs no trace, and no other option but -o")
    if not chosen.record and not chosen.trace:
        parser.error("give a trace, or --record SECONDS to make one")
    if chosen.offsets and len(chosen.offsets) != len(chosen.trace):
        parser.error(f"{len(chosen.offsets)} offsets for {len(chosen.trace)} traces")
    return chosen


def compare_clocks(events, chosen):
    """Convert the events of all machines to one clock, in order."""
    offsets = chosen.offsets or [0]
    if not chosen.offsets and len(chosen.trace) > 1:
        tags = {event.fields.get("tag") for event in events}
        flights = [flight for tag in tags for flight in
                   flights_of([event for event in events if event.fields.get("tag") == tag])]
        offsets = estimate(flights, chosen.trace)
    for event in events:
        event.at += offsets[event.clock]
    return sorted(events, key=lambda event: event.at)


def picture(chosen):
    events = [event for clock, path in enumerate(chosen.trace)
              for event in read_trace(path, clock, warn)]
    return draw(choose(compare_clocks(events, chosen), chosen.group, chosen.operation))


@contextlib.contextmanager
def output_to(path):
    if not path:
        yield sys.stdout
        return
    with open(path, "w", encoding="utf-8") as file:
        yield file


def main():
    chosen = options()
    try:
        if chosen.record:
            with output_to(chosen.output) as file:
                record(chosen.record, file)
        else:
            text = picture(chosen)
            with output_to(chosen.output) as file:
                file.write(text)
    except (Unreadable, Unrecordable) as error:
        warn(error)
        return 1
    except BrokenPipeError:
        # The reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        warn(f"{error.filename or chosen.output or 'output'}: {error.strerror}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
