// SPDX-License-Identifier: GPL-2.0
/*
 * Parameter "pairs" of the module: writing "TYPE OPERATOR SEED COUNT" folds COUNT pairs of random
 * operands and some more, in softirq, once where vector instructions are permitted and once in the
 * middle of a section with them, as if softirq had interrupted it, and compares all bits of the
 * results. Reading tells what struct pairs counts, and the first difference.
 *
 * Vectors have any length and alignment, and the result may be an operand.
 */
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "../../kernel/core/env.h"
#include "../../kernel/core/reduce.h"
#include "../../kernel/core/vector.h"
#include "../unit/floats.h"
#include "../unit/seed.h"

#define PAIRS_ROOM		(2 * COLL_VECTOR_SECTION)	/* bytes of a vector */
#define PAIRS_ALIGNMENTS	COLL_VECTOR_BYTES
/* Special values of a type: of floats also those that are finite, as they come first */
#define PAIRS_INTEGERS		5
#define PAIRS_FINITE		12
#define PAIRS_FLOATS		18

/* Operands that are special: the left one, the right one, both */
enum { PAIRS_LEFT, PAIRS_RIGHT, PAIRS_BOTH, PAIRS_SIDES };

/* What the result of vector instructions is: a vector of its own, or an operand */
enum { PAIRS_APART, PAIRS_ON_LEFT, PAIRS_ON_RIGHT, PAIRS_PLACES };

/**
 * struct pairs - a comparison
 * @type: enum collsock_type
 * @op: enum collsock_operator
 * @format: of @type, if it is a float
 * @random: state of the random numbers
 * @left: left operands of the present vectors
 * @right: right ones
 * @seen: results where vector instructions are permitted
 * @count: elements
 * @place: which vector @seen was before
 * @compared: pairs
 * @by_vectors: those of them in whole blocks that vector instructions did not leave to integer code
 * @refused: vectors for which vector instructions were not permitted, or always were
 * @dealt: special values; each goes to each lane of a block and to each side in turn
 * @differences: pairs whose results differ
 * @first: the first of them, as text
 */
struct pairs {
	u8			type;
	u8			op;
	const struct format	*format;
	u64			random;
	u8			*left;
	u8			*right;
	u8			*seen;
	u32			count;
	u32			place;
	u64			compared;
	u64			by_vectors;
	u64			refused;
	u64			dealt;
	u64			differences;
	char			first[256];
};

static u8 pairs_left[PAIRS_ROOM + PAIRS_ALIGNMENTS], pairs_right[PAIRS_ROOM + PAIRS_ALIGNMENTS];
static u8 pairs_seen[PAIRS_ROOM + PAIRS_ALIGNMENTS], pairs_expected[PAIRS_ROOM];
static struct pairs pairs;

/* ---- operands ---- */

static const struct format *pairs_format(u8 type)
{
	static const struct format double_format = { BIT_ULL(63), 52, 2046 };
	static const struct format float_format = { BIT_ULL(31), 23, 254 };
	static const struct format float16_format = { BIT_ULL(15), 10, 30 };
	static const struct format bfloat16_format = { BIT_ULL(15), 7, 254 };

	switch (type) {
	case COLLSOCK_DOUBLE:
		return &double_format;
	case COLLSOCK_FLOAT:
		return &float_format;
	case COLLSOCK_FLOAT16:
		return &float16_format;
	case COLLSOCK_BFLOAT16:
		return &bfloat16_format;
	default:
		return NULL;
	}
}

static u64 pairs_magnitude(const struct format *f, u32 kind, u64 random)
{
	u64 least_normal = BIT_ULL(f->fraction_bits);

	switch (kind) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return 1 + random % (least_normal - 1);
	case 3:
		return least_normal - 1;
	case 4:
		return least_normal;
	case 5:
		return infinite(f) - 1;
	case 6:
		return infinite(f);
	case 7:
		return infinite(f) | quiet(f) | (random & (quiet(f) - 1));
	default:
		/* A signalling NaN */
		return infinite(f) | (random & (quiet(f) - 1)) | 1;
	}
}

/* 0, 1, all bits, and the ends of the signed numbers, in the lower bytes */
static u64 pairs_integer(u32 bytes, u32 kind)
{
	u64 sign = BIT_ULL(8 * bytes - 1);
	const u64 values[PAIRS_INTEGERS] = { 0, 1, ~0ULL, sign, sign - 1 };

	return values[kind];
}

static u64 pairs_special(struct pairs *p, u32 kind)
{
	if (!p->format)
		return pairs_integer(coll_type_bytes(p->type), kind);
	return pairs_magnitude(p->format, kind / 2, seed_next(&p->random)) |
	       (kind % 2 ? p->format->sign : 0);
}

