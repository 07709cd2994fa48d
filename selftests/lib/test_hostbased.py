#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The baseline of collperf does every operation right, by every algorithm; TAP.

Its hosts are addresses of the loopback device. Each checks its result, and in the end every
element of it, and says so by its exit code.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402
from built import TREE, program  # noqa: E402

PROGRAM = program("hostbased")
IN_SOAK = int(os.environ.get("COLLSOCK_SOAK") or 1) > 1
SIZES = (1, 2, 3, 5, 8, 13) if IN_SOAK else (1, 2, 3, 5, 8)
COUNTS = 1, 7
DEGREES = {"dissemination": ((), ("--degree", "3")), "exchange": ((), ("--degree", "3")),
           "kary": ((), ("--degree", "2"), ("--degree", "3"))}
TREES = "binomial", "kary", "flat"
# What it has (tools/collperf/plan.c). The kernel may have more.
ALGORITHMS = {
    "barrier": ("dissemination", "exchange", *TREES, "mcs"),
    "allreduce": ("exchange", *TREES, "mcs", "halving"),
    "reduce": TREES,
    "broadcast": TREES,
    "allgather": ("dissemination",),
    "gather": ("binomial",),
    "scatter": ("binomial",),
    "reduce-scatter-block": ("exchange", *TREES, "mcs", "halving"),
    "scan": ("hillis-steele",),
    "exscan": ("hillis-steele",),
}
ROOTED = "reduce", "broadcast", "gather", "scatter"


def run_all(size, *options):
    """All hosts; returns the output, errors and exit code of each."""
    begin = random.randrange(1 << 16)
    with tempfile.NamedTemporaryFile("w") as hosts:
        for host in range(size):
            print(f"127.{1 + begin % 251}.{1 + begin // 251 % 251}.{1 + host}", file=hosts)
        hosts.flush()
        programs = [subprocess.Popen([PROGRAM, "--hosts-file", hosts.name, "--rank", str(rank),
                                      "--iterations", "5", "--warm-up", "3", "--limit", "60",
                                      *options], text=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE) for rank in range(size)]
        said = [(program.communicate(), program.returncode) for program in programs]
    return [(*texts, status) for texts, status in said]


def run(size, *options):
    """All hosts; returns the exit codes and errors of those that failed."""
    return [(status, error) for _, error, status in run_all(size, *options) if status]


def runs_of(operation, size):
    """Options of each run."""
    for algorithm in ALGORITHMS[operation]:
        for degree in DEGREES.get(algorithm, ((),)):
            count = random.choice(COUNTS)
            root = ("--root", str(random.randrange(size))) if operation in ROOTED else ()
            yield ("--operation", operation, "--algorithm", algorithm, "--count", str(count),
                   *degree, *root)


def check(operation, size):
    for options in runs_of(operation, size):
        failed = run(size, *options)
        assert not failed, f"{size} hosts, {options}: {failed}"


def test_every_algorithm_gives_the_right_result():
    for operation in ALGORITHMS:
        for size in SIZES:
            check(operation, size)


def has_exactly(found, wanted, what):
    """It names these algorithms, and no others."""
    lacks, more = set(wanted) - set(found), set(found) - set(wanted)
    assert not lacks, f"{what} lacks {', '.join(sorted(lacks))}, which ALGORITHMS of this test has"
    assert not more, f"{what} has {', '.join(sorted(more))}, which ALGORITHMS of this test lacks"


def test_algorithm_that_the_operation_does_not_have_is_refused():
    for operation, has in ALGORITHMS.items():
        for algorithm in {name for names in ALGORITHMS.values() for name in names} - set(has):
            failed = run(1, "--operation", operation, "--algorithm", algorithm)
            assert [status for status, _ in failed] == [2], (operation, algorithm, failed)
            named = failed[0][1].split(f"{operation} has only ")[1].strip().split(", ")
            has_exactly(named, ("auto", *has), f"hostbased --operation {operation}")


