#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""collsock-picture draws a trace correctly; TAP. The traces are generated here."""

import collections
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

TOOL = TREE / "tools/picture"
TAG = "0123456789abcdef"
SVG = "{http://www.w3.org/2000/svg}"
START_US = 5_000_000
WORK = pathlib.Path(tempfile.mkdtemp(prefix="picture-"))


# ---- traces ----

class Trace:
    """Dissemination barriers as tracepoints would report them, times in µs."""

    def __init__(self, hosts, seed=1):
        self.hosts, self.lines, self.chance = hosts, [], random.Random(seed)
        self.posted = {}
        self.packets = collections.Counter()

    def add(self, at, host, event, /, **fields):
        words = " ".join(f"{name}={value}" for name, value in {"tag": TAG, **fields}.items())
        self.lines.append((at, host, f"coll_{event}: {words}"))

    def message(self, at, number, rnd, source, took, again=False):
        """Returns when it arrives; @took is None if it is lost."""
        destination = (source + 2 ** rnd) % self.hosts
        fields = {"source": source, "destination": destination, "type": "message",
                  "operation": number, "segment": 0, "round": rnd}
        if again:
            self.add(at, source, "message_again", **fields,
                     packet=self.packets[source, destination], tries=1)
        self.packets[source, destination] += 1
        fields |= {"packet": self.packets[source, destination], "ack": 0, "bytes": 72}
        self.add(at, source, "packet_sent", **fields)
        if took is not None:
            self.add(at + took, destination, "packet_received", **fields)
        return at + (took or 0)

    def barrier(self, number, begin, lost=()):
        """Messages in @lost, (round, source), arrive only when they are sent again."""
        at = {host: begin + self.chance.randrange(30) for host in range(self.hosts)}
        self.posted[number] = dict(at)
        for host in at:
            self.add(at[host], host, "post", host=host, rank=host, operation=number,
                     kind="barrier", algorithm="dissemination", count=0, root=0)
        for rnd in range((self.hosts - 1).bit_length()):
            arrived = {}
            for host in at:
                destination = (host + 2 ** rnd) % self.hosts
                if (rnd, host) in lost:
                    self.message(at[host], number, rnd, host, None)
                    at_again = at[host] + 10_000
                    arrived[destination] = self.message(at_again, number, rnd, host, 20, True)
                else:
                    arrived[destination] = self.message(at[host], number, rnd, host,
                                                        20 + self.chance.randrange(15))
            for host in at:
                at[host] = max(at[host], arrived[host]) + 2
                self.add(at[host], host, "round", host=host, operation=number, segment=0,
                         round=rnd)
        for host in at:
            self.add(at[host], host, "complete", host=host, rank=host, operation=number,
                     bytes=0, error=0, failed_rank=-1)
        return max(at.values())

    def write(self, name, hosts=None, shift_us=0):
        path = WORK / name
        with open(path, "w", encoding="ascii") as file:
            file.write("# tracer: nop\n")
            for at, host, text in sorted(self.lines, key=lambda line: line[0]):
                if hosts is None or host in hosts:
                    at_us = START_US + at + shift_us
                    file.write(f"          <idle>-0       [001] ..s1. {at_us // 10**6:5d}."
                               f"{at_us % 10**6:06d}: {text}\n")
        return path


# ---- pictures ----