static void pairs_put(const struct pairs *p, u8 *to, u32 i, u64 bits)
{
	u32 bytes = coll_type_bytes(p->type);

	memcpy(to + i * bytes, &bits, bytes);
}

/* Make element @i special, by a value of this kind and, of both, any other of the first @kinds. */
static void pairs_deal(struct pairs *p, u32 i, u32 side, u32 kind, u32 kinds)
{
	u64 bits = pairs_special(p, kind);

	pairs_put(p, side == PAIRS_RIGHT ? p->right : p->left, i, bits);
	if (side == PAIRS_BOTH)
		pairs_put(p, p->right, i, pairs_special(p, seed_next(&p->random) % kinds));
}

static u32 pairs_kinds(const struct pairs *p)
{
	return p->format ? PAIRS_FLOATS : PAIRS_INTEGERS;
}

static u32 pairs_lanes(const struct pairs *p)
{
	return COLL_VECTOR_BLOCK / coll_type_bytes(p->type);
}

/* How many special values it takes until each has been in each lane, on each side */
static u32 pairs_round(const struct pairs *p)
{
	return pairs_kinds(p) * pairs_lanes(p) * PAIRS_SIDES;
}

/* One in each block, in turn */
static void pairs_deal_in_turn(struct pairs *p)
{
	u32 kinds = pairs_kinds(p), lanes = pairs_lanes(p), block, turn, i;

	for (block = 0;; block++) {
		turn = p->dealt % pairs_round(p);
		i = block * lanes + turn / kinds % lanes;
		if (i >= p->count)
			break;
		pairs_deal(p, i, turn / kinds / lanes, turn % kinds, kinds);
		p->dealt++;
	}
}

/* Many, none of which keeps vector instructions from folding its block */
static void pairs_deal_many(struct pairs *p)
{
	u32 kinds = p->format ? PAIRS_FINITE : PAIRS_INTEGERS, i;

	for (i = 0; i < p->count; i += 1 + seed_next(&p->random) % 8)
		pairs_deal(p, i, seed_next(&p->random) % PAIRS_SIDES,
			   seed_next(&p->random) % kinds, kinds);
}

static void pairs_draw_floats(struct pairs *p)
{
	static const draw_function draws[] = {
		draw_random_bits, draw_near_exponents, draw_cancellation, draw_subnormals,
		draw_ties, draw_overflow, draw_product_ties, draw_product_underflow,
		draw_product_overflow,
	};
	draw_function draw = draws[seed_next(&p->random) % ARRAY_SIZE(draws)];
	u64 left, right;
	u32 i;

	for (i = 0; i < p->count; i++) {
		draw(p->format, &p->random, &left, &right);
		pairs_put(p, p->left, i, left);
		pairs_put(p, p->right, i, right);
	}
}

static void pairs_draw_bits(struct pairs *p, u8 *to)
{
	u32 at, bytes = p->count * coll_type_bytes(p->type);
	u64 bits;

	for (at = 0; at < bytes; at += sizeof(bits)) {
		bits = seed_next(&p->random);
		memcpy(to + at, &bits, min_t(u32, bytes - at, sizeof(bits)));
	}
}

/* Every other vector is as long as there is room for, others have any length. */
static void pairs_choose(struct pairs *p)
{
	u32 bytes = coll_type_bytes(p->type), most = PAIRS_ROOM / bytes;
	u32 least = DIV_ROUND_UP(COLL_VECTOR_LEAST, bytes);

	p->left = pairs_left + seed_next(&p->random) % PAIRS_ALIGNMENTS;
	p->right = pairs_right + seed_next(&p->random) % PAIRS_ALIGNMENTS;
	p->seen = pairs_seen + seed_next(&p->random) % PAIRS_ALIGNMENTS;
	p->place = seed_next(&p->random) % PAIRS_PLACES;
	p->count = most;
	if (seed_next(&p->random) & 1)
		p->count = least + seed_next(&p->random) % (most - least + 1);
}

static void pairs_draw(struct pairs *p)
{
	pairs_choose(p);
	if (p->format) {
		pairs_draw_floats(p);
	} else {
		pairs_draw_bits(p, p->left);
		pairs_draw_bits(p, p->right);
	}
	/* What has no vector instructions has no lanes either. */
	if (!coll_vector_has(p->type, p->op))
		return;
	switch (seed_next(&p->random) % 4) {
	case 0:
		break;
	case 1:
		pairs_deal_many(p);
		break;
	default:
		pairs_deal_in_turn(p);
	}
}

/* ---- folds ---- */

/* How many elements vector instructions fold. Within a section; the results are not used. */
static u32 pairs_count_by_vectors(const struct pairs *p)
{
	u32 at, blocks = 0, bytes = p->count * coll_type_bytes(p->type);

	for (at = 0; at < bytes; at += COLL_VECTOR_SECTION) {
		u32 part = min_t(u32, bytes - at, COLL_VECTOR_SECTION) / COLL_VECTOR_BLOCK;

		blocks += part - hweight64(coll_vector_reduce(pairs_expected + at, p->left + at,
							      p->right + at,
							      part * COLL_VECTOR_BLOCK,
							      p->type, p->op));
	}
	return blocks * pairs_lanes(p);
}

