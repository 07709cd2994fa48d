#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=300 icount=1
# suites: check soak
"""Programs keep their AVX registers, too.

The emulated processor has AVX only where instructions are counted (tools/vm/vm).
"""

import time

import computing
from collsock_test import equal, main, test

HOSTS = 1, 2, 3
# SSE, x87, AVX
KINDS = 3


@test
def programs_keep_their_wide_registers_while_softirq_reduces():
    equal("kinds of registers", computing.registers_are_kept(HOSTS), KINDS)


@test
def a_clock_that_runs_ahead_passes_no_limit_of_time():
    # More than those of this test and of this scenario: takes a moment here
    time.sleep(600)


main(120)
