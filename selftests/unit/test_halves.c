// SPDX-License-Identifier: GPL-2.0
/*
 * 16-bit floats: all of them, with special values and with a part of all, in a soak with all
 * others, in integer code and with vector instructions, against double.
 */
#include "reduce.h"
#include "seed.h"
#include "softfloat.h"
#include "../halves.h"
#include "../harness.h"

#define ALL		0x10000
#define LEFTS		48	/* with which all others are combined */
#define SHORT		16	/* elements that vector instructions do not reduce */
#define DAY_SECONDS	86400	/* a soak has no other limit */

typedef u64 (*function)(u64 left, u64 right);

/**
 * struct type - format of 16 bits
 * @number: enum collsock_type
 * @fraction_bits: bits below the exponent
 * @nan: what results from numbers
 * @functions: in integer code, by enum collsock_operator
 */
struct type {
	u8		number;
	u32		fraction_bits;
	u16		nan;
	function	functions[COLLSOCK_PRODUCT + 1];
};

static const struct type types[] = {
	{ COLLSOCK_FLOAT16, FLOAT16_FRACTION_BITS, 0x7e00, {
		[COLLSOCK_SUM]		= coll_float16_add,
		[COLLSOCK_PRODUCT]	= coll_float16_multiply,
		[COLLSOCK_MIN]		= coll_float16_min,
		[COLLSOCK_MAX]		= coll_float16_max,
	} },
	{ COLLSOCK_BFLOAT16, BFLOAT16_FRACTION_BITS, 0x7fc0, {
		[COLLSOCK_SUM]		= coll_bfloat16_add,
		[COLLSOCK_PRODUCT]	= coll_bfloat16_multiply,
		[COLLSOCK_MIN]		= coll_bfloat16_min,
		[COLLSOCK_MAX]		= coll_bfloat16_max,
	} },
};

static bool is_nan(const struct type *t, u16 x)
{
	return (x & 0x7fff) > half_infinity(t->fraction_bits);
}

static u16 expected_of(const struct type *t, u8 op, u16 left, u16 right)
{
	double x = half_value(left, t->fraction_bits), y = half_value(right, t->fraction_bits);

	if (is_nan(t, left) || is_nan(t, right))
		return (is_nan(t, left) ? left : right) | t->nan;
	switch (op) {
	case COLLSOCK_SUM:
		return isnan(x + y) ? t->nan : half_nearest(x + y, t->fraction_bits);
	case COLLSOCK_PRODUCT:
		return isnan(x * y) ? t->nan : half_nearest(x * y, t->fraction_bits);
	case COLLSOCK_MIN:
		return x < y || (x == y && signbit(x)) ? left : right;
	default:
		return x > y || (x == y && signbit(y)) ? left : right;
	}
}

FIXTURE(halves) {
	const struct type *type;
	u16 left[ALL], right[ALL], expected[ALL], seen[ALL];
};

FIXTURE_VARIANT(halves) {
	const struct type *type;
	u8 op;
};

FIXTURE_VARIANT_ADD(halves, float16_sum) { &types[0], COLLSOCK_SUM };
FIXTURE_VARIANT_ADD(halves, float16_product) { &types[0], COLLSOCK_PRODUCT };
FIXTURE_VARIANT_ADD(halves, float16_min) { &types[0], COLLSOCK_MIN };
FIXTURE_VARIANT_ADD(halves, float16_max) { &types[0], COLLSOCK_MAX };
FIXTURE_VARIANT_ADD(halves, bfloat16_sum) { &types[1], COLLSOCK_SUM };
FIXTURE_VARIANT_ADD(halves, bfloat16_product) { &types[1], COLLSOCK_PRODUCT };
FIXTURE_VARIANT_ADD(halves, bfloat16_min) { &types[1], COLLSOCK_MIN };
FIXTURE_VARIANT_ADD(halves, bfloat16_max) { &types[1], COLLSOCK_MAX };

FIXTURE_SETUP(halves)
{
	self->type = variant->type;
}

FIXTURE_TEARDOWN(halves)
{
}

