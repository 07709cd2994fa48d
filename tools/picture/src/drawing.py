# SPDX-License-Identifier: GPL-2.0
"""The picture: a row for each host, time from left to right, an arrow for each packet."""

import math
from html import escape

from events import Unreadable
from scale import Scale, WIDTH, duration, exact, unit_of

LEFT, RIGHT, TOP, BOTTOM = 110, 250, 92, 40
COLUMNS = (("posted", 64), ("completed", 152), ("took", 222))
LEAST_ROW, MOST_ROW, ROWS_HEIGHT = 24, 56, 760
FONT = 12
# Ratio of a letter's width to its height, at most; used to place labels
LETTER = 0.62
HEAD = 7  # of an arrow
LOOSE_END = 26  # visible part of a packet whose other end is in no trace
LOST_SHARE = 0.72  # of its path, where a lost packet ends
MOST_HOSTS = 512

# Okabe and Ito's palette, which is suitable for the colour-blind
ROUND_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#7f6000")
TROUBLE = "#d55e00"

STYLE = f"""
text {{ font: {FONT}px 'DejaVu Sans', Verdana, sans-serif; fill: #222; }}
.name {{ font-size: 17px; font-weight: bold; }}
.small, .roundname {{ font-size: 10px; fill: #555; }}
.roundname {{ stroke: #fff; stroke-width: 3px; paint-order: stroke; text-anchor: middle; }}
.end {{ text-anchor: end; }}
.middle {{ text-anchor: middle; }}
.grid {{ stroke: #e4e4e4; stroke-width: 1; }}
.cut {{ fill: #f1f1f1; }}
.timeline {{ stroke: #b8b8b8; stroke-width: 1.2; }}
.untraced {{ stroke-dasharray: 2 4; }}
.busy {{ stroke: #8a8a8a; stroke-width: 4; }}
.post {{ fill: #222; }}
.round {{ stroke: #222; stroke-width: 1.6; }}
.completion {{ fill: #222; }}
.failed {{ fill: {TROUBLE}; }}
.line {{ stroke-width: 1.4; fill: none; }}
.acknowledgment .line {{ stroke: #777; stroke-dasharray: 1.5 3; }}
.acknowledgment .head {{ fill: #777; }}
.other .line {{ stroke: #444; stroke-dasharray: 8 3 1.5 3; }}
.other .head {{ fill: #444; }}
.again .line {{ stroke: {TROUBLE}; stroke-width: 2.2; stroke-dasharray: 7 3; }}
.again .head {{ fill: {TROUBLE}; }}
.cross {{ stroke: {TROUBLE}; stroke-width: 2.2; fill: none; }}
.ring {{ stroke: #222; stroke-width: 1.2; fill: #fff; }}
""" + "".join(f".round{n} .line {{ stroke: {colour}; }} .round{n} .head {{ fill: {colour}; }}\n"
              for n, colour in enumerate(ROUND_COLOURS))


# ---- elements ----

def element(name, content=None, **attributes):
    """Underscores in names of attributes become hyphens; cls is class."""
    words = [name]
    for key, value in attributes.items():
        key = "class" if key == "cls" else key.replace("_", "-")
        if isinstance(value, float):
            value = f"{value:.1f}"
        words.append(f'{key}="{escape(str(value))}"')
    head = " ".join(words)
    return f"<{head}/>" if content is None else f"<{head}>{content}</{name}>"


def text(x, y, words, cls=""):
    return element("text", escape(words, quote=False), x=float(x), y=float(y), **({"cls": cls} if cls else {}))


def line(x1, y1, x2, y2, cls):
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), cls=cls)


