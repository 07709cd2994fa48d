# SPDX-License-Identifier: GPL-2.0
"""A barrier beside one in softirq with nothing around it: its cost, and each function's share.

The shares come from QEMU's log of each instruction that the test machine executes.
"""

import bisect
import collections
import re
import socket
import subprocess
import sys
import time

from bench_lone import COMPUTE_US, lone_acks, lone_computing
from bench_machine import HERE, OUT, TREE, boot, machine, mean, newest_kernel

HOSTS, REPEATS, LIMIT_SECONDS = (2, 4, 8, 16), 3, 3600
PROGRAM = "../floor/floor"
BEARERS = {"UDP": (), "Ethernet": ("--ethernet",)}
# Times the floor: the goal, and what is accepted, by hosts. The goal is missed: what is accepted is
# a little more than what is recorded, as boots differ by up to 3 %
GOALS = {"UDP": 1.05, "Ethernet": 1.1}
BOUNDS = {"UDP": {2: 1.15, 4: 1.11, 8: 1.09, 16: 1.10},
          "Ethernet": {2: 1.24, 4: 1.19, 8: 1.18, 16: 1.18}}

# A function that runs once for each operation and host
EACH_OPERATION = {"collperf": "coll_io_run", PROGRAM: "floor_read"}
TRACE_BYTES = 200_000_000
PATIENCE_SECONDS = 300
USER_SPACE_END = 1 << 47

# What functions do: the first that matches
AREAS = {
    "MAC": r"coll_wire_(seal|authentic)",
    "RUN, completions, the group's lock": (
        r"coll_io_|coll_completion|coll_signature|coll_env_complete|coll_tunable|family_ioctl|"
        r"instance_wake|coll_instance_(enter|leave)"),
    "messages out": r"peer_transmit|coll_peer_send|coll_env_(packet|transmit)|coll_udp|"
                    r"coll_eth|instance_transmit|engine_send",
    "messages in": r"coll_group_receive|receive_|coll_bearer|coll_peer_hear|coll_window_make_early",
    "rounds and the window": r"coll_engine|coll_group_post|coll_window|engine_|coll_env_round",
    "the rest of the module": r".* \[collsock\]",
    "the floor's module": r"floor_|siphash|iptunnel|udp_tunnel|udp_set_csum|__ip_select_ident",
    "system call": r".*(sys_|ioctl|tomoyo|rw_verify|vfs_|file_perm|fsnotify|fget|fdget)",
    "packets with an owner": r"sock_wfree|.*sock_rcv_skb",
    "packets allocated, cleared and freed": (
        r".*(skb|kmem|kmalloc|kfree|memset|memcpy|slab|page_frag|cache_from|napi_alloc)"),
    "sleeping and waking": r".*(wake|wait|schedule_timeout)",
    "the clock": r"ktime|read_tsc",
    "user space": r"\(user space",
    "the rest of the kernel": r"",
}


def built():
    """The module of the floor, built for the kernel of the measurement, and its program."""
    subprocess.run(["make", "-s", "-C", HERE / "floor",
                    f"KERNEL=/lib/modules/{newest_kernel()}/build"],
                   stdout=subprocess.DEVNULL, check=True)
    return str(TREE / "build/floor/module/collsock_floor.ko")


# ---- what barriers cost ----

def cases(arguments):
    module = built()
    for hosts in HOSTS:
        for bearer, options in BEARERS.items():
            for program in "collperf", PROGRAM:
                yield {"name": [bearer, program], "hosts": hosts, "repeats": REPEATS,
                       "insmod": module, "arguments": [program, *options, *arguments]}


def floor_faults(arguments):
    """Print what barriers cost; those that cost too much, as text."""
    rows = {}
    for case in boot("floor", list(cases(arguments)), "--icount", limit_seconds=LIMIT_SECONDS):
        bearer, program = case["name"]
        row = rows.setdefault((bearer, case["hosts"]), {})
        row[program] = mean(sum(case["runs"], []), "mean_ns") / 1000
        if program == "collperf":
            row["lone"] = lone_acks(case)
    computing = lone_computing("floor-computing", [
        ([bearer], hosts, options, {}) for bearer, options in BEARERS.items() for hosts in HOSTS])
    print(f"""
Thousands of guest instructions of a dissemination barrier, of all hosts, and the acknowledgments
that are sent alone for it; "computing": if each host computes for {COMPUTE_US} us before it.
""")
    print("bearer     hosts  collsock    floor  ratio   goal  bound  lone acks  computing")
    faults = []
    for (bearer, hosts), row in rows.items():
        ratio, bound = row["collperf"] / row[PROGRAM], BOUNDS[bearer][hosts]
        print(f"{bearer:10}{hosts:6}{row['collperf']:10.1f}{row[PROGRAM]:9.1f}{ratio:7.3f}"
              f"{GOALS[bearer]:7.2f}{bound:7.2f}{row['lone']:11.2f}"
              f"{computing[bearer, hosts]:11.2f}")
        if ratio > bound:
            faults.append(f"{bearer}, {hosts} hosts: {ratio:.3f} times the floor, at most {bound} "
                          "is accepted")
    return faults


