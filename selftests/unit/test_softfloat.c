// SPDX-License-Identifier: GPL-2.0
/* Doubles in integer code: the bits of hardware, and what no hardware defines. */
#include "softfloat.h"
#include "floats.h"

#define NUMBER		double
#define BITS		u64
#define OURS(function)	coll_double_##function
#define NUMBER_NAN	0x7ff8000000000000ULL

static const struct format format = {
	.sign = BIT_ULL(63), .fraction_bits = 52, .largest_exponent = 2046,
};

static const u64 special_magnitudes[] = {
	/* zero and subnormals */
	0x0000000000000000ULL, 0x0000000000000001ULL, 0x0000000000000002ULL,
	0x0000000000000003ULL, 0x00000000ffffffffULL, 0x0000000100000000ULL,
	0x0007ffffffffffffULL, 0x0008000000000000ULL, 0x0008000000000001ULL,
	0x000ffffffffffffeULL, 0x000fffffffffffffULL,
	/* least normal numbers, and the first exponents with whole guard bits */
	0x0010000000000000ULL, 0x0010000000000001ULL, 0x0010000000000002ULL,
	0x0018000000000000ULL, 0x001fffffffffffffULL, 0x0020000000000000ULL,
	0x0020000000000001ULL, 0x002fffffffffffffULL, 0x0030000000000000ULL,
	0x0340000000000000ULL, 0x0350000000000000ULL, 0x0360000000000000ULL,
	/* around 2^-54, 2^-53 and 2^-52: what a sum with 1 rounds away */
	0x3c8fffffffffffffULL, 0x3c90000000000000ULL, 0x3c90000000000001ULL,
	0x3c9fffffffffffffULL, 0x3ca0000000000000ULL, 0x3ca0000000000001ULL,
	0x3cb0000000000000ULL, 0x3cb0000000000001ULL,
	/* around 1 and 2, and numbers that people use */
	0x3fb999999999999aULL, 0x3fe0000000000000ULL, 0x3feffffffffffffeULL,
	0x3fefffffffffffffULL, 0x3ff0000000000000ULL, 0x3ff0000000000001ULL,
	0x3ff0000000000002ULL, 0x3ff8000000000000ULL, 0x3fffffffffffffffULL,
	0x4000000000000000ULL, 0x4008000000000000ULL, 0x400921fb54442d18ULL,
	/* around 2^52, 2^53 and 2^54: the end of the whole numbers */
	0x432fffffffffffffULL, 0x4330000000000000ULL, 0x4330000000000001ULL,
	0x433fffffffffffffULL, 0x4340000000000000ULL, 0x4340000000000001ULL,
	0x4350000000000000ULL,
	/* half of the last bit of the largest number, and the largest numbers */
	0x7c8fffffffffffffULL, 0x7c90000000000000ULL, 0x7c90000000000001ULL,
	0x7ca0000000000000ULL, 0x7fd0000000000000ULL, 0x7fdfffffffffffffULL,
	0x7fe0000000000000ULL, 0x7feffffffffffffeULL, 0x7fefffffffffffffULL,
	/* infinity, signalling NaN, quiet NaN */
	0x7ff0000000000000ULL, 0x7ff0000000000001ULL, 0x7ff7ffffffffffffULL,
	0x7ff8000000000000ULL, 0x7ff8000000000001ULL, 0x7fffffffffffffffULL,
};

#include "hardware.h"

/* From here on the expected bits are given explicitly, without hardware. */

