#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=9000
# suites: mpi-suites
"""MPICH's own tests give the same results with the library as without."""

from collsock_test import main, test, test_each
from mpi_launch import preloaded
from mpi_suites_common import (
    HOSTS, LONGEST, collectives_of_mpich_under_loss, whole_suite_of_mpich)


@test_each(*HOSTS)
def mpichs_own_tests_pass(hosts):
    whole_suite_of_mpich("mpich", hosts, preloaded("mpich"))


@test
def mpichs_tests_of_collectives_pass_under_loss():
    collectives_of_mpich_under_loss("mpich", preloaded("mpich"))


main(LONGEST)
