// SPDX-License-Identifier: GPL-2.0
/*
 * The contributions of ranks, and how two payloads are folded, without the code under test.
 * Operations and operators are taken from the registries, types from a table here. Integers
 * wrap; an exact sum is added byte by byte. For floats of each format some operations have values
 * whose sums and products are exact, so that the order of folding does not matter; the others
 * are rough, so that every order gives a different result, and so do left and right.
 */
#include <math.h>
#include <stdlib.h>

#include "../halves.h"
#include "reduce.h"
#include "sim.h"

/**
 * struct type - layout of an element
 * @bytes: length of its value
 * @is_signed: it is a signed integer
 * @real: it is a float of any format
 * @pair: an index follows
 * @fraction_bits: of a float
 */
struct type {
	u8	bytes;
	bool	is_signed;
	bool	real;
	bool	pair;
	u8	fraction_bits;
};

static const struct type types[] = {
	[COLLSOCK_INT8]		= { 1, true, false, false },
	[COLLSOCK_INT16]	= { 2, true, false, false },
	[COLLSOCK_INT32]	= { 4, true, false, false },
	[COLLSOCK_INT64]	= { 8, true, false, false },
	[COLLSOCK_UINT8]	= { 1, false, false, false },
	[COLLSOCK_UINT16]	= { 2, false, false, false },
	[COLLSOCK_UINT32]	= { 4, false, false, false },
	[COLLSOCK_UINT64]	= { 8, false, false, false },
	[COLLSOCK_FLOAT]	= { 4, false, true, false, 23 },
	[COLLSOCK_DOUBLE]	= { 8, false, true, false, 52 },
	[COLLSOCK_FLOAT_INT]	= { 4, false, true, true },
	[COLLSOCK_DOUBLE_INT]	= { 8, false, true, true },
	[COLLSOCK_INT64_INT]	= { 8, true, false, true },
	[COLLSOCK_INT32_INT]	= { 4, true, false, true },
	[COLLSOCK_INT16_INT]	= { 2, true, false, true },
	[COLLSOCK_BYTE]		= { 1, false, false, false },
	[COLLSOCK_EXACT]	= {},
	[COLLSOCK_FLOAT16]	= { 2, false, true, false, FLOAT16_FRACTION_BITS },
	[COLLSOCK_BFLOAT16]	= { 2, false, true, false, BFLOAT16_FRACTION_BITS },
};

/* Any element; @integer is a u64 if the type is unsigned. */
struct element {
	s64	integer;
	double	real;
	s32	index;
};

static struct element element_get(const struct type *t, const u8 *from)
{
	u32 unused = 64 - 8 * t->bytes;
	struct element e = {};
	u64 bits = 0;
	float single;

	/* Little-endian, like the hosts on which this runs */
	memcpy(&bits, from, t->bytes);
	e.integer = t->is_signed ? (s64)(bits << unused) >> unused : (s64)bits;
	memcpy(&single, &bits, sizeof(single));
	memcpy(&e.real, &bits, sizeof(e.real));
	if (t->bytes == sizeof(single))
		e.real = single;
	else if (t->real && t->bytes == sizeof(u16))
		e.real = half_value(bits, t->fraction_bits);
	if (t->pair)
		memcpy(&e.index, from + t->bytes, sizeof(e.index));
	return e;
}

static void element_put(const struct type *t, struct element e, u8 *to)
{
	float single = e.real;

	if (t->real && t->bytes == sizeof(u16))
		e.integer = half_nearest(e.real, t->fraction_bits);
	if (t->real && t->bytes == sizeof(single))
		memcpy(to, &single, sizeof(single));
	else if (t->real && t->bytes == sizeof(e.real))
		memcpy(to, &e.real, sizeof(e.real));
	else
		memcpy(to, &e.integer, t->bytes);
	if (t->pair)
		memcpy(to + t->bytes, &e.index, sizeof(e.index));
}

/* ---- contributing ---- */

/* Logical operators must see 0 often enough to have both results. */
static s64 choose_logical(u8 op, u64 random)
{
	bool zero = op == COLLSOCK_LOGICAL_AND ? !(random & 15) :
		    op == COLLSOCK_LOGICAL_OR ? random & 15 : random & 1;

	return zero ? 0 : random | 1;
}