TEST(first_nan_wins_and_is_quieted)
{
	static const struct known known[] = {
		/* left NaN, quiet and signalling, of either sign, before anything */
		{ 0x7ff8000000000123, 0x3ff0000000000000, 0x7ff8000000000123 },
		{ 0xfff8000000000123, 0x7ff0000000000000, 0xfff8000000000123 },
		{ 0x7ff0000000000001, 0x0000000000000000, 0x7ff8000000000001 },
		{ 0xfff4000000000045, 0xfff0000000000000, 0xfffc000000000045 },
		/* right NaN after anything that is none */
		{ 0x3ff0000000000000, 0x7ff8000000000123, 0x7ff8000000000123 },
		{ 0x7ff0000000000000, 0xfff8000000000123, 0xfff8000000000123 },
		{ 0x8000000000000000, 0x7ff0000000000001, 0x7ff8000000000001 },
		{ 0xfff0000000000000, 0xfff4000000000045, 0xfffc000000000045 },
		/* of two the left, whichever signals */
		{ 0x7ff8000000000001, 0xfff8000000000002, 0x7ff8000000000001 },
		{ 0xfff8000000000002, 0x7ff8000000000001, 0xfff8000000000002 },
		{ 0x7ff8000000000001, 0x7ff0000000000002, 0x7ff8000000000001 },
		{ 0x7ff0000000000002, 0x7ff8000000000001, 0x7ff8000000000002 },
		{ 0xfff7ffffffffffff, 0x7ff0000000000001, 0xffffffffffffffff },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
	check_known(_metadata, "product", seen_product, known, ARRAY_SIZE(known));
	check_known(_metadata, "min", seen_min, known, ARRAY_SIZE(known));
	check_known(_metadata, "max", seen_max, known, ARRAY_SIZE(known));
}

TEST(infinity_minus_infinity_is_the_default_nan)
{
	static const struct known known[] = {
		{ 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000 },
		{ 0xfff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000 },
		{ 0x7ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000 },
		{ 0xfff0000000000000, 0xfff0000000000000, 0xfff0000000000000 },
		{ 0x7ff0000000000000, 0xffefffffffffffff, 0x7ff0000000000000 },
		{ 0x7fefffffffffffff, 0xfff0000000000000, 0xfff0000000000000 },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
}

TEST(sum_of_zeros_is_minus_zero_only_if_both_are)
{
	static const struct known known[] = {
		{ 0x0000000000000000, 0x0000000000000000, 0x0000000000000000 },
		{ 0x0000000000000000, 0x8000000000000000, 0x0000000000000000 },
		{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 },
		{ 0x8000000000000000, 0x8000000000000000, 0x8000000000000000 },
		{ 0xbff0000000000000, 0x3ff0000000000000, 0x0000000000000000 },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
}

TEST(sum_rounds_ties_to_even)
{
	static const struct known known[] = {
		/* 1 + 2^-53 and the next number + 2^-53 */
		{ 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000 },
		{ 0x3ff0000000000001, 0x3ca0000000000000, 0x3ff0000000000002 },
		/* a little more than the tie, a little less */
		{ 0x3ff0000000000000, 0x3ca0000000000001, 0x3ff0000000000001 },
		{ 0x3ff0000000000001, 0x3c9fffffffffffff, 0x3ff0000000000001 },
		/* the carry changes the exponent, or makes infinity */
		{ 0x3fffffffffffffff, 0x3ca0000000000000, 0x4000000000000000 },
		{ 0x7fefffffffffffff, 0x7c90000000000000, 0x7ff0000000000000 },
		{ 0x7fefffffffffffff, 0x7c8fffffffffffff, 0x7fefffffffffffff },
		/* the least subnormal below a number changes nothing */
		{ 0x3ff0000000000000, 0x8000000000000001, 0x3ff0000000000000 },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
}

TEST(product_of_known_numbers)
{
	static const struct known known[] = {
		/* zero times infinity is the one NaN made from numbers */
		{ 0x0000000000000000, 0x7ff0000000000000, 0x7ff8000000000000 },
		{ 0xfff0000000000000, 0x0000000000000000, 0x7ff8000000000000 },
		{ 0x8000000000000000, 0xfff0000000000000, 0x7ff8000000000000 },
		/* signs of infinities and zeros */
		{ 0x7ff0000000000000, 0xfff0000000000000, 0xfff0000000000000 },
		{ 0xfff0000000000000, 0xbff0000000000000, 0x7ff0000000000000 },
		{ 0x8000000000000000, 0x3ff0000000000000, 0x8000000000000000 },
		{ 0x8000000000000000, 0xbff0000000000000, 0x0000000000000000 },
		/* 1.5 * the number after 1 and * the one after that: ties go to even */
		{ 0x3ff8000000000000, 0x3ff0000000000001, 0x3ff8000000000002 },
		{ 0x3ff8000000000000, 0x3ff0000000000003, 0x3ff8000000000004 },
		/* half of the least subnormals: ties, and a little more */
		{ 0x3fe0000000000000, 0x0000000000000001, 0x0000000000000000 },
		{ 0x3fe0000000000000, 0x0000000000000003, 0x0000000000000002 },
		{ 0x3fe0000000000001, 0x0000000000000001, 0x0000000000000001 },
		{ 0xbfe0000000000000, 0x0000000000000001, 0x8000000000000000 },
		/* the largest subnormal and what rounds up to the least normal number */
		{ 0x3fefffffffffffff, 0x0010000000000000, 0x0010000000000000 },
		{ 0x3feffffffffffffe, 0x0010000000000000, 0x000fffffffffffff },
		/* two least numbers vanish, two largest are infinite */
		{ 0x0000000000000001, 0x0000000000000001, 0x0000000000000000 },
		{ 0x7fefffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000 },
		{ 0x7fefffffffffffff, 0x3ff0000000000001, 0x7ff0000000000000 },
		{ 0x7fe0000000000000, 0x3fffffffffffffff, 0x7fefffffffffffff },
	};

	check_known(_metadata, "product", seen_product, known, ARRAY_SIZE(known));
}

TEST(minus_zero_is_less_than_plus_zero)
{
	static const struct known lesser[] = {
		{ 0x0000000000000000, 0x8000000000000000, 0x8000000000000000 },
		{ 0x8000000000000000, 0x0000000000000000, 0x8000000000000000 },
	};
	static const struct known greater[] = {
		{ 0x0000000000000000, 0x8000000000000000, 0x0000000000000000 },
		{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 },
	};

	check_known(_metadata, "min", seen_min, lesser, ARRAY_SIZE(lesser));
	check_known(_metadata, "max", seen_max, greater, ARRAY_SIZE(greater));
}

TEST_HARNESS_MAIN
