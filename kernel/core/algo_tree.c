// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Trees: reduce to a root, broadcast from it, and one after the other, which is an
 * allreduce, or without data a barrier.
 *
 * Hosts are numbered from the root on: host h is node (h - root) mod n. In every tree the
 * nodes of a subtree are consecutive, its root first, so a node folds one range of nodes:
 * first its own contribution, then that of each subtree in order. The order depends on the
 * root alone.
 *
 * Binomial: the subtree of round k has 2^k nodes; in round k of a reduction node i, a
 * multiple of 2^(k+1), receives the fold of nodes i + 2^k ... i + 2^(k+1) - 1 from the
 * first of them. A broadcast is the reverse. ceil(log2 n) rounds. As in MPICH, on which the
 * application-bypass paper builds (§3).
 *
 * k-ary: a node has at most k children, k being the degree, whose subtrees differ in size
 * by one node at most. With k >= n - 1 it is flat. A node at depth d sends in round D - d of
 * a reduction, D being the depth of the tree, and in round d of a broadcast. This is the
 * hierarchical barrier of the SCI collectives library (§4.2).
 *
 * Rounds of a reduction or a broadcast: the depth of the tree, ceil(log2 n) of a binomial
 * tree; of a k-ary tree the least depth at which n nodes have at most k children each.
 * Messages: n - 1, in a reduction one from each host but the root, in a broadcast one to
 * each. Both in sequence take twice the rounds and twice the messages.
 */
#include "algorithm.h"

/* A tree under construction */
struct tree {
	struct coll_schedule	*s;
	u32			root;
	u32			node;	/* our number in the tree */
	u32			degree;
};

static int tree_start(struct tree *t, struct coll_schedule *s, const struct coll_shape *shape,
		      u32 degree)
{
	int err = coll_schedule_start(s, shape->hosts, shape->self);

	if (err)
		return err;
	if (shape->root >= shape->hosts)
		return -EINVAL;
	t->s = s;
	t->root = shape->root;
	t->node = (shape->self + shape->hosts - shape->root) % shape->hosts;
	t->degree = degree;
	return 0;
}

/* There are at most 2^16 hosts, so this does not overflow. */
static u32 tree_host(const struct tree *t, u32 node)
{
	return (node + t->root) % t->s->hosts;
}

/* Fold the next subtree onto what our node has so far. */
static int tree_take(struct tree *t, u32 child)
{
	return coll_schedule_fold(t->s, tree_host(t, child), 0, COLL_FOLD_RIGHT);
}

static int tree_hand(struct tree *t, u32 node)
{
	return coll_schedule_send(t->s, tree_host(t, node), 0);
}

static int tree_place(struct tree *t, u32 parent)
{
	return coll_schedule_fold(t->s, tree_host(t, parent), 0, COLL_PLACE);
}

/* ---- binomial ---- */

static u32 binomial_depth(u32 hosts)
{
	return hosts > 1 ? ilog2(hosts - 1) + 1 : 0;
}

/* Does our node take part in round k, and on which side of an edge? */
static bool binomial_upper(const struct tree *t, u32 k)
{
	return !(t->node & ((2U << k) - 1)) && t->node + (1U << k) < t->s->hosts;
}

static bool binomial_lower(const struct tree *t, u32 k)
{
	return (t->node & ((2U << k) - 1)) == 1U << k;
}

static int binomial_reduce(struct tree *t)
{
	u32 k, depth = binomial_depth(t->s->hosts);
	int err = 0;

	for (k = 0; !err && k < depth; k++) {
		err = coll_schedule_round(t->s);
		if (!err && binomial_lower(t, k))
			err = tree_hand(t, t->node - (1U << k));
		if (!err && binomial_upper(t, k))
			err = coll_schedule_combine(t->s, tree_host(t, t->node + (1U << k)), 0,
						    COLL_FOLD_RIGHT);
	}
	return err;
}

static int binomial_broadcast(struct tree *t)
{
	u32 k = binomial_depth(t->s->hosts);
	int err = 0;

	while (!err && k--) {
		err = coll_schedule_round(t->s);
		if (!err && binomial_upper(t, k))
			err = tree_hand(t, t->node + (1U << k));
		if (!err && binomial_lower(t, k))
			err = tree_place(t, t->node - (1U << k));
	}
	return err;
}

/* ---- k-ary ---- */