def test_only_algorithms_that_it_has_are_offered():
    has = {"auto"}.union(*ALGORITHMS.values())
    told = subprocess.run([PROGRAM, "--help"], text=True, check=True, stdout=subprocess.PIPE).stdout
    named = re.search(r"--algorithm NAME ([^;]*);", told)[1].replace(",", " ").split()
    has_exactly(named, has, "hostbased --help")
    lists = (TREE / "uapi/linux/collsock_lists.h").read_text(encoding="utf-8")
    listed = re.search(r"^#define COLLSOCK_ALGORITHM_LIST\(LINE\)(.*?[^\\])$", lists,
                       re.DOTALL | re.MULTILINE)[1]
    lacking = set(re.findall(r'LINE\(\w+,\s*\d+,\s*"([^"]+)"', listed)) - has
    for algorithm in ("nothing", *sorted(lacking)):
        failed = run(1, "--algorithm", algorithm)
        assert [status for status, _ in failed] == [2], (algorithm, failed)
        named = failed[0][1].split(f'"{algorithm}" is not one of ')[1].split()
        has_exactly(named, has, f"hostbased --algorithm {algorithm}")


def test_auto_is_an_algorithm_of_each_operation():
    for operation in ALGORITHMS:
        failed = run(3, "--operation", operation, "--algorithm", "auto")
        assert not failed, f"{operation}: {failed}"


def test_without_a_degree_each_algorithm_has_that_of_collsock():
    for size, algorithm, degree in (2, "dissemination", 2), (3, "exchange", 3), (5, "kary", 4), \
            (3, "kary", 4), (3, "binomial", None):
        for out, error, status in run_all(size, "--algorithm", algorithm, "--json"):
            assert not status, error
            seen = json.loads(out).get("degree")
            assert seen == degree, f"{algorithm} of {size} hosts: {seen}, not {degree}"


def test_vectors_with_the_blocks_of_all_hosts_are_limited():
    failed = run(2, "--operation", "allgather", "--count", "4097")
    assert [status for status, _ in failed] == [2, 2], failed
    assert "the blocks of 2 hosts have more than 8192 elements" in failed[0][1], failed


def test_a_vector_may_be_as_long_as_a_datagram():
    for algorithm in "exchange", "halving":
        failed = run(3, "--operation", "allreduce", "--algorithm", algorithm, "--count", "8187")
        assert not failed, failed
    failed = run(2, "--operation", "allreduce", "--count", "8188")
    assert "a datagram has at most 8187 elements" in failed[0][1], failed


def test_a_program_computes_in_every_step_and_runs_the_operation_after_each():
    for operation in "barrier", "allreduce", "reduce":
        for rank, (out, error, status) in enumerate(run_all(
                3, "--operation", operation, "--steps", "10,20,330", "--vary", "10", "--json")):
            assert not status, error
            said = json.loads(out)
            seen = {name: said[name] for name in ("rank", "steps", "vary", "computes_us")}
            right = {"rank": rank, "steps": 3, "vary": 10, "computes_us": 360}
            assert seen == right, f"{seen}, not {right}"


def test_the_least_computation_of_each_efficiency_is_searched():
    for out, error, status in run_all(2, "--efficiency", "25,90", "--json"):
        assert not status, error
        found = json.loads(out)["efficiency"]
        least = [one["least_us"] for one in found]
        assert [one["percent"] for one in found] == [25, 90], found
        # 0: more than 16 ms
        assert all(us == 0 or 1 <= us <= 16384 for us in least), found
        assert not least[1] or least[0] <= least[1], found


def test_programs_that_cannot_be_run_are_refused_with_the_reason():
    for options, words in (
            (("--steps", "10,,20"), '"" is not a whole number from 1 to 1000000'),
            (("--steps", "0"), '"0" is not a whole number from 1 to 1000000'),
            (("--steps", ",".join("1" * 65)), "has more than 64 numbers"),
            (("--efficiency", "100"), '"100" is not a whole number from 1 to 99'),
            (("--vary", "10"), "--vary: only with --steps"),
            (("--steps", "1", "--efficiency", "5"), "only one of them")):
        failed = run(1, *options)
        assert len(failed) == 1 and failed[0][0] == 2, f"{options}: {failed}"
        assert words in failed[0][1], f"{options}: {failed[0][1]!r} lacks {words!r}"


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
