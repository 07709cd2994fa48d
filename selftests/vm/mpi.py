#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=1800
# suites: check soak
"""Unmodified MPI programs with the library that handles their collective operations.

Both MPIs, with everything that selftests/mpi checks. COLLSOCK_BASELINE=1 runs all of that
without the library: failures then are not caused by it.
"""

import contextlib
import json
import os
import re
import signal
import subprocess

from collsock_test import (
    ON_DEBUG_KERNEL, PORT, SLOWDOWN, SOAK, Failed, Skipped, at_least, command, equal, main, netem,
    test_each, work)
from mpi_launch import (
    BASELINE, KINDS, LOSS, OPERATIONS, TIME_LIMIT, PROGRAMS, launch, library_of, passes, preloaded,
    seed_of)

IN_SOAK = SOAK > 1 and not ON_DEBUG_KERNEL
ROUNDS = 6  # of collectives, in a check

# ---- results of all operations ----

CASES = [("openmpi", 2, 1), ("mpich", 2, 2)]
if IN_SOAK:
    CASES = [(kind, hosts, ranks) for kind in KINDS for hosts in (2, 4, 8) for ranks in (1, 2, 3)]


def time_limit_with(hosts, ranks):
    """All share two processors. Such a test has only its program's time-out."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    return TIME_LIMIT * max(1, hosts * ranks // 6)


@test_each(*CASES)
def random_operations_give_the_expected_results(kind, hosts, ranks):
    seed = seed_of(kind, hosts, ranks)
    print(f"# --seed {seed}")
    # A tool loaded after the library, which sees all calls
    tool = [] if IN_SOAK or kind == "mpich" else ["--preload", f"{PROGRAMS}/{kind}/tool.so"]
    said = passes(kind, hosts, ranks, "collectives", "--seed", seed, "--rounds",
                  str(ROUNDS * (1 + SOAK // 4)), launcher=tool,
                  time_limit=time_limit_with(hosts, ranks))
    equal("lines of the tool", len(re.findall(r"tool: .*[1-9]", said)), bool(tool))


if IN_SOAK:
    @test_each(*CASES)
    def random_operations_give_the_expected_results_under_loss(kind, hosts, ranks):
        seed = seed_of(kind, hosts, ranks, "loss")
        print(f"# --seed {seed}")
        netem(range(1, hosts + 1), *LOSS)
        try:
            passes(kind, hosts, ranks, "collectives", "--seed", seed, "--rounds", str(ROUNDS),
                   time_limit=time_limit_with(hosts, ranks))
        finally:
            netem(range(1, hosts + 1))

    @test_each(*KINDS)
    def random_operations_give_the_expected_results_with_ranks_placed_round_robin(kind):
        passes(kind, 3, 2, "collectives", "--seed", seed_of(kind, "by node"), "--rounds",
               str(ROUNDS), launcher=["--by-node"])


# ---- what programs rely on ----

ALL_KINDS = KINDS if IN_SOAK else KINDS[1:]


@test_each(*ALL_KINDS)
def a_communicators_ranks_join_a_group_of_their_own(kind):
    """<collsock_mpi.h>, with the library beside it in one of them"""
    passes(kind, 2, 2, "exchange", preload=[] if kind == "openmpi" else None)


@test_each(*ALL_KINDS)
def a_long_message_gets_through_while_its_sender_is_in_an_operation(kind):
    passes(kind, 2, 1, "rendezvous")


@test_each(*ALL_KINDS)
def a_reduction_makes_progress_without_calls_of_mpi(kind):
    said = passes(kind, 2, 1, "overlap", *([] if BASELINE else ["--require"]))
    print(f"# {said.splitlines()[0]}")


def frames_for_all(host):
    """Those that its interface has received at multicast addresses"""
    link, = json.loads(command("ip", "-n", f"h{host}", "-j", "-s", "link", "show", "dev", "eth0"))
    return link["stats64"]["rx"]["multicast"]


if IN_SOAK:
    @test_each(*KINDS)
    def long_messages_go_by_multicast(kind):
        if BASELINE:
            raise Skipped("it is about the library")
        settings = "COLLSOCK_MPI_MULTICAST=239.7.7.7", "COLLSOCK_MPI_MAX_BYTES=32768"
        before = frames_for_all(2)
        status, said = launch(kind, 3, 1, "latency", "20", "bcast:32768", launcher=[
            word for setting in settings for word in ("--env", setting)])
        equal(f"status, with the output {said}", status, 0)
        at_least("frames for all", frames_for_all(2) - before, 5 * 32768 // 1056)

    @test_each(*KINDS)
    def a_rank_that_has_done_its_part_may_finalize(kind):
        passes(kind, 2, 1, "finalize", "--rounds", str(work(20)))


@test_each(*(KINDS if IN_SOAK else ()))
def fortran_programs_take_part(kind):
    for program in "fortran_mpif", "fortran_mpi", "fortran_f08":
        passes(kind, 2, 1, program)


@contextlib.contextmanager
def udp_blocked(host):
    """Block packets of collective sockets to the host, but not those of MPI libraries."""
    tc = "tc", "-n", f"h{host}"
    command(*tc, "qdisc", "add", "dev", "eth0", "clsact")
    try:
        command(*tc, *"filter add dev eth0 ingress protocol ip flower ip_proto udp".split(),
                "dst_port", str(PORT), "action", "drop")
        yield
    finally:
        command(*tc, "qdisc", "delete", "dev", "eth0", "clsact")


# The single line is also tested in a check, with a substitute for the kernel
@test_each(*(KINDS if IN_SOAK else ()))
def if_udp_is_blocked_all_is_left_to_mpi_and_reported_once(kind):
    """There are several communicators, and the network is tried once."""
    if BASELINE:
        raise Skipped("it is about the library")
    with udp_blocked(2):
        said = passes(kind, 2, 1, "collectives", "--seed", seed_of(kind, "blocked"), "--rounds",
                      "4", launcher=["--env", "COLLSOCK_MPI_SUMMARY=1"])
    equal("what was handled", {*re.findall(r"(\d+) handled", said)}, {"0"})
    equal("why", re.findall(r"left to the MPI library, because of (.*)", said),
          ["rank 1: no packets arrive on its host: is UDP port 7607 open there for all others?"])


@test_each(*(KINDS if IN_SOAK else KINDS[1:]))
def blocks_and_prefixes_are_those_of_each_rank(kind):
    seed = seed_of(kind, "own")
    print(f"# --seed {seed}")
    passes(kind, 2, 2, "collectives", "--own", "--seed", seed, "--rounds",
           str(3 * ROUNDS * (1 + SOAK // 4)), time_limit=time_limit_with(2, 2))


@test_each(*(KINDS if IN_SOAK else KINDS[1:]))
def every_collective_that_the_manual_lists_is_taken(kind):
    if BASELINE:
        raise Skipped("it is about the library")
    status, said = launch(kind, 2, 1, "latency", "5", *OPERATIONS,
                          launcher=["--env", "COLLSOCK_MPI_SUMMARY=1"])
    equal("status", status, 0)
    for call in OPERATIONS.values():
        equal(f"lines in which {call} is handled and never passed on",
              len(re.findall(rf"{call} +[1-9]\d handled +0 passed on", said)), 1)


if IN_SOAK:
    @test_each(*KINDS)
    def every_nonblocking_collective_is_taken(kind):
        if BASELINE:
            raise Skipped("it is about the library")
        said = passes(kind, 2, 1, "nonblocking", "5", launcher=["--env", "COLLSOCK_MPI_SUMMARY=1"])
        for call in OPERATIONS.values():
            name = f"MPI_I{call.removeprefix('MPI_').lower()}"
            equal(f"lines in which {name} is handled and never passed on",
                  len(re.findall(rf"{name} +5 handled +0 passed on", said)), 1)

    @test_each(*((kind, order) for kind in KINDS for order in ("before", "behind")))
    def a_tool_sees_all_calls_and_they_are_taken(kind, order):
        """It counts the program's calls by the profiling interface."""
        if BASELINE:
            raise Skipped("it is about the library")
        tool = ["--preload", f"{PROGRAMS}/{kind}/tool.so"]
        library = preloaded(kind)
        status, said = launch(kind, 2, 1, "latency", "10", "barrier", "allreduce:8",
                              preload=tool + library if order == "before" else library + tool,
                              launcher=["--env", "COLLSOCK_MPI_SUMMARY=1"])
        equal("status", status, 0)
        # Each is called 10 times to warm up, 10 times to be measured; means are computed by a
        # few calls of PMPI_Allreduce, which no tool sees
        for line in ("tool: 20 barriers, 20 allreduces, 0 iallreduces, 0 waits",
                     r"MPI_Barrier +20 handled +0 passed on", r"MPI_Allreduce +2[0-9] handled"):
            equal(f"lines with {line}", len(re.findall(line, said)), 1)

    @test_each(("mpich", "sessions", 1, ()), ("openmpi", "spawn", 3, ("--np", "4")))
    def communicators_beyond_the_programs_world_are_left_to_mpi(kind, program, ranks, launcher):
        """MPICH's spawning does not work over this launcher; Open MPI has no sessions."""
        passes(kind, 2, ranks, program, launcher=launcher)

    @test_each(*KINDS)
    def a_rank_without_the_library_is_reported_after_a_while(kind):
        if BASELINE:
            raise Skipped("it is about the library")
        script = (f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 || '
                  f'export LD_PRELOAD={os.path.abspath(library_of(kind))}; '
                  f'exec {PROGRAMS}/{kind}/latency 1 barrier')
        done = subprocess.run(["mpi", kind, "--hosts", "2", "--timeout", str(60 * SLOWDOWN),
                               "sh", "-c", script], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        equal("lines that suspect it",
              done.stdout.decode(errors="replace").count("Is this library preloaded in all"), 1)

    @test_each(*KINDS)
    def several_threads_have_their_own_operations(kind):
        passes(kind, 3, 2, "threads", "--seed", seed_of(kind, "threads"))

    @test_each(*KINDS)
    def programs_in_c_plus_plus_take_part(kind):
        passes(kind, 3, 2, "cxx")

    @test_each(*KINDS)
    def communicators_are_duplicated_while_they_are_used(kind):
        passes(kind, 3, 1, "duplicates")

    @test_each(*KINDS)
    def reductions_and_writes_to_files_are_awaited_together(kind):
        passes(kind, 2, 1, "files", "/tmp/written")

    @test_each(*KINDS)
    def callbacks_may_use_a_communicator_while_it_is_freed(kind):
        passes(kind, 3, 1, "callbacks")

    @test_each(*KINDS)
    def invalid_arguments_are_refused(kind):
        passes(kind, 2, 1, "errors")

    @test_each(*KINDS)
    def a_root_whose_blocks_differ_causes_an_error_and_no_hang(kind):
        if BASELINE:
            raise Skipped("without the library each MPI does what it likes")
        _, said = launch(kind, 3, 1, "errors", "--differ", launcher=["--survivors"])
        equal("error at the root", re.findall(r"rank 0: operation 0: class \d+ \((\w+)\)", said),
              ["MPI_ERR_TRUNCATE"])
        for rank in 1, 2:
            lines = re.findall(rf"rank {rank}: operation 1: class \d+: .*", said)
            equal(f"errors of rank {rank}", len(lines), 1)

    @test_each(*KINDS)
    def a_killed_rank_causes_an_error_and_no_hang(kind):
        if BASELINE:
            raise Skipped("without the library they hang")
        _, said = launch(kind, 3, 1, "errors", "--victim", "1", launcher=["--survivors"])
        for rank in 0, 2:
            lines = [line for line in said.splitlines()
                     if line.startswith(f"rank {rank}: operation 2:")]
            if len(lines) != 1 or "MPI_SUCCESS" in lines[0]:
                raise Failed(f"rank {rank} did not learn of it:\n{said[-3000:]}")


main(TIME_LIMIT + 10)
