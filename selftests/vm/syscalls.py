#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=3 limit=240 smp=2
# suites: check debug soak
"""Whatever system calls programs make, the kernel logs no warning and leaks nothing."""

import collections
import re
import time

from collsock_test import (
    ON_DEBUG_KERNEL, SOAK, Group, KernelLog, Skipped, active_objects, at_least, command, equal,
    eventually, inexact_objects, main, netem, seeded, test, test_each, tunables, work)
from leftovers import left, load, loaded, references, udp_sockets, unload

HOSTS = 1, 2, 3
THREADS = 12
NOTHING = {"groups": [0] * 3, "peers": [0] * 3, "timewait_entries": [0] * 3}
LIVENESS_MS = 300
# With fewer nothing would have been tested
ENOUGH = {"joins": 10, "posts": 10, "successes": 10, "failures": 1}
MOST_RUNS = 10
# Time-outs so short that groups that never come together end before the test does
TUNABLES = {"liveness_ms": LIVENESS_MS, "join_timeout_ms": 1000, "hold_port": 0}


def run_calls(seconds, *purpose):
    """Returns the numbers of calls, joins, posts, successes and failures."""
    seed = seeded("system calls", *purpose).getrandbits(32)
    said = command("build/fuzz/syscalls", str(seconds), str(seed), str(len(HOSTS)), str(THREADS))
    print(f"# {said.strip()}", flush=True)
    amounts = {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", said)}
    eventually("what is left", lambda: left(*HOSTS), NOTHING, 60)
    time.sleep(0.5)  # what RCU frees
    return amounts


def run_enough(seconds, state):
    """Calls for this time, and on a slow machine again until they have done enough."""
    amounts = collections.Counter()
    for run in range(MOST_RUNS):
        amounts.update(run_calls(seconds, state, run))
        if all(amounts[name] >= least for name, least in ENOUGH.items()):
            break
    return amounts


# Where objects are counted, calls whose packets arrive are made for that
@test_each(*(["whose packets arrive"] if ON_DEBUG_KERNEL or SOAK > 1 else []), "that lose packets")
def any_system_calls_of_many_threads_on_hosts(state):
    log = KernelLog()
    with tunables(**TUNABLES):
        if state == "that lose packets":
            netem(HOSTS, "delay", "1ms", "2ms", "loss", "5%", "duplicate", "5%")
        # Ten minutes in a soak on a debug kernel, which detects errors; in a check a sample
        seconds = 300 if ON_DEBUG_KERNEL else work(6) + 1
        amounts = run_enough(seconds if SOAK > 1 else work(2) + 1, state)
        if state == "that lose packets":
            netem(HOSTS)
    for name, least in ENOUGH.items():
        at_least(name, amounts[name], least)
    equal("references to the module", references(), 0)
    eventually("UDP sockets", lambda: [udp_sockets(host) for host in HOSTS], [[0, 0]] * 3)
    # Some calls make the kernel load modules, which log messages
    equal("lines of collsock in the kernel's log",
          [line for line in log.lines() if "coll" in line], [])


@test
def system_calls_leave_no_object_behind():
    if ON_DEBUG_KERNEL:
        raise Skipped("the debug kernel keeps what is freed for a while")
    with tunables(**TUNABLES):
        run_calls(2, "first")
        for attempt in range(3):
            before = active_objects()
            amounts = run_calls(work(4), attempt)
            growth = {cache: active - before.get(cache, 0)
                      for cache, active in active_objects().items()}
            grown = {cache: more for cache, more in growth.items()
                     if more > amounts["joins"] // 2 + inexact_objects(cache)}
            # The whole system allocates from these caches; only a leak does so every time
            if not grown:
                return
    equal("caches that grow", grown, {})


@test
def the_module_can_be_unloaded_after_random_system_calls():
    with tunables(**TUNABLES):
        command("build/fuzz/syscalls", "1", "1", str(len(HOSTS)), str(THREADS))
    unload()
    equal("the module is there", loaded(), False)
    equal("UDP sockets", [udp_sockets(host) for host in HOSTS], [[0, 0]] * 3)
    load()
    Group(HOSTS).barrier()


main(limit=110)
