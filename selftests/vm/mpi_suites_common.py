# SPDX-License-Identifier: GPL-2.0
"""Common code of the scenarios that run third-party MPI test suites."""

import itertools
import pathlib
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


# Lines of a report about correctness, not speed
RESULTS = re.compile(r"^(?:Begin|End) of .*|^Found \d+ errors.*|^Node\(s\) with error.*|"
                      r".*\d tests completed and .*|.*(?:PASSED|FAILED)|"
                      r"^Solution.*|^Success=.*|^\w+_Errors=.*", re.M)


def results_of(program, inputs, report, ranks, launcher):
    """Run a benchmark of others on two hosts in a folder with these inputs, {name: text}. Returns
    the lines of its report, a file there or what it prints, about correctness, and what it
    printed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in inputs.items():
            write_file(f"{folder}/{name}", text)
        status, said = launch("openmpi", 2, ranks, "/bin/sh", "-c",
                              f"cd {folder} && exec {program}",
                              preload=[], time_limit=4 * TIME_LIMIT, launcher=launcher)
        equal(f"status of {program}, which said {said[-2000:]}", status, 0)
        text = read_file(f"{folder}/{report}") if report else said
    # Lines begin with times, which PTRANS omits if 0
    lines = (re.sub(r".*(PASSED|FAILED)", r"\1", line) for line in RESULTS.findall(text))
    return [line for line, _ in itertools.groupby(lines)], said


def finds_the_same(launcher, summary, *benchmark):
    """Returns what the benchmark finds with the launcher's options, which it must without, too."""
    signal.setitimer(signal.ITIMER_REAL, 0)  # it has a time-out for each
    alone, _ = results_of(*benchmark, [])
    ours, said = results_of(*benchmark, [*launcher, *summary])
    equal("what it finds", ours, alone)
    handled = sum(map(int, re.findall(r"(\d+) handled", said)))
    at_least("operations handled", handled, 10)
    print(f"# {len(ours)} lines agree; {handled} operations handled")
    return ours


HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def hpcc_finds_the_same(launcher, summary):
    """Small: 64 unknowns."""
    if BASELINE:
        raise Skipped("it compares")
    text = read_file(HPCC_INPUT)
    for wanted in ("64 Ns", "8 NBs", "1 Ps", "2 Qs"):
        text = re.sub(rf"^\S+ +{wanted.split()[1]}$", wanted, text, flags=re.M)
    found = finds_the_same(launcher, summary, "hpcc", {"hpccinf.txt": text}, "hpccoutf.txt", 1)
    equal("its own sum of that", "Success=1" in found, True)


SCALAPACK_INPUTS = "/usr/share/scalapack"
# Its inputs have lists of values of these
SCALAPACK_LISTS = re.compile(r"^\d+(\s+number of (?:problem|tests|NB|NRHS|blocking))", re.M | re.I)


def scalapack_finds_the_same(launcher, summary, program, input_):
    """Small: of each list of values the first, but all four grids of processes."""
    if BASELINE:
        raise Skipped("it compares")
    tests, = pathlib.Path("/usr/lib").glob("*/scalapack/openmpi-tests")
    text = SCALAPACK_LISTS.sub(r"1\1", read_file(f"{SCALAPACK_INPUTS}/{input_}"))
    found = finds_the_same(launcher, summary, str(tests / program),
                           {pathlib.Path(input_).name: text}, None, 2)
    at_least("its lines about what passed", len([line for line in found if "PASSED" in line]), 1)
