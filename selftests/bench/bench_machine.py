# SPDX-License-Identifier: GPL-2.0
"""Measurements in a test machine: runs cases there, and adds up their figures."""

import json
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
VM = TREE / "tools/vm/vm"
OUT = TREE / "build/bench"
VM_LIMIT_SECONDS = 900
# Where others have more of the processors' time, times mean nothing
MOST_STOLEN = 0.05
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


def stolen():
    """Jiffies that others had of this machine's processors, and jiffies in all"""
    fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(fields[8]), sum(map(int, fields[1:9]))


def boot_command(name, command, *options, limit_seconds, most_stolen=1.0):
    """Run a command, whose last argument is to be the file for its figures, in a test machine;
    returns them. Ends if others had more than a share most_stolen of the processors' time."""
    before = stolen()
    figures = figures_of(name, start(name, [*command, f"/out/{results_of(name).name}"], *options,
                                     limit_seconds=limit_seconds).wait())
    took, total_time = (after - early for after, early in zip(stolen(), before))
    if took > most_stolen * total_time:
        sys.exit(f"bench: others had {100 * took / total_time:.0f} % of the processors' time, so "
                 f"these times mean nothing")
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