static bool pairs_permitted(void)
{
	if (!coll_env_vector_begin())
		return false;
	coll_env_vector_end();
	return true;
}

static void pairs_fold(struct tasklet_struct *unused)
{
	struct pairs *p = &pairs;
	const u8 *left = p->place == PAIRS_ON_LEFT ? p->seen : p->left;
	const u8 *right = p->place == PAIRS_ON_RIGHT ? p->seen : p->right;
	bool interrupted;

	p->refused += !pairs_permitted();
	coll_reduce(p->seen, left, right, p->count, p->type, p->op);

	interrupted = coll_env_vector_begin();
	if (interrupted && coll_vector_has(p->type, p->op))
		p->by_vectors += pairs_count_by_vectors(p);
	p->refused += pairs_permitted();
	coll_reduce(pairs_expected, p->left, p->right, p->count, p->type, p->op);
	if (interrupted)
		coll_env_vector_end();
}

static DECLARE_TASKLET(pairs_softirq, pairs_fold);

/* The softirq runs when bottom halves are enabled, as that of a packet on a virtual device. */
static void pairs_fold_in_softirq(void)
{
	local_bh_disable();
	tasklet_schedule(&pairs_softirq);
	local_bh_enable();
	/* Wait for it, if it is left to a thread. */
	tasklet_kill(&pairs_softirq);
}

/* ---- differences ---- */

/* Of the first 8 bytes; only types that have no vector instructions have more. */
static u64 pairs_get(const struct pairs *p, const u8 *from, u32 i)
{
	u32 bytes = coll_type_bytes(p->type);
	u64 bits = 0;

	memcpy(&bits, from + i * bytes, min_t(u32, bytes, sizeof(bits)));
	return bits;
}

static void pairs_differ(struct pairs *p, u32 i)
{
	static const char * const places[] = { "apart", "on the left", "on the right" };

	if (p->differences++)
		return;
	snprintf(p->first, sizeof(p->first),
		 "element %u of %u: %#llx, %#llx: %#llx by vectors, else %#llx; result %s at %zu",
		 i, p->count, pairs_get(p, p->left, i), pairs_get(p, p->right, i),
		 pairs_get(p, p->seen, i), pairs_get(p, pairs_expected, i), places[p->place],
		 p->seen - pairs_seen);
}

static void pairs_compare(struct pairs *p)
{
	u32 bytes = coll_type_bytes(p->type), i;

	p->compared += p->count;
	if (likely(!memcmp(p->seen, pairs_expected, p->count * bytes)))
		return;
	for (i = 0; i < p->count; i++)
		if (memcmp(p->seen + i * bytes, pairs_expected + i * bytes, bytes))
			pairs_differ(p, i);
}

static int pairs_run(struct pairs *p, u64 count)
{
	while (p->compared < count) {
		if (fatal_signal_pending(current))
			return -EINTR;
		pairs_draw(p);
		if (p->place != PAIRS_APART)
			memcpy(p->seen, p->place == PAIRS_ON_LEFT ? p->left : p->right,
			       p->count * coll_type_bytes(p->type));
		pairs_fold_in_softirq();
		pairs_compare(p);
		cond_resched();
	}
	return 0;
}

/* ---- the parameter; its users exclude each other ---- */

static int pairs_set(const char *value, const struct kernel_param *parameter)
{
	u64 seed, count;
	u32 type, op;

	if (sscanf(value, "%u %u %llu %llu", &type, &op, &seed, &count) != 4 ||
	    type > U8_MAX || op > U8_MAX || !coll_reduce_valid(type, op))
		return -EINVAL;
	pairs = (struct pairs){
		.type = type, .op = op, .format = pairs_format(type),
		.random = seed ^ (u64)type << 56 ^ (u64)op << 48,
	};
	return pairs_run(&pairs, count);
}

static int pairs_get_all(char *buffer, const struct kernel_param *parameter)
{
	const struct pairs *p = &pairs;
	bool has = p->compared && coll_vector_has(p->type, p->op);

	return sysfs_emit(buffer, "%u %llu %llu %llu %llu %llu %s\n", has, p->compared,
			  p->by_vectors, p->refused, has ? p->dealt / pairs_round(p) : 0,
			  p->differences, p->first);
}

static const struct kernel_param_ops pairs_ops = {
	.set	= pairs_set,
	.get	= pairs_get_all,
};
module_param_cb(pairs, &pairs_ops, NULL, 0600);
MODULE_PARM_DESC(pairs, "Compare folds with vector instructions and without");
