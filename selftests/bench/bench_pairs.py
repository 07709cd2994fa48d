# SPDX-License-Identifier: GPL-2.0
"""Folds in softirq, with vector instructions and without: are all bits the same?"""

import random
import subprocess

from bench_machine import HERE, boot_command

# What costs an emulated processor a fifth of its time, and changes no bits
WITHOUT = "mitigations=off no5lvl init_on_alloc=0"
# A machine that is idle takes 15 for a million of each
START_SECONDS, SECONDS_PER_MILLION = 300, 600


def pairs_faults(kernel, millions, seed):
    """Compare this many millions of pairs of each type and operator; what is wrong, as text."""
    if seed is None:
        seed = random.getrandbits(32)
    module = subprocess.run([HERE / "pairs-module", kernel], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    rows = boot_command(
        "pairs", [str(HERE / "pairs-inside"), str(millions), str(seed)], "--kver", kernel,
        "--smp", "1", "--append", WITHOUT, "--module", module,
        limit_seconds=START_SECONDS + SECONDS_PER_MILLION * millions)
    compared = [row for row in rows if row["has"]]
    pairs, by_vectors, differences = (
        sum(row[name] for row in compared) for name in ("compared", "by_vectors", "differences"))
    print(f"""
{len(compared)} types and operators with vector instructions: {pairs:,} pairs, of which these
reduced {by_vectors:,}, and integer code the others: {differences:,} differences. Of {
len(rows) - len(compared)} others the
same code reduces all pairs both times.
""", flush=True)
    faults = sum((row["faults"] for row in rows), [])
    return faults if compared else [*faults, "no vector instructions were compared"]
