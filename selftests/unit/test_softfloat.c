// SPDX-License-Identifier: GPL-2.0
/*
 * Doubles in integer code against the hardware's. NaN goes by our rule (see
 * reduce.h), not by the hardware's, which differs from one to the next.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "softfloat.h"
#include "seed.h"
#include "kselftest_harness.h"

#define SIGN		BIT_ULL(63)
#define QUIET		BIT_ULL(51)
#define FRACTION	(BIT_ULL(52) - 1)
#define INFINITE	0x7ff0000000000000ULL
#define LARGEST		0x7fefffffffffffffULL

#define PAIRS		10000000	/* of each kind of operands, for each operator */
#define DAY_SECONDS	86400	/* a soak takes as long as it is asked to */

/* Else hardware would round twice, and be no reference. */
static_assert(FLT_EVAL_METHOD == 0, "doubles are added as doubles");

static double as_double(u64 bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static u64 as_bits(double x)
{
	u64 bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static bool either_is_nan(u64 left, u64 right)
{
	return (left & ~SIGN) > INFINITE || (right & ~SIGN) > INFINITE;
}

static u64 nan_by_rule(u64 left, u64 right)
{
	return ((left & ~SIGN) > INFINITE ? left : right) | QUIET;
}

static u64 expected_sum(u64 left, u64 right)
{
	double sum = as_double(left) + as_double(right);

	if (either_is_nan(left, right))
		return nan_by_rule(left, right);
	return isnan(sum) ? 0x7ff8000000000000ULL : as_bits(sum);
}

static u64 expected_min(u64 left, u64 right)
{
	double x = as_double(left), y = as_double(right);

	if (either_is_nan(left, right))
		return nan_by_rule(left, right);
	if (x == y)
		return signbit(x) ? left : right;
	return x < y ? left : right;
}

static u64 expected_max(u64 left, u64 right)
{
	double x = as_double(left), y = as_double(right);

	if (either_is_nan(left, right))
		return nan_by_rule(left, right);
	if (x == y)
		return signbit(x) ? right : left;
	return x > y ? left : right;
}

struct operator {
	const char *name;
	u64 (*expected)(u64 left, u64 right);
	u64 (*seen)(u64 left, u64 right);
};

static const struct operator sum = { "sum", expected_sum, coll_double_add };
static const struct operator least = { "min", expected_min, coll_double_min };
static const struct operator greatest = { "max", expected_max, coll_double_max };

static void check(struct __test_metadata *_metadata, const struct operator *operator,
		  u64 left, u64 right)
{
	u64 expected = operator->expected(left, right);
	u64 seen = operator->seen(left, right);

	if (likely(expected == seen))
		return;
	TH_LOG("%s of 0x%016llx and 0x%016llx: expected 0x%016llx, seen 0x%016llx",
	       operator->name, (unsigned long long)left, (unsigned long long)right,
	       (unsigned long long)expected, (unsigned long long)seen);
	ASSERT_EQ(expected, seen);
}

/* Fractions with long runs of ones and zeros carry and round in more ways. */
static u64 draw_fraction(u64 *random)
{
	u64 x = seed_next(random);
	u64 choice = seed_next(random);

	switch (choice & 3) {
	case 0:
		break;
	case 1:
		x &= seed_next(random) & seed_next(random);
		break;
	case 2:
		x |= seed_next(random) | seed_next(random);
		break;
	case 3:
		x = ~0ULL << (choice >> 2) % 64;
		x ^= ~0ULL << (choice >> 8) % 64;
		break;
	}
	return x & FRACTION;
}

/* A finite double whose biased exponent is @exponent, kept in range. */
static u64 draw_double(u64 *random, s64 exponent)
{
	exponent = clamp(exponent, (s64)0, (s64)2046);
	return (seed_next(random) & SIGN) | (u64)exponent << 52 | draw_fraction(random);
}

static void draw_random_bits(u64 *random, u64 *left, u64 *right)
{
	*left = seed_next(random);
	*right = seed_next(random);
}

static void draw_near_exponents(u64 *random, u64 *left, u64 *right)
{
	s64 exponent = seed_next(random) % 2047;
	s64 distance = seed_next(random) % 131 - 65;

	*left = draw_double(random, exponent);
	*right = draw_double(random, exponent + distance);
}

/* The right operand is the left one with the other sign, give or take a bit. */
static void draw_cancellation(u64 *random, u64 *left, u64 *right)
{
	u64 difference = draw_fraction(random) >> seed_next(random) % 53;

	*left = draw_double(random, seed_next(random) % 2047);
	*right = *left ^ SIGN;
	if (seed_next(random) & 1)
		difference = -difference;
	*right += difference;
}

/* Around the least normal number: operands, sums, or both are subnormal. */
static void draw_subnormals(u64 *random, u64 *left, u64 *right)
{
	s64 exponent = seed_next(random) % 4;
	s64 reach = seed_next(random) & 1 ? 4 : 60;

	*left = draw_double(random, exponent);
	*right = draw_double(random, seed_next(random) % reach);
	if (seed_next(random) & 1)
		*left = (*left & SIGN) | (*left & FRACTION) >> seed_next(random) % 53;
	if (seed_next(random) & 1)
		*right = (*right & SIGN) | (*right & FRACTION) >> seed_next(random) % 53;
}

/*
 * What of the right operand lies below the last bit of the left is exactly one
 * half of that bit, or every other time a little more or less.
 */
static void draw_ties(u64 *random, u64 *left, u64 *right)
{
	s64 distance = 1 + seed_next(random) % 53;
	s64 exponent = distance + 1 + seed_next(random) % (2046 - distance);
	u64 tie;

	*left = draw_double(random, exponent);
	*right = draw_double(random, exponent - distance);
	tie = distance == 53 ? *right & ~FRACTION :
	      (*right >> distance << distance) | BIT_ULL(distance - 1);
	switch (seed_next(random) % 4) {
	case 0:
		*right = tie + 1;
		break;
	case 1:
		*right = tie - 1;
		break;
	default:
		*right = tie;
		break;
	}
}

/* Around the largest number: sums reach infinity, or just do not. */
static void draw_overflow(u64 *random, u64 *left, u64 *right)
{
	s64 distance = seed_next(random) % 56;

	*left = draw_double(random, 2046 - (seed_next(random) & 1));
	*right = draw_double(random, 2046 - distance);
	if (seed_next(random) & 1)
		*left = (*left & SIGN) | (LARGEST - (seed_next(random) & 3));
	if (seed_next(random) & 1)
		*right = (*left & SIGN) | (*right & ~SIGN);
}

typedef void (*draw_function)(u64 *random, u64 *left, u64 *right);

FIXTURE(doubles) {
	u64 random;
	u64 pairs;
};

FIXTURE_VARIANT(doubles) {
	draw_function draw;
};

FIXTURE_VARIANT_ADD(doubles, random_bits) { .draw = draw_random_bits };
FIXTURE_VARIANT_ADD(doubles, near_exponents) { .draw = draw_near_exponents };
FIXTURE_VARIANT_ADD(doubles, cancellation) { .draw = draw_cancellation };
FIXTURE_VARIANT_ADD(doubles, subnormals) { .draw = draw_subnormals };
FIXTURE_VARIANT_ADD(doubles, ties) { .draw = draw_ties };
FIXTURE_VARIANT_ADD(doubles, overflow) { .draw = draw_overflow };

FIXTURE_SETUP(doubles)
{
	ASSERT_EQ(FE_TONEAREST, fegetround());
	self->random = seed_start();
	self->pairs = PAIRS * seed_soak();
}

FIXTURE_TEARDOWN(doubles)
{
}

/* Both ways round: which operand comes first must matter to NaN alone. */
static void check_pairs(struct __test_metadata *_metadata, const struct operator *operator,
			draw_function draw, u64 random, u64 pairs)
{
	u64 left, right;
	u64 i;

	for (i = 0; i < pairs; i += 2) {
		draw(&random, &left, &right);
		check(_metadata, operator, left, right);
		check(_metadata, operator, right, left);
	}
}

TEST_F_TIMEOUT(doubles, sum_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &sum, variant->draw, self->random, self->pairs);
}

TEST_F_TIMEOUT(doubles, min_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &least, variant->draw, self->random, self->pairs);
}

