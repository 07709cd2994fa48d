// SPDX-License-Identifier: GPL-2.0
/*
 * Floats in integer code against the hardware's. NaN follows our rule (see
 * reduce.h), not the hardware's, which differs between processors.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "floats.h"
#include "softfloat.h"

#define PAIRS		10000000	/* of each kind of operands, for sum and for product */
#define FEWER		5		/* times fewer for min and max, which round nothing */

static const struct format binary32 = {
	.sign = BIT_ULL(31), .fraction_bits = 23, .largest_exponent = 254,
};

/* Else hardware would round twice, and be no reference. */
static_assert(FLT_EVAL_METHOD == 0, "floats are used as floats");

static float as_float(u32 bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static u32 as_bits(float x)
{
	u32 bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static u64 expected_sum(u64 left, u64 right)
{
	float sum = as_float(left) + as_float(right);

	if (either_is_nan(&binary32, left, right))
		return nan_by_rule(&binary32, left, right);
	return isnan(sum) ? 0x7fc00000 : as_bits(sum);
}

static u64 expected_product(u64 left, u64 right)
{
	float product = as_float(left) * as_float(right);

	if (either_is_nan(&binary32, left, right))
		return nan_by_rule(&binary32, left, right);
	return isnan(product) ? 0x7fc00000 : as_bits(product);
}

static u64 expected_min(u64 left, u64 right)
{
	float x = as_float(left), y = as_float(right);

	if (either_is_nan(&binary32, left, right))
		return nan_by_rule(&binary32, left, right);
	if (x == y)
		return signbit(x) ? left : right;
	return x < y ? left : right;
}

static u64 expected_max(u64 left, u64 right)
{
	float x = as_float(left), y = as_float(right);

	if (either_is_nan(&binary32, left, right))
		return nan_by_rule(&binary32, left, right);
	if (x == y)
		return signbit(x) ? right : left;
	return x > y ? left : right;
}

static u64 seen_sum(u64 left, u64 right)
{
	return coll_float_add(left, right);
}

static u64 seen_product(u64 left, u64 right)
{
	return coll_float_multiply(left, right);
}

static u64 seen_min(u64 left, u64 right)
{
	return coll_float_min(left, right);
}

static u64 seen_max(u64 left, u64 right)
{
	return coll_float_max(left, right);
}

static const struct operator sum = { "sum", expected_sum, seen_sum };
static const struct operator product = { "product", expected_product, seen_product };
static const struct operator least = { "min", expected_min, seen_min };
static const struct operator greatest = { "max", expected_max, seen_max };

FIXTURE(floats) {
	u64 pairs;
};

FIXTURE_VARIANT(floats) {
	draw_function draw;
};

FIXTURE_VARIANT_ADD(floats, random_bits) { .draw = draw_random_bits };
FIXTURE_VARIANT_ADD(floats, near_exponents) { .draw = draw_near_exponents };
FIXTURE_VARIANT_ADD(floats, cancellation) { .draw = draw_cancellation };
FIXTURE_VARIANT_ADD(floats, subnormals) { .draw = draw_subnormals };
FIXTURE_VARIANT_ADD(floats, ties) { .draw = draw_ties };
FIXTURE_VARIANT_ADD(floats, overflow) { .draw = draw_overflow };
FIXTURE_VARIANT_ADD(floats, product_ties) { .draw = draw_product_ties };
FIXTURE_VARIANT_ADD(floats, product_underflow) { .draw = draw_product_underflow };
FIXTURE_VARIANT_ADD(floats, product_overflow) { .draw = draw_product_overflow };

FIXTURE_SETUP(floats)
{
	ASSERT_EQ(FE_TONEAREST, fegetround());
	self->pairs = PAIRS * seed_soak();
}

FIXTURE_TEARDOWN(floats)
{
}

TEST_F_TIMEOUT(floats, sum_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &sum, &binary32, variant->draw, self->pairs);
}

TEST_F_TIMEOUT(floats, product_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &product, &binary32, variant->draw, self->pairs);
}

TEST_F_TIMEOUT(floats, min_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &least, &binary32, variant->draw, self->pairs / FEWER);
}

TEST_F_TIMEOUT(floats, max_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &greatest, &binary32, variant->draw, self->pairs / FEWER);
}

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

static void check_special(struct __test_metadata *_metadata, const struct operator *operator)
{
	check_special_pairs(_metadata, operator, &binary32, special_magnitudes,
			    ARRAY_SIZE(special_magnitudes));
}

TEST(sum_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special(_metadata, &sum);
}

TEST(product_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special(_metadata, &product);
}

TEST(min_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special(_metadata, &least);
}

TEST(max_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special(_metadata, &greatest);
}

/* From here on the expected bits are written out, and no hardware is asked. */

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
