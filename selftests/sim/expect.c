// SPDX-License-Identifier: GPL-2.0
/*
 * The expected result of an operation. The order of ranks and hosts matters only for rough
 * values.
 */
#include <stdlib.h>

#include "sim.h"

/**
 * struct expected - an operation
 * @group: its group
 * @op: the operation
 * @number: its number
 * @life: life of a restarted host whose contributions are used
 * @root: host from which hosts are counted,
 * @degree: of the algorithm, and
 * @parts: that follow a node of a tree at most, if the order matters
 */
struct expected {
	const struct sim_group	*group;
	const struct sim_op	*op;
	u32			number;
	u32			life;
	u32			root;
	u32			degree;
	u32			parts;
};

/*
 * Fold the contributions of @count ranks of a host: of the first ones, as many as the greatest
 * power of two below @count, and of the others. Returns the rank after them.
 */
static const struct sim_rank *fold_ranks(const struct expected *x, const struct sim_rank *r,
					 u32 count, u8 *result)
{
	u8 operand[SIM_MAX_BYTES];
	u32 first = 1;

	if (count == 1) {
		sim_values_payload(r, x->number, r->restarted ? x->life : 0, result);
		return r->sibling;
	}
	while (2 * first < count)
		first *= 2;
	r = fold_ranks(x, r, first, result);
	r = fold_ranks(x, r, count - first, operand);
	sim_values_fold(x->op, result, result, operand);
	return r;
}

/* Fold the contributions of a host to the operation: of all its ranks, or of the root. */
static void fold_host(const struct expected *x, u32 host, u8 *result)
{
	const struct sim_rank *r = x->group->lowest[host], *each;
	u32 count = 0;

	while (!sim_values_contributes(x->op, r->number))
		r = r->sibling;
	for (each = r; each; each = each->sibling)
		count += sim_values_contributes(x->op, each->number);
	fold_ranks(x, r, count, result);
}

/* ---- operations whose order does not matter ---- */

/* The blocks of all ranks, in their order */
static void expect_blocks(const struct expected *x, u8 *result)
{
	u32 rank;

	for (rank = 0; rank < x->group->size; rank++) {
		const struct sim_rank *r = &x->group->ranks[rank];
		u32 block = sim_values_contributed(x->op, rank);

		sim_values_payload(r, x->number, r->restarted ? x->life : 0,
				   result + rank * block);
	}
}

static void expect_exact(const struct expected *x, u8 *result)
{
	const struct collsock_post *post = &x->op->post;
	u8 payload[SIM_MAX_BYTES];
	u32 host;

	if (post->operation == COLLSOCK_ALLGATHER || post->operation == COLLSOCK_GATHER) {
		expect_blocks(x, result);
		return;
	}
	if (!coll_operations[post->operation].reduces) {
		fold_host(x, x->group->ranks[post->root].member->index, result);
		return;
	}
	fold_host(x, 0, result);
	for (host = 1; host < x->group->hosts; host++) {
		fold_host(x, host, payload);
		sim_values_fold(x->op, result, result, payload);
	}
}

/* ---- operations whose order matters ---- */

/*
 * The orders of Documentation/reductions.md. Hosts are counted from the root;
 * consecutive ones are folded into one value, the lower ones on the left.
 */
static void fold_node(const struct expected *x, u32 node, u8 *result)
{
	fold_host(x, (node + x->root) % x->group->hosts, result);
}

/* The first node is followed by parts of 1, 2, 4... nodes; the last part has the rest. */
static void fold_binomial(const struct expected *x, u32 node, u32 nodes, u8 *result)
{
	u8 operand[SIM_MAX_BYTES];
	u32 size;

	fold_node(x, node, result);
	for (size = 1; size < nodes; size *= 2) {
		fold_binomial(x, node + size, min(size, nodes - size), operand);
		sim_values_fold(x->op, result, result, operand);
	}
}

/* Parts that follow a node at most, if there are enough nodes; 0: it is no tree of such parts */
static u32 parts_of_tree(u8 algorithm, u32 degree, u32 hosts)
{
	switch (algorithm) {
	case COLLSOCK_KARY:
		return degree;
	case COLLSOCK_FLAT:
		return hosts;
	case COLLSOCK_MCS:
		return 4;
	default:
		return 0;
	}
}

