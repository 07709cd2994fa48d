/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests numbers in integer code against the hardware, for one format, which the including
 * file defines. NaN follows our rule (see reduce.h), not the hardware's, which differs
 * between processors.
 *
 * NUMBER	float or double
 * BITS		unsigned integers of that size
 * OURS(f)	our function, such as OURS(add)
 * NUMBER_NAN	the NaN produced from numbers
 * format	struct format
 * special_magnitudes	numbers to be combined with each other, without their signs
 */
#ifndef COLL_UNIT_HARDWARE_H
#define COLL_UNIT_HARDWARE_H

#include <fenv.h>
#include <float.h>
#include <math.h>

#include "floats.h"
#include "../harness.h"
#include "seed.h"

#define PAIRS		10000000	/* of each kind of operands, for sum and for product */
#define FEWER		5		/* times fewer for min and max, which round nothing */
#define DAY_SECONDS	86400	/* a soak has no other limit */

/* Otherwise hardware would round twice, and be no reference. */
static_assert(FLT_EVAL_METHOD == 0, "numbers are used in their own format");

/* ---- checking ---- */

struct operator {
	const char *name;
	u64 (*expected)(u64 left, u64 right);
	u64 (*seen)(u64 left, u64 right);
};

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

/* Both orders: which operand comes first must matter only for NaN. */
static void check_pairs(struct __test_metadata *_metadata, const struct operator *operator,
			const struct format *f, draw_function draw, u64 pairs)
{
	u64 random = seed_start();
	u64 left, right;
	u64 i;

	for (i = 0; i < pairs; i += 2) {
		draw(f, &random, &left, &right);
		check(_metadata, operator, left, right);
		check(_metadata, operator, right, left);
	}
}

/* Each magnitude is used with both signs. */
static void check_special_pairs(struct __test_metadata *_metadata,
				const struct operator *operator, const struct format *f,
				const u64 *magnitudes, u32 count)
{
	u32 i, j;

	for (i = 0; i < 2 * count; i++)
		for (j = 0; j < 2 * count; j++)
			check(_metadata, operator,
			      magnitudes[i / 2] | (i & 1 ? f->sign : 0),
			      magnitudes[j / 2] | (j & 1 ? f->sign : 0));
}

struct known {
	u64 left, right, expected;
};

/* Expected bits are given explicitly, without hardware. */
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

/* ---- the hardware's ---- */

static NUMBER as_number(BITS bits)
{
	NUMBER x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static BITS as_bits(NUMBER x)
{
	BITS bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static u64 expected_sum(u64 left, u64 right)
{
	NUMBER sum = as_number(left) + as_number(right);

	if (either_is_nan(&format, left, right))
		return nan_by_rule(&format, left, right);
	return isnan(sum) ? NUMBER_NAN : as_bits(sum);
}

static u64 expected_product(u64 left, u64 right)
{
	NUMBER product = as_number(left) * as_number(right);

	if (either_is_nan(&format, left, right))
		return nan_by_rule(&format, left, right);
	return isnan(product) ? NUMBER_NAN : as_bits(product);
}

static u64 expected_min(u64 left, u64 right)
{
	NUMBER x = as_number(left), y = as_number(right);

	if (either_is_nan(&format, left, right))
		return nan_by_rule(&format, left, right);
	if (x == y)
		return signbit(x) ? left : right;
	return x < y ? left : right;
}

static u64 expected_max(u64 left, u64 right)
{
	NUMBER x = as_number(left), y = as_number(right);

	if (either_is_nan(&format, left, right))
		return nan_by_rule(&format, left, right);
	if (x == y)
		return signbit(x) ? right : left;
	return x > y ? left : right;
}

/* ---- ours ---- */

#define SEEN(name, function) \
	static u64 seen_##name(u64 left, u64 right) \
	{ \
		return function(left, right); \
	}

SEEN(sum, OURS(add))
SEEN(product, OURS(multiply))
SEEN(min, OURS(min))
SEEN(max, OURS(max))

static const struct operator sum = { "sum", expected_sum, seen_sum };
static const struct operator product = { "product", expected_product, seen_product };
static const struct operator least = { "min", expected_min, seen_min };
static const struct operator greatest = { "max", expected_max, seen_max };

FIXTURE(numbers) {
	u64 pairs;
};

FIXTURE_VARIANT(numbers) {
	draw_function draw;
};

FIXTURE_VARIANT_ADD(numbers, random_bits) { .draw = draw_random_bits };
FIXTURE_VARIANT_ADD(numbers, near_exponents) { .draw = draw_near_exponents };
FIXTURE_VARIANT_ADD(numbers, cancellation) { .draw = draw_cancellation };
FIXTURE_VARIANT_ADD(numbers, subnormals) { .draw = draw_subnormals };
FIXTURE_VARIANT_ADD(numbers, ties) { .draw = draw_ties };
FIXTURE_VARIANT_ADD(numbers, overflow) { .draw = draw_overflow };
FIXTURE_VARIANT_ADD(numbers, product_ties) { .draw = draw_product_ties };
FIXTURE_VARIANT_ADD(numbers, product_underflow) { .draw = draw_product_underflow };
FIXTURE_VARIANT_ADD(numbers, product_overflow) { .draw = draw_product_overflow };

FIXTURE_SETUP(numbers)
{
	ASSERT_EQ(FE_TONEAREST, fegetround());
	self->pairs = PAIRS * seed_soak();
}

FIXTURE_TEARDOWN(numbers)
{
}

TEST_F_TIMEOUT(numbers, sum_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &sum, &format, variant->draw, self->pairs);
}

TEST_F_TIMEOUT(numbers, product_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &product, &format, variant->draw, self->pairs);
}

TEST_F_TIMEOUT(numbers, min_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &least, &format, variant->draw, self->pairs / FEWER);
}

TEST_F_TIMEOUT(numbers, max_has_the_bits_of_hardware, DAY_SECONDS)
{
	check_pairs(_metadata, &greatest, &format, variant->draw, self->pairs / FEWER);
}

static void check_special(struct __test_metadata *_metadata, const struct operator *operator)
{
	check_special_pairs(_metadata, operator, &format, special_magnitudes,
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

#endif
