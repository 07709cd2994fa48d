# SPDX-License-Identifier: GPL-2.0
"""The result of every operator on every type, bit by bit.

Integers and fractions only: a float or double is its bit pattern,
its value a Fraction, and rounding is done here, without the floating point of
hardware or a library.
"""

import struct
from fractions import Fraction

from collsock_test import (BFLOAT16, BITWISE_AND, BITWISE_OR, BITWISE_XOR, DOUBLE, DOUBLE_INT,
                           EXACT, FLOAT, FLOAT16, FLOAT_INT, INT16, INT16_INT, INT32, INT32_INT,
                           INT64, INT64_INT, INT8, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, MAX,
                           MAXLOC, MIN, MINLOC, PRODUCT, SUM, UINT16, UINT32, UINT64, UINT8)

ARITHMETIC = SUM, PRODUCT, MIN, MAX
LOGICAL = LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR
BITWISE = BITWISE_AND, BITWISE_OR, BITWISE_XOR
LOCATING = MINLOC, MAXLOC
INDEX_BITS = 32
MASK = (1 << 64) - 1


class Integers:
    """Integers of this number of bits, which wrap."""

    def __init__(self, signed, bits):
        self.bits = bits
        letter = {8: "b", 16: "h", 32: "i", 64: "q"}[bits]
        self.form = letter if signed else letter.upper()
        self.least = -1 << (bits - 1) if signed else 0
        self.greatest = self.least + (1 << bits) - 1

    def wrap(self, value):
        return (value - self.least) % (1 << self.bits) + self.least

    def operate(self, op, left, right):
        pattern = (1 << self.bits) - 1
        if op in BITWISE:
            left, right = left & pattern, right & pattern
        return self.wrap({
            SUM: left + right, PRODUCT: left * right,
            MIN: min(left, right), MAX: max(left, right),
            LOGICAL_AND: int(left != 0 and right != 0), LOGICAL_OR: int(left != 0 or right != 0),
            LOGICAL_XOR: int((left == 0) != (right == 0)),
            BITWISE_AND: left & right, BITWISE_OR: left | right, BITWISE_XOR: left ^ right,
        }[op])

    def order(self, left, right):
        return (left > right) - (left < right)

    def draw(self, chance):
        return self.wrap(chance.choice((
            0, 1, -1, self.least, self.greatest, self.greatest // 2, self.least + 1,
            chance.randint(-9, 9), 1 << chance.randrange(self.bits),
            chance.getrandbits(self.bits), chance.getrandbits(self.bits))))

    def draw_orderless(self, _, chance):
        return self.draw(chance)


