# SPDX-License-Identifier: GPL-2.0
"""Experiments in the test machine: instructions of all hosts together, or connections counted."""

import pathlib
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "selftests/bench"))

from bench_machine import boot, mean  # noqa: E402

LIMIT_SECONDS = 3600
# Hosts share a processor, so that what is counted is the work of all
COUNTING = "--icount",


def check_built():
    for program in "collperf", "hostbased":
        if not (TREE / "build/tools" / program).exists():
            sys.exit(f"papers: build/tools/{program} is not built: make all")


def run(name, cases):
    """Yields the name of each case, its hosts, and the figures of its ranks."""
    for case in boot(f"papers-{name}", cases, *COUNTING, limit_seconds=LIMIT_SECONDS):
        yield case["name"], case["hosts"], sum(case["runs"], [])


def case_of(name, hosts, *arguments, **more):
    return {"name": name, "hosts": hosts, "repeats": 1, "arguments": list(arguments), **more}


def thousands(figures, name="mean_ns"):
    """The clock counts instructions, one a nanosecond."""
    return f"{mean(figures, name) / 1000:.1f}"


# ---- 001: a second rank of each host ----

def ranks():
    cases = [case_of([ranks], hosts, "collperf", "--mean-only", "--shuffle", "--iterations",
                     "100", "--warm-up", "10", ranks=ranks)
             for hosts in (2, 4, 8) for ranks in (1, 2, 3)]
    for (each,), hosts, figures in run("ranks", cases):
        yield hosts, each, thousands(figures)


# ---- 003: threads and hosts ----

TEAM = "--mean-only", "--iterations", "50", "--warm-up", "5"
THREADS, HOSTS = (2, 4, 8, 12), (1, 2, 4, 6, 8)


def teams():
    """Threads alone are those of one host, hosts alone have no team."""
    cases = [case_of([team, "-", threads], 1, "collperf", "--team", team, "--members",
                     str(threads), *TEAM) for team in ("central", "mcs") for threads in THREADS]
    for algorithm in "mcs", "dissemination":
        cases += [case_of(["-", algorithm, 1], hosts, "collperf", "--algorithm", algorithm, *TEAM)
                  for hosts in HOSTS[1:]]
        cases += [case_of(["central", algorithm, threads], hosts, "collperf", "--team", "central",
                          "--members", str(threads), "--algorithm", algorithm, *TEAM)
                  for threads in THREADS for hosts in HOSTS[1:]]
    for (team, algorithm, threads), hosts, figures in run("teams", cases):
        yield team, algorithm, threads, hosts, thousands(figures)


# ---- 004: connections ----

PATTERNS = {
    "barrier": ("--algorithm", "dissemination"),
    "barrier, pairwise exchange": ("--algorithm", "exchange"),
    "broadcast": ("--operation", "broadcast"),
    "allreduce": ("--operation", "allreduce"),
    "reduce": ("--operation", "reduce"),
    "allgather": ("--operation", "allgather", "--count", "1"),
    "gather": ("--operation", "gather", "--count", "1"),
    "scatter": ("--operation", "scatter", "--count", "1"),
    "scan": ("--operation", "scan"),
}


def connections():
    """Those of the first barrier, by dissemination, are among them, as all programs meet in it."""
    cases = [case_of([pattern], hosts, "collperf", *arguments, "--mean-only", "--iterations", "5",
                     "--warm-up", "1")
             for pattern, arguments in PATTERNS.items() for hosts in (16, 32)]
    for (pattern,), hosts, figures in run("connections", cases):
        made = sum(figure["stats"]["peers"] for figure in figures) / hosts
        yield pattern, hosts, hosts - 1, f"{made:.2f}", f"{made / (hosts - 1):.2f}"


def startup():
    """On demand, and with a barrier in which each exchanges with all (at most 16 hosts).

    Of the emulated clock, a thousand instructions a microsecond. All have joined when the first
    barrier begins, and know their neighbours, or look them up in it.
    """
    cases = [case_of([name, known], hosts, "collperf", "--startup", "--iterations", "20",
                     "--degree", str(degree or hosts), *forget)
             for hosts in (2, 4, 8, 16) for name, degree in (("on demand", 2), ("static", 0))
             for known, forget in (("known", ()), ("looked up", ("--forget-neighbours",)))]
    for (name, known), hosts, figures in run("startup", cases):
        yield (name, known, hosts, *(thousands(figures, time)
                                     for time in ("join_ns", "first_ns", "later_ns")),
               f"{mean(figures, 'first_ns') / mean(figures, 'later_ns'):.2f}",
               f"{mean(figures, 'peers'):.2f}")
