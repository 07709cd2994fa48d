#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measurements of time are refused if others use the processors, before or meanwhile; TAP."""
import os
import pathlib
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
sys.dont_write_bytecode = True
import bench_machine  # noqa: E402

JIFFIES = os.sysconf("SC_CLK_TCK")
SECONDS = 100  # of each processor
MOST = 0.05


def usage(own=0, system=0, others=0, stolen=0, interrupts=0):
    """Of two processors, in seconds. @system: of what is this program's, too"""
    idle = 2 * SECONDS - own - others - stolen - interrupts
    fields = own - system + others, 0, system, idle / 2, idle / 2, interrupts, 0, stolen, own, 0
    return bench_machine.usage_of(
        f"cpu  {' '.join(str(int(field * JIFFIES)) for field in fields)}\ncpu0 1 2 3\n", own)


NOTHING = bench_machine.usage_of("cpu  0 0 0 0 0 0 0 0 0 0\n", 0)


# What passes, and the share of others in percent
SHARES = {
    "an idle machine": (usage(), 0),
    "this program and its children": (usage(own=200, system=40), 0),
    "another program on an idle machine": (usage(others=20), 10),
    "another program beside this one": (usage(own=150, others=30), 15),
    "interrupts are not this program's": (usage(own=150, interrupts=4), 2),
    "a hypervisor": (usage(own=180, stolen=20), 10),
    "time stolen from this program, which counts it as its own":
        (usage(own=180, stolen=20)._replace(own=200 * JIFFIES), 10),
}


def booted(*usages, most=MOST):
    """Boots a machine while the processors are used so; returns whether it was started, and what
    was said if it was refused."""
    started, early = [], iter(usages)

    def start(name, *_, **__):
        started.append(name)
        bench_machine.results_of(name).write_text("{}", encoding="ascii")
        return types.SimpleNamespace(wait=lambda: 0)

    bench_machine.usage, bench_machine.start = lambda: next(early), start
    bench_machine.LOOK_SECONDS = 0
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        bench_machine.OUT = pathlib.Path(folder)
        try:
            bench_machine.boot_command("figures", ["command"], limit_seconds=1, most_taken=most)
        except SystemExit as end:
            return bool(started), str(end.code)
    return bool(started), None


BUSY, QUIET = usage(others=12), usage(others=8)
REFUSED = "bench: others had 6 % of the processors' time, so times mean nothing"
# Usage before and after the look, and before and after the run
BOOTS = {
    "a quiet machine is measured": ((NOTHING, QUIET, NOTHING, QUIET), (True, None)),
    "a busy machine is refused before it is measured": ((NOTHING, BUSY), (False, REFUSED)),
    "so is one that becomes busy": ((NOTHING, QUIET, NOTHING, BUSY), (True, REFUSED)),
}


def main():
    found = [(name, round(100 * bench_machine.taken(NOTHING, passed), 6), wanted)
             for name, (passed, wanted) in SHARES.items()]
    found += [(name, booted(*usages), wanted) for name, (usages, wanted) in BOOTS.items()]
    found.append(("instructions are counted on a busy machine",
                  booted(NOTHING, NOTHING, BUSY, most=1.0), (True, None)))
    print(f"1..{len(found)}")
    for number, (name, got, wanted) in enumerate(found, 1):
        if got != wanted:
            print(f"# {got}, not {wanted}")
        print(f"{'ok' if got == wanted else 'not ok'} {number} {name}")
    return 0 if all(got == wanted for _, got, wanted in found) else 1


if __name__ == "__main__":
    sys.exit(main())
