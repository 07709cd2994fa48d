// SPDX-License-Identifier: GPL-2.0
/* Every type and operator, element by element, against C's own arithmetic. */
#include "reduce.h"
#include "seed.h"
#include "../halves.h"
#include "../harness.h"

#define ELEMENTS	300	/* of each type enough for vector instructions */
#define VECTORS		200
#define LARGEST		12	/* bytes of an element */
#define OFFSETS		8	/* bytes by which a vector may be off */
#define ROOM		(OFFSETS + ELEMENTS * LARGEST + LARGEST)
#define UNTOUCHED	0x5a
#define DAY_SECONDS	86400	/* a soak has no other limit */

enum kind {
	SIGNED,
	UNSIGNED,
	REAL,
};

/**
 * struct type - an element type
 * @number: enum collsock_type
 * @name: for messages
 * @bytes: length of its value
 * @kind: kind of its value
 * @pair: an index follows
 */
struct type {
	u8		number;
	const char	*name;
	u32		bytes;
	enum kind	kind;
	bool		pair;
};

static const struct type types[] = {
	{ COLLSOCK_INT8, "int8", 1, SIGNED, false },
	{ COLLSOCK_INT16, "int16", 2, SIGNED, false },
	{ COLLSOCK_INT32, "int32", 4, SIGNED, false },
	{ COLLSOCK_INT64, "int64", 8, SIGNED, false },
	{ COLLSOCK_UINT8, "uint8", 1, UNSIGNED, false },
	{ COLLSOCK_UINT16, "uint16", 2, UNSIGNED, false },
	{ COLLSOCK_UINT32, "uint32", 4, UNSIGNED, false },
	{ COLLSOCK_UINT64, "uint64", 8, UNSIGNED, false },
	{ COLLSOCK_FLOAT, "float", 4, REAL, false },
	{ COLLSOCK_DOUBLE, "double", 8, REAL, false },
	{ COLLSOCK_FLOAT_INT, "float and index", 4, REAL, true },
	{ COLLSOCK_DOUBLE_INT, "double and index", 8, REAL, true },
	{ COLLSOCK_INT64_INT, "int64 and index", 8, SIGNED, true },
	{ COLLSOCK_INT32_INT, "int32 and index", 4, SIGNED, true },
	{ COLLSOCK_INT16_INT, "int16 and index", 2, SIGNED, true },
	{ COLLSOCK_FLOAT16, "float16", 2, REAL, false },
	{ COLLSOCK_BFLOAT16, "bfloat16", 2, REAL, false },
};

static u32 element_bytes(const struct type *t)
{
	return t->bytes + (t->pair ? sizeof(s32) : 0);
}

/* Of a float of 16 bits */
static u32 fraction_bits(const struct type *t)
{
	return t->number == COLLSOCK_FLOAT16 ? FLOAT16_FRACTION_BITS : BFLOAT16_FRACTION_BITS;
}

/* As in MPI (3.1, 5.9.2 and 5.9.4) */
static bool exists(const struct type *t, u32 op)
{
	if (t->pair)
		return op == COLLSOCK_MINLOC || op == COLLSOCK_MAXLOC;
	if (t->kind == REAL)
		return op >= COLLSOCK_SUM && op <= COLLSOCK_PRODUCT;
	return op >= COLLSOCK_SUM && op <= COLLSOCK_BITWISE_XOR;
}

/* The next operator that exists, beginning from 0; false after the last. */
static bool next_operator(const struct type *t, u32 *op)
{
	while (++*op < 256)
		if (exists(t, *op))
			return true;
	return false;
}

static const struct type *type_of(u32 number)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].number == number)
			return &types[i];
	return NULL;
}

/* ---- elements ---- */

struct element {
	s64	integer;	/* or a u64 */
	double	real;		/* shorter floats fit */
	s32	index;
};

static struct element get(const struct type *t, const u8 *from)
{
	struct element e = {};
	float single;
	u64 bits = 0;

