# SPDX-License-Identifier: GPL-2.0
"""Common code of the scenarios that run third-party MPI test suites."""

import itertools
import re
import signal
import subprocess
import tempfile

from collsock_test import Skipped, at_least, equal, netem, read_file, write_file
from mpi_launch import BASELINE, LOSS, PROGRAMS, TIME_LIMIT, launch

LONGEST = TIME_LIMIT + 10
HOSTS = 2, 4, 8
# With fewer ranks, a test is placed as on fewer hosts, where it has been run
LEAST_RANKS = {2: 1, 4: 3, 8: 5}


def suite_of_mpich(kind, hosts, launcher, *options):
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has a time-out for each
    with subprocess.Popen(
            ["selftests/mpi/mpich_suite.py", *launcher, "--compare", "--hosts", str(hosts),
             "--timeout", str(TIME_LIMIT), *options, kind, f"{PROGRAMS}/suite"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as suite:
        for line in suite.stdout:
            print(f"# {line}", end="", flush=True)
    equal("status of the suite", suite.returncode, 0)


def whole_suite_of_mpich(kind, hosts, launcher):
    suite_of_mpich(kind, hosts, launcher, "--least-ranks", str(LEAST_RANKS[hosts]))


def collectives_of_mpich_under_loss(kind, launcher):
    hosts = 4
    netem(range(1, hosts + 1), *LOSS)
    try:
        suite_of_mpich(kind, hosts, launcher, "--folder", "coll", "--most-ranks", "4")
    finally:
        netem(range(1, hosts + 1))


HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
# Lines of its report about correctness, not speed
RESULTS = re.compile(r"^(?:Begin|End) of .*|^Found \d+ errors.*|^Node\(s\) with error.*|"
                      r".*\d tests completed and .*|.*(?:PASSED|FAILED)|"
                      r"^Solution.*|^Success=.*|^\w+_Errors=.*", re.M)


def results_of_hpcc(launcher):
    """Small: 64 unknowns. Its report is a file in the current folder."""
    with open(HPCC_INPUT, encoding="ascii") as file:
        text = file.read()
    for wanted in ("64 Ns", "8 NBs", "1 Ps", "2 Qs"):
        text = re.sub(rf"^\S+ +{wanted.split()[1]}$", wanted, text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        write_file(f"{folder}/hpccinf.txt", text)
        status, said = launch("openmpi", 2, 1, "/bin/sh", "-c", f"cd {folder} && exec hpcc",
                              preload=[], time_limit=4 * TIME_LIMIT, launcher=launcher)
        equal(f"status of hpcc, which said {said[-2000:]}", status, 0)
        report = read_file(f"{folder}/hpccoutf.txt")
    # Lines of PTRANS begin with times, which are omitted if 0
    lines = (re.sub(r".*(PASSED|FAILED)", r"\1", line) for line in RESULTS.findall(report))
    return [line for line, _ in itertools.groupby(lines)], said


def hpcc_finds_the_same(launcher, summary):
    if BASELINE:
        raise Skipped("it compares")
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has a time-out for each
    alone, _ = results_of_hpcc([])
    ours, said = results_of_hpcc([*launcher, *summary])
    equal("what it finds", ours, alone)
    equal("its own sum of that", "Success=1" in ours, True)
    taken = sum(map(int, re.findall(r"(\d+) taken", said)))
    at_least("operations taken", taken, 10)
    print(f"# {len(ours)} lines agree; {taken} operations taken")
