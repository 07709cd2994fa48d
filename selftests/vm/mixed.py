#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# vm: hosts=4 limit=400
# suites: check soak
"""Ranks of the kernel and ranks in user space are one group: with the same packets, results and
failures, on the same machines and on different ones."""

import contextlib
import os
import subprocess
import tempfile

from collsock_test import SOAK, equal, eventually, faulty, main, test_each

PROGRAM = "selftests/vm/mixed_rank.py"
COUNT = 1000 if SOAK > 1 else 50
ENDLESS = 10**9
LAST_EXCHANGE = 3  # its files are there when all have joined

# Host and backend of each rank
SPREAD = [(1, "kernel"), (2, "user"), (3, "kernel"), (4, "user")]
SHARED = [(1, "kernel"), (1, "user"), (1, "user"), (2, "kernel"), (2, "kernel"), (3, "user")]
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


PLACEMENTS = {"spread": SPREAD, "shared": SHARED, "one machine": ONE_MACHINE}


@test_each(("spread", 0), ("shared", 0), ("one machine", 0), ("shared", 5))
def every_result_is_right_on_both(name, loss):
    placement = PLACEMENTS[name]
    words = ("delay", "1ms", "0.5ms", "loss", f"{loss}%") if loss else ()
    with faulty(range(1, 5), *words), ranks(placement, COUNT) as (processes, _folder):
        equal("what ranks say", said(processes),
              [f"{COUNT} right, {backend}" for _, backend in placement])


def joined(folder, count):
    return sum(os.path.exists(f"{folder}/{LAST_EXCHANGE}-{rank}") for rank in range(count))


@test_each((1, "ETIMEDOUT"), (0, "ECONNRESET"))
def a_killed_rank_is_named_by_both(victim, error):
    """The kernel knows at once that a process has ended; of one in user space it hears no more."""
    with ranks(SHARED, ENDLESS) as (processes, folder):
        eventually("ranks that have joined", lambda: joined(folder, len(SHARED)), len(SHARED), 60)
        processes[victim].kill()
        others = said(processes[:victim] + processes[victim + 1:])
        equal("what the others say", [words.split(": ")[-1] for words in others],
              [f"{error} rank {victim}"] * (len(SHARED) - 1))


main(limit=180)