/* The first node is followed by that many parts, the larger ones first. */
static void fold_parts(const struct expected *x, u32 node, u32 nodes, u8 *result)
{
	u8 operand[SIM_MAX_BYTES];
	u32 part, parts = min(nodes - 1, x->parts);

	fold_node(x, node++, result);
	for (nodes--; parts; parts--) {
		part = DIV_ROUND_UP(nodes, parts);
		fold_parts(x, node, part, operand);
		sim_values_fold(x->op, result, result, operand);
		node += part;
		nodes -= part;
	}
}

/*
 * Sets of partners, each of as many parts as the degree. A partner has the hosts of a run: of
 * all hosts as many runs as partners are made, the longer ones first.
 */
static void fold_partners(const struct expected *x, u32 first, u32 count, u32 partners,
			  u8 *result)
{
	u32 hosts = x->group->hosts, least = hosts / partners, longer = hosts % partners;
	u32 part, parts = count > 1 ? x->degree : least + (first < longer);
	u8 operand[SIM_MAX_BYTES];

	for (part = 0; part < parts; part++) {
		u8 *value = part ? operand : result;

		if (count > 1)
			fold_partners(x, first + part * (count / parts), count / parts, partners,
				      value);
		else
			fold_node(x, first * least + min(first, longer) + part, value);
		if (part)
			sim_values_fold(x->op, result, result, operand);
	}
}

static void fold_exchange(struct expected *x, u8 *result)
{
	u32 hosts = x->group->hosts, partners = 1;

	/* Halving folds each block like the pairwise exchange. */
	x->degree = x->degree ? min(x->degree, max(hosts, 2U)) : 2;
	while (partners * x->degree <= hosts)
		partners *= x->degree;
	fold_partners(x, 0, partners, partners, result);
}

/* Operations whose order is not known here have only exact values. */
bool sim_expect_order_known(u8 algorithm)
{
	return algorithm == COLLSOCK_BINOMIAL || algorithm == COLLSOCK_EXCHANGE ||
	       algorithm == COLLSOCK_HALVING || algorithm == COLLSOCK_HILLIS_STEELE ||
	       parts_of_tree(algorithm, 1, 1);
}

static void expect_rough(struct expected *x, u8 *result)
{
	const struct collsock_post *post = &x->op->post;
	struct coll_choice choice = sim_values_choice(x->group, post);

	if (coll_operations[post->operation].rooted)
		x->root = x->group->host_of_rank[post->root];
	x->degree = choice.degree;
	x->parts = parts_of_tree(choice.algorithm, choice.degree, x->group->hosts);
	if (choice.algorithm == COLLSOCK_BINOMIAL)
		fold_binomial(x, 0, x->group->hosts, result);
	else if (x->parts)
		fold_parts(x, 0, x->group->hosts, result);
	else
		fold_exchange(x, result);
}

/* ---- prefixes ---- */

/* Fold the contributions of ranks of one host in a row. */
static void fold_row(const struct expected *x, u32 first, u32 count, u8 *result)
{
	const struct sim_rank *r = &x->group->ranks[first];
	u8 operand[SIM_MAX_BYTES];
	u32 i;

	for (i = 0; i < count; i++) {
		sim_values_payload(&r[i], x->number, r[i].restarted ? x->life : 0,
				   i ? operand : result);
		if (i)
			sim_values_fold(x->op, result, result, operand);
	}
}

static u32 ranks_of(const struct expected *x, u32 host)
{
	const struct sim_rank *r;
	u32 count = 0;

	for (r = x->group->lowest[host]; r; r = r->sibling)
		count++;
	return count;
}

/* What a host has folded before the round of this distance, after which it has twice as many */
static void fold_ending(const struct expected *x, u32 host, u32 distance, u8 *result)
{
	u32 half = distance / 2;
	u8 operand[SIM_MAX_BYTES];

	if (distance == 1) {
		fold_row(x, x->group->lowest[host]->number, ranks_of(x, host), result);
	} else if (host < half) {
		fold_ending(x, host, half, result);
	} else {
		fold_ending(x, host - half, half, result);
		fold_ending(x, host, half, operand);
		sim_values_fold(x->op, result, result, operand);
	}
}

