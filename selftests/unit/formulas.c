// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "formulas.h"
#include "names.h"

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

u32 floor_log(u32 n, u32 base)
{
	u32 log = 0;

	while (n /= base)
		log++;
	return log;
}

static u64 power(u32 base, u32 exponent)
{
	u64 power = 1;

	while (exponent--)
		power *= base;
	return power;
}

u32 ceil_log(u32 n, u32 base)
{
	u32 log = floor_log(n, base);

	return log + (power(base, log) < n);
}

/* The largest tree of depth d has 1 + k + … + k^d nodes. */
u32 least_depth(u32 nodes, u32 degree)
{
	u64 level = 1, most = 1;
	u32 depth = 0;

	while (most < nodes) {
		level *= degree;
		most += level;
		depth++;
	}
	return depth;
}

/* ---- dissemination ---- */

static u32 dissemination_rounds(const struct coll_shape *shape)
{
	return ceil_log(shape->hosts, shape->degree);
}

/* k - 1 in each round but the last, where hosts further away than all are left out. */
u32 formulas_dissemination_work(const struct coll_shape *shape)
{
	u32 rounds = dissemination_rounds(shape);
	u64 known;

	if (!rounds)
		return 0;
	known = power(shape->degree, rounds - 1);
	return (rounds - 1) * (shape->degree - 1) + (shape->hosts + known - 1) / known - 1;
}

/* Each host sends as many messages as it receives. */
static u64 dissemination_messages(const struct coll_shape *shape)
{
	return (u64)shape->hosts * formulas_dissemination_work(shape);
}

/* ---- exchange ---- */

/* All hosts exchange with all if there are no more than the degree. */
static u32 exchange_degree(const struct coll_shape *shape)
{
	return shape->hosts >= 2 && shape->hosts < shape->degree ? shape->hosts : shape->degree;
}

/* Exchanges among the largest power of the degree */
static u32 exchange_exchanges(const struct coll_shape *shape)
{
	return floor_log(shape->hosts, exchange_degree(shape));
}

static u64 exchange_partners(const struct coll_shape *shape)
{
	return power(exchange_degree(shape), exchange_exchanges(shape));
}

static u32 exchange_rounds(const struct coll_shape *shape)
{
	return exchange_exchanges(shape) + (shape->hosts > exchange_partners(shape) ? 2 : 0);
}

/* Each partner sends k - 1 in each exchange; each other host sends one and receives one. */
static u64 exchange_messages(const struct coll_shape *shape)
{
	u64 partners = exchange_partners(shape);

	return partners * exchange_exchanges(shape) * (exchange_degree(shape) - 1) +
	       2 * (shape->hosts - partners);
}

/* The partner to which most others hand in */
u32 formulas_exchange_work(const struct coll_shape *shape)
{
	u64 partners = exchange_partners(shape);

	return (shape->hosts + partners - 1) / partners - 1 +
	       exchange_exchanges(shape) * (exchange_degree(shape) - 1);
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
	return least_depth(shape->hosts, shape->degree);
}

static u32 kary_rounds_both(const struct coll_shape *shape)
{
	return 2 * kary_rounds(shape);
}

static u32 flat_rounds(const struct coll_shape *shape)
{
	return shape->hosts > 1;
}

static u32 flat_rounds_both(const struct coll_shape *shape)
{
	return 2 * flat_rounds(shape);
}

/* 4 children up, 2 down */
static u32 mcs_rounds(const struct coll_shape *shape)
{
	return least_depth(shape->hosts, 4) + least_depth(shape->hosts, 2);
}

/*
 * The root has the most children. If there is another way as well, its first child has the
 * root besides, and among n - 1 nodes in as many subtrees that are as equal as possible its
 * own is the largest.
 */
u32 formulas_tree_work(u32 hosts, u32 fan)
{
	u32 children = min(fan, hosts - 1), below;

	if (!children)
		return 0;
	below = (hosts - 1 + children - 1) / children - 1;
	return max(children, 1 + min(fan, below));
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

/* ---- prefixes ---- */

/* The last one folds the messages, without one of its own. */
static u32 prefix_rounds(const struct coll_shape *shape)
{
	return shape->hosts > 1 ? ceil_log2(shape->hosts) + 1 : 0;
}

/* In round k from each host that has another one 2^k further */
static u64 prefix_messages(const struct coll_shape *shape)
{
	u32 rounds = ceil_log2(shape->hosts);

	return (u64)shape->hosts * rounds - (power(2, rounds) - 1);
}

/* ---- halving ---- */

/* A schedule has at most 32768 blocks. */
static u32 halving_exchanges(const struct coll_shape *shape)
{
	return min(floor_log2(shape->hosts), 15U);
}

static u32 halving_rounds(const struct coll_shape *shape)
{
	return 2 * halving_exchanges(shape) +
	       (shape->hosts > 1U << halving_exchanges(shape) ? 2 : 0);
}

static u64 halving_messages(const struct coll_shape *shape)
{
	u64 partners = 1ULL << halving_exchanges(shape);

	return partners * 2 * halving_exchanges(shape) + 2 * (shape->hosts - partners);
}

/* ---- the table ---- */

struct formulas {
	u32	(*rounds)(const struct coll_shape *shape);
	u64	(*messages)(const struct coll_shape *shape);
};

static const struct formulas table[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS] = {
	[COLLSOCK_BARRIER] = {
		[COLLSOCK_DISSEMINATION]	= { dissemination_rounds, dissemination_messages },
		[COLLSOCK_EXCHANGE]		= { exchange_rounds, exchange_messages },
		[COLLSOCK_BINOMIAL]		= { binomial_rounds_both, tree_messages_both },
		[COLLSOCK_KARY]			= { kary_rounds_both, tree_messages_both },
		[COLLSOCK_FLAT]			= { flat_rounds_both, tree_messages_both },
		[COLLSOCK_MCS]			= { mcs_rounds, tree_messages_both },
	},
	[COLLSOCK_ALLREDUCE] = {
		[COLLSOCK_EXCHANGE]		= { exchange_rounds, exchange_messages },
		[COLLSOCK_BINOMIAL]		= { binomial_rounds_both, tree_messages_both },
		[COLLSOCK_KARY]			= { kary_rounds_both, tree_messages_both },
		[COLLSOCK_FLAT]			= { flat_rounds_both, tree_messages_both },
		[COLLSOCK_MCS]			= { mcs_rounds, tree_messages_both },
		[COLLSOCK_HALVING]		= { halving_rounds, halving_messages },
	},
	[COLLSOCK_REDUCE] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
		[COLLSOCK_KARY]			= { kary_rounds, tree_messages },
		[COLLSOCK_FLAT]			= { flat_rounds, tree_messages },
	},
	[COLLSOCK_BROADCAST] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
		[COLLSOCK_KARY]			= { kary_rounds, tree_messages },
		[COLLSOCK_FLAT]			= { flat_rounds, tree_messages },
	},
	[COLLSOCK_ALLGATHER] = {
		[COLLSOCK_DISSEMINATION]	= { dissemination_rounds, dissemination_messages },
	},
	[COLLSOCK_GATHER] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
	},
	[COLLSOCK_SCATTER] = {
		[COLLSOCK_BINOMIAL]		= { binomial_rounds, tree_messages },
	},
	[COLLSOCK_SCAN] = {
		[COLLSOCK_HILLIS_STEELE]	= { prefix_rounds, prefix_messages },
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
	fprintf(stderr, "%s by %s has no line in formulas.c\n", operation_name(a->operation),
		algorithm_name(a));
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