TEST_F_TIMEOUT(doubles, max_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &greatest, variant->draw, self->random, self->pairs);
}

/* Each stands for two, with either sign. */
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

static u64 special(u32 i)
{
	return special_magnitudes[i / 2] | (i & 1 ? SIGN : 0);
}

static void check_special_pairs(struct __test_metadata *_metadata,
				const struct operator *operator)
{
	const u32 count = 2 * ARRAY_SIZE(special_magnitudes);
	u32 i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < count; j++)
			check(_metadata, operator, special(i), special(j));
}

TEST(sum_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special_pairs(_metadata, &sum);
}

TEST(min_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special_pairs(_metadata, &least);
}

TEST(max_of_any_two_special_values_has_the_bits_of_hardware)
{
	check_special_pairs(_metadata, &greatest);
}

/* From here on the expected bits are written out, and no hardware is asked. */

struct known {
	u64 left, right, expected;
};

static void check_known(struct __test_metadata *_metadata, const char *name,
			u64 (*function)(u64 left, u64 right),
			const struct known *known, size_t count)
{
	u64 seen;

	for (; count--; known++) {
		seen = function(known->left, known->right);
		EXPECT_EQ(known->expected, seen) {
			TH_LOG("%s of 0x%016llx and 0x%016llx: expected 0x%016llx, seen 0x%016llx",
			       name, (unsigned long long)known->left,
			       (unsigned long long)known->right,
			       (unsigned long long)known->expected, (unsigned long long)seen);
		}
	}
}

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

	check_known(_metadata, "sum", coll_double_add, known, ARRAY_SIZE(known));
	check_known(_metadata, "min", coll_double_min, known, ARRAY_SIZE(known));
	check_known(_metadata, "max", coll_double_max, known, ARRAY_SIZE(known));
}

TEST(infinity_minus_infinity_is_the_one_nan_made_from_numbers)
{
	static const struct known known[] = {
		{ 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000 },
		{ 0xfff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000 },
		{ 0x7ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000 },
		{ 0xfff0000000000000, 0xfff0000000000000, 0xfff0000000000000 },
		{ 0x7ff0000000000000, 0xffefffffffffffff, 0x7ff0000000000000 },
		{ 0x7fefffffffffffff, 0xfff0000000000000, 0xfff0000000000000 },
	};

	check_known(_metadata, "sum", coll_double_add, known, ARRAY_SIZE(known));
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

	check_known(_metadata, "sum", coll_double_add, known, ARRAY_SIZE(known));
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

	check_known(_metadata, "sum", coll_double_add, known, ARRAY_SIZE(known));
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

	check_known(_metadata, "min", coll_double_min, lesser, ARRAY_SIZE(lesser));
	check_known(_metadata, "max", coll_double_max, greater, ARRAY_SIZE(greater));
}

TEST_HARNESS_MAIN
