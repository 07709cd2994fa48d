# SPDX-License-Identifier: GPL-2.0
"""Measurements in a test machine: runs cases there, and adds up their figures."""

import json
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
VM = TREE / "tools/vm/vm"
OUT = TREE / "build/bench"
VM_LIMIT_SECONDS = 900


def boot(name, cases, *options, slice_us=None, limit_seconds=VM_LIMIT_SECONDS):
    """Run the cases in one test machine; returns them with their figures."""
    OUT.mkdir(parents=True, exist_ok=True)
    results = OUT / f"{name}.json"
    results.unlink(missing_ok=True)
    hosts = max(case["hosts"] + ("flood" in case) for case in cases)
    turns = ["--slice-us", str(slice_us)] if slice_us else []
    inside = shlex.join([str(HERE / "inside"), *turns, f"/out/{results.name}", json.dumps(cases)])
    done = subprocess.run([VM, "--hosts", str(hosts), "--limit", str(limit_seconds),
                           "--out", OUT, *options, inside], stdin=subprocess.DEVNULL, check=False)
    if done.returncode or not results.exists():
        sys.exit(f"bench: the measurement did not run (status {done.returncode})")
    return json.loads(results.read_text(encoding="ascii"))


def mean(figures, name):
    return sum(figure[name] for figure in figures) / len(figures)


def total(figures, name):
    return sum(figure["stats"][name] for figure in figures)
