// SPDX-License-Identifier: GPL-2.0
/*
 * IEEE 754 binary64 in integer code; see softfloat.h.
 *
 * A double is sign (1 bit), biased exponent (11), fraction (52). Without the
 * sign, the bit patterns of two numbers compare as their magnitudes do,
 * infinity is above every number, and what is above infinity is NaN.
 */
#include "softfloat.h"

#define SIGN		BIT_ULL(63)
#define FRACTION_BITS	52
#define HIDDEN		BIT_ULL(FRACTION_BITS)	/* leading one of a normal number */
#define FRACTION	(HIDDEN - 1)
#define QUIET		(HIDDEN >> 1)		/* this bit of a NaN: does not signal */
#define INFINITE	(0x7ffULL << FRACTION_BITS)

/*
 * A significand in work has its hidden bit at bit 62: one bit above it takes
 * the carry, GUARD bits below it hold what rounding will cut off.
 */
#define GUARD		10
#define CARRY_BIT	63

static inline u64 magnitude(u64 x)
{
	return x & ~SIGN;
}

static inline bool is_nan(u64 x)
{
	return magnitude(x) > INFINITE;
}

/* The NaN that two operands, one of them NaN at least, come to. */
static inline u64 pick_nan(u64 left, u64 right)
{
	return (is_nan(left) ? left : right) | QUIET;
}

/* Exponent of a magnitude; subnormals have that of the least normal number. */
static inline u32 exponent_of(u64 x)
{
	u32 biased = x >> FRACTION_BITS;

	return biased + !biased;
}

static inline u64 significand_of(u64 x)
{
	u64 hidden = x >= HIDDEN ? HIDDEN : 0;

	return ((x & FRACTION) | hidden) << GUARD;
}

/*
 * What is shifted out stays visible in the lowest bit, so that rounding can
 * tell a tie from a little more than a tie. A shift by 63 takes out all of @x.
 */
static inline u64 shift_right_sticky(u64 x, u32 distance)
{
	u32 shift = min_t(u32, distance, 63);
	u64 lost = x & (BIT_ULL(shift) - 1);

	return (x >> shift) | (lost != 0);
}

/*
 * Rounds to nearest even. The hidden bit is added to the exponent, not put
 * beside it: hence exponent - 1, a subnormal gets exponent 0 by itself, and a
 * carry out of the fraction is right too.
 */
static inline u64 round_and_pack(u64 sign, u32 exponent, u64 significand)
{
	u64 odd = (significand >> GUARD) & 1;
	u64 rounded = (significand + BIT_ULL(GUARD - 1) - 1 + odd) >> GUARD;
	u64 packed = ((u64)(exponent - 1) << FRACTION_BITS) + rounded;

	if (unlikely(packed > INFINITE))
		packed = INFINITE;
	return sign | packed;
}

/* @large + @small, magnitudes; the sum has the sign @sign */
static inline u64 add_magnitudes(u64 sign, u64 large, u64 small)
{
	u32 exponent = exponent_of(large);
	u64 sum, carry;

	sum = significand_of(large) +
	      shift_right_sticky(significand_of(small), exponent - exponent_of(small));
	carry = sum >> CARRY_BIT;
	return round_and_pack(sign, exponent + carry, (sum >> carry) | (sum & carry));
}

/* @large - @small, magnitudes; the difference has the sign @sign unless 0 */
static inline u64 subtract_magnitudes(u64 sign, u64 large, u64 small)
{
	u32 exponent = exponent_of(large);
	u32 shift;
	u64 rest;

	rest = significand_of(large) -
	       shift_right_sticky(significand_of(small), exponent - exponent_of(small));
	if (!rest)
		return 0;

	/* Back to the hidden bit's place, or as far as there are exponents. */
	shift = min_t(u32, CARRY_BIT - fls64(rest), exponent - 1);
	return round_and_pack(sign, exponent - shift, rest << shift);
}

/* One of the operands is not finite. */
static u64 add_special(u64 left, u64 right)
{
	if (is_nan(left) || is_nan(right))
		return pick_nan(left, right);
	if (magnitude(left) != magnitude(right))
		return magnitude(left) == INFINITE ? left : right;
	return left == right ? left : COLL_DOUBLE_NAN;
}

/**
 * coll_double_add() - the sum of two doubles, as bit patterns
 * @left: operand of the lower rank: of two NaNs it wins
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left + @right, rounded to nearest even.
 */
u64 coll_double_add(u64 left, u64 right)
{
	bool ordered = magnitude(left) >= magnitude(right);
	u64 large = ordered ? left : right;
	u64 small = ordered ? right : left;
	u64 sign = large & SIGN;

	if (unlikely(magnitude(large) >= INFINITE))
		return add_special(left, right);
	if ((left ^ right) & SIGN)
		return subtract_magnitudes(sign, magnitude(large), magnitude(small));
	return add_magnitudes(sign, magnitude(large), magnitude(small));
}

/*
 * A signed number that compares as the double does, -0 below +0: the pattern
 * of a negative double grows with its magnitude, so all but its sign flips.
 */
static inline s64 ordinal(u64 x)
{
	return x & SIGN ? (s64)(x ^ ~SIGN) : (s64)x;
}

/**
 * coll_double_min() - the lesser of two doubles, as bit patterns
 * @left: operand of the lower rank: of two NaNs it wins
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the lesser operand, -0 being less than +0; NaN if one of them is.
 */
u64 coll_double_min(u64 left, u64 right)
{
	if (unlikely(is_nan(left) || is_nan(right)))
		return pick_nan(left, right);
	return ordinal(left) <= ordinal(right) ? left : right;
}

/**
 * coll_double_max() - the greater of two doubles, as bit patterns
 * @left: operand of the lower rank: of two NaNs it wins
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the greater operand, +0 being greater than -0; NaN if one of them is.
 */
u64 coll_double_max(u64 left, u64 right)
{
	if (unlikely(is_nan(left) || is_nan(right)))
		return pick_nan(left, right);
	return ordinal(left) >= ordinal(right) ? left : right;
}