	memcpy(&bits, from, t->bytes);
	e.integer = bits;
	if (t->kind == SIGNED)
		e.integer = t->bytes == 1 ? (s8)bits : t->bytes == 2 ? (s16)bits :
			    t->bytes == 4 ? (s32)bits : (s64)bits;
	memcpy(&single, &bits, sizeof(single));
	memcpy(&e.real, &bits, sizeof(e.real));
	if (t->kind == REAL && t->bytes == 4)
		e.real = single;
	if (t->kind == REAL && t->bytes == 2)
		e.real = half_value(bits, fraction_bits(t));
	if (t->pair)
		memcpy(&e.index, from + t->bytes, sizeof(e.index));
	return e;
}

static void put(const struct type *t, struct element e, u8 *to)
{
	float single = e.real;
	u16 half;

	if (t->kind == REAL && t->bytes == 2) {
		half = half_nearest(e.real, fraction_bits(t));
		memcpy(to, &half, 2);
	} else if (t->kind != REAL) {
		memcpy(to, &e.integer, t->bytes);
	} else if (t->bytes == 4) {
		memcpy(to, &single, 4);
	} else {
		memcpy(to, &e.real, 8);
	}
	if (t->pair)
		memcpy(to + t->bytes, &e.index, sizeof(e.index));
}

static struct element expected_integer(const struct type *t, u8 op, struct element l,
				       struct element r)
{
	s64 x = l.integer, y = r.integer;
	bool less = t->kind == SIGNED ? x < y : (u64)x < (u64)y;

	switch (op) {
	case COLLSOCK_SUM:
		return (struct element){ .integer = (u64)x + (u64)y };
	case COLLSOCK_PRODUCT:
		return (struct element){ .integer = (u64)x * (u64)y };
	case COLLSOCK_MIN:
		return less ? l : r;
	case COLLSOCK_MAX:
		return less ? r : l;
	case COLLSOCK_LOGICAL_AND:
		return (struct element){ .integer = x && y };
	case COLLSOCK_LOGICAL_OR:
		return (struct element){ .integer = x || y };
	case COLLSOCK_LOGICAL_XOR:
		return (struct element){ .integer = !!x ^ !!y };
	case COLLSOCK_BITWISE_AND:
		return (struct element){ .integer = x & y };
	case COLLSOCK_BITWISE_OR:
		return (struct element){ .integer = x | y };
	default:
		return (struct element){ .integer = x ^ y };
	}
}

static struct element expected_real(const struct type *t, u8 op, struct element l,
				    struct element r)
{
	bool single = t->bytes == 4;

	switch (op) {
	case COLLSOCK_SUM:
		l.real = single ? (float)l.real + (float)r.real : l.real + r.real;
		return l;
	case COLLSOCK_PRODUCT:
		l.real = single ? (float)l.real * (float)r.real : l.real * r.real;
		return l;
	case COLLSOCK_MIN:
		return l.real < r.real ? l : r;
	default:
		return l.real > r.real ? l : r;
	}
}

static struct element expected_pair(const struct type *t, u8 op, struct element l,
				    struct element r)
{
	bool less = t->kind == REAL ? l.real < r.real : l.integer < r.integer;
	bool more = t->kind == REAL ? l.real > r.real : l.integer > r.integer;

	if (!less && !more)
		return l.index < r.index ? l : r;
	return less == (op == COLLSOCK_MINLOC) ? l : r;
}

static void expect(const struct type *t, u8 op, const u8 *left, const u8 *right, u8 *to)
{
	struct element l = get(t, left), r = get(t, right);

	if (t->pair)
		put(t, expected_pair(t, op, l, r), to);
	else if (t->kind == REAL)
		put(t, expected_real(t, op, l, r), to);
	else
		put(t, expected_integer(t, op, l, r), to);
}

/*
 * Any bits; small and nearby integers too. Reals are finite and not zero, pairs
 * often equal.
 */
