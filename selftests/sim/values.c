// SPDX-License-Identifier: GPL-2.0
/*
 * What ranks contribute, and what must come out, computed without the code
 * under test. Which operations, types and operators there are the registries
 * say. Values are such that the order of folding does not matter: integers wrap,
 * sums of these doubles are exact.
 */
#include <stdlib.h>

#include "reduce.h"
#include "sim.h"

/* A type that is not known here has small values, which any sum holds exactly. */
static u64 element(const struct sim_group *g, u32 rank, u32 life, u32 number, u32 index)
{
	const struct collsock_post *post = &g->ops[number].post;
	u64 state = g->common.join.nonce + ((u64)number << 40) + ((u64)rank << 20) + index;
	u64 random, bits;
	double value;

	state = world_random(&state) + life;
	random = world_random(&state);
	if (post->type == COLLSOCK_INT64 || post->type == COLLSOCK_UINT64)
		return random;
	if (post->type != COLLSOCK_DOUBLE)
		return random & 0x3f;
	value = ((s64)(random & 0x1fffff) - 0x100000) * 0.25 + 0.125;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void sim_values_payload(const struct sim_rank *r, u32 number, u32 life, void *payload)
{
	const struct collsock_post *post = &r->group->ops[number].post;
	u32 i, size = coll_type_bytes(post->type);

	for (i = 0; i < post->count; i++) {
		u64 value = element(r->group, r->member->index, life, number, i);

		memcpy((u8 *)payload + i * size, &value, min_t(u32, size, sizeof(value)));
		if (size > sizeof(value))
			memset((u8 *)payload + i * size + 8, 0, size - 8);
	}
}

/* ---- who brings what, who gets what ---- */

bool sim_values_contributes(const struct sim_op *op, u32 rank)
{
	return op->post.operation != COLLSOCK_BROADCAST || op->post.root == rank;
}

bool sim_values_takes(const struct sim_op *op, u32 rank)
{
	if (op->post.operation == COLLSOCK_REDUCE)
		return op->post.root == rank;
	return op->post.operation != COLLSOCK_BROADCAST || op->post.root != rank;
}

/* ---- choosing ---- */

static void choose_reduction(struct sim *s, struct collsock_post *post)
{
	do {
		post->type = world_below(&s->random, 32);
		post->op = world_below(&s->random, 32);
	} while (!coll_reduce_valid(post->type, post->op));
}

/* Returns the bytes of the payload. */
u32 sim_values_choose(struct sim *s, struct sim_group *g, struct sim_op *op)
{
	const struct coll_algorithm *a;
	u32 size, most;

	do {
		a = &coll_algorithms[world_below(&s->random, coll_algorithms_count)];
	} while (a->fans_out && !g->common.join.fanout);
	op->post = (struct collsock_post){ .size = sizeof(op->post), .operation = a->operation };
	if (world_chance(&s->random, 700))
		op->post.algorithm = a->algorithm;
	if (a->rooted)
		op->post.root = world_below(&s->random, g->hosts);
	if (a->operation == COLLSOCK_BARRIER)
		return 0;
	choose_reduction(s, &op->post);
	if (a->operation == COLLSOCK_BROADCAST)
		op->post.op = COLLSOCK_NOP;
	size = coll_type_bytes(op->post.type);
	most = round_down(g->common.join.max_bytes, 8) / size;
	op->post.count = 1 + world_below(&s->random, world_chance(&s->random, 100) ? most :
							min(most, 4U));
	return op->post.count * size;
}

/* Make it another operation than the others post. Returns the bytes of the payload. */
u32 sim_values_dissent(const struct sim_group *g, struct collsock_post *post)
{
	struct collsock_post barrier = { .size = sizeof(barrier), .operation = COLLSOCK_BARRIER };

	if (post->operation != COLLSOCK_BARRIER) {
		*post = barrier;
		return 0;
	}
	post->operation = COLLSOCK_ALLREDUCE;
	post->root = 0;
	post->algorithm = COLLSOCK_AUTO;
	post->type = COLLSOCK_INT64;
	post->op = COLLSOCK_SUM;
	post->count = 1;
	return 8;
}

/* ---- expecting ---- */

static double as_double(u64 bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static u64 fold_double(u8 op, u64 left, u64 right)
{
	double l = as_double(left), r = as_double(right), value = l + r;
	u64 bits;

	if (op == COLLSOCK_MIN)
		value = l < r ? l : r;
	else if (op == COLLSOCK_MAX)
		value = l > r ? l : r;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static u64 fold_one(const struct collsock_post *post, u64 left, u64 right)
{
	bool less;

	if (post->type == COLLSOCK_DOUBLE)
		return fold_double(post->op, left, right);
	if (post->op == COLLSOCK_SUM)
		return left + right;
	less = post->type == COLLSOCK_INT64 ? (s64)left < (s64)right : left < right;
	return less == (post->op == COLLSOCK_MIN) ? left : right;
}

static bool known(const struct collsock_post *post)
{
	return post->type <= COLLSOCK_DOUBLE && post->op <= COLLSOCK_MAX;
}

static void fold_rank(const struct sim_group *g, u32 number, u32 rank, u32 life, u8 *expected)
{
	const struct collsock_post *post = &g->ops[number].post;
	u64 payload[COLLSOCK_DEFAULT_SEGMENT / 8 + 1], left;
	u32 i, bytes = g->ops[number].bytes;

	sim_values_payload(&g->ranks[rank], number, life, payload);
	if (!rank || post->operation == COLLSOCK_BROADCAST) {
		memcpy(expected, payload, bytes);
		return;
	}
	if (!known(post)) {
		coll_reduce(expected, expected, payload, post->count, post->type, post->op);
		return;
	}
	for (i = 0; i < post->count; i++) {
		memcpy(&left, expected + 8 * i, sizeof(left));
		left = fold_one(post, left, payload[i]);
		memcpy(expected + 8 * i, &left, sizeof(left));
	}
}

/* @life: of the ranks whose host has restarted. */
static void expect(struct sim_group *g, u32 number, u32 life)
{
	struct sim_op *op = &g->ops[number];
	u32 rank;

	if (!op->expected)
		op->expected = malloc(op->bytes + 8);
	op->life = life;
	for (rank = 0; rank < g->hosts; rank++)
		if (sim_values_contributes(op, rank))
			fold_rank(g, number, rank, g->ranks[rank].restarted ? life : 0,
				  op->expected);
}

/*
 * A host that restarted may take part in its new life if nobody has heard of the
 * old one; but all ranks must have the same result.
 */
bool sim_values_right(struct sim_rank *r, u32 number, const void *result)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	bool right;

	if (!op->bytes)
		return true;
	if (!op->expected)
		expect(g, number, 0);
	right = !memcmp(op->expected, result, op->bytes);
	/* Whom a root had not spoken to in its first life believes the second. */
	if (op->post.operation == COLLSOCK_BROADCAST && !right)
		op->agreed = 0;
	if (!right && !op->agreed) {
		expect(g, number, !op->life);
		right = !memcmp(op->expected, result, op->bytes);
	}
	if (right)
		op->agreed |= 1ULL << r->member->index;
	return right;
}
