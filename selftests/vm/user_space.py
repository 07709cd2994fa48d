#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=16 limit=300
# suites: check debug soak
"""The scenarios of operations, failure, ranks, payloads, roots and survival, with ranks in user
space: in a soak all their tests, in a check a few. One that these cannot pass says why."""

import importlib
import os

os.environ["COLLSOCK_PLATFORM"] = "user"

# Each adds its tests to those of this one.
for scenario in "collectives", "failure", "payloads", "ranks", "rooted", "survival":
    importlib.import_module(scenario)

from collsock_test import ON_DEBUG_KERNEL, SOAK, main, tests  # noqa: E402

FEW = (
    "operators_that_mpi_does_not_have", "a_failure_is_permanent", "a_rank_that_disagrees",
    "the_limit_of_payloads", "larger_payloads", "siblings_may_be_ahead", "ranks_may_join",
    "only_operations_posted_before", "a_rank_that_needs_no_result", "a_broadcast_passes",
    "quiet_posts", "a_rank_that_has_its_completion")

if (SOAK == 1 or ON_DEBUG_KERNEL) and not os.environ.get("COLLSOCK_TEST"):
    tests[:] = [(function, args) for function, args in tests
                if any(word in function.__name__ for word in FEW)]

main(limit=100)