static s64 choose_integer(u8 op, u64 random)
{
	switch (op) {
	case COLLSOCK_PRODUCT:
		return random | 1;	/* or it would soon be 0 */
	case COLLSOCK_LOGICAL_AND:
	case COLLSOCK_LOGICAL_OR:
	case COLLSOCK_LOGICAL_XOR:
		return choose_logical(op, random);
	default:
		return random;
	}
}

/*
 * Eighths, so few that the sum of 128 ranks is exact; powers of two for a product, which of
 * float16 becomes infinite, in any order, as no factor is less than 1.
 */
static double choose_real(const struct type *t, u8 op, u64 random)
{
	static const double factors[] = { 1, 2, -1, -2, 0.5, -0.5 };
	s64 half = t->bytes == sizeof(double) ? 0x100000 : t->bytes == sizeof(float) ? 0x8000 :
		   1 << (t->fraction_bits - BFLOAT16_FRACTION_BITS);

	if (op == COLLSOCK_PRODUCT)
		return factors[random % (t->fraction_bits == FLOAT16_FRACTION_BITS ? 4 :
					 ARRAY_SIZE(factors))];
	return ((s64)(random % (2 * half)) - half) * 0.25 + 0.125;
}

/* Any quiet NaN that a float can hold, too; of 16 bits the upper ones. */
static double choose_nan(u64 random)
{
	u64 bits = 0x7ff8000000000000ULL | (random & 0x8007ffffe0000000ULL);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * All bits of the mantissa are used; for a sum magnitudes differ, too. One in eight is a
 * NaN: of several the leftmost is the result, which distinguishes left from right. One in
 * four is slightly above 3/4, so that the product of two of them is often next to a tie.
 */
static double choose_rough(const struct type *t, u8 op, u64 random)
{
	double value = 0.75 + ldexp(random >> 12, -53);

	if (!(random >> 5 & 7))
		return choose_nan(random);
	if (!(random >> 8 & 3))
		value = 0.75 + ldexp(random >> 12 & 7, -1 - t->fraction_bits);
	/* No sum is infinite. */
	return op == COLLSOCK_SUM ? ldexp(random & 1 ? value : -value,
					  random >> 1 & (t->bytes == sizeof(u16) ? 7 : 15)) : value;
}

/* Values and indices are often equal. */
static struct element choose_pair(u64 random)
{
	struct element e = { .integer = (s64)(random & 7) - 4 };

	e.real = e.integer * 0.5;
	e.index = (s32)(random >> 8 & 15) - 8;
	return e;
}

static struct element choose(const struct sim_group *g, u32 rank, u32 life, u64 number, u32 index)
{
	const struct collsock_post *post = &g->ops[number].post;
	u64 state = g->common.join.nonce + ((u64)number << 40) + ((u64)rank << 20) + index;
	const struct type *t = &types[post->type];
	u64 random;

	state = world_random(&state) + life;
	random = world_random(&state);
	if (t->pair)
		return choose_pair(random);
	if (t->real && g->ops[number].rough)
		return (struct element){ .real = choose_rough(t, post->op, random) };
	if (t->real)
		return (struct element){ .real = choose_real(t, post->op, random) };
	return (struct element){ .integer = choose_integer(post->op, random) };
}

/* All bits are random, but runs of ones, in which carries go far, are frequent. */
static void fill_exact(u64 state, u8 *to, u32 bytes)
{
	u64 random;
	u32 i;

	for (i = 0; i < bytes; i++) {
		random = world_random(&state);
		to[i] = random & 0x300 ? 0xff : random;
	}
}

void sim_values_payload(const struct sim_rank *r, u64 number, u32 life, void *payload)
{
	const struct collsock_post *post = &r->group->ops[number].post;
	u32 i, size = coll_type_bytes(post->type);
	u32 count = size ? sim_values_contributed(&r->group->ops[number], r->number) / size : 0;

	if (post->type == COLLSOCK_EXACT) {
		fill_exact(r->group->common.join.nonce + ((u64)number << 40) +
			   ((u64)r->number << 20) + life, payload, count * size);
		return;
	}
	for (i = 0; i < count; i++)
		element_put(&types[post->type], choose(r->group, r->number, life, number, i),
			    (u8 *)payload + i * size);
}

/* ---- which ranks contribute, which receive ---- */

bool sim_values_contributes(const struct sim_op *op, u32 rank)
{
	return coll_operation_contributes(op->post.operation, op->post.root == rank);
}

bool sim_values_receives(const struct sim_op *op, u32 rank)
{
	return coll_operation_receives(op->post.operation, op->post.root == rank);
}

static u32 block_bytes(const struct sim_op *op)
{
	return op->post.count * coll_type_bytes(op->post.type);
}

/* Bytes of its contribution */
u32 sim_values_contributed(const struct sim_op *op, u32 rank)
{
	if (!sim_values_contributes(op, rank))
		return 0;
	switch (op->post.operation) {
	case COLLSOCK_ALLGATHER:
	case COLLSOCK_GATHER:
		return block_bytes(op);
	default:
		return op->bytes;
	}
}

/* Bytes of its result */
u32 sim_values_received(const struct sim_op *op, u32 rank)
{
	if (!sim_values_receives(op, rank))
		return 0;
	switch (op->post.operation) {
	case COLLSOCK_SCATTER:
	case COLLSOCK_REDUCE_SCATTER_BLOCK:
		return block_bytes(op);
	case COLLSOCK_EXSCAN:
		return rank ? op->bytes : 0;
	default:
		return op->bytes;
	}
}

/* Does the result of a rank depend on the contribution of another one? */
bool sim_values_depends(const struct sim_op *op, u32 rank, u32 other)
{
	if (!sim_values_contributes(op, other))
		return false;
	switch (op->post.operation) {
	case COLLSOCK_SCAN:
		return other <= rank;
	case COLLSOCK_EXSCAN:
		return other < rank;
	default:
		return true;
	}
}

/* Does each rank have another result, for which ranks have to be placed in their order? */
bool sim_values_prefix(const struct sim_op *op)
{
	return op->post.operation == COLLSOCK_SCAN || op->post.operation == COLLSOCK_EXSCAN;
}

/* ---- choosing ---- */

/* How long its vector may be: longer if blocks are only moved */
static u32 most_bytes(const struct collsock_join *join, u8 operation)
{
	return operation >= COLLSOCK_ALLGATHER && operation <= COLLSOCK_SCATTER ?
	       join->max_result_bytes : join->max_bytes;
}

/* How many elements it may have: none is divided. */
static u32 most_elements(const struct collsock_join *join, u8 operation, u8 type)
{
	u32 size = coll_type_bytes(type), segment = join->segment_bytes;
	u32 most = most_bytes(join, operation);

	if (type != COLLSOCK_EXACT)
		return most / size;
	return min(most / size, DIV_ROUND_UP(most, segment) * (segment / size));
}

/* Of an operation that only moves elements */
static void choose_type(struct sim *s, struct collsock_post *post,
			const struct collsock_join *join, u32 blocks)
{
	do
		post->type = world_below(&s->random, ARRAY_SIZE(types));
	while (!coll_type_bytes(post->type) ||
	       most_elements(join, post->operation, post->type) < blocks);
}

static void choose_reduction(struct sim *s, struct collsock_post *post,
			     const struct collsock_join *join, u32 blocks)
{
	static const u8 reals[] = {
		COLLSOCK_FLOAT, COLLSOCK_DOUBLE, COLLSOCK_FLOAT16, COLLSOCK_BFLOAT16
	};
	bool real = most_elements(join, post->operation, COLLSOCK_DOUBLE) >= blocks &&
		    world_chance(&s->random, 250);

	do {
		post->type = world_below(&s->random, ARRAY_SIZE(types));
		if (real)
			post->type = reals[post->type % ARRAY_SIZE(reals)];
		post->op = world_below(&s->random, COLLSOCK_MAXLOC + 1);
	} while (!coll_reduce_valid(post->type, post->op) ||
		 most_elements(join, post->operation, post->type) < blocks);
}

/* One of the degrees that posts may name, which an algorithm need not have; else 0 */
static u32 choose_degree(struct sim *s, u64 degrees)
{
	u32 nth;

	if (!degrees || world_chance(&s->random, 500))
		return 0;
	for (nth = world_below(&s->random, __builtin_popcountll(degrees)); nth; nth--)
		degrees &= degrees - 1;
	return 1 + __builtin_ctzll(degrees);
}

/* An algorithm and a degree that the group has */
static u32 choose_operation(struct sim *s, const struct coll_algorithm *a)
{
	u32 operation;

	do
		operation = world_below(&s->random, COLL_MAX_OPERATIONS);
	while (coll_registry_find(operation, a->algorithm) != a);
	return operation;
}

/* What posts of a group may name, wherever its ranks are */
static void menu_of(const struct sim_group *g, struct coll_menu *menu)
{
	u32 rank;

	coll_menu_init(menu, &g->common.join);
	for (rank = 1; rank < g->size; rank++)
		if (g->host_of_rank[rank] < g->host_of_rank[rank - 1])
			coll_menu_scatter(menu);
}

/* Has it a downward phase? Already the schedule of two hosts says that. */
static bool has_down(const struct coll_algorithm *a)
{
	struct coll_shape shape = { .hosts = 2, .degree = coll_algorithm_usual_degree(a, 2) };
	struct coll_schedule schedule;

	if (a->build(&schedule, &shape))
		abort();
	return schedule.down_send != COLL_NO_DOWN;
}

/* With multicast, operations with a downward phase are most. */
static bool is_seldom(struct sim *s, const struct coll_algorithm *a)
{
	return s->trouble & SIM_MULTICAST && !world_chance(&s->random, 100) && !has_down(a);
}

static const struct coll_algorithm *choose_algorithm(struct sim *s, const struct sim_group *g,
						     struct collsock_post *post)
{
	const struct coll_algorithm *a;
	struct coll_choice choice;
	struct coll_menu menu;

	menu_of(g, &menu);
	do {
		a = coll_registry[world_below(&s->random, coll_registry_count)];
		*post = (struct collsock_post){ .size = sizeof(*post),
						.operation = choose_operation(s, a) };
		if (world_chance(&s->random, 700))
			post->algorithm = a->algorithm;
		post->degree = choose_degree(s, menu.degrees);
	} while (coll_menu_search(&menu, post, 0, &choice) || is_seldom(s, a));
	return a;
}

/* How many blocks the operation's vector has */
static u32 blocks_of(const struct sim_group *g, const struct collsock_post *post)
{
	return post->operation >= COLLSOCK_ALLGATHER &&
	       post->operation <= COLLSOCK_REDUCE_SCATTER_BLOCK ? g->size : 1;
}

/* What a post of a group gets */
struct coll_choice sim_values_choice(const struct sim_group *g, const struct collsock_post *post)
{
	struct coll_choice choice;
	struct coll_menu menu;

	menu_of(g, &menu);
	if (coll_menu_search(&menu, post, post->count * coll_type_bytes(post->type) *
					  blocks_of(g, post), &choice))
		abort();
	return choice;
}

void sim_values_choose(struct sim *s, struct sim_group *g, struct sim_op *op)
{
	const struct collsock_join *join = &g->common.join;
	const struct coll_algorithm *a;
	u32 size, most, blocks;
	bool long_one;

	do {
		a = choose_algorithm(s, g, &op->post);
		blocks = blocks_of(g, &op->post);
	} while (blocks > most_bytes(join, op->post.operation));
	if (coll_algorithm_rooted(a))
		op->post.root = world_below(&s->random, g->size);
	/* Hosts know the epoch of a source after its first operation. */
	if (coll_algorithm_rooted(a) && s->trouble & SIM_MULTICAST && world_chance(&s->random, 700))
		op->post.root = join->nonce % g->size;
	if (!coll_operations[op->post.operation].typed)
		return;
	if (coll_operations[op->post.operation].reduces)
		choose_reduction(s, &op->post, join, blocks);
	else
		choose_type(s, &op->post, join, blocks);
	op->rough = types[op->post.type].real && !types[op->post.type].pair &&
		    op->post.op != COLLSOCK_NOP && sim_expect_order_known(a->algorithm) &&
		    world_chance(&s->random, 500);
	size = coll_type_bytes(op->post.type);
	most = most_elements(join, op->post.operation, op->post.type) / blocks;
	long_one = most_bytes(join, op->post.operation) > join->segment_bytes;
	if (!world_chance(&s->random, long_one ? 300 : 100))
		most = min(most, 4U);
	op->post.count = 1 + world_below(&s->random, most);
	op->elements = op->post.count * blocks;
	op->bytes = op->elements * size;
}

/* Kinds of disagreement: all wait for each other; the rank waits for all; it waits for one. */
enum dissent {
	FOR_EACH_OTHER,
	AS_ROOT,
	FOR_ROOT,
	DISSENTS,
};

/*
 * Change it to an operation that differs from those of others. Returns the bytes that the
 * rank contributes.
 */
u32 sim_values_dissent(const struct sim_rank *r, struct collsock_post *post)
{
	struct collsock_post other = { .size = sizeof(other), .operation = COLLSOCK_BARRIER };
	u64 state = r->group->common.join.nonce + r->dissent;
	enum dissent how = min_t(u32, world_below(&state, 2 * DISSENTS), FOR_ROOT);
	u8 operation = post->operation;

	if (how == AS_ROOT && operation != COLLSOCK_REDUCE) {
		other.operation = COLLSOCK_REDUCE;
		other.root = r->number;
	} else if (how == FOR_ROOT && operation != COLLSOCK_BROADCAST) {
		other.operation = COLLSOCK_BROADCAST;
		other.root = (r->number + 1 + world_below(&state, r->group->size - 1)) %
			     r->group->size;
	} else if (operation == COLLSOCK_BARRIER) {
		other.operation = COLLSOCK_ALLREDUCE;
	}
	*post = other;
	if (!coll_operations[other.operation].typed)
		return 0;
	post->type = COLLSOCK_INT64;
	post->count = 1;
	if (!coll_operations[other.operation].reduces)
		return 0;
	post->op = COLLSOCK_SUM;
	return 8;
}

/* ---- folding ---- */

static u64 fold_integer(const struct type *t, u8 op, u64 left, u64 right)
{
	bool less = t->is_signed ? (s64)left < (s64)right : left < right;

	switch (op) {
	case COLLSOCK_SUM:
		return left + right;
	case COLLSOCK_PRODUCT:
		return left * right;
	case COLLSOCK_MIN:
		return less ? left : right;
	case COLLSOCK_MAX:
		return less ? right : left;
	case COLLSOCK_LOGICAL_AND:
		return left && right;
	case COLLSOCK_LOGICAL_OR:
		return left || right;
	case COLLSOCK_LOGICAL_XOR:
		return (left != 0) != (right != 0);
	case COLLSOCK_BITWISE_AND:
		return left & right;
	case COLLSOCK_BITWISE_OR:
		return left | right;
	default:
		return left ^ right;
	}
}

static double fold_real(u8 op, double left, double right)
{
	if (isnan(left) || isnan(right))
		return isnan(left) ? left : right;
	switch (op) {
	case COLLSOCK_SUM:
		return left + right;
	case COLLSOCK_PRODUCT:
		return left * right;
	case COLLSOCK_MIN:
		return left < right ? left : right;
	default:
		return left > right ? left : right;
	}
}

static struct element fold_pair(const struct type *t, u8 op, struct element l, struct element r)
{
	bool less = t->real ? l.real < r.real : l.integer < r.integer;
	bool equal = t->real ? l.real == r.real : l.integer == r.integer;

	if (equal)
		return l.index < r.index ? l : r;
	return less == (op == COLLSOCK_MINLOC) ? l : r;
}

static void fold_exact(u8 *result, const u8 *left, const u8 *right)
{
	u32 i, carry = 0, words = COLLSOCK_EXACT_WORDS * sizeof(u64);
	u64 l, r;

	for (i = 0; i < words; i++) {
		carry += left[i] + right[i];
		result[i] = carry;
		carry >>= 8;
	}
	for (; i < words + sizeof(u64); i++)
		result[i] = left[i] | right[i];
	memcpy(&l, left + i, sizeof(l));
	memcpy(&r, right + i, sizeof(r));
	l += r;
	memcpy(result + i, &l, sizeof(l));
}

static void fold_one(const struct collsock_post *post, u8 *result, const u8 *left,
		     const u8 *right)
{
	const struct type *t = &types[post->type];
	struct element l, r;

	if (post->type == COLLSOCK_EXACT) {
		fold_exact(result, left, right);
		return;
	}
	l = element_get(t, left);
	r = element_get(t, right);
	if (t->pair)
		l = fold_pair(t, post->op, l, r);
	else if (t->real)
		l.real = fold_real(post->op, l.real, r.real);
	else
		l.integer = fold_integer(t, post->op, l.integer, r.integer);
	element_put(t, l, result);
}

/* The fold of two vectors; @result may be one of them. */
void sim_values_fold(const struct sim_op *op, u8 *result, const u8 *left, const u8 *right)
{
	u32 i, size = coll_type_bytes(op->post.type);

	for (i = 0; i < op->elements; i++)
		fold_one(&op->post, result + i * size, left + i * size, right + i * size);
}
