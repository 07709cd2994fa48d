#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=900
# suites: check soak
"""MPI programs with the component for Open MPI, which replaces the preloaded library."""

import os
import re

from collsock_test import (
    ON_DEBUG_KERNEL, SOAK, Failed, at_least, equal, main, netem, test, test_each)
from mpi_launch import (
    LOSS, OPERATIONS, TIME_LIMIT, launch, passes, preloaded, seed_of, with_component)

IN_SOAK = SOAK > 1 and not ON_DEBUG_KERNEL
ROUNDS = 6 * (1 + SOAK // 4)
HOSTS = 4 if IN_SOAK else 3  # for results of all operations


def test_in_soak(function):
    """Each of these starts MPI on several hosts, which takes long: in a soak, or if it is named."""
    named = function.__name__ in os.environ.get("COLLSOCK_TEST", "")
    return test(function) if IN_SOAK or named else function


def run(hosts, ranks, program, *args, launcher=(), preload=(), **parameters):
    return launch("openmpi", hosts, ranks, program, *args, preload=list(preload),
                  launcher=[*with_component(**parameters), *launcher])


def passes_with_it(hosts, ranks, program, *args, launcher=(), time_limit=TIME_LIMIT, **parameters):
    return passes("openmpi", hosts, ranks, program, *args, preload=[], time_limit=time_limit,
                  launcher=[*with_component(**parameters), *launcher])


def counts(said):
    """By name of a call: how many were handled, and how many passed on."""
    return {name: (int(handled), int(passed)) for name, handled, passed in
            re.findall(r"collsock: MPI_(\w+) +(\d+) handled +(\d+) passed on", said)}


# ---- results ----

@test_each(*([(), ("--own",)] if IN_SOAK else []))
def random_operations_give_the_expected_results(*options):
    seed = seed_of("component", *options)
    print(f"# --seed {seed}")
    said = passes_with_it(HOSTS, 1, "collectives", *options, "--seed", seed, "--rounds",
                          str(ROUNDS), time_limit=2 * TIME_LIMIT)
    handled = sum(handled for handled, _ in counts(said).values())
    at_least("operations handled", handled, ROUNDS)
    print(f"# {handled} operations handled")


@test
def every_collective_is_taken():
    status, said = run(HOSTS, 1, "latency", "5", *OPERATIONS)
    equal("status", status, 0)
    for call in OPERATIONS.values():
        handled, passed = counts(said)[call.removeprefix("MPI_")]
        at_least(f"{call} handled", handled, 10)
        equal(f"{call} passed on", passed, 0)


@test_in_soak
def every_nonblocking_collective_is_taken():
    found = counts(passes_with_it(4, 1, "nonblocking", "5"))
    for call in OPERATIONS.values():
        name = f"I{call.removeprefix('MPI_').lower()}"
        equal(f"MPI_{name} handled, and passed on", found[name], (5, 0))


if IN_SOAK:
    @test
    def results_are_the_expected_ones_under_loss():
        netem(range(1, 5), *LOSS)
        try:
            for options in (), ("--own",):
                passes_with_it(4, 2, "collectives", *options, "--seed",
                               seed_of("component", "loss", *options), "--rounds", str(ROUNDS),
                               time_limit=4 * TIME_LIMIT)
        finally:
            netem(range(1, 5))

    @test
    def several_threads_have_their_own_operations():
        passes_with_it(3, 2, "threads", "--seed", seed_of("component", "threads"))

    @test
    def a_rank_that_has_done_its_part_may_finalize():
        passes_with_it(2, 1, "finalize", "--rounds", "20")

    @test
    def communicators_beyond_the_programs_world_are_left_to_mpi():
        passes_with_it(2, 3, "spawn", launcher=["--np", "4"])

    @test
    def programs_in_fortran_take_part():
        passes_with_it(2, 1, "fortran_f08")


@test_in_soak
def a_long_message_gets_through_while_its_sender_is_in_an_operation():
    passes_with_it(2, 1, "rendezvous")


@test_in_soak
def callbacks_may_use_a_communicator_while_it_is_freed():
    passes_with_it(3, 1, "callbacks")


@test_in_soak
def communicators_are_duplicated_while_they_are_used():
    passes_with_it(3, 1, "duplicates", after=9)


# ---- what is handled ----

@test_in_soak
def a_call_that_cannot_be_taken_is_passed_on():
    """Of these, and with ranks that are not placed in the order of hosts, it takes two."""
    status, said = run(2, 2, "latency", "5", "barrier", "allreduce:8", "allreduce:2048", "scan:8",
                       launcher=["--by-node"])
    equal("status", status, 0)
    found = counts(said)
    equal("barriers passed on", found["Barrier"][1], 0)
    # Means are computed by some of 8 bytes
    equal("large ones that are passed on", found["Allreduce"][1], 10)
    equal("scans", found["Scan"], (0, 10))
    equal("why", re.findall(r"collsock: +10 (.*)", said),
          ["more bytes than are handled", "ranks are not in the order of hosts"])


@test_in_soak
def a_communicator_joins_in_the_call_that_its_parameter_names():
    status, said = run(2, 1, "latency", "20", "barrier", after=7, verbose=1)
    equal("status", status, 0)
    equal("barriers", counts(said)["Barrier"], (34, 6))
    equal("lines", said.count("a communicator of 2 ranks has joined"), 1)


@test_in_soak
def calls_of_open_mpi_with_datatypes_of_its_own_are_taken():
    """This algorithm of allgatherv is a gatherv and a broadcast, of which the latter joins."""
    algorithm = [word for name, value in (("use_dynamic_rules", 1), ("allgatherv_algorithm", 1))
                 for word in ("--mca", f"coll_tuned_{name}={value}")]
    status, said = run(3, 1, "latency", "1", "allgatherv:64", after=2, launcher=algorithm)
    equal("status", status, 0)
    equal("broadcasts", counts(said)["Bcast"], (1, 0))


@test_in_soak
def on_one_host_all_is_passed_on():
    status, said = run(1, 3, "latency", "5", "barrier", verbose=1)
    equal("status", status, 0)
    equal("lines", said.count("3 ranks is left to the MPI library: all are on one host"), 1)
    equal("handled", sum(handled for handled, _ in counts(said).values()), 0)
    equal("why", "all ranks on one host" in said, True)


@test_in_soak
def without_a_priority_it_is_not_used():
    status, said = run(2, 1, "latency", "5", "barrier", priority=0)
    equal("status", status, 0)
    equal("lines of it", said.count("collsock:"), 0)


@test_in_soak
def beside_the_preloaded_library_it_takes_nothing():
    """Otherwise each of them would print a summary."""
    status, said = run(2, 1, "latency", "5", "barrier", preload=[
        *preloaded("openmpi"), "--env", "COLLSOCK_MPI_SUMMARY=1"])
    equal("status", status, 0)
    equal("summaries", said.count("collectives of rank 0"), 1)
    equal("barriers", counts(said)["Barrier"], (10, 0))


@test_in_soak
def an_impossible_parameter_ends_the_program_with_a_message():
    status, said = run(2, 1, "latency", "1", "barrier", window=100)
    equal("ends", status != 0, True)
    equal("it says", "coll_collsock_window=100: not a number from 1 to 64" in said, True)


if IN_SOAK:
    @test
    def a_rank_that_does_not_use_it_is_reported_after_a_while():
        script = ('test "$OMPI_COMM_WORLD_RANK" = 1 && export OMPI_MCA_coll_collsock_priority=0; '
                  'exec build/mpi/openmpi/latency 1 barrier')
        # The program never ends. It may take as long as any other to start, and waits for 30 s then.
        _, said = launch("openmpi", 2, 1, "/bin/sh", "-c", script, preload=[],
                         launcher=with_component(), time_limit=2 * TIME_LIMIT + 30)
        equal("lines that suspect it", said.count("Do all of them use coll_collsock"), 1)


@test
def a_thread_of_ranks_in_user_space_outlives_mpi():
    passes_with_it(2, 1, "finalize", launcher=["--env", "COLLSOCK_BACKEND=user"])


# ---- errors ----

@test_in_soak
def invalid_arguments_are_refused():
    passes_with_it(2, 1, "errors")


@test_in_soak
def a_root_whose_blocks_differ_causes_an_error_and_no_hang():
    _, said = run(3, 1, "errors", "--differ", launcher=["--survivors"])
    equal("error at the root", re.findall(r"rank 0: operation 0: class \d+ \((\w+)\)", said),
          ["MPI_ERR_TRUNCATE"])
    for rank in 1, 2:
        equal(f"errors of rank {rank}",
              len(re.findall(rf"rank {rank}: operation 1: class \d+: .*", said)), 1)


@test
def a_killed_rank_is_named_by_the_errors_of_the_communicator():
    """Errors of others would end the program. One of these is that of a request."""
    _, said = run(3, 1, "errors", "--victim", "1", launcher=["--survivors"])
    for rank in 0, 2:
        for operation in 1, 2:
            lines = re.findall(rf"rank {rank}: operation {operation}: class \d+: (.*)", said)
            if len(lines) != 1 or "rank 1 failed" not in lines[0]:
                raise Failed(f"rank {rank} did not learn of it:\n{said[-3000:]}")


@test_in_soak
def a_killed_rank_ends_the_program_and_is_named():
    """The launcher then reports no failure, as the death of a rank is none for it."""
    status, said = run(3, 1, "errors", "--victim", "1", "--fatal", launcher=["--survivors"])
    equal("time-out", status == 124, False)
    equal("ranks that come through a failed call", "operation 1" in said, False)
    equal(f"ranks that say why: {said}",
          set(re.findall(r"collsock: MPI_Allreduce of rank (\d): rank 1 failed", said)), {"0"})


main(2 * TIME_LIMIT + 10)
