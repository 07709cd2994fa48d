#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=8 limit=900
# suites: matrix soak
"""Ranks of the kernel and ranks in user space are one group: with the same packets, results and
failures, on the same machines and on different ones."""

import contextlib
import os
import subprocess
import tempfile
import time

from collsock_test import (
    ON_DEBUG_KERNEL, SLOWDOWN, SOAK, at_most, equal, eventually, faulty, main, test_each)

PROGRAM = "selftests/vm/mixed_rank.py"
IN_SOAK = SOAK > 1 and not ON_DEBUG_KERNEL
COUNT = 1000 if SOAK > 1 else 50
COUNT_OF_EIGHT = 10000
ENDLESS = 10**9
LAST_EXCHANGE = 3  # its files are there when all have joined
NOTICED_SECONDS = 5  # at most, that a rank has died

# Host and backend of each rank
SPREAD = [(1, "kernel"), (2, "user"), (3, "kernel"), (4, "user")]
SHARED = [(1, "kernel"), (1, "user"), (1, "user"), (2, "kernel"), (2, "kernel"), (3, "user")]
EIGHT = [(host, ("kernel", "user")[host % 2]) for host in range(1, 9)]
ONE_MACHINE = [(1, "kernel"), (1, "kernel"), (1, "user"), (1, "user")]


@contextlib.contextmanager
def ranks(placement, count):
    """Their processes, and the folder by which they meet"""
    with tempfile.TemporaryDirectory(prefix="mixed.") as folder:
        processes = [subprocess.Popen(
            ["onhost", f"h{host}", "env", f"COLLSOCK_BACKEND={backend}", "python3", PROGRAM,
             folder, str(rank), str(len(placement)), str(count)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for rank, (host, backend) in enumerate(placement)]
        try:
            yield processes, folder
        finally:
            for process in processes:
                process.kill()
                process.wait()


def said(processes):
    return [process.communicate()[0].strip() for process in processes]


PLACEMENTS = {"spread": SPREAD, "shared": SHARED, "one machine": ONE_MACHINE, "eight": EIGHT}


@test_each(("spread", 0, COUNT), ("shared", 0, COUNT), ("one machine", 0, COUNT),
           ("shared", 5, COUNT), *([("eight", 5, COUNT_OF_EIGHT)] if IN_SOAK else []))
def every_result_is_right_on_both(name, loss, count):
    placement = PLACEMENTS[name]
    words = ("delay", "1ms", "0.5ms", "loss", f"{loss}%") if loss else ()
    with faulty(range(1, 9), *words), ranks(placement, count) as (processes, _folder):
        equal("what ranks say", said(processes),
              [f"{count} right, {backend}" for _, backend in placement])


def joined(folder, count):
    return sum(os.path.exists(f"{folder}/{LAST_EXCHANGE}-{rank}") for rank in range(count))


@test_each(("shared", 1, "ETIMEDOUT"), ("shared", 0, "ECONNRESET"),
           *([("eight", 4, "ETIMEDOUT"), ("eight", 5, "ECONNRESET")] if IN_SOAK else []))
def a_killed_rank_is_named_by_both(name, victim, error):
    """The kernel knows at once that a process has ended; of one in user space it hears no more."""
    count = len(PLACEMENTS[name])
    with ranks(PLACEMENTS[name], ENDLESS) as (processes, folder):
        eventually("ranks that have joined", lambda: joined(folder, count), count, 60)
        begin = time.monotonic()
        processes[victim].kill()
        others = said(processes[:victim] + processes[victim + 1:])
        took = time.monotonic() - begin
        print(f"# all others say it after {took:.1f} s")
        at_most("seconds until all have said it", took, 10 * NOTICED_SECONDS * SLOWDOWN)
        equal("what the others say", [words.split(": ")[-1] for words in others],
              [f"{error} rank {victim}"] * (count - 1))


main(limit=800)
