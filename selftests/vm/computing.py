# SPDX-License-Identifier: GPL-2.0
"""Programs that compute on the processors on which softirq reduces.

registers/registers.c is such a program.
"""

import itertools
import os
import re
import select
import struct
import subprocess

from collsock_test import DOUBLE, SUM, Group, at_least, equal, netem, work

PROGRAM = "build/registers/registers"
ROUNDS = 200


def registers_are_kept(hosts):
    """Returns how many kinds of registers the processors have."""
    count, group = 132, Group(hosts, window=16)
    values = [[0.1 * rank + 1 / (index + 1) for index in range(count)] for rank in range(3)]
    payloads = [struct.pack(f"={count}d", *one) for one in values]
    expected = struct.pack(f"={count}d", *(a + b + c for a, b, c in zip(*values)))
    # Then packets come in an interrupt of whatever runs
    netem(hosts, "delay", "100us")
    try:
        # It runs whenever we wait
        with subprocess.Popen(["nice", PROGRAM, str(2 * os.cpu_count())], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, bufsize=0) as program:
            equal("the program says", program.stdout.readline(), b"ready\n")
            for number in itertools.count():
                if number >= work(ROUNDS) and select.select([program.stdout], [], [], 0)[0]:
                    break
                group.post(*payloads, type=DOUBLE, op=SUM, count=count)
                for completion in group.complete():
                    equal(f"whether result {number} is right", completion.result == expected, True)
            equal("then", program.stdout.readline(), b"enough\n")
            said = program.communicate()[0].decode()
    finally:
        netem(hosts)
    print(f"# {said.strip()}", flush=True)
    amounts = {name: int(amount) for amount, name in re.findall(r"(\d+) (\w+)", said)}
    at_least("how often chains were computed", amounts["done"], 2 * os.cpu_count())
    equal("chains whose result is wrong", amounts["wrong"], 0)
    equal("how often the settings had changed", amounts["changed"], 0)
    return amounts["kinds"]
