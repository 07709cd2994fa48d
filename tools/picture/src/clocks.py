# SPDX-License-Identifier: GPL-2.0
"""Clocks of several machines: the offset of each, so that packets travel forwards in time.

Only the packets give information about the clocks. The shortest time of a packet from one
machine to another, by their clocks, is the least delay plus the difference of the clocks.
If the least delay is the same everywhere it follows from any cycle of packets, and the
differences follow from it. They are computed by relaxation, with the least mean square
error.
"""

from events import Unreadable

STEPS = 2000
ENOUGH_NS = 1


def least_differences(flights):
    """The shortest time, by their clocks, of a packet from one clock to another."""
    least = {}
    for flight in flights:
        if not flight.sent or not flight.received or flight.again:
            continue
        direction = flight.sent.clock, flight.received.clock
        took = flight.received.at - flight.sent.at
        if direction[0] != direction[1] and took < least.get(direction, took + 1):
            least[direction] = took
    return least


def reachable(first, edges):
    found, waiting = {first}, [first]
    while waiting:
        here = waiting.pop()
        for tail, head in edges:
            if tail == here and head not in found:
                found.add(head)
                waiting.append(head)
    return found


def check_connected(count, least, names):
    """Packets must lead from every machine to every other, and back."""
    for edges in (list(least), [(head, tail) for tail, head in least]):
        missing = set(range(count)) - reachable(0, edges)
        if missing:
            raise Unreadable(f"{names[min(missing)]}: no packets lead from it to {names[0]} and "
                             "back, so its clock cannot be compared; use --offsets")


def first_guess(count, least):
    """Offsets as if no packet took any time."""
    offsets = {0: 0.0}
    while len(offsets) < count:
        for (tail, head), took in least.items():
            if tail in offsets:
                offsets.setdefault(head, offsets[tail] - took)
    return [offsets[clock] for clock in range(count)]


def relax(count, least):
    """The offsets of the clocks that fit best."""
    offsets, delay = first_guess(count, least), 0.0
    for _ in range(STEPS):
        before = delay, *offsets
        for clock in range(1, count):
            wanted = [offsets[tail] + delay - took
                      for (tail, head), took in least.items() if head == clock]
            wanted += [offsets[head] + took - delay
                       for (tail, head), took in least.items() if tail == clock]
            offsets[clock] = sum(wanted) / len(wanted)
        delays = [took + offsets[head] - offsets[tail] for (tail, head), took in least.items()]
        delay = sum(delays) / len(delays)
        if max(abs(new - old) for new, old in zip((delay, *offsets), before)) < ENOUGH_NS:
            break
    return offsets


def estimate(flights, names):
    """The offset to add to the times of each trace, in ns."""
    least = least_differences(flights)
    check_connected(len(names), least, names)
    return [round(offset) for offset in relax(len(names), least)]
