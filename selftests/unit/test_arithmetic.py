#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every operator of every type against whole numbers and fractions; TAP.

COLLSOCK_SEED repeats a run, COLLSOCK_SOAK=n does n times the work.
"""

import os
import pathlib
import random
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "vm")]
import arithmetic  # noqa: E402
import tap  # noqa: E402

ELEMENTS = 2000
ALL_TYPES = ALL_OPERATORS = range(256)
OUTPUT = pathlib.Path(os.environ.get("OUTPUT", HERE / "../../build/unit"))
SOAK = int(os.environ.get("COLLSOCK_SOAK") or 1)
SEED = int(os.environ.get("COLLSOCK_SEED") or hex(random.SystemRandom().getrandbits(60)), 0)


class Reducer:
    """The program that reduces with the code under test."""

    def __init__(self):
        self.process = subprocess.Popen([OUTPUT / "reducer"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, type_, op, left=b"", right=b"", count=0):
        """The bytes of the result; None if there is no such operator of the type."""
        self.process.stdin.write(struct.pack("=BBI", type_, op, count) + left + right)
        self.process.stdin.flush()
        if self.read(1) != b"\1":
            return None
        return self.read(len(left))

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) != count:
            raise AssertionError(f"the program has ended with status {self.process.wait()}")
        return data


def shown(element):
    return tuple(map(hex, element)) if isinstance(element, tuple) else hex(element)


def check(reducer, type_, op, lefts, rights):
    data = reducer.ask(type_, op, arithmetic.pack(type_, lefts), arithmetic.pack(type_, rights),
                       len(lefts))
    assert data is not None, "is refused"
    for left, right, seen in zip(lefts, rights, arithmetic.unpack(type_, data), strict=True):
        expected = arithmetic.operate(type_, op, left, right)
        assert seen == expected, \
            f"of {shown(left)} and {shown(right)}: is {shown(seen)}, expected {shown(expected)}"


def check_reduction(reducer, type_, op):
    """Random elements; and all pairs of special ones."""
    chance = random.Random(f"{SEED} {type_} {op}")
    for _ in range(SOAK):
        check(reducer, type_, op, *zip(*(arithmetic.draw_operands(type_, op, chance)
                                        for _ in range(ELEMENTS))))
    few = [arithmetic.draw(type_, chance) for _ in range(40)]
    check(reducer, type_, op, [one for one in few for _ in few], few * len(few))


def check_refused(reducer):
    wrong = [(type_, op) for type_ in ALL_TYPES for op in ALL_OPERATORS
             if (reducer.ask(type_, op) is None) == ((type_, op) in arithmetic.REDUCTIONS)]
    assert not wrong, f"type and operator {wrong}"


def main():
    print(f"# COLLSOCK_SEED={SEED:#x}", file=sys.stderr)
    reducer = Reducer()
    tests = [("exactly the operators that MPI has, and exact sums, are accepted", check_refused,
              reducer)]
    tests += [(f"{arithmetic.name_of(type_, op)} is exact", check_reduction, reducer, type_, op)
              for type_, op in arithmetic.REDUCTIONS]
    return tap.run(tests)


if __name__ == "__main__":
    sys.exit(main())