static void draw(const struct type *t, u64 *random, u8 *to)
{
	u64 x = seed_next(random), choice = seed_next(random);
	struct element e = { .index = choice >> 40 };

	if (t->pair)
		e.index = e.index >> (choice >> 20) % 32;
	switch (choice % 4) {
	case 0:
		e.integer = (s64)x >> (choice >> 2) % 64;
		break;
	case 1:
		e.integer = x >> (choice >> 2) % 64;
		break;
	case 2:
		e.integer = (1ULL << (8 * t->bytes - 1)) - 1 + (s8)x;
		break;
	default:
		e.integer = x;
		break;
	}
	if (choice & 16 && (t->pair || choice & 32))
		e.integer = x & 1;
	/* Up to 12,124 in 16 bits */
	x &= t->bytes == 2 ? 0xffff : 0xffffff;
	e.real = choice & 64 ? (x & 3) + 1 :
		 ((s64)x - (t->bytes == 2 ? 0x8000 : 0x800000)) * 0.37 + 0.1;
	put(t, e, to);
}

/* ---- vectors ---- */

struct vectors {
	u32 left_offset, right_offset, result_offset;
	u8 left[ROOM], right[ROOM], expected[ROOM], result[ROOM];
};

static void draw_vectors(struct vectors *v, u64 *random, const struct type *t, u8 op)
{
	u32 size = element_bytes(t), i;
	u64 offsets = seed_next(random);

	v->left_offset = offsets % OFFSETS;
	v->right_offset = offsets / OFFSETS % OFFSETS;
	v->result_offset = offsets / OFFSETS / OFFSETS % OFFSETS;
	memset(v->result, UNTOUCHED, sizeof(v->result));
	for (i = 0; i < ELEMENTS; i++) {
		u8 *left = v->left + v->left_offset + i * size;
		u8 *right = v->right + v->right_offset + i * size;

		draw(t, random, left);
		draw(t, random, right);
		expect(t, op, left, right, v->expected + i * size);
	}
}

static void reduce(void *result, const struct vectors *v, u32 count, const struct type *t, u8 op)
{
	coll_reduce(result, v->left + v->left_offset, v->right + v->right_offset, count,
		    t->number, op);
}

FIXTURE(reduction) {
	const struct type *type;
	struct vectors *vectors;
	u64 random;
	u64 count;
};

FIXTURE_VARIANT(reduction) {
	u8 type;
};

FIXTURE_VARIANT_ADD(reduction, int8) { COLLSOCK_INT8 };
FIXTURE_VARIANT_ADD(reduction, int16) { COLLSOCK_INT16 };
FIXTURE_VARIANT_ADD(reduction, int32) { COLLSOCK_INT32 };
FIXTURE_VARIANT_ADD(reduction, int64) { COLLSOCK_INT64 };
FIXTURE_VARIANT_ADD(reduction, uint8) { COLLSOCK_UINT8 };
FIXTURE_VARIANT_ADD(reduction, uint16) { COLLSOCK_UINT16 };
FIXTURE_VARIANT_ADD(reduction, uint32) { COLLSOCK_UINT32 };
FIXTURE_VARIANT_ADD(reduction, uint64) { COLLSOCK_UINT64 };
FIXTURE_VARIANT_ADD(reduction, float) { COLLSOCK_FLOAT };
FIXTURE_VARIANT_ADD(reduction, double) { COLLSOCK_DOUBLE };
FIXTURE_VARIANT_ADD(reduction, float_int) { COLLSOCK_FLOAT_INT };
FIXTURE_VARIANT_ADD(reduction, double_int) { COLLSOCK_DOUBLE_INT };
FIXTURE_VARIANT_ADD(reduction, int64_int) { COLLSOCK_INT64_INT };
FIXTURE_VARIANT_ADD(reduction, int32_int) { COLLSOCK_INT32_INT };
FIXTURE_VARIANT_ADD(reduction, int16_int) { COLLSOCK_INT16_INT };
FIXTURE_VARIANT_ADD(reduction, float16) { COLLSOCK_FLOAT16 };
FIXTURE_VARIANT_ADD(reduction, bfloat16) { COLLSOCK_BFLOAT16 };

