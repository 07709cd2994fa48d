# SPDX-License-Identifier: GPL-2.0
"""Folds with vector instructions and without, which a module of ours compares in softirq.

selftests/bench/pairs.c is the module's part, selftests/bench/pairs-module builds it.
"""

import pathlib

from arithmetic import name_of

PARAMETER = pathlib.Path("/sys/module/collsock/parameters/pairs")
FIGURES = "compared", "by_vectors", "refused", "rounds", "differences"


def compare(type_, op, seed, count):
    """Fold at least as many pairs; what struct pairs counts. "has" says whether there are vector
    instructions, "rounds" how often each special value was in each lane of a block."""
    PARAMETER.write_text(f"{type_} {op} {seed} {count}", encoding="ascii")
    has, *figures, first = PARAMETER.read_text(encoding="ascii").rstrip("\n").split(" ", 6)
    return {"has": int(has), **dict(zip(FIGURES, map(int, figures))),
            "first": first and f"{first} (type {type_}, operator {op}, seed {seed}, count {count})"}


def faults_of(type_, op, found):
    """What is wrong, as text."""
    name = name_of(type_, op)
    if found["differences"]:
        yield f"{name}: {found['differences']:,} differences, first {found['first']}"
    if found["has"] and found["refused"]:
        yield (f"{name}: vector instructions were not permitted, or could not be forbidden, for "
               f"{found['refused']} vectors")
    if found["has"] and not found["rounds"]:
        yield f"{name}: not every special value was in every lane"
    if found["has"] and not found["by_vectors"]:
        yield f"{name}: all is left to integer code"
