// SPDX-License-Identifier: GPL-2.0
/* Vector instructions give the bits of integer code, in every element and for every operand. */
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "floats.h"
#include "reduce.h"
#include "seed.h"
#include "softfloat.h"
#include "vector.h"
#include "../harness.h"

#define PAIRS		1000000	/* of each kind of operands and operator */
#define ELEMENTS	255	/* of a vector: several blocks and, of doubles, a part of one */
#define SHORT		37	/* the same, but few */
#define LONGEST		8192	/* several sections of each format */
#define DAY_SECONDS	86400	/* a soak has no other limit */

static const u8 operators[] = { COLLSOCK_SUM, COLLSOCK_PRODUCT, COLLSOCK_MIN, COLLSOCK_MAX };

/**
 * struct type - a format of floats
 * @number: enum collsock_type
 * @bytes: of a number
 * @format: of a number
 */
struct type {
	u8		number;
	u32		bytes;
	struct format	format;
};

/* test_halves.c has any operands of the last two. */
static const struct type types[] = {
	{ COLLSOCK_DOUBLE, 8, { BIT_ULL(63), 52, 2046 } },
	{ COLLSOCK_FLOAT, 4, { BIT_ULL(31), 23, 254 } },
	{ COLLSOCK_FLOAT16, 2, { BIT_ULL(15), 10, 30 } },
	{ COLLSOCK_BFLOAT16, 2, { BIT_ULL(15), 7, 254 } },
};

/* ---- integer code ---- */

typedef u64 (*function)(u64 left, u64 right);

static u64 by_integers(const struct type *t, u8 op, u64 left, u64 right)
{
	static const function functions[][COLLSOCK_PRODUCT + 1] = {
#define FUNCTIONS(type)	{ [COLLSOCK_SUM] = coll_##type##_add, \
	[COLLSOCK_PRODUCT] = coll_##type##_multiply, [COLLSOCK_MIN] = coll_##type##_min, \
	[COLLSOCK_MAX] = coll_##type##_max }
		FUNCTIONS(double), FUNCTIONS(float), FUNCTIONS(float16), FUNCTIONS(bfloat16),
#undef FUNCTIONS
	};

	return functions[t - types][op](left, right);
}

/* ---- vectors ---- */

struct vectors {
	u8	left[LONGEST * 8], right[LONGEST * 8], expected[LONGEST * 8], seen[LONGEST * 8];
};

static struct vectors v;

static u64 get(const struct type *t, const u8 *from, u32 i)
{
	u64 bits = 0;

	memcpy(&bits, from + i * t->bytes, t->bytes);
	return bits;
}

static void put(const struct type *t, u32 i, u64 left, u64 right)
{
	memcpy(v.left + i * t->bytes, &left, t->bytes);
	memcpy(v.right + i * t->bytes, &right, t->bytes);
}

static void expect(const struct type *t, u8 op, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		u64 bits = by_integers(t, op, get(t, v.left, i), get(t, v.right, i));

		memcpy(v.expected + i * t->bytes, &bits, t->bytes);
	}
}

static void compare(struct __test_metadata *_metadata, const struct type *t, u8 op, u32 count,
		    const u8 *seen)
{
	u32 i;

	if (likely(!memcmp(v.expected, seen, count * t->bytes)))
		return;
	for (i = 0; get(t, v.expected, i) == get(t, seen, i); i++)
		;
	TH_LOG("element %u of %u, %u bytes each, operator %u: expected 0x%llx, seen 0x%llx", i,
	       count, t->bytes, op, (unsigned long long)get(t, v.expected, i),
	       (unsigned long long)get(t, seen, i));
	ASSERT_EQ(get(t, v.expected, i), get(t, seen, i));
}

static void check(struct __test_metadata *_metadata, const struct type *t, u8 op, u32 count)
{
	expect(t, op, count);
	coll_reduce(v.seen, v.left, v.right, count, t->number, op);
	compare(_metadata, t, op, count, v.seen);
}

/* The operands are gone afterwards. */
static void check_in_place(struct __test_metadata *_metadata, const struct type *t, u8 op,
			   u32 count)
{
	u8 left[SHORT * 8];

	expect(t, op, count);
	memcpy(left, v.left, count * t->bytes);
	coll_reduce(v.left, v.left, v.right, count, t->number, op);
	compare(_metadata, t, op, count, v.left);
	coll_reduce(v.right, left, v.right, count, t->number, op);
	compare(_metadata, t, op, count, v.right);
}

/* Numbers whose results are numbers */
static void fill_plainly(const struct type *t, u32 count)
{
	u64 one = (u64)t->format.largest_exponent / 2 << t->format.fraction_bits;
	u32 i;

	for (i = 0; i < count; i++)
		put(t, i, one + 3 * i % 125, one + 5 * i % 121);
}

/* ---- any operands ---- */

FIXTURE(operands) {
	u64 random;
	u64 vectors;
};

FIXTURE_VARIANT(operands) {
	draw_function draw;
};

FIXTURE_VARIANT_ADD(operands, random_bits) { .draw = draw_random_bits };
FIXTURE_VARIANT_ADD(operands, near_exponents) { .draw = draw_near_exponents };
FIXTURE_VARIANT_ADD(operands, cancellation) { .draw = draw_cancellation };
FIXTURE_VARIANT_ADD(operands, subnormals) { .draw = draw_subnormals };
FIXTURE_VARIANT_ADD(operands, ties) { .draw = draw_ties };
FIXTURE_VARIANT_ADD(operands, overflow) { .draw = draw_overflow };
FIXTURE_VARIANT_ADD(operands, product_ties) { .draw = draw_product_ties };
FIXTURE_VARIANT_ADD(operands, product_underflow) { .draw = draw_product_underflow };
FIXTURE_VARIANT_ADD(operands, product_overflow) { .draw = draw_product_overflow };