static void compare(struct __test_metadata *_metadata, const char *how, const u16 *left,
		    const u16 *right, const u16 *expected, const u16 *seen)
{
	u32 i = 0;

	if (likely(!memcmp(expected, seen, ALL * sizeof(*seen))))
		return;
	while (expected[i] == seen[i])
		i++;
	TH_LOG("%s, of 0x%04x and 0x%04x", how, left[i], right[i]);
	ASSERT_EQ(expected[i], seen[i]);
}

/* Vectors of all, in both orders */
static void check(struct __test_metadata *_metadata, const struct type *t, u8 op, u16 *left,
		  u16 *right, u16 *expected, u16 *seen)
{
	u32 i;

	for (i = 0; i < ALL; i++) {
		expected[i] = expected_of(t, op, left[i], right[i]);
		seen[i] = t->functions[op](left[i], right[i]);
	}
	compare(_metadata, "integer code", left, right, expected, seen);
	for (i = 0; i < ALL; i += SHORT)
		coll_reduce(seen + i, left + i, right + i, SHORT, t->number, op);
	compare(_metadata, "few elements", left, right, expected, seen);
	coll_reduce(seen, left, right, ALL, t->number, op);
	compare(_metadata, "many elements", left, right, expected, seen);
}

/* With each other number; blocks with a NaN have no number besides. */
static void check_all(struct __test_metadata *_metadata, FIXTURE_DATA(halves) * self, u8 op,
		      u16 number)
{
	u32 i;

	for (i = 0; i < ALL; i++) {
		self->left[i] = number;
		self->right[i] = i;
	}
	check(_metadata, self->type, op, self->left, self->right, self->expected, self->seen);
	check(_metadata, self->type, op, self->right, self->left, self->expected, self->seen);
}

TEST_F(halves, special_values_with_all_others_have_the_bits_of_double)
{
	u32 infinity = half_infinity(self->type->fraction_bits);
	u32 normal = 1U << self->type->fraction_bits, one = infinity / 2 & infinity, i;
	const u16 magnitudes[] = {
		0, 1, 2, 3, normal / 2, normal - 1, normal, normal + 1, one - normal, one - 1, one,
		one + 1, one + normal / 2, infinity - normal, infinity - 2, infinity - 1, infinity,
		infinity + 1, self->type->nan, self->type->nan | 5, 0x7fff,
	};

	for (i = 0; i < 2 * ARRAY_SIZE(magnitudes); i++)
		check_all(_metadata, self, variant->op, magnitudes[i / 2] | (i & 1) << 15);
}

TEST_F_TIMEOUT(halves, any_two_have_the_bits_of_double, DAY_SECONDS)
{
	u64 lefts = LEFTS * seed_soak(), random = seed_start();
	u32 step = max_t(u32, ALL / lefts, 1), number;

	for (number = seed_next(&random) % step; number < ALL; number += step)
		check_all(_metadata, self, variant->op, number);
}

/* In vectors in which there are others */
TEST_F(halves, numbers_in_any_order_have_the_bits_of_double)
{
	u64 random = seed_start();
	u32 i;

	for (i = 0; i < ALL; i++) {
		self->left[i] = i * 0x9e37;
		self->right[i] = seed_next(&random);
		if (i & 0x1000)
			self->right[i] = self->left[i] ^ (self->right[i] & 0x800f);
		/* Most blocks have no NaN. */
		if (i % 512 && is_nan(self->type, self->left[i]))
			self->left[i] &= 0xbfff;
		if (i % 512 && is_nan(self->type, self->right[i]))
			self->right[i] &= 0xbfff;
	}
	check(_metadata, self->type, variant->op, self->left, self->right, self->expected,
	      self->seen);
}

