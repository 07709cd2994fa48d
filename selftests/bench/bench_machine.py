# SPDX-License-Identifier: GPL-2.0
"""Measurements in a test machine: runs cases there, and adds up their figures."""

import collections
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
VM = TREE / "tools/vm/vm"
OUT = TREE / "build/bench"
VM_LIMIT_SECONDS = 900
# Where others have more of the processors' time, times mean nothing
MOST_TAKEN = 0.05
LOOK_SECONDS = 2
# Hosts that share a CPU get slices of it, as if each had a slower one of its own
SLICE_US = 50
ACK_DELAY_US = 2000  # the module's default


def results_of(name):
    return OUT / f"{name}.json"


def start(name, command, *options, limit_seconds):
    """Start a test machine that runs the command, which writes figures to /out/NAME.json."""
    OUT.mkdir(parents=True, exist_ok=True)
    results_of(name).unlink(missing_ok=True)
    return subprocess.Popen([VM, *options, "--limit", str(limit_seconds), "--out", OUT,
                             shlex.join(command)], stdin=subprocess.DEVNULL)


def figures_of(name, status):
    """Those of a machine that has ended with this status."""
    if status or not results_of(name).exists():
        sys.exit(f"bench: the measurement did not run (status {status})")
    return json.loads(results_of(name).read_text(encoding="ascii"))


def machine(name, cases, *options, slice_us=None, limit_seconds=VM_LIMIT_SECONDS):
    """Start a test machine that runs the cases; their figures are in results_of(name) then."""
    hosts = max(case["hosts"] + ("flood" in case) for case in cases)
    turns = ["--slice-us", str(slice_us)] if slice_us else []
    inside = [str(HERE / "inside"), *turns, f"/out/{results_of(name).name}", json.dumps(cases)]
    return start(name, inside, "--hosts", str(hosts), *options, limit_seconds=limit_seconds)


def boot(name, cases, *options, **more):
    """Run the cases in one test machine; returns them with their figures."""
    return figures_of(name, machine(name, cases, *options, **more).wait())


def shared_ack_delay(hosts):
    """The parameter for hosts that share a CPU: time passes as many times faster than they compute
    as there are hosts."""
    return {"ack_delay_us": ACK_DELAY_US * hosts}


# Jiffies of this machine's processors: in all, those in which they worked, those that a hypervisor
# had for others, and those that this program and its children that have ended had
Usage = collections.namedtuple("Usage", "total busy stolen own")


def usage_of(stat, own_seconds):
    """From the text of /proc/stat."""
    jiffies = list(map(int, stat.split("\n", 1)[0].split()[1:9]))
    _, _, _, idle, waiting, _, _, stolen = jiffies
    total_time = sum(jiffies)
    return Usage(total_time, total_time - idle - waiting - stolen, stolen,
                 own_seconds * os.sysconf("SC_CLK_TCK"))


def usage():
    return usage_of(pathlib.Path("/proc/stat").read_text(encoding="ascii"), sum(os.times()[:4]))


def taken(before, after):
    """The share of the processors' time that others had: programs, or a hypervisor. The time of a
    process may include what was stolen from it."""
    passed = Usage(*(late - early for late, early in zip(after, before)))
    return (max(passed.busy - passed.own, 0) + passed.stolen) / max(passed.total, 1)


def refuse_if_taken(before, most_taken):
    share = taken(before, usage())
    if share > most_taken:
        sys.exit(f"bench: others had {100 * share:.0f} % of the processors' time, so times mean "
                 f"nothing")


def boot_command(name, command, *options, limit_seconds, most_taken=1.0):
    """Run a command, whose last argument is to be the file for its figures, in a test machine;
    returns them. Ends if others have more than a share most_taken of the processors' time, before
    or meanwhile."""
    before = usage()
    if most_taken < 1:
        time.sleep(LOOK_SECONDS)
        refuse_if_taken(before, most_taken)
    before = usage()
    figures = figures_of(name, start(name, [*command, f"/out/{results_of(name).name}"], *options,
                                     limit_seconds=limit_seconds).wait())
    refuse_if_taken(before, most_taken)
    return figures


def newest_kernel():
    return subprocess.run([TREE / "tools/vm/kver"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def measuring_module(name):
    """Build the module that measures something itself; its path."""
    folder = TREE / "build" / name
    source = folder / "selftests/bench" / f"{name}.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.unlink(missing_ok=True)
    source.symlink_to(HERE / source.name)
    built = subprocess.run([TREE / "tools/vm/build-module", newest_kernel(),
                            f"COLL_{name.upper()}=1"],
                           env={**os.environ, "BUILD_FOLDER": str(folder)},
                           stdout=subprocess.PIPE, text=True, check=True)
    return built.stdout.strip()


def mean(figures, name):
    return sum(figure[name] for figure in figures) / len(figures)


def total(figures, name):
    return sum(figure["stats"][name] for figure in figures)


def conclude(faults):
    """Print them; returns the exit status."""
    for fault in faults:
        print(f"bench: {fault}")
    print("bench: failed" if faults else "bench: passed")
    return 1 if faults else 0