class Reals:
    """Floats of a format as bit patterns: sign, exponent, fraction."""

    def __init__(self, bits, fraction_bits):
        self.bits, self.fraction_bits = bits, fraction_bits
        self.form = {16: "H", 32: "I", 64: "Q"}[bits]
        self.sign = 1 << (bits - 1)
        self.infinity = self.sign - (1 << fraction_bits)
        self.nan = self.infinity | 1 << (fraction_bits - 1)
        # The least number is 2 ** least_exponent
        self.least_exponent = 2 - (1 << (bits - fraction_bits - 2)) - fraction_bits

    def is_nan(self, pattern):
        return pattern & ~self.sign > self.infinity

    def is_infinite(self, pattern):
        return pattern & ~self.sign == self.infinity

    def number(self, pattern):
        """The value of a finite pattern."""
        exponent = (pattern & ~self.sign) >> self.fraction_bits
        fraction = pattern & (1 << self.fraction_bits) - 1
        if exponent:
            fraction, exponent = fraction | 1 << self.fraction_bits, exponent - 1
        number = fraction * Fraction(2) ** (exponent + self.least_exponent)
        return -number if pattern & self.sign else number

    def nearest(self, number, sign_of_zero):
        """The pattern nearest to a number, ties to even."""
        if not number:
            return sign_of_zero
        sign, number = self.sign if number < 0 else 0, abs(number)
        # The last bit of the result is worth 2 ** unit
        magnitude = number.numerator.bit_length() - number.denominator.bit_length()
        if number < Fraction(2) ** magnitude:
            magnitude -= 1
        unit = max(magnitude - self.fraction_bits, self.least_exponent)
        scaled = number / Fraction(2) ** unit
        whole, rest = divmod(scaled.numerator, scaled.denominator)
        whole += 2 * rest > scaled.denominator or \
            (2 * rest == scaled.denominator and whole % 2)
        pattern = ((unit - self.least_exponent) << self.fraction_bits) + whole
        return sign | min(pattern, self.infinity)

    def add(self, left, right):
        infinite = [one for one in (left, right) if self.is_infinite(one)]
        if infinite:
            return self.nan if len(set(infinite)) == 2 else infinite[0]
        return self.nearest(self.number(left) + self.number(right), left & right & self.sign)

    def multiply(self, left, right):
        sign = (left ^ right) & self.sign
        if self.is_infinite(left) or self.is_infinite(right):
            zero = not (left & ~self.sign and right & ~self.sign)
            return self.nan if zero else sign | self.infinity
        return self.nearest(self.number(left) * self.number(right), sign)

    def line(self, pattern):
        """A number that orders patterns: infinities at the ends, -0 before 0."""
        return -1 - (pattern & ~self.sign) if pattern & self.sign else pattern

    def operate(self, op, left, right):
        for one in (left, right):
            if self.is_nan(one):
                return one | self.nan
        return {SUM: lambda: self.add(left, right), PRODUCT: lambda: self.multiply(left, right),
                MIN: lambda: min(left, right, key=self.line),
                MAX: lambda: max(left, right, key=self.line)}[op]()

    def order(self, left, right):
        if not (left | right) & ~self.sign:
            return 0
        return (self.line(left) > self.line(right)) - (self.line(left) < self.line(right))

    def draw(self, chance):
        one = self.infinity >> 1 & self.infinity
        fraction = (1 << self.fraction_bits) - 1
        near = chance.choice((one, 1, fraction + 1, self.infinity, one >> 1 & ~fraction,
                              one - (self.fraction_bits + 1 << self.fraction_bits)))
        bits = chance.getrandbits(self.bits)
        return chance.choice((
            bits, bits & self.sign, bits & (self.sign | fraction),
            (bits & self.sign) | near, ((bits & self.sign) | near) + chance.randint(-3, 3),
            (bits & (self.sign | fraction)) | one, (bits & (self.sign | fraction)) | one,
            ((bits >> self.fraction_bits // 2) << self.fraction_bits // 2),
            self.nan | (bits & (self.sign | 15)), self.infinity | (bits & self.sign) | bits & 3,
        )) % (1 << self.bits)

    def draw_orderless(self, op, chance):
        """Of up to 100: sums of whole numbers, and products of powers of two, are exact, or
        infinite once a float16 is, in any order, as none is less than 1."""
        if op == SUM:
            number = chance.choice((0, 1, chance.getrandbits(min(16, self.fraction_bits - 6))))
        elif op == PRODUCT:
            short = self.bits - self.fraction_bits < 9
            number = Fraction(2) ** chance.randint(0 if short else -1, 1)
        else:
            pattern = self.draw(chance)
            return pattern if not self.is_nan(pattern) else self.draw_orderless(op, chance)
        return chance.choice((0, self.sign)) | self.nearest(Fraction(number), 0)

    def draw_tie(self, op, chance):
        """Two numbers whose result is a tie, or next to one."""
        hidden, half = 1 << self.fraction_bits, self.infinity >> 1 & self.infinity
        off = chance.choice((-1, 0, 0, 1))
        left = chance.getrandbits(self.fraction_bits) | 1
        if op == PRODUCT:
            cut = hidden << chance.randrange(2)
            right = pow(left + hidden, -1, cut) * (cut // 2 + off)
            middle = half
        else:
            distance = chance.randint(1, self.fraction_bits + 1)
            right = chance.getrandbits(self.fraction_bits) >> distance << distance | \
                1 << distance - 1
            right, middle = right + off, half - (distance << self.fraction_bits)
        signs = [chance.choice((0, self.sign)) for _ in range(2)]
        return signs[0] | half | left, signs[1] | middle | right % hidden


class Pairs:
    """A value followed by its index, without padding."""

    def __init__(self, values):
        self.values = values
        self.form = values.form + "i"

    def operate(self, op, left, right):
        values, sign = self.values, 1 if op == MINLOC else -1
        value = values.operate(MIN if op == MINLOC else MAX, left[0], right[0])
        if isinstance(values, Reals):
            for one in (left, right):
                if values.is_nan(one[0]):
                    return value, one[1]
        order = sign * values.order(left[0], right[0])
        if order:
            return value, (left if order < 0 else right)[1]
        return value, min(left[1], right[1])

    def draw(self, chance):
        index = chance.choice((chance.randint(-3, 3), (1 << 31) - 1, -1 << 31,
                               chance.getrandbits(INDEX_BITS) - (1 << 31)))
        # Values should often be equal
        value = chance.choice((self.values.draw(chance), chance.choice((0, 1, 5))))
        if isinstance(self.values, Reals) and not chance.randrange(3):
            value = chance.choice((0, self.values.sign))
        return value, index

    def draw_orderless(self, op, chance):
        value, index = self.draw(chance)
        if isinstance(self.values, Reals) and self.values.is_nan(value):
            return self.draw_orderless(op, chance)
        return value, index


class Exact:
    """Sums without rounding: the words of a number, what was special, how many were added."""

    WORDS = 34
    form = f"{WORDS + 2}Q"

    def operate(self, op, left, right):
        assert op == SUM
        total = self.number(left) + self.number(right)
        return (*(total >> 64 * index & MASK for index in range(self.WORDS)),
                left[-2] | right[-2], left[-1] + right[-1] & MASK)

    def number(self, words):
        return sum(word << 64 * index for index, word in enumerate(words[:self.WORDS]))

    def draw(self, chance):
        """Words of ones are frequent, through which a carry goes."""
        return tuple(chance.choice((MASK, MASK, 0, 1, chance.getrandbits(64)))
                     for _ in range(self.WORDS + 2))

    def draw_orderless(self, _, chance):
        return self.draw(chance)


FLOATS, DOUBLES = Reals(32, 23), Reals(64, 52)

TYPES = {
    INT8: Integers(True, 8), INT16: Integers(True, 16),
    INT32: Integers(True, 32), INT64: Integers(True, 64),
    UINT8: Integers(False, 8), UINT16: Integers(False, 16),
    UINT32: Integers(False, 32), UINT64: Integers(False, 64),
    FLOAT: FLOATS, DOUBLE: DOUBLES,
    FLOAT_INT: Pairs(FLOATS), DOUBLE_INT: Pairs(DOUBLES),
    INT64_INT: Pairs(Integers(True, 64)), INT32_INT: Pairs(Integers(True, 32)),
    INT16_INT: Pairs(Integers(True, 16)), EXACT: Exact(),
    FLOAT16: Reals(16, 10), BFLOAT16: Reals(16, 7),
}

TYPE_NAMES = {
    INT8: "int8", INT16: "int16", INT32: "int32", INT64: "int64",
    UINT8: "uint8", UINT16: "uint16", UINT32: "uint32", UINT64: "uint64",
    FLOAT: "float", DOUBLE: "double", FLOAT_INT: "float and index",
    DOUBLE_INT: "double and index", INT64_INT: "int64 and index",
    INT32_INT: "int32 and index", INT16_INT: "int16 and index", EXACT: "exact sum",
    FLOAT16: "float16", BFLOAT16: "bfloat16",
}

OPERATOR_NAMES = {
    SUM: "sum", PRODUCT: "product", MIN: "min", MAX: "max", LOGICAL_AND: "logical and",
    LOGICAL_OR: "logical or", LOGICAL_XOR: "logical xor", BITWISE_AND: "bitwise and",
    BITWISE_OR: "bitwise or", BITWISE_XOR: "bitwise xor", MINLOC: "minloc", MAXLOC: "maxloc",
}


def operators_of(type_):
    """As in MPI (3.1, 5.9.2 and 5.9.4), which has no exact sums."""
    if isinstance(TYPES[type_], Exact):
        return (SUM,)
    if isinstance(TYPES[type_], Pairs):
        return LOCATING
    return ARITHMETIC if isinstance(TYPES[type_], Reals) else ARITHMETIC + LOGICAL + BITWISE


REDUCTIONS = [(type_, op) for type_ in TYPES for op in operators_of(type_)]


def name_of(type_, op):
    return f"{OPERATOR_NAMES[op]} of {TYPE_NAMES[type_]}"


def element_bytes(type_):
    return struct.calcsize("=" + TYPES[type_].form)


def draw(type_, chance):
    """An element, often an edge case."""
    return TYPES[type_].draw(chance)


def draw_orderless(type_, op, chance):
    """An element of which up to 100 have the same bits together in any order."""
    return TYPES[type_].draw_orderless(op, chance)


def draw_operands(type_, op, chance):
    """Two elements, which together are often an edge case."""
    if isinstance(TYPES[type_], Reals) and op in (SUM, PRODUCT) and chance.randrange(2):
        return TYPES[type_].draw_tie(op, chance)
    return draw(type_, chance), draw(type_, chance)


def operate(type_, op, left, right):
    """The left operand is that of the lower rank."""
    return TYPES[type_].operate(op, left, right)


def pack(type_, elements):
    """The bytes of a payload."""
    form = struct.Struct("=" + TYPES[type_].form)
    if isinstance(TYPES[type_], (Pairs, Exact)):
        return b"".join(form.pack(*one) for one in elements)
    return b"".join(form.pack(one) for one in elements)


def unpack(type_, data):
    form = struct.Struct("=" + TYPES[type_].form)
    elements = list(form.iter_unpack(data))
    return elements if isinstance(TYPES[type_], (Pairs, Exact)) else [one for one, in elements]
