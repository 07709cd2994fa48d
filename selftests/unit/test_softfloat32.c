// SPDX-License-Identifier: GPL-2.0
/* Floats in integer code: the bits of hardware, and what no hardware defines. */
#include "softfloat.h"
#include "floats.h"

#define NUMBER		float
#define BITS		u32
#define OURS(function)	coll_float_##function
#define NUMBER_NAN	0x7fc00000U

static const struct format format = {
	.sign = BIT_ULL(31), .fraction_bits = 23, .largest_exponent = 254,
};

static const u64 special_magnitudes[] = {
	/* zero and subnormals */
	0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x00000fff, 0x00001000,
	0x003fffff, 0x00400000, 0x00400001, 0x007ffffe, 0x007fffff,
	/* least normal numbers, and the first exponents with whole guard bits */
	0x00800000, 0x00800001, 0x00800002, 0x00c00000, 0x00ffffff, 0x01000000,
	0x01000001, 0x017fffff, 0x01800000, 0x0b800000, 0x0c000000, 0x0c800000,
	/* roots of the least normal and the least subnormal number */
	0x1a3504f3, 0x1a3504f4, 0x1fffffff, 0x20000000, 0x20000001,
	/* around 2^-25, 2^-24 and 2^-23: what a sum with 1 rounds away */
	0x32ffffff, 0x33000000, 0x33000001, 0x337fffff, 0x33800000, 0x33800001,
	0x34000000, 0x34000001,
	/* around 1 and 2, and numbers that people use */
	0x3dcccccd, 0x3f000000, 0x3f7ffffe, 0x3f7fffff, 0x3f800000, 0x3f800001,
	0x3f800002, 0x3fc00000, 0x3fffffff, 0x40000000, 0x40400000, 0x40490fdb,
	/* around 2^23, 2^24 and 2^25: the end of the whole numbers */
	0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4b800001,
	0x4c000000,
	/* root of the largest number, half of its last bit, and the largest numbers */
	0x5f7fffff, 0x5f800000, 0x72ffffff, 0x73000000, 0x73000001, 0x73800000,
	0x7e800000, 0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff,
	/* infinity, signalling NaN, quiet NaN */
	0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffffff,
};

#include "hardware.h"

/* From here on the expected bits are given explicitly, without hardware. */

TEST(first_nan_wins_and_is_quieted)
{
	static const struct known known[] = {
		{ 0x7fc00123, 0x3f800000, 0x7fc00123 },
		{ 0xffc00123, 0x7f800000, 0xffc00123 },
		{ 0x7f800001, 0x00000000, 0x7fc00001 },
		{ 0x3f800000, 0x7fc00123, 0x7fc00123 },
		{ 0x80000000, 0xffa00045, 0xffe00045 },
		{ 0x7fc00001, 0xffc00002, 0x7fc00001 },
		{ 0xffc00002, 0x7f800001, 0xffc00002 },
		{ 0x7f800002, 0x7fc00001, 0x7fc00002 },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
	check_known(_metadata, "product", seen_product, known, ARRAY_SIZE(known));
	check_known(_metadata, "min", seen_min, known, ARRAY_SIZE(known));
	check_known(_metadata, "max", seen_max, known, ARRAY_SIZE(known));
}

TEST(sum_of_known_numbers)
{
	static const struct known known[] = {
		{ 0x7f800000, 0xff800000, 0x7fc00000 },
		{ 0xff800000, 0x7f800000, 0x7fc00000 },
		{ 0x80000000, 0x80000000, 0x80000000 },
		{ 0xbf800000, 0x3f800000, 0x00000000 },
		/* 1 + 2^-24 and the next number + 2^-24 */
		{ 0x3f800000, 0x33800000, 0x3f800000 },
		{ 0x3f800001, 0x33800000, 0x3f800002 },
		{ 0x3f800000, 0x33800001, 0x3f800001 },
		{ 0x7f7fffff, 0x73000000, 0x7f800000 },
		{ 0x7f7fffff, 0x72ffffff, 0x7f7fffff },
	};

	check_known(_metadata, "sum", seen_sum, known, ARRAY_SIZE(known));
}

TEST(product_of_known_numbers)
{
	static const struct known known[] = {
		{ 0x00000000, 0x7f800000, 0x7fc00000 },
		{ 0xff800000, 0x80000000, 0x7fc00000 },
		{ 0x7f800000, 0xbf800000, 0xff800000 },
		{ 0x80000000, 0xbf800000, 0x00000000 },
		/* 1.5 * the number after 1: ties go to even */
		{ 0x3fc00000, 0x3f800001, 0x3fc00002 },
		{ 0x3fc00000, 0x3f800003, 0x3fc00004 },
		/* half of the least subnormals */
		{ 0x3f000000, 0x00000001, 0x00000000 },
		{ 0x3f000000, 0x00000003, 0x00000002 },
		{ 0x3f000001, 0x00000001, 0x00000001 },
		/* what rounds up to the least normal number */
		{ 0x3f7fffff, 0x00800000, 0x00800000 },
		{ 0x3f7ffffe, 0x00800000, 0x007fffff },
		{ 0x7f7fffff, 0x3f800001, 0x7f800000 },
		{ 0x7f000000, 0x3fffffff, 0x7f7fffff },
	};

	check_known(_metadata, "product", seen_product, known, ARRAY_SIZE(known));
}

TEST(minus_zero_is_less_than_plus_zero)
{
	EXPECT_EQ(0x80000000, coll_float_min(0x00000000, 0x80000000));
	EXPECT_EQ(0x80000000, coll_float_min(0x80000000, 0x00000000));
	EXPECT_EQ(0x00000000, coll_float_max(0x00000000, 0x80000000));
	EXPECT_EQ(0x00000000, coll_float_max(0x80000000, 0x00000000));
}

TEST_HARNESS_MAIN
