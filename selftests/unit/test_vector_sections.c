// SPDX-License-Identifier: GPL-2.0
/*
 * Sections, in which vector instructions are used: short, and not everywhere possible. This
 * file is the platform that permits them.
 */
#include "env.h"
#include "reduce.h"
#include "vector.h"
#include "../harness.h"

#define ELEMENTS	8192

/* How often sections began and ended; whether they may begin: bit i says it of the next but i */
static u32 begun, ended;
static u64 permitted;

bool coll_env_vector_begin(void)
{
	bool may = permitted & 1;

	permitted = permitted >> 1 | permitted << 63;
	begun += may;
	return may;
}

void coll_env_vector_end(void)
{
	ended++;
}

static u64 left[ELEMENTS], right[ELEMENTS], expected[ELEMENTS], seen[ELEMENTS];

/* Doubles, or pairs of floats: some NaN, zeros, infinities */
static void fill(void)
{
	u32 i;

	for (i = 0; i < ELEMENTS; i++) {
		left[i] = i % 7 ? 0x3ff0000040490fdbULL + i * 0x10001ULL : (u64)i << 60;
		right[i] = i % 61 ? 0xbfe80000c0000000ULL - i : 0x7ff000007f800001ULL;
	}
}

static void reduce(u64 *result, u32 count, u8 type, u8 op, u64 may)
{
	begun = 0;
	ended = 0;
	permitted = may;
	coll_reduce(result, left, right, count, type, op);
}

TEST(results_are_the_same_where_sections_are_not_permitted)
{
	static const u8 operators[] = {
		COLLSOCK_SUM, COLLSOCK_PRODUCT, COLLSOCK_MIN, COLLSOCK_MAX
	};
	static const u8 types[] = {
		COLLSOCK_DOUBLE, COLLSOCK_FLOAT, COLLSOCK_FLOAT16, COLLSOCK_BFLOAT16
	};
	u32 i, j;

	fill();
	for (j = 0; j < ARRAY_SIZE(types); j++) {
		u32 count = ELEMENTS * 8 / coll_type_bytes(types[j]);

		for (i = 0; i < ARRAY_SIZE(operators); i++) {
			reduce(expected, count, types[j], operators[i], 0);
			EXPECT_EQ(0, begun);
			EXPECT_EQ(0, ended);
			reduce(seen, count, types[j], operators[i], ~0ULL);
			EXPECT_EQ(0, memcmp(expected, seen, sizeof(seen)));
			/* Every third one */
			reduce(seen, count, types[j], operators[i], 0x9249249249249249ULL);
			EXPECT_EQ(0, memcmp(expected, seen, sizeof(seen)));
			EXPECT_EQ(begun, ended);
		}
	}
}

/* What is allowed to last is the work of a step, COLL_WORK_UNIT, and not much more. */
TEST(no_section_reduces_more_than_4_kib)
{
	u32 count;

	if (!coll_vector_has(COLLSOCK_DOUBLE, COLLSOCK_SUM))
		SKIP(return, "no vector instructions");
	fill();
	for (count = 1; count <= ELEMENTS; count++) {
		reduce(seen, count, COLLSOCK_DOUBLE, COLLSOCK_SUM, ~0ULL);
		EXPECT_EQ(begun, ended);
		EXPECT_EQ(count < 16 ? 0 : DIV_ROUND_UP(count, 512), begun)
			TH_LOG("%u doubles", count);
	}
}

/* To begin a section costs as much as some additions. */
TEST(short_vectors_need_no_section)
{
	u32 count;

	fill();
	for (count = 0; count * sizeof(double) < COLL_VECTOR_LEAST; count++) {
		reduce(seen, count, COLLSOCK_DOUBLE, COLLSOCK_SUM, ~0ULL);
		EXPECT_EQ(0, begun);
	}
}

TEST_HARNESS_MAIN