def picture(*words):
    return subprocess.run([sys.executable, "-B", TOOL / "src", *map(str, words)], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def same(what, found, expected):
    assert found == expected, f"{what}: is {found}, expected {expected}"


class Drawn:
    """The contents of a picture."""

    def __init__(self, *words):
        done = picture(*words)
        same("what collsock-picture says", (done.stderr, done.returncode), ("", 0))
        self.root = ElementTree.fromstring(done.stdout.encode())
        self.legend = set(next(element for element in self.root
                               if element.get("class") == "legend").iter())

    def of(self, cls):
        return [element for element in self.root.iter() if element not in self.legend and
                cls in element.get("class", "").split()]

    def count(self, *classes):
        return tuple(len(self.of(cls)) for cls in classes)

    def rows(self):
        """The position of each host's line."""
        return [float(line.get("y1")) for line in self.of("timeline")]

    def texts(self):
        """Boxes: left, top, right, bottom, and their text."""
        sizes = {"name": 17, "small": 10, "roundname": 10}
        for text in self.root.iter(f"{SVG}text"):
            cls = text.get("class", "").split()
            size = next((sizes[word] for word in cls if word in sizes), 12)
            width = len(text.text) * size * 0.6
            left = float(text.get("x")) - (width if "end" in cls else width / 2 if
                                           {"middle", "roundname"} & set(cls) else 0)
            bottom = float(text.get("y"))
            yield left, bottom - 0.75 * size, left + width, bottom, text.text

    def posts(self):
        """By rank: the time of its post according to its title, in µs."""
        found = {}
        for title in self.root.iter(f"{SVG}title"):
            text = re.fullmatch(r"rank (\d+) posts, (\S+) (µs|ms)", title.text)
            if text:
                found[int(text[1])] = float(text[2]) * (1000 if text[3] == "ms" else 1)
        return found


def check_arrows(drawn):
    """Each arrow begins on the line of its sender and ends on that of its receiver."""
    rows = drawn.rows()
    for packet in drawn.of("packet"):
        title = packet.find(f"{SVG}title").text
        ends = re.search(r"from host (\d+) to host (\d+)", title)
        line, head = packet.find(f"{SVG}line"), packet.find(f"{SVG}polygon")
        same(f"beginning of the arrow of {title}", float(line.get("y1")), rows[int(ends[1])])
        if "lost" in packet.get("class").split():
            continue
        x, y = map(float, head.get("points").split()[0].split(","))
        same(f"end of the arrow of {title}", y, rows[int(ends[2])])
        assert x >= float(line.get("x1")), f"{title}: it goes back in time"


# ---- tests ----

def a_barrier_has_a_line_for_each_host_and_an_arrow_for_each_message():
    trace = Trace(16)
    trace.barrier(0, 0)
    trace.barrier(1, 1000)
    drawn = Drawn(trace.write("whole.txt"), "--operation", 1)
    same("lines, posts, rounds, completions, messages",
         drawn.count("timeline", "post", "round", "completion", "message"), (16, 16, 64, 16, 64))
    same("repetitions, crosses, rings", drawn.count("again", "cross", "ring"), (0, 0, 0))
    check_arrows(drawn)


def lost_messages_end_in_a_cross_and_their_repetitions_are_drawn():
    trace = Trace(16)
    trace.barrier(0, 0, lost=((0, 3), (2, 9), (3, 15)))
    drawn = Drawn(trace.write("lost.txt"))
    same("messages, lost ones, crosses, repetitions",
         drawn.count("message", "lost", "cross", "again"), (64, 3, 3, 3))
    assert drawn.of("cut"), "10 ms in which nothing happens are not cut"
    check_arrows(drawn)


def identical_packets_are_paired_in_order():
    trace = Trace(3)
    trace.barrier(0, 0)
    # Sent again before the first was received; and one that the network has duplicated
    for again in False, True:
        trace.message(200 + 10 * again, 0, 4, 0, 50, again)
    trace.message(300, 0, 5, 0, 50)
    trace.lines.append((370, 0, trace.lines[-1][2]))
    drawn = Drawn(trace.write("alike.txt"))
    same("messages, repetitions, lost ones", drawn.count("message", "again", "lost"), (9, 1, 0))
    took = [float(times[2]) - float(times[1]) for times in (re.search(
        r"round 4 .* at (\S+) µs, received at (\S+) µs", title.text)
        for title in drawn.root.iter(f"{SVG}title")) if times]
    same("times in transit", [round(time) for time in took], [50, 50])


def no_two_labels_overlap():
    for hosts in 2, 5, 16, 64:
        trace = Trace(hosts)
        trace.barrier(0, 0, lost=((0, 1),))
        boxes = sorted(Drawn(trace.write("labels.txt")).texts())
        for index, (left, top, right, bottom, text) in enumerate(boxes):
            for other in boxes[index + 1:]:
                assert other[0] >= right or other[1] >= bottom or other[3] <= top, \
                    f"{hosts} hosts: {text!r} at {left, top} and {other[4]!r} at {other[:2]}"


def the_first_complete_operation_is_drawn():
    trace = Trace(4)
    trace.barrier(7, 0)
    trace.barrier(8, 1000)
    # The recording began during operation 7
    trace.lines = [line for line in trace.lines if "post: " not in line[2] or line[0] > 500]
    drawn = Drawn(trace.write("first.txt"))
    same("its title", drawn.root.find(f"{SVG}title").text, f"Barrier 8 of group {TAG}")


def machines(hosts, each):
    """Traces of several machines whose clocks differ."""
    trace = Trace(hosts, seed=hosts)
    begin = 0
    for number in range(20):
        begin = trace.barrier(number, begin + 100)
    shifts = [0] + [trace.chance.randrange(-10**6, 10**9) for _ in range(each, hosts, each)]
    paths = [trace.write(f"machine{index}.txt", range(index * each, (index + 1) * each), shift)
             for index, shift in enumerate(shifts)]
    return trace, paths, shifts


def check_posts(drawn, trace, number, least_us):
    first = min(trace.posted[number].values())
    for rank, at in drawn.posts().items():
        off = abs(at - (trace.posted[number][rank] - first))
        assert off <= least_us, f"rank {rank} posts {off} µs too early or too late"


def clocks_of_several_machines_are_compared():
    for hosts, each in (16, 1), (16, 4), (6, 2):
        trace, paths, shifts = machines(hosts, each)
        drawn = Drawn(*paths, "--operation", 5)
        same("lines and messages", drawn.count("timeline", "message", "lost"),
             (hosts, hosts * (hosts - 1).bit_length(), 0))
        # The shortest transit times differ by less; twice, because the first post may be
        # off as well
        check_posts(drawn, trace, 5, 2 * 15)
        drawn = Drawn(*paths, "--operation", 5, "--offsets",
                      ",".join(str(-shift) for shift in shifts))
        check_posts(drawn, trace, 5, 0.5)
        check_arrows(drawn)


def untraced_hosts_are_labelled():
    trace, paths, _ = machines(4, 2)
    drawn = Drawn(paths[0])
    same("lines, of which not traced", drawn.count("timeline", "untraced"), (4, 2))
    same("lost", drawn.count("lost", "cross"), (0, 0))


def traces_with_nanoseconds_and_of_other_tools_are_read():
    trace = Trace(2)
    trace.barrier(0, 0)
    path = trace.write("other.txt")
    text = path.read_text(encoding="ascii")
    path.write_text(re.sub(r"(\.\d{6}): coll_", r"\g<1>500: collsock:coll_", text),
                    encoding="ascii")
    same("messages", Drawn(path).count("message"), (2,))


def errors_are_explained():
    trace, paths, _ = machines(4, 2)
    whole = trace.write("errors.txt")
    other = Trace(2)
    other.barrier(3, 0)
    both = WORK / "both.txt"
    both.write_text(whole.read_text() + other.write("other.txt").read_text().replace(
        TAG, "fedcba9876543210"))
    one_way = Trace(2)
    one_way.barrier(0, 0)
    one_way.lines = [line for line in one_way.lines if "source=1" not in line[2]]
    halves = [one_way.write(f"half{host}.txt", (host,)) for host in (0, 1)]
    for status, words, said in (
            (1, [whole, "--operation", 99], "no operation 99 .* operations 0 to 19"),
            (1, [whole, "--group", "ff"], "no group ff"),
            (1, [both], "several groups .*--group:\n.*fedcba9876543210  operation 3"),
            (1, [WORK / "nowhere"], "nowhere: No such file"),
            (1, [__file__], "no events of collsock"),
            (1, halves, "cannot be compared; use --offsets"),
            (1, [whole, "-o", "/nowhere/picture.svg"], "/nowhere/picture.svg: No such file"),
            (2, [], "give a trace"),
            (2, [*paths, "--offsets", "1"], "1 offsets for 2 traces"),
            (2, [whole, "--operation", "-1"], "invalid"),
            (2, [whole, "--record", "1"], "--record needs no trace")):
        done = picture(*words)
        same(f"status of {words}", done.returncode, status)
        same(f"output of {words}", done.stdout, "")
        assert re.search(said, done.stderr, re.DOTALL), f"{words}: {done.stderr}"


def it_is_installed_and_uninstalled():
    def make(target):
        subprocess.run(["make", "-s", "-C", TOOL, target, f"OUTPUT={WORK}/build",
                        f"DESTDIR={WORK}/root", "PREFIX=/usr", "MAKEFLAGS="], check=True)

    def files():
        return sorted(str(path.relative_to(WORK / "root")) for path in
                      (WORK / "root").rglob("*") if path.is_file())

    make("install")
    same("files", files(), ["usr/bin/collsock-picture", "usr/share/man/man1/collsock-picture.1"])
    done = subprocess.run([WORK / "root/usr/bin/collsock-picture", "--help"], check=True,
                          stdout=subprocess.PIPE, text=True)
    assert "--record SECONDS" in done.stdout, done.stdout
    make("uninstall")
    same("files that are left", files(), [])


TESTS = (a_barrier_has_a_line_for_each_host_and_an_arrow_for_each_message,
         lost_messages_end_in_a_cross_and_their_repetitions_are_drawn,
         identical_packets_are_paired_in_order, no_two_labels_overlap,
         the_first_complete_operation_is_drawn, clocks_of_several_machines_are_compared,
         untraced_hosts_are_labelled, traces_with_nanoseconds_and_of_other_tools_are_read,
         errors_are_explained, it_is_installed_and_uninstalled)


def main():
    status = tap.run(tap.listed(TESTS))
    shutil.rmtree(WORK)
    return status


if __name__ == "__main__":
    sys.exit(main())