/* Depth of a tree of @nodes nodes: its deepest subtree is the largest one. */
static u32 kary_depth(u32 nodes, u32 degree)
{
	u32 depth = 0;

	for (; nodes > 1; nodes = (nodes - 1 + degree - 1) / degree)
		depth++;
	return depth;
}

/* A subtree: its root, the number of its nodes, and what is above it */
struct subtree {
	u32	node;
	u32	nodes;
	u32	parent;
	u32	siblings;	/* itself included */
	u32	depth;
};

/* The subtrees of @of differ in size by one at most, the larger ones first. */
static struct subtree kary_child(const struct subtree *of, u32 degree, u32 child)
{
	u32 rest = of->nodes - 1;
	u32 parts = min(degree, rest);
	u32 larger = rest % parts;

	return (struct subtree) {
		.node	= of->node + 1 + child * (rest / parts) + min(child, larger),
		.nodes	= rest / parts + (child < larger),
		.parent	= of->node,
		.siblings = parts,
		.depth	= of->depth + 1,
	};
}

static u32 kary_children(const struct subtree *of, u32 degree)
{
	return min(degree, of->nodes - 1);
}

/* The subtree whose root is our node. */
static struct subtree kary_find(const struct tree *t)
{
	struct subtree here = { .nodes = t->s->hosts };
	u32 child;

	while (here.node != t->node) {
		struct subtree next = {};

		for (child = 0; child < kary_children(&here, t->degree); child++) {
			next = kary_child(&here, t->degree, child);
			if (t->node < next.node + next.nodes)
				break;
		}
		here = next;
	}
	return here;
}

static int kary_gather(struct tree *t, const struct subtree *here)
{
	u32 children = kary_children(here, t->degree), child;
	int err = 0;

	if (children)
		err = coll_schedule_fold(t->s, t->s->self, 0, COLL_PLACE);
	for (child = 0; !err && child < children; child++)
		err = tree_take(t, kary_child(here, t->degree, child).node);
	return err;
}

static int kary_scatter(struct tree *t, const struct subtree *here)
{
	u32 children = kary_children(here, t->degree), child;
	int err = 0;

	for (child = 0; !err && child < children; child++)
		err = tree_hand(t, kary_child(here, t->degree, child).node);
	return err;
}

static int kary_hand_up(struct tree *t, const struct subtree *here)
{
	int err = tree_hand(t, here->parent);

	if (!err)
		coll_schedule_fan_in(t->s, here->siblings);
	return err;
}

static int kary_reduce(struct tree *t)
{
	struct subtree here = kary_find(t);
	u32 left = kary_depth(t->s->hosts, t->degree);
	int err = 0;

	/* Number of levels above those that send in this round */
	while (!err && left--) {
		err = coll_schedule_round(t->s);
		if (!err && here.depth == left + 1)
			err = kary_hand_up(t, &here);
		if (!err && here.depth == left)
			err = kary_gather(t, &here);
	}
	return err;
}

static int kary_broadcast(struct tree *t)
{
	struct subtree here = kary_find(t);
	u32 round, depth = kary_depth(t->s->hosts, t->degree);
	int err = 0;

	for (round = 0; !err && round < depth; round++) {
		err = coll_schedule_round(t->s);
		if (!err && here.depth == round)
			err = kary_scatter(t, &here);
		if (!err && here.depth == round + 1)
			err = tree_place(t, here.parent);
	}
	return err;
}

/* ---- the operations ---- */

static int tree_reduce(struct tree *t)
{
	return t->degree ? kary_reduce(t) : binomial_reduce(t);
}

static int tree_broadcast(struct tree *t)
{
	return t->degree ? kary_broadcast(t) : binomial_broadcast(t);
}

static int tree_build_reduce(struct coll_schedule *s, const struct coll_shape *shape, u32 degree)
{
	struct tree t;
	int err = tree_start(&t, s, shape, degree);

	return err ?: tree_reduce(&t);
}

static int tree_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape, u32 degree)
{
	struct tree t;
	int err = tree_start(&t, s, shape, degree);

	return err ?: tree_broadcast(&t);
}

/* A reduction, and a broadcast of its result. */
static int tree_build_both(struct coll_schedule *s, const struct coll_shape *shape, u32 degree)
{
	struct tree t;
	int err = tree_start(&t, s, shape, degree);

	if (err)
		return err;
	s->all_to_all = true;
	err = tree_reduce(&t);
	return err ?: tree_broadcast(&t);
}

