#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=9000
# suites: mpi-suites
"""Third-party test suites give the same results with the library as with Open MPI alone."""

from collsock_test import main, test, test_each
from mpi_launch import preloaded
from mpi_suites_common import (
    HOSTS, LONGEST, collectives_of_mpich_under_loss, hpcc_finds_the_same, whole_suite_of_mpich)


@test
def hpc_challenge_gives_the_same_results_with_the_library():
    """HPC Challenge; Debian's is for Open MPI. Two parts of it take a minute each."""
    hpcc_finds_the_same(preloaded("openmpi"), summary=["--env", "COLLSOCK_MPI_SUMMARY=1"])


@test_each(*HOSTS)
def mpichs_own_tests_pass(hosts):
    whole_suite_of_mpich("openmpi", hosts, preloaded("openmpi"))


@test
def mpichs_tests_of_collectives_pass_under_loss():
    collectives_of_mpich_under_loss("openmpi", preloaded("openmpi"))


main(LONGEST)