# ---- where the instructions are ----

class Monitor:
    """QEMU's monitor."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.answer()

    def answer(self):
        text = b""
        while not text.endswith(b"(qemu) "):
            text += self.socket.recv(65536)

    def command(self, text):
        self.socket.sendall(text.encode() + b"\n")
        self.answer()

    def quit(self):
        self.socket.sendall(b"quit\n")


def until(there):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not there():
        if time.monotonic() > deadline:
            sys.exit("bench: the test machine did not come as far as the measurement")
        time.sleep(0.2)


def traced(case):
    """Run the case until enough is logged: the files of the log, and of the kernel's symbols."""
    trace, symbols, running = (OUT / name for name in ("trace", "kallsyms", "running"))
    monitor = OUT / "monitor"
    for file in trace, symbols, running, monitor:
        file.unlink(missing_ok=True)
    process = machine("profile", [case], "--icount", "--monitor", monitor,
                      limit_seconds=LIMIT_SECONDS)
    until(lambda: running.exists() or process.poll() is not None)
    if process.poll() is not None:
        sys.exit("bench: the measurement did not run")
    control = Monitor(monitor)
    for command in f"logfile {trace}", "singlestep on", "log exec,nochain":
        control.command(command)
    until(lambda: trace.exists() and trace.stat().st_size > TRACE_BYTES)
    control.command("log none")
    control.quit()
    process.wait()
    return trace, symbols


class Symbols:
    """The functions of a kernel and its modules, by their addresses."""

    def __init__(self, file):
        self.functions = sorted(
            (int(fields[0], 16), fields[2], fields[3:] == ["[collsock]"])
            for fields in map(str.split, file.read_text(encoding="ascii").splitlines())
            if fields[1] in "tTwW")
        self.addresses = [function[0] for function in self.functions]

    def at(self, address):
        return self.functions[bisect.bisect_right(self.addresses, address) - 1]


def profile_of(program, hosts, options):
    """Instructions of each function, an operation and host, and who has the function."""
    trace, symbols = traced({
        "name": program, "hosts": hosts, "repeats": 1, "insmod": built(), "endless": True,
        "arguments": [program, *options, "--mean-only", "--iterations", "10000000"]})
    at = re.compile(rb"/([0-9a-f]{16})/")
    with open(trace, "rb") as lines:
        executed = collections.Counter(
            found[1] for found in map(at.search, lines) if found)
    symbols, counts, operations = Symbols(symbols), collections.Counter(), 0
    for address, count in ((int(text, 16), count) for text, count in executed.items()):
        if address < USER_SPACE_END:
            counts["(user space)", False] += count
            continue
        start, name, ours = symbols.at(address)
        counts[name, ours] += count
        if address == start and name == EACH_OPERATION[program]:
            operations += count
    trace.unlink()
    return {function: count / operations for function, count in counts.items()}


def area(name, module):
    text = f"{name} [collsock]" if module else name
    return next(area for area, pattern in AREAS.items() if re.match(pattern, text))


def profile(hosts, bearer, least):
    """Print the functions that differ, and what all do."""
    ours, bare = (profile_of(program, hosts, BEARERS[bearer]) for program in EACH_OPERATION)
    rows = sorted(((ours.get(function, 0), bare.get(function, 0), *function)
                   for function in {*ours, *bare}), key=lambda row: row[1] - row[0])
    print(f"\nInstructions, a dissemination barrier and host: {hosts} hosts, {bearer}. Functions "
          f"that\ndiffer by at least {least}, and sums of all.\n\ncollsock    floor  difference")
    for count, floors, name, module in rows:
        if abs(count - floors) >= least:
            print_row(count, floors, f"{name} [collsock]" if module else name)
    sums = {name: [0, 0] for name in [*AREAS, "the module", "all"]}
    for count, floors, name, module in rows:
        for title in area(name, module), "all", *(["the module"] if module else []):
            sums[title][0] += count
            sums[title][1] += floors
    print()
    for title, (count, floors) in sums.items():
        print_row(count, floors, title)


def print_row(count, floors, title):
    print(f"{count:8.0f}{floors:9.0f}{count - floors:12.0f}  {title}")
