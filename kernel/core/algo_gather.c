// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Gather and scatter along a binomial tree: blocks move to the root, or from it. Nodes, rounds
 * and messages are those of a binomial reduction and broadcast (algo_tree.c): host h is node
 * (h - root) mod n, and the nodes of a subtree are consecutive, so its blocks are one range
 * of hosts modulo n.
 *
 * In round k of a gather node i, a multiple of 2^(k+1), receives the blocks of nodes i + 2^k
 * ... i + 2^(k+1) - 1, or those that there are, from the first of them. A scatter is the
 * reverse. ceil(log2 n) rounds, n - 1 messages: each host but the root sends, or receives, one.
 */
#include "algorithm.h"

/* A tree under construction */
struct gather {
	struct coll_schedule	*s;
	u32			root;
	u32			node;	/* our number in the tree */
};

static int gather_start(struct gather *t, struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_schedule_start_places(s, shape->hosts, shape->self);

	if (err)
		return err;
	if (shape->root >= shape->hosts)
		return -EINVAL;
	t->s = s;
	t->root = shape->root;
	t->node = (shape->self + shape->hosts - shape->root) % shape->hosts;
	return 0;
}

static u32 gather_depth(u32 hosts)
{
	return hosts > 1 ? ilog2(hosts - 1) + 1 : 0;
}

/* There are at most 2^16 hosts, so this does not overflow. */
static u32 gather_host(const struct gather *t, u32 node)
{
	return (node + t->root) % t->s->hosts;
}

/* Number of blocks of the subtree of round k whose root is @node */
static u32 gather_blocks(const struct gather *t, u32 node, u32 k)
{
	return min(1U << k, t->s->hosts - node);
}

/* Does our node take part in round k, and on which side of an edge? */
static bool gather_upper(const struct gather *t, u32 k)
{
	return !(t->node & ((2U << k) - 1)) && t->node + (1U << k) < t->s->hosts;
}

static bool gather_lower(const struct gather *t, u32 k)
{
	return (t->node & ((2U << k) - 1)) == 1U << k;
}

/* Send the blocks of the subtree of @node, which is ours or the other one. */
static int gather_send(struct gather *t, u32 to, u32 node, u32 k)
{
	return coll_schedule_send_blocks(t->s, gather_host(t, to), gather_host(t, node),
					 gather_blocks(t, node, k));
}

static int gather_place(struct gather *t, u32 from, u32 node, u32 k)
{
	return coll_schedule_place_blocks(t->s, gather_host(t, from), gather_host(t, node),
					  gather_blocks(t, node, k));
}

static int gather_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 k, depth = gather_depth(shape->hosts), node;
	struct gather t;
	int err = gather_start(&t, s, shape);

	for (k = 0; !err && k < depth; k++) {
		err = coll_schedule_round(s);
		node = t.node + (1U << k);
		if (!err && gather_lower(&t, k))
			err = gather_send(&t, t.node - (1U << k), t.node, k);
		if (!err && gather_upper(&t, k))
			err = gather_place(&t, node, node, k);
	}
	return err;
}

static int scatter_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 k = gather_depth(shape->hosts), node;
	struct gather t;
	int err = gather_start(&t, s, shape);

	while (!err && k--) {
		err = coll_schedule_round(s);
		node = t.node + (1U << k);
		if (!err && gather_upper(&t, k))
			err = gather_send(&t, node, node, k);
		if (!err && gather_lower(&t, k))
			err = gather_place(&t, t.node - (1U << k), t.node, k);
	}
	return err;
}

/* Whatever its node, a host exchanges with those 2^k nodes before and after it. */
static void gather_peers(const struct coll_shape *shape, u64 *hosts)
{
	u32 distance;

	for (distance = 1; distance < shape->hosts; distance *= 2) {
		coll_hosts_add(hosts, (shape->self + distance) % shape->hosts);
		coll_hosts_add(hosts, (shape->self + shape->hosts - distance) % shape->hosts);
	}
}

static void gather_room(const struct coll_shape *shape, struct coll_room *room)
{
	coll_room_grow(room, shape->hosts > 1 ? 1 : 0, 1, 0);
}

/* The root sends in each round. */
static void scatter_room(const struct coll_shape *shape, struct coll_room *room)
{
	coll_room_grow(room, gather_depth(shape->hosts), 1, 0);
}

const struct coll_algorithm coll_binomial_gather = {
	.name		= "binomial gather",
	.operation	= COLLSOCK_GATHER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= gather_build,
	.peers		= gather_peers,
	.room		= gather_room,
};

const struct coll_algorithm coll_binomial_scatter = {
	.name		= "binomial scatter",
	.operation	= COLLSOCK_SCATTER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= scatter_build,
	.peers		= gather_peers,
	.room		= scatter_room,
};
