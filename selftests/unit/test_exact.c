// SPDX-License-Identifier: GPL-2.0
/* Exact sums are added as integers, whatever their bits. */
#include "reduce.h"
#include "seed.h"
#include "../harness.h"

#define ELEMENTS	3
#define ROUNDS		20000
#define OFFSETS		8	/* bytes by which a vector may be off */
#define BYTES		(ELEMENTS * sizeof(struct collsock_exact))

/* Most bytes are 0xff, through which carries go. */
static void fill(u64 *random, u8 *to)
{
	u32 i;

	for (i = 0; i < BYTES; i++) {
		u64 bits = seed_next(random);

		to[i] = bits & 0x300 ? 0xff : bits;
	}
}

/* Words of both that give all ones: the carry that comes to such a pair goes on, and no other. */
static void complement(u64 *random, u8 *right, const u8 *left)
{
	bool inverted = false;
	u32 i;

	for (i = 0; i < BYTES; i++) {
		if (i % sizeof(u64) == 0)
			inverted = seed_next(random) & 1;
		if (inverted)
			right[i] = ~left[i];
	}
}

/* Add byte by byte. */
static void add(u8 *to, const u8 *left, const u8 *right, u32 bytes)
{
	u32 i, carry = 0;

	for (i = 0; i < bytes; i++) {
		carry += left[i] + right[i];
		to[i] = carry;
		carry >>= 8;
	}
}

static void add_element(u8 *to, const u8 *left, const u8 *right)
{
	const u32 special = offsetof(struct collsock_exact, special);
	const u32 count = offsetof(struct collsock_exact, count);
	u32 i;

	add(to, left, right, special);
	for (i = special; i < count; i++)
		to[i] = left[i] | right[i];
	add(to + count, left + count, right + count, sizeof(u64));
}

TEST(elements_are_added_as_integers_in_any_place)
{
	u8 left[BYTES + OFFSETS], right[BYTES + OFFSETS], expected[BYTES];
	u64 random = seed_start(), i;
	u32 at, offset;
	u8 *result;

	for (i = 0; i < ROUNDS * seed_soak(); i++) {
		offset = seed_next(&random) % OFFSETS;
		fill(&random, left + offset);
		fill(&random, right + offset);
		if (i & 1)
			complement(&random, right + offset, left + offset);
		for (at = 0; at < BYTES; at += sizeof(struct collsock_exact))
			add_element(expected + at, left + offset + at, right + offset + at);
		result = seed_next(&random) & 1 ? left : right;
		coll_reduce(result + offset, left + offset, right + offset, ELEMENTS,
			    COLLSOCK_EXACT, COLLSOCK_SUM);
		ASSERT_EQ(0, memcmp(expected, result + offset, BYTES));
	}
}

TEST(there_is_no_other_operator)
{
	u32 op;

	for (op = 0; op < 256; op++)
		EXPECT_EQ(op == COLLSOCK_SUM, coll_reduce_valid(COLLSOCK_EXACT, op));
}

TEST(a_segment_holds_whole_elements)
{
	u32 segment;

	for (segment = COLLSOCK_MIN_SEGMENT; segment <= COLLSOCK_MAX_SEGMENT;
	     segment += COLLSOCK_SEGMENT_QUANTUM)
		EXPECT_EQ(segment / 288 * 288, coll_reduce_segment(COLLSOCK_EXACT, segment));
}

TEST_HARNESS_MAIN