def polygon(points, cls):
    return element("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), cls=cls)


def group(cls, title, *parts):
    return element("g", element("title", escape(title, quote=False)) + "".join(parts), cls=cls)


def width_of(words, size=FONT):
    return len(words) * size * LETTER


# ---- symbols, also shown in the legend ----

def post_sign(x, y):
    return polygon([(x - 5, y - 7), (x + 5, y), (x - 5, y + 7)], "post")


def completion_sign(x, y, failed=False):
    return polygon([(x, y - 7), (x + 6, y), (x, y + 7), (x - 6, y)],
                   "completion failed" if failed else "completion")


def round_sign(x, y):
    return line(x, y - 6, x, y + 6, "round")


def cross_sign(x, y):
    return element("path", d=f"M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10", cls="cross")


def ring_sign(x, y):
    return element("circle", cx=float(x), cy=float(y), r=3.5, cls="ring")


def arrow(x1, y1, x2, y2, headed=True):
    """Its tip is at the end, and its line ends where its head begins."""
    length = math.hypot(x2 - x1, y2 - y1)
    if not headed or length < HEAD:
        return line(x1, y1, x2, y2, "line")
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    bx, by = x2 - HEAD * dx, y2 - HEAD * dy
    side = HEAD * 0.38
    return (line(x1, y1, bx, by, "line") +
            polygon([(x2, y2), (bx - side * dy, by + side * dx), (bx + side * dy, by - side * dx)],
                    "head"))


def flight_class(flight):
    if flight.again:
        return "packet again"
    if flight.type == "message":
        return f"packet message round{flight.fields['round'] % len(ROUND_COLOURS)}"
    return "packet acknowledgment" if flight.type == "acknowledgment" else "packet other"


class Picture:
    """One operation, drawn."""

    def __init__(self, operation):
        if len(operation.hosts) > MOST_HOSTS:
            raise Unreadable(f"{len(operation.hosts)} hosts are more than a picture can show "
                             f"({MOST_HOSTS})")
        self.operation = operation
        self.scale = Scale(operation.times())
        self.unit = unit_of(self.scale.last)
        rows = len(operation.hosts)
        self.row = min(MOST_ROW, max(LEAST_ROW, ROWS_HEIGHT / rows))
        self.row_of = {host: TOP + self.row * (index + 0.6)
                       for index, host in enumerate(operation.hosts)}
        self.axis = TOP + self.row * (rows + 0.2)
        self.right = LEFT + WIDTH + 24
        # A lost packet is drawn as if it had taken as long as the others
        took = sorted(flight.received.at - flight.sent.at for flight in operation.flights
                      if flight.sent and flight.received)
        self.usual_ns = took[len(took) // 2] if took else 0

    def x(self, time):
        return LEFT + 12 + self.scale.x(time)

    # ---- rows ----

    def kind(self):
        return self.operation.post.get("kind", "operation")

    def heading(self):
        operation = self.operation
        hosts, flights = len(operation.hosts), operation.flights
        words = [f"{hosts} hosts" if hosts > 1 else "one host"]
        if operation.post:
            words.append(operation.post["algorithm"].replace("_", " "))
        rounds = {event.fields["round"] for event in operation.rounds}
        words.append(f"{len(rounds)} rounds")
        begin = min((event.at for event in operation.posts), default=None)
        last = max((event.at for event in operation.posts), default=None)
        end = max((event.at for event in operation.completions), default=None)
        if None not in (begin, end):
            words.append(f"{duration(end - begin)} from the first post to the last completion, "
                         f"{duration(end - last)} from the last post")
        counts = (("messages", lambda flight: flight.type == "message" and not flight.again),
                  ("sent again", lambda flight: flight.again),
                  ("lost", lambda flight: self.fate(flight) == "lost"),
                  ("acknowledgments", lambda flight: flight.type == "acknowledgment"))
        packets = [f"{count} {name}" for name, wanted in counts
                   if (count := sum(map(wanted, flights))) or name == "messages"]
        return "; ".join(words), ", ".join(packets)

    def fate(self, flight):
        """Its fate: received, lost, or unknown if its end is in no trace."""
        if flight.received:
            return "received" if flight.sent else "from unknown"
        return "lost" if flight.fields["destination"] in self.operation.traced else "unknown"

    def row_label(self, host):
        """One line, or two if the ranks differ from the hosts."""
        y, ranks = self.row_of[host], self.operation.ranks_of(host)
        words = f"host {host}"
        untraced = host not in self.operation.traced
        second = "not traced" if untraced else "" if ranks in ([], [host]) else \
            "rank " + ", ".join(map(str, ranks[:3])) + (" …" if len(ranks) > 3 else "")
        if not second:
            return text(LEFT - 8, y + 4, words, "end")
        return text(LEFT - 8, y, words, "end") + text(LEFT - 8, y + 11, second, "end small")

    def marks_at(self, events, host):
        return [event for event in events if event.fields["host"] == host]

    def table_row(self, host):
        """Times of the host, to the right of its line."""
        posts = self.marks_at(self.operation.posts, host)
        completions = self.marks_at(self.operation.completions, host)
        posted = min((event.at for event in posts), default=None)
        completed = max((event.at for event in completions), default=None)
        took = None if None in (posted, completed) else completed - posted
        return "".join(text(self.right + x, self.row_of[host] + 4,
                            "–" if value is None else self.in_unit(value), "end")
                       for (_, x), value in zip(COLUMNS, (posted, completed, took)))

    def in_unit(self, ns):
        """For the table: all in one unit, so that times can be compared."""
        unit, _ = self.unit
        digits = sum(self.scale.last < limit * unit for limit in (1000, 100, 10))
        return f"{ns / unit:.{digits}f}"

    def timeline(self, host):
        y = self.row_of[host]
        traced = host in self.operation.traced
        parts = [line(LEFT, y, LEFT + 12 + WIDTH + 12, y,
                      "timeline" if traced else "timeline untraced")]
        posts = self.marks_at(self.operation.posts, host)
        completions = self.marks_at(self.operation.completions, host)
        if posts and completions:
            parts.append(line(self.x(min(event.at for event in posts)), y,
                              self.x(max(event.at for event in completions)), y, "busy"))
        return "".join([*parts, self.row_label(host), self.table_row(host)])

    def marks(self, host):
        y, parts = self.row_of[host], []
        for event in self.marks_at(self.operation.rounds, host):
            parts.append(group("mark", f"host {host}: round {event.fields['round']} is over, "
                               f"{exact(event.at)}", round_sign(self.x(event.at), y)))
        for event in self.marks_at(self.operation.completions, host):
            error = event.fields["error"]
            what = f"fails with error {error}" if error else "completes"
            parts.append(group("mark", f"rank {event.fields['rank']} {what}, "
                               f"{exact(event.at)}",
                               completion_sign(self.x(event.at), y, bool(error))))
        for event in self.marks_at(self.operation.posts, host):
            parts.append(group("mark", f"rank {event.fields['rank']} posts, "
                               f"{exact(event.at)}", post_sign(self.x(event.at), y)))
        return "".join([*parts, *self.round_names(host)])

    def round_names(self, host):
        """Round numbers above the symbols; those too close to another one share its label."""
        near = []
        for event in self.marks_at(self.operation.rounds, host):
            if event.fields["segment"]:
                continue
            x, number = self.x(event.at), event.fields["round"]
            if near and x - near[-1][-1][0] < width_of("00–00", 10):
                near[-1].append((x, number))
            else:
                near.append([(x, number)])
        for together in near:
            first, last = together[0], together[-1]
            name = str(first[1]) if first == last else f"{first[1]}–{last[1]}"
            yield text((first[0] + last[0]) / 2, self.row_of[host] - 10, name, "roundname")

    # ---- packets ----

    def flight_title(self, flight):
        fields = flight.fields
        which = ""
        if flight.type == "message":
            which = f" of round {fields['round']}"
            which += f", segment {fields['segment']}," if fields["segment"] else ""
        ends = f"from host {fields['source']} to host {fields['destination']}"
        facts = [
            flight.sent and f"sent {'again ' if flight.again else ''}at "
                            f"{exact(flight.sent.at)}",
            flight.received and f"received at {exact(flight.received.at)}",
            {"lost": "lost", "unknown": "its receiver is not traced",
             "from unknown": "its sender is not traced"}.get(self.fate(flight)),
            flight.dropped and f"dropped: {flight.dropped}",
            f"number {fields['packet']}",
            fields["ack"] and f"acknowledges {fields['ack']}",
            f"{fields['bytes']} bytes"]
        return f"{flight.type}{which} {ends}: {', '.join(filter(None, facts))}"

    def flight(self, flight):
        fate, cls = self.fate(flight), flight_class(flight)
        y1 = self.row_of[flight.fields["source"]]
        y2 = self.row_of[flight.fields["destination"]]
        x1 = self.x(flight.sent.at) if flight.sent else None
        x2 = self.x(flight.received.at) if flight.received else None
        end = ""
        if fate == "lost":
            x2 = x1 + LOST_SHARE * (self.x(flight.sent.at + self.usual_ns) - x1)
            y2 = y1 + LOST_SHARE * (y2 - y1)
            end = cross_sign(x2, y2)
            cls += " lost"
        elif fate == "unknown":
            x2, y2 = x1 + LOOSE_END / 2, y1 + math.copysign(LOOSE_END / 2, y2 - y1)
        elif fate == "from unknown":
            x1, y1 = x2 - LOOSE_END / 2, y2 - math.copysign(LOOSE_END / 2, y2 - y1)
        if flight.dropped:
            end = ring_sign(x2, y2)
        return group(cls, self.flight_title(flight), arrow(x1, y1, x2, y2, fate != "lost"), end)

    # ---- grid and legend ----

    def grid(self):
        parts = []
        for a, b in self.scale.cuts:
            x1, x2 = self.x(a), self.x(b)
            parts.append(element("rect", x=x1, y=float(TOP), width=x2 - x1,
                                 height=self.axis - TOP, cls="cut"))
            parts.append(text((x1 + x2) / 2, TOP - 6, f"{duration(b - a)}", "middle small"))
            parts.append(text((x1 + x2) / 2, self.axis + 16, "//", "middle"))
        for time in self.scale.ticks():
            x = self.x(time)
            parts.append(line(x, TOP, x, self.axis, "grid"))
            words = f"{time / self.unit[0]:g} {self.unit[1]}" if time else "0"
            parts.append(text(x, self.axis + 16, words, "middle"))
        for name, x in COLUMNS:
            parts.append(text(self.right + x, TOP - 6, f"{name}, {self.unit[1]}", "end small"))
        return "".join(parts)

    def legend_items(self):
        """Pairs of a function that draws a symbol at a position, and its meaning."""
        flights = self.operation.flights
        yield post_sign, "rank posts"
        yield round_sign, "round is over"
        yield completion_sign, "rank completes"

        def sample(cls):
            return lambda x, y: element("g", arrow(x - 14, y, x + 14, y), cls=cls)

        rounds = sorted({flight.fields["round"] for flight in flights
                         if flight.type == "message" and not flight.again})
        for number in rounds[:len(ROUND_COLOURS)]:
            same = [str(other) for other in rounds
                    if other % len(ROUND_COLOURS) == number % len(ROUND_COLOURS)]
            yield sample(f"round{number % len(ROUND_COLOURS)}"), \
                f"message of round {', '.join(same)}"
        if any(flight.again for flight in flights):
            yield sample("again"), "message sent again"
        if any(flight.type == "acknowledgment" for flight in flights):
            yield sample("acknowledgment"), "acknowledgment"
        if any(flight.type not in ("message", "acknowledgment") and not flight.again
               for flight in flights):
            yield sample("other"), "goodbye, probe, answer"
        if any(self.fate(flight) == "lost" for flight in flights):
            yield cross_sign, "lost"
        if any(flight.dropped for flight in flights):
            yield ring_sign, "received, but dropped"

    def legend(self):
        """Fills lines as far as there is room; returns the legend and where it ends."""
        x, y, parts = LEFT, self.axis + BOTTOM + 8, []
        for sign, meaning in self.legend_items():
            width = 44 + width_of(meaning) + 14
            if x + width > self.right + RIGHT - 24 and x > LEFT:
                x, y = LEFT, y + 24
            parts.append(sign(x + 16, y) + text(x + 40, y + 4, meaning))
            x += width
        return element("g", "".join(parts), cls="legend"), y

    def svg(self):
        operation = self.operation
        legend, bottom = self.legend()
        width, height = self.right + RIGHT - 10, bottom + 24
        name = f"{self.kind().capitalize()} {operation.number} of group {operation.tag}"
        described, packets = self.heading()
        parts = [element("title", escape(name, quote=False), id="title"),
                 element("desc", escape(f"{described}; {packets}. Time runs from left to right; "
                                        "each host has a line, each packet an arrow from the "
                                        "host that sends it to the one that receives it."),
                         id="desc"),
                 element("style", STYLE),
                 element("rect", width="100%", height="100%", fill="#fff"),
                 text(LEFT, 30, name, "name"), text(LEFT, 50, described),
                 text(LEFT, 66, packets), self.grid()]
        parts += [element("g", self.timeline(host), cls="host") for host in operation.hosts]
        parts += map(self.flight, operation.flights)
        parts += map(self.marks, operation.hosts)
        parts.append(legend)
        return ('<?xml version="1.0" encoding="UTF-8"?>\n' +
                element("svg", "\n" + "\n".join(parts) + "\n", xmlns="http://www.w3.org/2000/svg",
                        width=round(width), height=round(height),
                        viewBox=f"0 0 {width:.0f} {height:.0f}", role="img",
                        aria_labelledby="title desc") + "\n")


def draw(operation):
    """The text of an SVG file."""
    return Picture(operation).svg()