FIXTURE_SETUP(operands)
{
	self->random = seed_start();
	self->vectors = PAIRS / ELEMENTS * seed_soak();
}

FIXTURE_TEARDOWN(operands)
{
}

static void check_operands(struct __test_metadata *_metadata, const struct type *t,
			   draw_function draw, u64 *random, u64 vectors)
{
	u64 left, right;
	u32 i, op;

	while (vectors--) {
		for (i = 0; i < ELEMENTS; i++) {
			draw(&t->format, random, &left, &right);
			put(t, i, left, right);
		}
		for (op = 0; op < ARRAY_SIZE(operators); op++)
			check(_metadata, t, operators[op], ELEMENTS);
	}
}

TEST_F_TIMEOUT(operands, doubles_have_the_bits_of_integer_code, DAY_SECONDS)
{
	check_operands(_metadata, &types[0], variant->draw, &self->random, self->vectors);
}

TEST_F_TIMEOUT(operands, floats_have_the_bits_of_integer_code, DAY_SECONDS)
{
	check_operands(_metadata, &types[1], variant->draw, &self->random, self->vectors);
}

/* ---- what has rules of its own ---- */

#define SPECIALS	10

/* Zero, the ends of the subnormal and of the normal numbers, infinity, quiet and loud NaN */
static u64 special(const struct type *t, u32 i)
{
	const struct format *f = &t->format;
	u64 least_normal = BIT_ULL(f->fraction_bits), magnitudes[SPECIALS] = {
		0, 1, least_normal - 1, least_normal, infinite(f) / 2, infinite(f) - 1,
		infinite(f), infinite(f) | quiet(f) | 7, infinite(f) | 5, f->sign - 1,
	};

	return magnitudes[i / 2] | (i % 2 ? f->sign : 0);
}

static void check_special(struct __test_metadata *_metadata, const struct type *t, u8 op,
			  u64 left, u64 right)
{
	u32 i;

	fill_plainly(t, SHORT);
	for (i = 0; i < SHORT; i++) {
		u64 before[] = { get(t, v.left, i), get(t, v.right, i) };

		put(t, i, left, right);
		check(_metadata, t, op, SHORT);
		put(t, i, before[0], before[1]);
	}
}

TEST(special_values_follow_their_rules_in_every_element)
{
	const struct type *t;
	u32 op, i, j;

	for (t = types; t < types + ARRAY_SIZE(types); t++)
		for (op = 0; op < ARRAY_SIZE(operators); op++)
			for (i = 0; i < 2 * SPECIALS; i++)
				for (j = 0; j < 2 * SPECIALS; j++)
					check_special(_metadata, t, operators[op], special(t, i),
						      special(t, j));
}

TEST(special_values_follow_their_rules_where_the_result_is_an_operand)
{
	const struct type *t;
	u32 op, i, j;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		for (op = 0; op < ARRAY_SIZE(operators); op++) {
			for (i = 0; i < SHORT; i++) {
				for (j = 0; j < 2 * SPECIALS; j++) {
					fill_plainly(t, SHORT);
					put(t, i, special(t, j), special(t, (i + j) % SPECIALS));
					check_in_place(_metadata, t, operators[op], SHORT);
				}
			}
		}
	}
}

TEST(every_section_of_a_long_vector_is_reduced)
{
	const struct type *t;
	u32 op, count, step;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		for (op = 0; op < ARRAY_SIZE(operators); op++) {
			for (count = LONGEST - 20; count <= LONGEST; count++) {
				fill_plainly(t, count);
				/* Not in each block, and at either end */
				for (step = 0; step < count; step += 1 + step / 2)
					put(t, step, special(t, step % (2 * SPECIALS)), step);
				put(t, count - 1, special(t, 16), special(t, 14));
				check(_metadata, t, operators[op], count);
			}
		}
	}
}

/* ---- the caller's settings ---- */

#ifdef __x86_64__

#define FLUSHES_TO_ZERO		0x8000
#define ROUNDS_UP		0x4000
#define SUBNORMALS_ARE_ZERO	0x0040
#define NOTHING_MASKED		0x0000
#define EVERYTHING_MASKED	0x1f80
#define FLAGS			0x003f

static const u32 settings[] = {
	EVERYTHING_MASKED | FLUSHES_TO_ZERO,
	EVERYTHING_MASKED | SUBNORMALS_ARE_ZERO,
	EVERYTHING_MASKED | ROUNDS_UP,
	NOTHING_MASKED,
};

static void draw_for_settings(const struct type *t, u64 *random)
{
	u64 left, right;
	u32 i;

	for (i = 0; i < ELEMENTS; i++) {
		draw_function draw = i % 3 ? i % 2 ? draw_subnormals : draw_product_underflow :
					     draw_overflow;

		draw(&t->format, random, &left, &right);
		put(t, i, left, right);
	}
}

TEST(results_do_not_depend_on_settings_of_the_caller_which_are_kept)
{
	u32 before = _mm_getcsr(), op, i;
	u64 random = seed_start();
	const struct type *t;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		draw_for_settings(t, &random);
		for (op = 0; op < ARRAY_SIZE(operators); op++) {
			for (i = 0; i < ARRAY_SIZE(settings); i++) {
				u32 after;

				expect(t, operators[op], ELEMENTS);
				_mm_setcsr(settings[i]);
				coll_reduce(v.seen, v.left, v.right, ELEMENTS, t->number,
					    operators[op]);
				after = _mm_getcsr();
				_mm_setcsr(before);
				EXPECT_EQ(settings[i], after);
				compare(_metadata, t, operators[op], ELEMENTS, v.seen);
			}
		}
	}
}
#endif

TEST_HARNESS_MAIN
