// SPDX-License-Identifier: GPL-2.0
/* Every type and operator, element by element, against C's own arithmetic. */
#include <math.h>

#include "reduce.h"
#include "seed.h"
#include "kselftest_harness.h"

#define ELEMENTS	200
#define VECTORS		2000
#define UNTOUCHED	0x5a5a5a5a5a5a5a5aULL
#define DAY_SECONDS	86400	/* a soak takes as long as it is asked to */

struct vectors {
	u64 left[ELEMENTS];
	u64 right[ELEMENTS];
	u64 expected[ELEMENTS];
	u64 result[ELEMENTS + 1];
};

static u64 expected_int64(u8 op, u64 left, u64 right)
{
	s64 x = left, y = right, sum;

	switch (op) {
	case COLLSOCK_SUM:
		__builtin_add_overflow(x, y, &sum);
		return sum;
	case COLLSOCK_MIN:
		return x < y ? x : y;
	default:
		return x > y ? x : y;
	}
}

static u64 expected_uint64(u8 op, u64 left, u64 right)
{
	switch (op) {
	case COLLSOCK_SUM:
		return left + right;
	case COLLSOCK_MIN:
		return left < right ? left : right;
	default:
		return left > right ? left : right;
	}
}

static u64 expected_double(u8 op, u64 left, u64 right)
{
	double x, y, z;
	u64 bits;

	memcpy(&x, &left, sizeof(x));
	memcpy(&y, &right, sizeof(y));
	switch (op) {
	case COLLSOCK_SUM:
		z = x + y;
		break;
	case COLLSOCK_MIN:
		z = fmin(x, y);
		break;
	default:
		z = fmax(x, y);
		break;
	}
	memcpy(&bits, &z, sizeof(bits));
	return bits;
}

/* Any bits; small and nearby integers too; doubles finite and not zero. */
static u64 draw(u64 *random, u8 type)
{
	u64 x = seed_next(random);
	u64 choice = seed_next(random);

	if (type == COLLSOCK_DOUBLE) {
		x &= ~BIT_ULL(62);
		return choice & 1 ? x | 1 : (x & 0x800fffffffffffffULL) | 0x3ff0000000000000ULL;
	}
	switch (choice % 4) {
	case 0:
		return (s64)x >> (choice >> 2) % 64;
	case 1:
		return x >> (choice >> 2) % 64;
	case 2:
		return 0x7fffffffffffffffULL + (s8)x;
	default:
		return x;
	}
}

struct kind {
	u8 type;
	u8 op;
	u64 (*expected)(u8 op, u64 left, u64 right);
};

static void draw_vectors(struct vectors *v, u64 *random, const struct kind *kind)
{
	u32 i;

	for (i = 0; i < ELEMENTS; i++) {
		v->left[i] = draw(random, kind->type);
		v->right[i] = draw(random, kind->type);
		v->expected[i] = kind->expected(kind->op, v->left[i], v->right[i]);
		v->result[i] = UNTOUCHED;
	}
	v->result[ELEMENTS] = UNTOUCHED;
}

static void reduce(void *result, const struct vectors *v, u32 count, const struct kind *kind)
{
	coll_reduce(result, v->left, v->right, count, kind->type, kind->op);
}

FIXTURE(reduction) {
	struct vectors *vectors;
	u64 random;
	u64 count;
};

FIXTURE_VARIANT(reduction) {
	struct kind kind;
};

FIXTURE_VARIANT_ADD(reduction, int64_sum) { { COLLSOCK_INT64, COLLSOCK_SUM, expected_int64 } };
FIXTURE_VARIANT_ADD(reduction, int64_min) { { COLLSOCK_INT64, COLLSOCK_MIN, expected_int64 } };
FIXTURE_VARIANT_ADD(reduction, int64_max) { { COLLSOCK_INT64, COLLSOCK_MAX, expected_int64 } };
FIXTURE_VARIANT_ADD(reduction, uint64_sum) { { COLLSOCK_UINT64, COLLSOCK_SUM, expected_uint64 } };
FIXTURE_VARIANT_ADD(reduction, uint64_min) { { COLLSOCK_UINT64, COLLSOCK_MIN, expected_uint64 } };
FIXTURE_VARIANT_ADD(reduction, uint64_max) { { COLLSOCK_UINT64, COLLSOCK_MAX, expected_uint64 } };
FIXTURE_VARIANT_ADD(reduction, double_sum) { { COLLSOCK_DOUBLE, COLLSOCK_SUM, expected_double } };
FIXTURE_VARIANT_ADD(reduction, double_min) { { COLLSOCK_DOUBLE, COLLSOCK_MIN, expected_double } };
FIXTURE_VARIANT_ADD(reduction, double_max) { { COLLSOCK_DOUBLE, COLLSOCK_MAX, expected_double } };

FIXTURE_SETUP(reduction)
{
	self->vectors = malloc(sizeof(*self->vectors));
	ASSERT_NE(NULL, self->vectors);
	self->random = seed_start();
	self->count = VECTORS * seed_soak();
}

FIXTURE_TEARDOWN(reduction)
{
	free(self->vectors);
}

static void check(struct __test_metadata *_metadata, const u64 *expected,
		  const u64 *seen, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (likely(expected[i] == seen[i]))
			continue;
		TH_LOG("element %u of %u: expected 0x%016llx, seen 0x%016llx", i, count,
		       (unsigned long long)expected[i], (unsigned long long)seen[i]);
		ASSERT_EQ(expected[i], seen[i]);
	}
}