FIXTURE_SETUP(reduction)
{
	self->vectors = calloc(1, sizeof(*self->vectors));
	ASSERT_NE(NULL, self->vectors);
	self->type = type_of(variant->type);
	self->random = seed_start();
	self->count = VECTORS * seed_soak();
}

FIXTURE_TEARDOWN(reduction)
{
	free(self->vectors);
}

static void check(struct __test_metadata *_metadata, const struct type *t, u8 op,
		  const u8 *expected, const u8 *seen, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++) {
		if (likely(expected[i] == seen[i]))
			continue;
		TH_LOG("operator %u of %s, byte %u of element %u: expected 0x%02x, seen 0x%02x",
		       op, t->name, i % element_bytes(t), i / element_bytes(t), expected[i],
		       seen[i]);
		ASSERT_EQ(expected[i], seen[i]);
	}
}

TEST_F_TIMEOUT(reduction, every_element_is_left_op_right, DAY_SECONDS)
{
	struct vectors *v = self->vectors;
	const struct type *t = self->type;
	u32 op = 0;
	u64 i;

	while (next_operator(t, &op)) {
		for (i = 0; i < self->count; i++) {
			draw_vectors(v, &self->random, t, op);
			reduce(v->result + v->result_offset, v, ELEMENTS, t, op);
			check(_metadata, t, op, v->expected, v->result + v->result_offset,
			      ELEMENTS * element_bytes(t));
		}
	}
}

TEST_F(reduction, operands_and_memory_around_the_result_are_unchanged)
{
	struct vectors *v = self->vectors;
	u8 left[ROOM], right[ROOM], result[ROOM];
	const struct type *t = self->type;
	u32 op = 0, count;

	while (next_operator(t, &op)) {
		for (count = 0; count <= ELEMENTS; count++) {
			draw_vectors(v, &self->random, t, op);
			memcpy(left, v->left, sizeof(left));
			memcpy(right, v->right, sizeof(right));
			memcpy(result, v->result, sizeof(result));
			memcpy(result + v->result_offset, v->expected, count * element_bytes(t));
			reduce(v->result + v->result_offset, v, count, t, op);
			check(_metadata, t, op, result, v->result, ROOM);
			check(_metadata, t, op, left, v->left, ROOM);
			check(_metadata, t, op, right, v->right, ROOM);
		}
	}
}

TEST_F(reduction, result_may_be_the_left_operand)
{
	struct vectors *v = self->vectors;
	const struct type *t = self->type;
	u8 right[ROOM];
	u32 op = 0;

	while (next_operator(t, &op)) {
		draw_vectors(v, &self->random, t, op);
		memcpy(right, v->right, sizeof(right));
		reduce(v->left + v->left_offset, v, ELEMENTS, t, op);
		check(_metadata, t, op, v->expected, v->left + v->left_offset,
		      ELEMENTS * element_bytes(t));
		check(_metadata, t, op, right, v->right, ROOM);
	}
}

TEST_F(reduction, result_may_be_the_right_operand)
{
	struct vectors *v = self->vectors;
	const struct type *t = self->type;
	u8 left[ROOM];
	u32 op = 0;

	while (next_operator(t, &op)) {
		draw_vectors(v, &self->random, t, op);
		memcpy(left, v->left, sizeof(left));
		reduce(v->right + v->right_offset, v, ELEMENTS, t, op);
		check(_metadata, t, op, v->expected, v->right + v->right_offset,
		      ELEMENTS * element_bytes(t));
		check(_metadata, t, op, left, v->left, ROOM);
	}
}

/* ---- one by one ---- */

static u64 reduce_one(u8 type, u8 op, u64 left, u64 right)
{
	u64 result = 0;

	coll_reduce(&result, &left, &right, 1, type, op);
	return result;
}

