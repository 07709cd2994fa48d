// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Binomial trees: the subtree of round k has 2^k nodes; in round k of a reduction node i, a
 * multiple of 2^(k+1), receives the fold of nodes i + 2^k ... i + 2^(k+1) - 1 from the
 * first of them. A broadcast is the reverse. As in MPICH, on which the application-bypass
 * paper builds (§3).
 *
 * A gather moves the blocks of a subtree in the same way towards the root, a scatter from it.
 * The nodes of a subtree are consecutive, so these are one range of hosts modulo n.
 *
 * Rounds of each: ceil(log2 n). Messages: n - 1. A reduction and a broadcast in sequence take
 * twice the rounds and twice the messages.
 */
#include "algorithm.h"
#include "tree.h"

static u32 binomial_depth(u32 hosts)
{
	return hosts > 1 ? ilog2(hosts - 1) + 1 : 0;
}

/* Does our node take part in round k, and on which side of an edge? */
static bool binomial_upper(const struct coll_tree *t, u32 k)
{
	return !(t->node & ((2U << k) - 1)) && t->node + (1U << k) < t->s->hosts;
}

static bool binomial_lower(const struct coll_tree *t, u32 k)
{
	return (t->node & ((2U << k) - 1)) == 1U << k;
}

static int binomial_reduce(struct coll_tree *t)
{
	u32 k, depth = binomial_depth(t->s->hosts);
	int err = 0;

	for (k = 0; !err && k < depth; k++) {
		err = coll_schedule_round(t->s);
		if (!err && binomial_lower(t, k))
			err = coll_tree_send(t, t->node - (1U << k));
		if (!err && binomial_upper(t, k))
			err = coll_schedule_combine(t->s, coll_tree_host(t, t->node + (1U << k)), 0,
						    COLL_FOLD_RIGHT);
	}
	return err;
}

static int binomial_broadcast(struct coll_tree *t)
{
	u32 k = binomial_depth(t->s->hosts);
	int err = 0;

	coll_schedule_down(t->s, t->root);
	while (!err && k--) {
		err = coll_schedule_round(t->s);
		if (!err && binomial_upper(t, k))
			err = coll_tree_send(t, t->node + (1U << k));
		if (!err && binomial_lower(t, k))
			err = coll_tree_place(t, t->node - (1U << k));
	}
	return err;
}

/* The blocks of the subtree of round k whose root is @node */
static u32 binomial_blocks(const struct coll_tree *t, u32 node, u32 k)
{
	return min(1U << k, t->s->hosts - node);
}

/* Send the blocks of the subtree of @node, which is ours or the other one. */
static int binomial_send_blocks(struct coll_tree *t, u32 to, u32 node, u32 k)
{
	return coll_schedule_send_blocks(t->s, coll_tree_host(t, to), coll_tree_host(t, node),
					 binomial_blocks(t, node, k));
}

static int binomial_place_blocks(struct coll_tree *t, u32 from, u32 node, u32 k)
{
	return coll_schedule_fold_blocks(t->s, coll_tree_host(t, from), coll_tree_host(t, node),
					 binomial_blocks(t, node, k), COLL_PLACE);
}

static int binomial_gather(struct coll_tree *t)
{
	u32 k, depth = binomial_depth(t->s->hosts);
	int err = 0;

	for (k = 0; !err && k < depth; k++) {
		u32 other = t->node + (1U << k);

		err = coll_schedule_round(t->s);
		if (!err && binomial_lower(t, k))
			err = binomial_send_blocks(t, t->node - (1U << k), t->node, k);
		if (!err && binomial_upper(t, k))
			err = binomial_place_blocks(t, other, other, k);
	}
	return err;
}

static int binomial_scatter(struct coll_tree *t)
{
	u32 k = binomial_depth(t->s->hosts);
	int err = 0;

	while (!err && k--) {
		u32 other = t->node + (1U << k);

		err = coll_schedule_round(t->s);
		if (!err && binomial_upper(t, k))
			err = binomial_send_blocks(t, other, other, k);
		if (!err && binomial_lower(t, k))
			err = binomial_place_blocks(t, t->node - (1U << k), t->node, k);
	}
	return err;
}

static int binomial_build_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_tree t;
	int err = coll_tree_start(&t, s, shape);

	return err ?: binomial_reduce(&t);
}

static int binomial_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_tree t;
	int err = coll_tree_start(&t, s, shape);

	return err ?: binomial_broadcast(&t);
}

/* A reduction, and a broadcast of its result. */
static int binomial_build_both(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_tree t;
	int err = coll_tree_start(&t, s, shape);

	if (err)
		return err;
	s->synchronising = true;
	err = binomial_reduce(&t);
	return err ?: binomial_broadcast(&t);
}

static int binomial_build_gather(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_tree t;
	int err = coll_tree_start_places(&t, s, shape);

	return err ?: binomial_gather(&t);
}

static int binomial_build_scatter(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_tree t;
	int err = coll_tree_start_places(&t, s, shape);

	return err ?: binomial_scatter(&t);
}

/*
 * Add the hosts at distances 2^k before and after this one. Whatever its node, it exchanges with no
 * others.
 */
static void binomial_peers(const struct coll_shape *shape, u64 *hosts)
{
	u32 distance;

	for (distance = 1; distance < shape->hosts; distance *= 2)
		coll_tree_peers_at(shape, distance, hosts);
}

/* The root has a child in each round. */
static void binomial_room_reduce(const struct coll_shape *shape, struct coll_room *room)
{
	u32 depth = binomial_depth(shape->hosts);

	coll_room_grow(room, depth ? 1 : 0, 1 + depth, 2 * depth);
}

/* The root sends in each round; the others receive one message. */
static void binomial_room_broadcast(const struct coll_shape *shape, struct coll_room *room)
{
	u32 depth = binomial_depth(shape->hosts);

	coll_room_grow(room, depth, depth ? 2 : 1, depth ? 1 : 0);
}

static void binomial_room_gather(const struct coll_shape *shape, struct coll_room *room)
{
	coll_room_grow(room, shape->hosts > 1 ? 1 : 0, 1, 0);
}

/* The root sends in each round. */
static void binomial_room_scatter(const struct coll_shape *shape, struct coll_room *room)
{
	coll_room_grow(room, binomial_depth(shape->hosts), 1, 0);
}

const struct coll_algorithm coll_binomial_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_both,
};

const struct coll_algorithm coll_binomial_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_both,
};

const struct coll_algorithm coll_binomial_reduce = {
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_reduce,
	.peers		= binomial_peers,
	.room		= binomial_room_reduce,
};

const struct coll_algorithm coll_binomial_broadcast = {
	.operation	= COLLSOCK_BROADCAST,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_broadcast,
	.peers		= binomial_peers,
	.room		= binomial_room_broadcast,
};

const struct coll_algorithm coll_binomial_gather = {
	.operation	= COLLSOCK_GATHER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_gather,
	.peers		= binomial_peers,
	.room		= binomial_room_gather,
};

const struct coll_algorithm coll_binomial_scatter = {
	.operation	= COLLSOCK_SCATTER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_scatter,
	.peers		= binomial_peers,
	.room		= binomial_room_scatter,
};
