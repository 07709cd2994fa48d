# SPDX-License-Identifier: GPL-2.0
"""Experiments in the simulator: a CPU for each host, and costs that were counted."""

import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
SIM = TREE / "build/sim/sim"


def build():
    subprocess.run(["make", "-s", "-C", TREE / "selftests/sim", f"OUTPUT={SIM.parent}", SIM],
                   check=True)


def rows_of(text):
    """The words of each line that ends with figures."""
    return [line.split() for line in text.splitlines()
            if re.fullmatch(r" *[\w-]+( +[\w.-]+){4,} *", line) and re.search(r"\d\.\d\d", line)]


def run(*arguments):
    """The rows of an experiment's tables."""
    done = subprocess.run([SIM, "--experiment", *arguments], stdout=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"papers: sim --experiment {' '.join(arguments)}: status {done.returncode}\n"
                 f"{done.stdout}")
    return rows_of(done.stdout)


def barrier():
    """Latency, without and with an MPI."""
    for row in run("barrier"):
        hosts, _, _, _, raw, raw_host, raw_factor, mpi, mpi_host, factor, adds = row
        yield hosts, raw, raw_host, raw_factor, mpi, mpi_host, factor, adds


def sizes():
    """The same for each number of hosts, by exchange, which is the paper's algorithm."""
    sizes = ",".join(map(str, range(2, 17)))
    for name in "exchange", "dissemination":
        for row in run("barrier", "--hosts", sizes, "--algorithm", name, "--iterations", "50"):
            yield name, row[0], row[7], row[8], row[9]


def efficiency():
    for hosts, percent, ours, theirs, factor in run("efficiency", "--hosts", "2,4,8,16"):
        yield percent, hosts, ours, theirs, factor


def arrival():
    for _, compute, vary, ours, theirs, difference in run("arrival", "--iterations", "200"):
        yield vary, compute, ours, theirs, difference


def programs():
    for row in run("programs", "--iterations", "200"):
        hosts, program, _, *figures = row
        yield program, hosts, *figures


BARRIERS = "--hosts", ",".join(map(str, range(2, 17))), "--doubles", "0"


def algorithms_of(rows):
    for row in rows:
        _, hosts, _, name, degree, rounds, messages, work, time = row[:9]
        yield name, degree, hosts, rounds, messages, work, time


def algorithms():
    """Barriers that sleep; the flat tree and exchange of all are the paper's for 16 hosts."""
    return algorithms_of(run("algorithms", *BARRIERS))


def choices_of(rows):
    """Each operation by each algorithm and some degrees; the last figure: is it what auto means?"""
    for row in rows:
        automatic = row[-1] == "auto"
        operation, hosts, size, name, degree, rounds, messages, work, time = row[:9]
        yield operation, size, name, degree, hosts, rounds, messages, work, time, int(automatic)


def choices():
    """Longer ones of as many hosts as there are in the test machine."""
    return choices_of(run("algorithms") +
                      run("algorithms", "--hosts", "2,4,8,16", "--doubles", "1024"))


def skew():
    for hosts, doubles, late, _, ours, sleeping, polling, waiting, factor, alone, _ in run("skew"):
        yield doubles, late, hosts, ours, sleeping, polling, waiting, factor, alone


def reduce():
    for hosts, doubles, *figures in run("reduce"):
        yield doubles, hosts, *figures


def first():
    for row in run("first"):
        yield [word.replace("-", "") for word in row]