TEST(integers_of_every_size_wrap)
{
	const struct type *t;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		u64 all = ~0ULL >> (64 - 8 * t->bytes), half = all / 2;

		if (t->kind == REAL || t->pair)
			continue;
		EXPECT_EQ(0, reduce_one(t->number, COLLSOCK_SUM, all, 1));
		EXPECT_EQ(all - 1, reduce_one(t->number, COLLSOCK_SUM, all, all));
		EXPECT_EQ(half + 1, reduce_one(t->number, COLLSOCK_SUM, half, 1));
		EXPECT_EQ(half, reduce_one(t->number, COLLSOCK_SUM, half + 1, all));
		EXPECT_EQ(1, reduce_one(t->number, COLLSOCK_PRODUCT, all, all));
		EXPECT_EQ(all - 1, reduce_one(t->number, COLLSOCK_PRODUCT, half, 2));
		EXPECT_EQ(0, reduce_one(t->number, COLLSOCK_PRODUCT, half + 1, 2));
	}
}

TEST(signed_types_are_signed_and_unsigned_are_not)
{
	const struct type *t;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		u64 all = ~0ULL >> (64 - 8 * t->bytes);
		bool is_signed = t->kind == SIGNED;

		if (t->kind == REAL || t->pair)
			continue;
		EXPECT_EQ(is_signed ? all : 1, reduce_one(t->number, COLLSOCK_MIN, all, 1));
		EXPECT_EQ(is_signed ? 1 : all, reduce_one(t->number, COLLSOCK_MAX, all, 1));
	}
}

TEST(logical_results_are_0_or_1)
{
	static const struct {
		u8 op, results[4];	/* of 0 0, 0 x, x 0, x x */
	} tables[] = {
		{ COLLSOCK_LOGICAL_AND, { 0, 0, 0, 1 } },
		{ COLLSOCK_LOGICAL_OR, { 0, 1, 1, 1 } },
		{ COLLSOCK_LOGICAL_XOR, { 0, 1, 1, 0 } },
	};
	const struct type *t;
	u32 i, k;

	for (t = types; t < types + ARRAY_SIZE(types); t++) {
		u64 highest = 1ULL << (8 * t->bytes - 1);

		for (i = 0; i < ARRAY_SIZE(tables) && t->kind != REAL && !t->pair; i++)
			for (k = 0; k < 4; k++) {
				EXPECT_EQ(tables[i].results[k],
					  reduce_one(t->number, tables[i].op,
						     k & 2 ? highest : 0, k & 1 ? 6 : 0))
					TH_LOG("operator %u of %s", tables[i].op, t->name);
			}
	}
}

TEST(left_operand_is_the_first_operand)
{
	const u64 one = 0x7ff8000000000001ULL, two = 0xfff8000000000002ULL;
	u8 op;

	for (op = COLLSOCK_SUM; op <= COLLSOCK_PRODUCT; op++) {
		EXPECT_EQ(one, reduce_one(COLLSOCK_DOUBLE, op, one, two));
		EXPECT_EQ(two, reduce_one(COLLSOCK_DOUBLE, op, two, one));
		EXPECT_EQ(0x7fc00001, reduce_one(COLLSOCK_FLOAT, op, 0x7fc00001, 0xffc00002));
		EXPECT_EQ(0xffc00002, reduce_one(COLLSOCK_FLOAT, op, 0xffc00002, 0x7fc00001));
		EXPECT_EQ(0x7e01, reduce_one(COLLSOCK_FLOAT16, op, 0x7e01, 0xfe02));
		EXPECT_EQ(0xfe02, reduce_one(COLLSOCK_FLOAT16, op, 0xfe02, 0x7e01));
		EXPECT_EQ(0x7fc1, reduce_one(COLLSOCK_BFLOAT16, op, 0x7fc1, 0xffc2));
		EXPECT_EQ(0xffc2, reduce_one(COLLSOCK_BFLOAT16, op, 0xffc2, 0x7fc1));
	}
}

/* The bytes of a float and its index in memory */
static u64 pair(u32 value, s32 index)
{
	u64 bits;

	memcpy(&bits, &value, 4);
	memcpy((u8 *)&bits + 4, &index, 4);
	return bits;
}

static u64 locate(u8 op, u64 left, u64 right)
{
	return reduce_one(COLLSOCK_FLOAT_INT, op, left, right);
}