TEST_F_TIMEOUT(reduction, every_element_is_left_op_right, DAY_SECONDS)
{
	struct vectors *v = self->vectors;
	u64 i;

	for (i = 0; i < self->count; i++) {
		draw_vectors(v, &self->random, &variant->kind);
		reduce(v->result, v, ELEMENTS, &variant->kind);
		check(_metadata, v->expected, v->result, ELEMENTS);
	}
}

TEST_F(reduction, operands_and_what_lies_behind_the_result_stay)
{
	struct vectors *v = self->vectors;
	u64 left[ELEMENTS], right[ELEMENTS];
	u32 count;

	for (count = 0; count <= ELEMENTS; count++) {
		draw_vectors(v, &self->random, &variant->kind);
		memcpy(left, v->left, sizeof(left));
		memcpy(right, v->right, sizeof(right));
		reduce(v->result, v, count, &variant->kind);
		check(_metadata, v->expected, v->result, count);
		ASSERT_EQ(UNTOUCHED, v->result[count]);
		check(_metadata, left, v->left, ELEMENTS);
		check(_metadata, right, v->right, ELEMENTS);
	}
}

TEST_F(reduction, result_may_be_the_left_operand)
{
	struct vectors *v = self->vectors;
	u64 right[ELEMENTS];

	draw_vectors(v, &self->random, &variant->kind);
	memcpy(right, v->right, sizeof(right));
	reduce(v->left, v, ELEMENTS, &variant->kind);
	check(_metadata, v->expected, v->left, ELEMENTS);
	check(_metadata, right, v->right, ELEMENTS);
}

TEST_F(reduction, result_may_be_the_right_operand)
{
	struct vectors *v = self->vectors;
	u64 left[ELEMENTS];

	draw_vectors(v, &self->random, &variant->kind);
	memcpy(left, v->left, sizeof(left));
	reduce(v->right, v, ELEMENTS, &variant->kind);
	check(_metadata, v->expected, v->right, ELEMENTS);
	check(_metadata, left, v->left, ELEMENTS);
}

static u64 reduce_one(u8 type, u8 op, u64 left, u64 right)
{
	u64 result;

	coll_reduce(&result, &left, &right, 1, type, op);
	return result;
}

TEST(sum_of_int64_wraps)
{
	EXPECT_EQ((u64)INT64_MIN, reduce_one(COLLSOCK_INT64, COLLSOCK_SUM, INT64_MAX, 1));
	EXPECT_EQ((u64)INT64_MAX, reduce_one(COLLSOCK_INT64, COLLSOCK_SUM, INT64_MIN, -1));
	EXPECT_EQ(0, reduce_one(COLLSOCK_INT64, COLLSOCK_SUM, INT64_MIN, INT64_MIN));
	EXPECT_EQ((u64)-2, reduce_one(COLLSOCK_INT64, COLLSOCK_SUM, INT64_MAX, INT64_MAX));
}

TEST(sum_of_uint64_wraps)
{
	EXPECT_EQ(0, reduce_one(COLLSOCK_UINT64, COLLSOCK_SUM, UINT64_MAX, 1));
	EXPECT_EQ(UINT64_MAX - 1,
		  reduce_one(COLLSOCK_UINT64, COLLSOCK_SUM, UINT64_MAX, UINT64_MAX));
}

TEST(int64_is_signed_and_uint64_is_not)
{
	EXPECT_EQ((u64)-1, reduce_one(COLLSOCK_INT64, COLLSOCK_MIN, -1, 1));
	EXPECT_EQ(1, reduce_one(COLLSOCK_INT64, COLLSOCK_MAX, -1, 1));
	EXPECT_EQ(1, reduce_one(COLLSOCK_UINT64, COLLSOCK_MIN, -1, 1));
	EXPECT_EQ((u64)-1, reduce_one(COLLSOCK_UINT64, COLLSOCK_MAX, -1, 1));
}

TEST(left_operand_is_the_first_operand)
{
	const u64 one = 0x7ff8000000000001ULL, two = 0xfff8000000000002ULL;
	u8 op;

	for (op = COLLSOCK_SUM; op <= COLLSOCK_MAX; op++) {
		EXPECT_EQ(one, reduce_one(COLLSOCK_DOUBLE, op, one, two));
		EXPECT_EQ(two, reduce_one(COLLSOCK_DOUBLE, op, two, one));
	}
}

TEST(only_known_types_have_a_size)
{
	u32 type;

	for (type = 0; type <= UINT8_MAX; type++) {
		bool known = type == COLLSOCK_INT64 || type == COLLSOCK_UINT64 ||
			     type == COLLSOCK_DOUBLE;

		EXPECT_EQ(known ? 8 : 0, coll_type_bytes(type))
			TH_LOG("type %u", type);
	}
}

TEST(only_known_operators_of_known_types_are_valid)
{
	u32 type, op;

	for (type = 0; type <= UINT8_MAX; type++) {
		for (op = 0; op <= UINT8_MAX; op++) {
			bool known = type >= 1 && type <= 3 && op >= 1 && op <= 3;

			EXPECT_EQ(known, coll_reduce_valid(type, op))
				TH_LOG("type %u, operator %u", type, op);
		}
	}
}

TEST_HARNESS_MAIN
