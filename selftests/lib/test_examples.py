#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""An example whose ranks are in user space: real sockets, no module, no privilege; TAP."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from built import TREE, program  # noqa: E402

sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402
from python_helpers import SECONDS, equal  # noqa: E402

EXCHANGE = program("library/examples/exchange")
RANKS = 3
USUAL = {name: value for name, value in os.environ.items() if not name.startswith("COLLSOCK_")} | {
    "COLLSOCK_BACKEND": "user", "COLLSOCK_USER_PORTS": "18200-18299"}


def rank_of_exchange(folder, rank):
    return subprocess.Popen([EXCHANGE, folder, str(rank), str(RANKS)], env=USUAL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_rank_names_each_that_it_waits_for_before_that_one_starts():
    """Those that start later may wait for others, too."""
    with tempfile.TemporaryDirectory(prefix="exchange.") as folder:
        ranks = [rank_of_exchange(folder, 0)]
        try:
            for late in range(1, RANKS):
                equal(ranks[0].stderr.readline(), f"exchange: rank 0: waiting for rank {late}\n")
                ranks.append(rank_of_exchange(folder, late))
            for rank, process in enumerate(ranks):
                said = process.communicate(timeout=SECONDS)
                equal((process.returncode, said[0]),
                      (0, f"rank {rank} of {RANKS}: 1 barriers done, the sum of ranks is 3\n"), said)
        finally:
            for process in ranks:
                process.kill()
                process.communicate()


if __name__ == "__main__":
    sys.exit(tap.run(tap.named(globals())))