/* The hosts at this distance before and after this one, whatever the root */
static void tree_add_peers(const struct coll_shape *shape, u32 distance, u64 *hosts)
{
	coll_hosts_add(hosts, (shape->self + distance) % shape->hosts);
	coll_hosts_add(hosts, (shape->self + shape->hosts - distance) % shape->hosts);
}

/* ---- registry: binomial trees ---- */

static int binomial_build_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return tree_build_reduce(s, shape, 0);
}

static int binomial_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	return tree_build_broadcast(s, shape, 0);
}

static int binomial_build_both(struct coll_schedule *s, const struct coll_shape *shape)
{
	return tree_build_both(s, shape, 0);
}

/* Whatever its node, a host exchanges with those 2^k nodes before and after it. */
static void binomial_peers(const struct coll_shape *shape, u64 *hosts)
{
	u32 distance;

	for (distance = 1; distance < shape->hosts; distance *= 2)
		tree_add_peers(shape, distance, hosts);
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

const struct coll_algorithm coll_binomial_barrier = {
	.name		= "binomial tree",
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_both,
};

const struct coll_algorithm coll_binomial_allreduce = {
	.name		= "binomial reduce and broadcast",
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_both,
};

const struct coll_algorithm coll_binomial_reduce = {
	.name		= "binomial reduce",
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_reduce,
	.peers		= binomial_peers,
	.room		= binomial_room_reduce,
};

const struct coll_algorithm coll_binomial_broadcast = {
	.name		= "binomial broadcast",
	.operation	= COLLSOCK_BROADCAST,
	.algorithm	= COLLSOCK_BINOMIAL,
	.build		= binomial_build_broadcast,
	.peers		= binomial_peers,
	.room		= binomial_room_broadcast,
};

/* ---- registry: k-ary trees, -EINVAL without a degree ---- */

static int kary_build_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return shape->degree ? tree_build_reduce(s, shape, shape->degree) : -EINVAL;
}

static int kary_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	return shape->degree ? tree_build_broadcast(s, shape, shape->degree) : -EINVAL;
}

static int kary_build_both(struct coll_schedule *s, const struct coll_shape *shape)
{
	return shape->degree ? tree_build_both(s, shape, shape->degree) : -EINVAL;
}

/* Parents and children of nodes whose subtrees have this size */
static void kary_add_peers(const struct coll_shape *shape, u32 nodes, u64 *hosts)
{
	const struct subtree tree = { .nodes = nodes };
	u32 child;

	for (child = 0; child < kary_children(&tree, shape->degree); child++)
		tree_add_peers(shape, kary_child(&tree, shape->degree, child).node, hosts);
}

/* Subtrees at the same depth differ in size by one node at most. */
static void kary_peers(const struct coll_shape *shape, u64 *hosts)
{
	u32 most = shape->hosts, least = most, nodes;

	while (most > 1) {
		for (nodes = max(least, 2U); nodes <= most; nodes++)
			kary_add_peers(shape, nodes, hosts);
		most = DIV_ROUND_UP(most - 1, shape->degree);
		least = max((least - 1) / shape->degree, 1U);
	}
}

static void kary_room_reduce(const struct coll_shape *shape, struct coll_room *room)
{
	u32 children = min(shape->degree, shape->hosts - 1);

	coll_room_grow(room, children ? 1 : 0, children ? 2 : 1, children ? 1 + children : 0);
}

static void kary_room_broadcast(const struct coll_shape *shape, struct coll_room *room)
{
	u32 children = min(shape->degree, shape->hosts - 1);

	coll_room_grow(room, children, children ? 2 : 1, children ? 1 : 0);
}

const struct coll_algorithm coll_kary_barrier = {
	.name		= "k-ary tree",
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_KARY,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_both,
};

const struct coll_algorithm coll_kary_allreduce = {
	.name		= "k-ary reduce and broadcast",
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_KARY,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_both,
};

const struct coll_algorithm coll_kary_reduce = {
	.name		= "k-ary reduce",
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_KARY,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_reduce,
	.peers		= kary_peers,
	.room		= kary_room_reduce,
};

const struct coll_algorithm coll_kary_broadcast = {
	.name		= "k-ary broadcast",
	.operation	= COLLSOCK_BROADCAST,
	.algorithm	= COLLSOCK_KARY,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_broadcast,
	.peers		= kary_peers,
	.room		= kary_room_broadcast,
};
