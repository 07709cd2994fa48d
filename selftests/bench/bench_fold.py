# SPDX-License-Identifier: GPL-2.0
"""Instructions of folds, with vector instructions and without."""

import json

from bench_machine import HERE, boot_command, measuring_module

LIMIT_SECONDS = 900
# Types and operators of the socket interface
FOLDS = {
    "sum of doubles": (3, 1),
    "product of doubles": (3, 4),
    "min of doubles": (3, 2),
    "max of doubles": (3, 3),
    "sum of floats": (10, 1),
    "product of floats": (10, 4),
    "min of floats": (10, 2),
    "max of floats": (10, 3),
    "sum of float16": (18, 1),
    "product of float16": (18, 4),
    "min of float16": (18, 2),
    "sum of bfloat16": (19, 1),
    "product of bfloat16": (19, 4),
    "min of bfloat16": (19, 2),
    "sum of int64": (1, 1),
    "sum of int32": (6, 1),
    "sum of int8": (4, 1),
}
COUNTS = 8, 16, 32, 128, 256
BOUNDED, BOUND_COUNT, BOUND = ("sum of doubles", "product of doubles"), 128, 6


def fold_faults():
    """Print what folds cost; those that cost too much, as text."""
    cases = [(*numbers, count, permitted) for numbers in FOLDS.values() for count in COUNTS
             for permitted in (0, 1)]
    costs = {tuple(case): cost for *case, cost in boot_command(
        "fold", [str(HERE / "fold-inside"), json.dumps(cases)], "--icount", "--module",
        measuring_module("folds"), limit_seconds=LIMIT_SECONDS)}
    print(f"""
Guest instructions of a fold in an event context, for each element: in integer code, and where
vector instructions are permitted, with the saving of registers. At most {BOUND} are accepted
for sums and products of {BOUND_COUNT} doubles.
""")
    print("fold                 " + "".join(f"{count:>16}" for count in COUNTS))
    faults = []
    for name, numbers in FOLDS.items():
        each = {(count, permitted): costs[(*numbers, count, permitted)] / count
                for count in COUNTS for permitted in (0, 1)}
        print(f"{name:21}" + "".join(f"{each[count, 0]:9.1f}{each[count, 1]:7.1f}"
                                     for count in COUNTS))
        if name in BOUNDED and each[BOUND_COUNT, 1] > BOUND:
            faults.append(f"{name}: {each[BOUND_COUNT, 1]:.1f} instructions for each of "
                          f"{BOUND_COUNT}, at most {BOUND} are accepted")
    print(flush=True)
    return faults
