# SPDX-License-Identifier: GPL-2.0
"""The time axis: from ns to positions in the picture. Long idle times are cut short."""

import bisect

WIDTH = 1100
CUT_WIDTH = 44
# Fraction of the whole: longer idle times are cut
CUT_SHARE = 0.15
# Around the symbol of a cut
CUT_MARGIN = 50
UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


def unit_of(ns):
    """The usual unit for such a time: its length in ns, its name."""
    return next((unit for unit in UNITS if abs(ns) >= unit[0]), UNITS[-1])


def duration(ns):
    """A time for readers, with three digits."""
    unit, name = unit_of(ns)
    value = ns / unit
    digits = 0 if abs(value) >= 100 or not value else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} {name}"


def exact(ns):
    """A time with all digits of the trace."""
    return f"{ns / 1000:.3f}".rstrip("0").rstrip(".") + " µs"


class Scale:
    """Pieces of time, each with space proportional to its length, except cuts."""

    def __init__(self, times):
        self.first, self.last = times[0], max(times[-1], times[0] + 1000)
        longest = CUT_SHARE * (self.last - self.first)
        self.cuts = [(a, b) for a, b in zip(times, times[1:]) if b - a > longest]
        kept = self.last - self.first - sum(b - a for a, b in self.cuts)
        room = WIDTH - CUT_WIDTH * len(self.cuts)
        if kept <= 0:
            self.cuts, kept, room = [], self.last - self.first, WIDTH
        # A little of a cut remains at both ends
        self.per_ns = room / kept
        self.points, self.places = [self.first], [0.0]
        for a, b in self.cuts:
            self.add(a, (a - self.points[-1]) * self.per_ns)
            self.add(b, CUT_WIDTH)
        self.add(self.last, (self.last - self.points[-1]) * self.per_ns)

    def add(self, time, width):
        self.places.append(self.places[-1] + width)
        self.points.append(time)

    def x(self, time):
        """The position of a time; outside of all pieces as if nothing were cut."""
        piece = min(max(bisect.bisect_right(self.points, time), 1), len(self.points) - 1)
        a, b = self.points[piece - 1:piece + 1]
        left, right = self.places[piece - 1:piece + 1]
        if time > b or a == b:
            return right + (time - b) * self.per_ns
        return left + (right - left) * (time - a) / (b - a)

    def ticks(self, least_px=90):
        """Round times at this distance at least, none in a cut."""
        step = 1000.0
        while step * self.per_ns < least_px:
            for factor in (2, 2.5, 2):
                step *= factor
                if step * self.per_ns >= least_px:
                    break
        step = round(step)
        begin = -(-self.first // step)
        count = min(int((self.last - self.first) // step) + 1, 100_000)
        found, right = [], -least_px
        for index in range(begin, begin + count):
            time = index * step
            if time > self.last or any(
                    abs(self.x(time) - (self.x(a) + self.x(b)) / 2) < CUT_MARGIN
                    for a, b in self.cuts):
                continue
            if self.x(time) - right >= least_px * 0.7:
                found.append(time)
                right = self.x(time)
        return found
