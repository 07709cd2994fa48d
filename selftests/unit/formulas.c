// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "formulas.h"

/* ---- building blocks ---- */

u32 floor_log2(u32 n)
{
	u32 log = 0;

	while (n >>= 1)
		log++;
	return log;
}

u32 ceil_log2(u32 n)
{
	u32 log = 0;

	while (1ULL << log < n)
		log++;
	return log;
}

/* The largest tree of depth d has 1 + k + … + k^d nodes. */
u32 least_depth(u32 nodes, u32 fanout)
{
	u64 level = 1, most = 1;
	u32 depth = 0;

	while (most < nodes) {
		level *= fanout;
		most += level;
		depth++;
	}
	return depth;
}

/* ---- dissemination ---- */

static u32 dissemination_rounds(const struct coll_shape *shape)
{
	return ceil_log2(shape->hosts);
}

/* Each host sends one message in each round. */
static u64 dissemination_messages(const struct coll_shape *shape)
{
	return (u64)shape->hosts * ceil_log2(shape->hosts);
}

/* ---- pairwise exchange ---- */

/* Hosts that do not take part in the exchange among a power of two */
static u32 pairwise_extra(const struct coll_shape *shape)
{
	return shape->hosts - (1U << floor_log2(shape->hosts));
}

static u32 pairwise_rounds(const struct coll_shape *shape)
{
	return floor_log2(shape->hosts) + (pairwise_extra(shape) ? 2 : 0);
}

/* Each partner sends one in each exchange; each other host sends one and receives one. */
static u64 pairwise_messages(const struct coll_shape *shape)
{
	u32 m = floor_log2(shape->hosts);

	return ((u64)m << m) + 2 * pairwise_extra(shape);
}

/* ---- trees ---- */

static u32 binomial_rounds(const struct coll_shape *shape)
{
	return ceil_log2(shape->hosts);
}

static u32 binomial_rounds_both(const struct coll_shape *shape)
{
	return 2 * binomial_rounds(shape);
}

static u32 kary_rounds(const struct coll_shape *shape)
{
	return least_depth(shape->hosts, shape->fanout);
}

static u32 kary_rounds_both(const struct coll_shape *shape)
{
	return 2 * kary_rounds(shape);
}

/* From each host but the root in a reduction, to each in a broadcast */
static u64 tree_messages(const struct coll_shape *shape)
{
	return shape->hosts - 1;
}

static u64 tree_messages_both(const struct coll_shape *shape)
{
	return 2 * tree_messages(shape);
}

/* ---- the table ---- */

struct formulas {
	u32	(*rounds)(const struct coll_shape *shape);
	u64	(*messages)(const struct coll_shape *shape);
};

static const struct formulas table[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS] = {
	[COLLSOCK_BARRIER] = {
		[COLLSOCK_DISSEMINATION]	= { dissemination_rounds, dissemination_messages },
		[COLLSOCK_PAIRWISE_EXCHANGE]	= { pairwise_rounds, pairwise_messages },
		[COLLSOCK_BINOMIAL]		= { binomial_rounds_both, tree_messages_both },
		[COLLSOCK_KARY]			= { kary_rounds_both, tree_messages_both },
	},
	[COLLSOCK_ALLREDUCE] = {
		[COLLSOCK_PAIRWISE_EXCHANGE]	= { pairwise_rounds, pairwise_messages },
		[COLLSOCK_BINOMIAL]		= { binomial_rounds_both, tree_messages_both },
		[COLLSOCK_KARY]			= { kary_rounds_both, tree_messages_both },
	},
	[COLLSOCK_REDUCE] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
		[COLLSOCK_KARY]			= { kary_rounds, tree_messages },
	},
	[COLLSOCK_BROADCAST] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
		[COLLSOCK_KARY]			= { kary_rounds, tree_messages },
	},
};

bool formulas_have(const struct coll_algorithm *a)
{
	const struct formulas *line = &table[a->operation][a->algorithm];

	return line->rounds && line->messages;
}

static const struct formulas *formulas_of(const struct coll_algorithm *a)
{
	if (formulas_have(a))
		return &table[a->operation][a->algorithm];
	fprintf(stderr, "%s of operation %u has no line in formulas.c\n", a->name, a->operation);
	abort();
}

u32 formulas_rounds(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	return formulas_of(a)->rounds(shape);
}

u64 formulas_messages(const struct coll_algorithm *a, const struct coll_shape *shape)
{
	return formulas_of(a)->messages(shape);
}
