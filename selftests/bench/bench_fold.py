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
# For each of 128 doubles: the goal, and what is accepted. Minimum and maximum have missed it: they
# may take a little more than the 7.5 and 8.0 that are recorded
GOAL, BOUND_COUNT = 6, 128
BOUNDS = {"sum of doubles": GOAL, "product of doubles": GOAL, "min of doubles": 8.0,
          "max of doubles": 8.5}


def fold_faults():
    """Print what folds cost; those that cost too much, as text."""
    cases = [(*numbers, count, permitted) for numbers in FOLDS.values() for count in COUNTS
             for permitted in (0, 1)]
    costs = {tuple(case): cost for *case, cost in boot_command(
        "fold", [str(HERE / "fold-inside"), json.dumps(cases)], "--icount", "--module",
        measuring_module("folds"), limit_seconds=LIMIT_SECONDS)}
    print("""
Guest instructions of a fold in an event context, for each element: in integer code, and where
vector instructions are permitted, with the saving of registers.
""")
    print("fold                 " + "".join(f"{count:>16}" for count in COUNTS))
    bounded = {}
    for name, numbers in FOLDS.items():
        each = {(count, permitted): costs[(*numbers, count, permitted)] / count
                for count in COUNTS for permitted in (0, 1)}
        print(f"{name:21}" + "".join(f"{each[count, 0]:9.1f}{each[count, 1]:7.1f}"
                                     for count in COUNTS))
        if name in BOUNDS:
            bounded[name] = each[BOUND_COUNT, 1]
    print(f"\nOf {BOUND_COUNT} doubles, beside the goal of {GOAL} and the most that is accepted:")
    for name, cost in bounded.items():
        print(f"{name:21}{cost:9.1f}{BOUNDS[name]:7.1f}")
    print(flush=True)
    return [f"{name}: {cost:.1f} instructions for each of {BOUND_COUNT}, at most {BOUNDS[name]} "
            "are accepted" for name, cost in bounded.items() if cost > BOUNDS[name]]