/* What a host that is not the first one receives, the hosts of the last round first */
static void fold_below(const struct expected *x, u32 host, u8 *result)
{
	u8 operand[SIM_MAX_BYTES];
	u32 distance = 1;

	while (2 * distance <= host)
		distance *= 2;
	fold_ending(x, host - distance, distance, result);
	while ((distance /= 2)) {
		fold_ending(x, host - distance, distance, operand);
		sim_values_fold(x->op, result, result, operand);
	}
}

static void expect_prefix(const struct expected *x, u32 rank, u8 *result)
{
	u32 host = x->group->host_of_rank[rank], first = x->group->lowest[host]->number;
	u32 own = rank - first + (x->op->post.operation == COLLSOCK_SCAN);
	u8 operand[SIM_MAX_BYTES];

	if (own == ranks_of(x, host)) {
		fold_ending(x, host, 2 * SIM_MAX_HOSTS, result);
		return;
	}
	if (host)
		fold_below(x, host, result);
	if (!own)
		return;
	fold_row(x, first, own, host ? operand : result);
	if (host)
		sim_values_fold(x->op, result, result, operand);
}

static void expect_prefixes(const struct expected *x, u8 *results)
{
	u32 rank;

	for (rank = 0; rank < x->group->size; rank++)
		expect_prefix(x, rank, results + rank * x->op->bytes);
}

/* ---- comparing ---- */

/* @life: of the ranks whose host has restarted. */
static void expect(struct sim_group *g, u64 number, u32 life)
{
	struct sim_op *op = &g->ops[number];
	struct expected x = { .group = g, .op = op, .number = number, .life = life };

	if (!op->expected)
		op->expected = malloc(op->bytes * (sim_values_prefix(op) ? g->size : 1));
	op->life = life;
	if (sim_values_prefix(op))
		expect_prefixes(&x, op->expected);
	else if (op->rough)
		expect_rough(&x, op->expected);
	else
		expect_exact(&x, op->expected);
}

/*
 * Does it follow from a part of the result from which life of the restarted host it is? The
 * block of one rank may be the same in both, and so may its prefix.
 */
static bool expect_differs(struct sim_group *g, u64 number, u32 first, u32 bytes)
{
	struct sim_op *op = &g->ops[number];
	u8 part[SIM_MAX_BYTES];
	bool differs;

	if ((bytes == op->bytes && !sim_values_prefix(op)) || !(g->sim->trouble & SIM_RESTART))
		return true;
	memcpy(part, op->expected + first, bytes);
	expect(g, number, !op->life);
	differs = memcmp(part, op->expected + first, bytes);
	expect(g, number, !op->life);
	return differs;
}

/*
 * Does what a host contributes go to several others, not by way of one of them? Then one that
 * had received nothing from its first life accepts the second, which others do not
 * (Documentation/failure.md).
 */
static bool expect_of_either_life(struct sim_group *g, const struct sim_op *op)
{
	struct coll_choice choice = sim_values_choice(g, &op->post);

	return !coll_operations[op->post.operation].reduces || sim_values_prefix(op) ||
	       (choice.algorithm == COLLSOCK_EXCHANGE && choice.degree > 2);
}

/*
 * A restarted host may take part in its new life if no host has heard from the old one; but
 * all ranks must have the same result.
 */
bool sim_expect_right(struct sim_rank *r, u64 number, const void *result)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	u32 bytes = sim_values_received(op, r->number);
	u32 first = sim_values_prefix(op) || bytes < op->bytes ? r->number * bytes : 0;
	bool right;

	if (!op->bytes)
		return true;
	if (!op->expected)
		expect(g, number, 0);
	/* The first rank of an exscan has no result. */
	right = !bytes || !memcmp(op->expected + first, result, bytes);
	if (!right && expect_of_either_life(g, op))
		op->agreed = 0;
	if (!right && !op->agreed) {
		expect(g, number, !op->life);
		right = !memcmp(op->expected + first, result, bytes);
	}
	if (right && expect_differs(g, number, first, bytes))
		op->agreed |= 1ULL << r->number;
	return right;
}