TEST(conversions_of_the_reference_are_exact)
{
	const struct type *t;
	u32 i;

	for (t = types; t < types + ARRAY_SIZE(types); t++)
		for (i = 0; i < ALL; i++)
			ASSERT_EQ(i, half_nearest(half_value(i, t->fraction_bits),
						  t->fraction_bits));
	EXPECT_EQ(1, half_value(0x3c00, FLOAT16_FRACTION_BITS));
	EXPECT_EQ(-65504, half_value(0xfbff, FLOAT16_FRACTION_BITS));
	EXPECT_EQ(ldexp(1, -24), half_value(1, FLOAT16_FRACTION_BITS));
	EXPECT_EQ(0x3fff, half_nearest(1.9996, FLOAT16_FRACTION_BITS) - 1);
	EXPECT_EQ(0x7bff, half_nearest(65519.99, FLOAT16_FRACTION_BITS));
	EXPECT_EQ(0x7c00, half_nearest(65520, FLOAT16_FRACTION_BITS));
	/* A bfloat16 is a float whose lower half is 0. */
	for (i = 0; i < ALL; i++) {
		u32 bits = i << 16;
		float single;

		memcpy(&single, &bits, sizeof(single));
		if (!isnan(single))
			ASSERT_EQ(single, half_value(i, BFLOAT16_FRACTION_BITS));
	}
}

/* Each is computed by hand, without a reference. */
TEST(known_numbers)
{
	static const struct {
		u8 type, op;
		u16 left, right, expected;
	} known[] = {
		/* 2048 + 1 and 2050 + 1: ties go to even */
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x6800, 0x3c00, 0x6800 },
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x6801, 0x3c00, 0x6802 },
		/* 65504 + 16 is a tie with infinity, + 15.99 is not */
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x7bff, 0x4c00, 0x7c00 },
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x7bff, 0x4bff, 0x7bff },
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x03ff, 0x0001, 0x0400 },
		{ COLLSOCK_FLOAT16, COLLSOCK_SUM, 0x7c00, 0xfc00, 0x7e00 },
		{ COLLSOCK_FLOAT16, COLLSOCK_PRODUCT, 0x3800, 0x0001, 0x0000 },
		{ COLLSOCK_FLOAT16, COLLSOCK_PRODUCT, 0x3800, 0x8003, 0x8002 },
		{ COLLSOCK_FLOAT16, COLLSOCK_PRODUCT, 0x0000, 0x7c00, 0x7e00 },
		/* 256 + 1 and 258 + 1 */
		{ COLLSOCK_BFLOAT16, COLLSOCK_SUM, 0x4380, 0x3f80, 0x4380 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_SUM, 0x4381, 0x3f80, 0x4382 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_SUM, 0x7f7f, 0x7b00, 0x7f80 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_SUM, 0x7f7f, 0x7aff, 0x7f7f },
		{ COLLSOCK_BFLOAT16, COLLSOCK_PRODUCT, 0x3f00, 0x0001, 0x0000 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_PRODUCT, 0x3f00, 0x0003, 0x0002 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_PRODUCT, 0xff80, 0x0000, 0x7fc0 },
		/* The first NaN, made quiet */
		{ COLLSOCK_FLOAT16, COLLSOCK_MIN, 0xfd05, 0x7e01, 0xff05 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_MAX, 0x7f81, 0xffc3, 0x7fc1 },
		{ COLLSOCK_FLOAT16, COLLSOCK_MIN, 0x0000, 0x8000, 0x8000 },
		{ COLLSOCK_BFLOAT16, COLLSOCK_MAX, 0x8000, 0x0000, 0x0000 },
	};
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		u16 left[256], right[256], seen[256];

		for (j = 0; j < ARRAY_SIZE(seen); j++) {
			left[j] = known[i].left;
			right[j] = known[i].right;
		}
		coll_reduce(seen, left, right, ARRAY_SIZE(seen), known[i].type, known[i].op);
		for (j = 0; j < ARRAY_SIZE(seen); j++) {
			ASSERT_EQ(known[i].expected, seen[j])
				TH_LOG("pair %u", i);
		}
		coll_reduce(seen, left, right, 1, known[i].type, known[i].op);
		ASSERT_EQ(known[i].expected, seen[0])
			TH_LOG("pair %u", i);
	}
}

TEST_HARNESS_MAIN
