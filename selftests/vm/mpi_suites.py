#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=14400
# suites: mpi-suites
"""Third-party MPI test suites give the same results with the library, or the component, as
without."""

import itertools
import re
import signal
import subprocess
import tempfile

from collsock_test import (
    Skipped, at_least, equal, main, netem, read_file, test, test_each, write_file)
from mpi_launch import (
    BASELINE, KINDS, LOSS, TIME_LIMIT, PROGRAMS, launch, preloaded, with_component)

HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# Lines of its report about correctness, not speed
RESULTS = re.compile(r"^(?:Begin|End) of .*|^Found \d+ errors.*|^Node\(s\) with error.*|"
                      r".*\d tests completed and .*|.*(?:PASSED|FAILED)|"
                      r"^Solution.*|^Success=.*|^\w+_Errors=.*", re.M)


def results_of_hpcc(preload):
    """Small: 64 unknowns. Its report is a file in the current folder."""
    with open(HPCC_INPUT, encoding="ascii") as file:
        text = file.read()
    for wanted in ("64 Ns", "8 NBs", "1 Ps", "2 Qs"):
        text = re.sub(rf"^\S+ +{wanted.split()[1]}$", wanted, text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        write_file(f"{folder}/hpccinf.txt", text)
        status, said = launch("openmpi", 2, 1, "/bin/sh", "-c", f"cd {folder} && exec hpcc",
                              preload=preload, time_limit=4 * TIME_LIMIT,
                              launcher=["--env", "COLLSOCK_MPI_SUMMARY=1"])
        equal(f"status of hpcc, which said {said[-2000:]}", status, 0)
        report = read_file(f"{folder}/hpccoutf.txt")
    # Lines of PTRANS begin with times, which are omitted if 0
    lines = (re.sub(r".*(PASSED|FAILED)", r"\1", line) for line in RESULTS.findall(report))
    return [line for line, _ in itertools.groupby(lines)], said


@test
def hpc_challenge_gives_the_same_results_with_the_library():
    """HPC Challenge; Debian's is for Open MPI. Two parts of it take a minute each."""
    if BASELINE:
        raise Skipped("it compares")
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has a time-out for each
    alone, _ = results_of_hpcc([])
    ours, said = results_of_hpcc(preloaded("openmpi"))
    equal("what it finds", ours, alone)
    equal("its own sum of that", "Success=1" in ours, True)
    taken = sum(map(int, re.findall(r"(\d+) taken", said)))
    at_least("operations taken", taken, 10)
    print(f"# {len(ours)} lines agree; {taken} operations taken")


def suite_of_mpich(kind, hosts, *options, launcher=None):
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has a time-out for each
    launcher = preloaded(kind) if launcher is None else launcher
    with subprocess.Popen(
            ["selftests/mpi/mpich_suite.py", *launcher, "--compare", "--hosts", str(hosts),
             "--timeout", str(TIME_LIMIT), *options, kind, f"{PROGRAMS}/suite"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as suite:
        for line in suite.stdout:
            print(f"# {line}", end="", flush=True)
    equal("status of the suite", suite.returncode, 0)


@test_each(*((kind, hosts) for kind in KINDS for hosts in (2, 4, 8)))
def mpichs_own_tests_pass(kind, hosts):
    suite_of_mpich(kind, hosts)


@test_each(2, 4)
def mpichs_own_tests_pass_with_the_component(hosts):
    suite_of_mpich("openmpi", hosts, launcher=with_component(summary=0))


@test_each(*KINDS)
def mpichs_tests_of_collectives_pass_under_loss(kind):
    hosts = 4
    netem(range(1, hosts + 1), *LOSS)
    try:
        suite_of_mpich(kind, hosts, "--folder", "coll", "--most-ranks", "4")
    finally:
        netem(range(1, hosts + 1))


main(TIME_LIMIT + 10)
