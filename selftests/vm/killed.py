#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=300 icount=1
# suites: check soak
"""How soon a killed process is named. Instructions are the clock: it does not depend on what else
this machine does."""

import time

from collsock_test import (
    Child, Descriptor, at_most, barrier, equal, main, outcome, post_once, rank_on, test, work)

HOSTS = range(1, 9)


@test
def a_killed_process_is_named_by_all_other_hosts_within_tens_of_milliseconds():
    worst_ms = 0
    for _ in range(work(3)):
        descriptor = Descriptor(HOSTS)
        child = Child(5, post_once, descriptor, 4)
        ranks = {number: rank_on(host) for number, host in enumerate(HOSTS) if number != 4}
        for number, rank in ranks.items():
            rank.join(descriptor, number)
        equal("the child has", child.get(), "joined")
        child.put("go")
        barrier(ranks.values())
        equal("the child's barrier", child.get(), "success")
        for rank in ranks.values():
            rank.post()
        before = time.monotonic_ns()
        child.kill()
        for number, rank in ranks.items():
            completion = rank.complete()
            equal(f"rank {number}", outcome(completion), "ECONNRESET rank 4")
            worst_ms = max(worst_ms, (completion.completed_ns - before) / 1e6)
        child.end()
        for rank in ranks.values():
            rank.close()
    print(f"# the last one of the others knew after {worst_ms:.1f} ms")
    at_most("milliseconds until all knew", worst_ms, 10 * 50)


main()
