#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=9000
# suites: mpi-suites
"""Third-party test suites give the same results with the component as with Open MPI alone."""

from collsock_test import main, test, test_each
from mpi_launch import with_component
from mpi_suites_common import (
    LONGEST, hpcc_finds_the_same, scalapack_finds_the_same, whole_suite_of_mpich)


@test
def hpc_challenge_gives_the_same_results_with_the_component():
    hpcc_finds_the_same(with_component(), summary=[])


# Factorizations, and sums and maxima of distributed vectors
@test_each(("xdlu", "LU.dat"), ("xdllt", "LLT.dat"), ("xdqr", "QR.dat"),
           ("PBLAS/dpb1tst", "PBLAS/PDBLAS1TST.dat"))
def scalapacks_own_tests_give_the_same_results_with_the_component(program, input_):
    scalapack_finds_the_same(with_component(), [], program, input_)


@test_each(2, 4)
def mpichs_own_tests_pass_with_the_component(hosts):
    whole_suite_of_mpich("openmpi", hosts, with_component(summary=0))


main(LONGEST)
