#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Exact sums of libcollsock against rational numbers of Python."""

import ctypes
import fractions
import math
import os
import pathlib
import random
import struct
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "selftests"))
import tap  # noqa: E402

LIBRARY = TREE / "build/lib/libcollsock.so"
WORDS = 34
SUMS = 4000

library = ctypes.CDLL(os.environ.get("COLLSOCK_LIBRARY", LIBRARY))
library.collsock_exact_add.argtypes = [ctypes.c_void_p, ctypes.c_double]

# Name of the function, type of its result; precision, power of the least number, and of the first
# one that is too large; by format: bfloat16 has none in Python
FORMS = {
    "d": ("", ctypes.c_double, 53, -1074, 1024),
    "f": ("_float", ctypes.c_float, 24, -149, 128),
    "e": ("_float16", ctypes.c_uint16, 11, -24, 16),
    "bfloat16": ("_bfloat16", ctypes.c_uint16, 8, -133, 128),
}


class Exact(ctypes.Structure):
    _fields_ = [("word", ctypes.c_uint64 * WORDS), ("special", ctypes.c_uint64),
                ("count", ctypes.c_uint64)]


def exact(numbers):
    total = Exact()
    for number in numbers:
        library.collsock_exact_add(ctypes.byref(total), number)
    return total


def bits(number, form="d"):
    """Of a number that the format has"""
    if form == "bfloat16":
        return struct.pack("<f", number)[2:]
    return struct.pack("<" + form, number)


def rounded(total, form="d"):
    name, result = FORMS[form][:2]
    function = getattr(library, "collsock_exact_round" + name)
    function.restype = result
    number = function(ctypes.byref(total))
    return struct.pack("<H", number) if result == ctypes.c_uint16 else bits(number, form)


def to_nearest_even(fraction, precision, least):
    """A rational number as a multiple of 2^k with @precision bits, k at least @least."""
    magnitude = abs(fraction)
    power = max(magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - precision,
                least)
    while magnitude >= fractions.Fraction(2) ** (power + precision):
        power += 1
    unit = fractions.Fraction(2) ** power
    return round(fraction / unit) * unit


def wanted(numbers, form="d"):
    """The bits of the sum, which is not 0"""
    total = sum(map(fractions.Fraction, numbers), fractions.Fraction())
    precision, least, power = FORMS[form][2:]
    number, most = to_nearest_even(total, precision, least), fractions.Fraction(2) ** power
    if abs(number) >= most:
        return bits(math.inf if number > 0 else -math.inf, form)
    return bits(math.copysign(float(number), total), form)


def any_double(chance):
    while True:
        number = struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0]
        if math.isfinite(number):
            return number


def near(chance, power):
    """Of a magnitude next to a power of two, so that sums of few bits and ties are frequent"""
    return math.ldexp(chance.choice((-1, 1)) * chance.choice((1, 1, 3, 2**53 - 1, 2**24 + 1)),
                      max(power + chance.randrange(-60, 60), -1074))


def draw(chance):
    kind, count = chance.randrange(4), 1 + chance.randrange(12)
    power = chance.choice((-1074, -1022, -149, -126, -24, -14, 0, 15, 75, 127 - 24, 900, 910))
    if kind == 0:
        numbers = [any_double(chance) for _ in range(count)]
    elif kind == 1:
        numbers = [near(chance, power) for _ in range(count)]
    else:
        numbers = [near(chance, power) for _ in range(count)]
        numbers += [-number for number in numbers[kind - 2:]]
        numbers.append(near(chance, power - 53))
    chance.shuffle(numbers)
    return numbers


def sums_are_rounded_once(chance):
    ties = 0
    for _ in range(SUMS):
        numbers = draw(chance)
        total = exact(numbers)
        assert total.count == len(numbers)
        if sum(map(fractions.Fraction, numbers)) == 0:
            assert rounded(total) == bits(0.0), numbers
            continue
        for form in FORMS:
            assert rounded(total, form) == wanted(numbers, form), (form, numbers)
        ties += sum(numbers) != math.fsum(numbers)
    assert ties > SUMS / 20, "few sums need more than a double"


def order_does_not_matter(chance):
    for _ in range(200):
        numbers = draw(chance)
        first = bytes(exact(numbers))
        chance.shuffle(numbers)
        assert bytes(exact(numbers)) == first, numbers


def largest_numbers_neither_overflow_nor_vanish(chance):
    largest, least = sys.float_info.max, math.ldexp(1, -1074)
    assert rounded(exact([largest, largest])) == bits(math.inf)
    assert rounded(exact([-largest, -largest])) == bits(-math.inf)
    assert rounded(exact([largest, least, largest, -largest, -largest])) == bits(least)
    half = math.ldexp(1, 970)
    assert rounded(exact([largest, half])) == bits(math.inf)
    assert rounded(exact([largest, half, -least])) == bits(largest)


def zeros_and_special_numbers_follow_ieee_754(chance):
    nan, quiet = math.nan, bits(struct.unpack("<d", struct.pack("<Q", 0x7ff8 << 48))[0])
    cases = [
        ([], 0.0), ([0.0], 0.0), ([-0.0], -0.0), ([-0.0, -0.0], -0.0), ([-0.0, 0.0], 0.0),
        ([1.0, -1.0], 0.0), ([-0.0, -3.0], -3.0), ([math.inf, -5.0], math.inf),
        ([5.0, -math.inf, -math.inf], -math.inf), ([-math.inf, sys.float_info.max], -math.inf),
    ]
    for numbers, expected in cases:
        for form in FORMS:
            assert rounded(exact(numbers), form) == bits(expected, form), (numbers, form)
    for numbers in ([nan], [nan, 1.0], [math.inf, -math.inf], [-math.inf, 2.0, math.inf],
                    [nan, math.inf], [-nan, -0.0]):
        assert rounded(exact(numbers)) == quiet, numbers
        assert rounded(exact(numbers), "f") == struct.pack("<I", 0x7fc00000), numbers
        assert rounded(exact(numbers), "e") == struct.pack("<H", 0x7e00), numbers
        assert rounded(exact(numbers), "bfloat16") == struct.pack("<H", 0x7fc0), numbers


TESTS = (sums_are_rounded_once, order_does_not_matter,
         largest_numbers_neither_overflow_nor_vanish, zeros_and_special_numbers_follow_ieee_754)


def main():
    seed = int(os.environ.get("COLLSOCK_SEED", "0"), 0) or random.getrandbits(60)
    print(f"# COLLSOCK_SEED={seed:#x}", file=sys.stderr)
    return tap.run(tap.listed(TESTS, random.Random(seed)))


if __name__ == "__main__":
    sys.exit(main())