TEST(of_equal_values_the_smaller_index_wins)
{
	const u32 one = 0x3f800000, plus = 0, minus = 0x80000000;
	u8 op;

	for (op = COLLSOCK_MINLOC; op <= COLLSOCK_MAXLOC; op++) {
		u32 zero = op == COLLSOCK_MINLOC ? minus : plus;

		EXPECT_EQ(pair(one, 3), locate(op, pair(one, 3), pair(one, 4)));
		EXPECT_EQ(pair(one, 3), locate(op, pair(one, 4), pair(one, 3)));
		EXPECT_EQ(pair(one, -1), locate(op, pair(one, 1), pair(one, -1)));
		EXPECT_EQ(pair(zero, 3), locate(op, pair(plus, 3), pair(minus, 4)));
		EXPECT_EQ(pair(zero, 3), locate(op, pair(plus, 4), pair(minus, 3)));
		EXPECT_EQ(pair(7, -1),
			  reduce_one(COLLSOCK_INT32_INT, op, pair(7, 1), pair(7, -1)));
	}
}

TEST(a_nan_keeps_its_index)
{
	const u32 one = 0x3f800000, quiet = 0x7fc00001, loud = 0xff800002, quieted = 0xffc00002;
	u8 op;

	for (op = COLLSOCK_MINLOC; op <= COLLSOCK_MAXLOC; op++) {
		EXPECT_EQ(pair(quiet, 9), locate(op, pair(quiet, 9), pair(one, 1)));
		EXPECT_EQ(pair(quiet, 9), locate(op, pair(one, 1), pair(quiet, 9)));
		EXPECT_EQ(pair(quiet, 9), locate(op, pair(quiet, 9), pair(loud, 1)));
		EXPECT_EQ(pair(quieted, 9), locate(op, pair(loud, 9), pair(quiet, 1)));
	}
}

TEST(only_known_types_have_a_size)
{
	u32 number;

	EXPECT_EQ(sizeof(struct collsock_exact), coll_type_bytes(COLLSOCK_EXACT));
	for (number = 0; number <= UINT8_MAX; number++) {
		const struct type *t = type_of(number);

		if (number == COLLSOCK_EXACT)
			continue;
		EXPECT_EQ(t ? element_bytes(t) : number == COLLSOCK_BYTE, coll_type_bytes(number))
			TH_LOG("type %u", number);
	}
}

/* As many as fit into one; for each type the segments of a group are enough. */
TEST(segments_hold_whole_elements)
{
	const struct type *t;
	u32 segment, least;

	for (segment = COLLSOCK_MIN_SEGMENT; segment <= COLLSOCK_MAX_SEGMENT;
	     segment += COLLSOCK_SEGMENT_QUANTUM) {
		least = coll_reduce_least_segment(segment);
		for (t = types; t < types + ARRAY_SIZE(types); t++) {
			u32 whole = segment / element_bytes(t) * element_bytes(t);

			EXPECT_EQ(whole, coll_reduce_segment(t->number, segment))
				TH_LOG("type %u, segment %u", t->number, segment);
			EXPECT_LE(least, whole)
				TH_LOG("type %u, segment %u", t->number, segment);
		}
		EXPECT_EQ(segment, coll_reduce_segment(COLLSOCK_BYTE, segment));
		EXPECT_LT(segment - 12, least);
	}
}

TEST(only_the_operators_of_mpi_are_valid)
{
	u32 number, op, valid = 0;

	for (number = 0; number <= UINT8_MAX; number++) {
		if (number == COLLSOCK_EXACT)	/* test_exact.c */
			continue;
		for (op = 0; op <= UINT8_MAX; op++) {
			const struct type *t = type_of(number);
			bool known = t && exists(t, op);

			valid += known;
			EXPECT_EQ(known, coll_reduce_valid(number, op))
				TH_LOG("type %u, operator %u", number, op);
		}
	}
	EXPECT_EQ(8 * 10 + 4 * 4 + 5 * 2, valid);
}

TEST_HARNESS_MAIN
