/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 16-bit floats, as the doubles that they are, and back. Sums and products of them in double
 * are exact, or have so much precision that rounding to 16 bits is as if there was no rounding
 * before: a reference for tests.
 */
#ifndef COLL_HALVES_H
#define COLL_HALVES_H

#include <math.h>

#include "base.h"

#define FLOAT16_FRACTION_BITS	10
#define BFLOAT16_FRACTION_BITS	7
#define DOUBLE_FRACTION_BITS	52

/* Bits of the largest exponent, which infinity and NaN have */
static inline u32 half_infinity(u32 fraction_bits)
{
	return 0x8000 - (1U << fraction_bits);
}

/* The exponent of the least number, which is a power of two */
static inline s32 half_least(u32 fraction_bits)
{
	return 2 - (1 << (14 - fraction_bits)) - (s32)fraction_bits;
}

/* A NaN has its sign and the upper bits of its fraction in each format. */
static inline double half_value(u16 bits, u32 fraction_bits)
{
	u32 hidden = 1U << fraction_bits, exponent = (bits & 0x7fff) >> fraction_bits;
	u32 fraction = bits & (hidden - 1);
	u64 nan = 0x7ffULL << DOUBLE_FRACTION_BITS;
	double x;

	if ((bits & 0x7fffU) > half_infinity(fraction_bits)) {
		nan |= (u64)fraction << (DOUBLE_FRACTION_BITS - fraction_bits);
		nan |= (u64)(bits >> 15) << 63;
		memcpy(&x, &nan, sizeof(x));
		return x;
	}
	if ((bits & 0x7fffU) == half_infinity(fraction_bits))
		x = INFINITY;
	else if (exponent)
		x = ldexp(fraction | hidden, exponent - 1 + half_least(fraction_bits));
	else
		x = ldexp(fraction, half_least(fraction_bits));
	return bits >> 15 ? -x : x;
}

/* Nearest, ties to even; the processor rounds so, too. */
static inline u16 half_nearest(double x, u32 fraction_bits)
{
	u32 infinity = half_infinity(fraction_bits), bits;
	s32 exponent, least = half_least(fraction_bits), unit;
	u64 pattern;
	u16 sign;

	memcpy(&pattern, &x, sizeof(pattern));
	sign = pattern >> 63 << 15;
	if (isnan(x))
		return sign | infinity |
		       (pattern >> (DOUBLE_FRACTION_BITS - fraction_bits) & (0x7fff - infinity));
	if (!x || isinf(x))
		return sign | (x ? infinity : 0);
	x = frexp(fabs(x), &exponent);
	unit = max(exponent - 1 - (s32)fraction_bits, least);
	/* The leading one of a normal number is added to the exponent. */
	bits = ((u32)(unit - least) << fraction_bits) + (u32)rint(ldexp(x, exponent - unit));
	return sign | min(bits, infinity);
}

#endif
