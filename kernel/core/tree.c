// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "tree.h"

/* The schedule is started. */
static int tree_init(struct coll_tree *t, struct coll_schedule *s, const struct coll_shape *shape)
{
	if (shape->root >= shape->hosts)
		return -EINVAL;
	t->s = s;
	t->root = shape->root;
	t->node = (shape->self + shape->hosts - shape->root) % shape->hosts;
	return 0;
}

/**
 * coll_tree_start() - start a schedule that is part of a tree
 * @t: out
 * @s: the schedule; overwritten
 * @shape: its shape
 *
 * Return: 0, or -EINVAL if there is no such group, host or root.
 */
int coll_tree_start(struct coll_tree *t, struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_schedule_start(s, shape->hosts, shape->self) ?: tree_init(t, s, shape);
}

/**
 * coll_tree_start_places() - start a place-only schedule that is part of a tree
 * @t: out
 * @s: the schedule; overwritten
 * @shape: its shape
 *
 * Return: as coll_tree_start().
 */
int coll_tree_start_places(struct coll_tree *t, struct coll_schedule *s,
			   const struct coll_shape *shape)
{
	return coll_schedule_start_places(s, shape->hosts, shape->self) ?: tree_init(t, s, shape);
}

/**
 * coll_tree_send() - the current round sends to a node
 * @t: a started tree
 * @node: number of the other node
 *
 * Return: as coll_schedule_send().
 */
int coll_tree_send(struct coll_tree *t, u32 node)
{
	return coll_schedule_send(t->s, coll_tree_host(t, node), 0);
}

/**
 * coll_tree_place() - the current round receives what the parent has
 * @t: a started tree
 * @parent: number of the parent
 *
 * Return: as coll_schedule_fold().
 */
int coll_tree_place(struct coll_tree *t, u32 parent)
{
	return coll_schedule_down_place(t->s, coll_tree_host(t, parent));
}

/* Fold the next subtree onto what our node has so far. */
static int tree_take(struct coll_tree *t, u32 child)
{
	return coll_schedule_fold(t->s, coll_tree_host(t, child), 0, COLL_FOLD_RIGHT);
}

/* ---- subtrees ---- */

/* Depth of a tree of @nodes nodes: its deepest subtree is the largest one. */
static u32 tree_depth(u32 nodes, u32 fan)
{
	u32 depth = 0;

	for (; nodes > 1; nodes = (nodes - 1 + fan - 1) / fan)
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
static struct subtree tree_child(const struct subtree *of, u32 fan, u32 child)
{
	u32 rest = of->nodes - 1;
	u32 parts = min(fan, rest);
	u32 larger = rest % parts;

	return (struct subtree) {
		.node	= of->node + 1 + child * (rest / parts) + min(child, larger),
		.nodes	= rest / parts + (child < larger),
		.parent	= of->node,
		.siblings = parts,
		.depth	= of->depth + 1,
	};
}

static u32 tree_children(const struct subtree *of, u32 fan)
{
	return min(fan, of->nodes - 1);
}

/* The subtree whose root is our node. */
static struct subtree tree_find(const struct coll_tree *t, u32 fan)
{
	struct subtree here = { .nodes = t->s->hosts };
	u32 child;

	while (here.node != t->node) {
		struct subtree next = {};

		for (child = 0; child < tree_children(&here, fan); child++) {
			next = tree_child(&here, fan, child);
			if (t->node < next.node + next.nodes)
				break;
		}
		here = next;
	}
	return here;
}

/* ---- up ---- */

static int tree_gather(struct coll_tree *t, const struct subtree *here, u32 fan)
{
	u32 children = tree_children(here, fan), child;
	int err = 0;

	if (children)
		err = coll_schedule_fold(t->s, t->s->self, 0, COLL_PLACE);
	for (child = 0; !err && child < children; child++)
		err = tree_take(t, tree_child(here, fan, child).node);
	return err;
}

static int tree_hand_up(struct coll_tree *t, const struct subtree *here)
{
	int err = coll_tree_send(t, here->parent);

	if (!err)
		coll_schedule_fan_in(t->s, here->siblings);
	return err;
}

static int tree_reduce(struct coll_tree *t, u32 fan)
{
	struct subtree here = tree_find(t, fan);
	u32 left = tree_depth(t->s->hosts, fan);
	int err = 0;

	/* Number of levels above those that send in this round */
	while (!err && left--) {
		err = coll_schedule_round(t->s);
		if (!err && here.depth == left + 1)
			err = tree_hand_up(t, &here);
		if (!err && here.depth == left)
			err = tree_gather(t, &here, fan);
	}
	return err;
}

/* ---- down ---- */

static int tree_scatter(struct coll_tree *t, const struct subtree *here, u32 fan)
{
	u32 children = tree_children(here, fan), child;
	int err = 0;

	for (child = 0; !err && child < children; child++)
		err = coll_tree_send(t, tree_child(here, fan, child).node);
	return err;
}

static int tree_broadcast(struct coll_tree *t, u32 fan)
{
	struct subtree here = tree_find(t, fan);
	u32 round, depth = tree_depth(t->s->hosts, fan);
	int err = 0;

	coll_schedule_down(t->s, t->root);
	for (round = 0; !err && round < depth; round++) {
		err = coll_schedule_round(t->s);
		if (!err && here.depth == round)
			err = tree_scatter(t, &here, fan);
		if (!err && here.depth == round + 1)
			err = coll_tree_place(t, here.parent);
	}
	return err;
}

/**
 * coll_tree_build() - the schedule of tree(f_in, f_out)
 * @s: the schedule; overwritten
 * @shape: its shape; the degree plays no part
 * @fan_in: most children of a node on the way up; 0: there is no reduction
 * @fan_out: most children of a node on the way down; 0: there is no broadcast
 *
 * Return: 0; -EINVAL if the shape is invalid or both fans are 0; -E2BIG if the tree is too deep or
 * too broad.
 */
int coll_tree_build(struct coll_schedule *s, const struct coll_shape *shape, u32 fan_in,
		    u32 fan_out)
{
	struct coll_tree t;
	int err = coll_tree_start(&t, s, shape);

	if (err || (!fan_in && !fan_out))
		return err ?: -EINVAL;
	s->synchronising = fan_in && fan_out;
	if (fan_in)
		err = tree_reduce(&t, fan_in);
	if (!err && fan_out)
		err = tree_broadcast(&t, fan_out);
	return err;
}

/* ---- needs, whatever the root ---- */

/**
 * coll_tree_peers_at() - add the hosts at a distance before and after a host
 * @shape: the host, and the number of hosts
 * @distance: number of hosts
 * @hosts: grown by them
 */
void coll_tree_peers_at(const struct coll_shape *shape, u32 distance, u64 *hosts)
{
	coll_hosts_add(hosts, (shape->self + distance) % shape->hosts);
	coll_hosts_add(hosts, (shape->self + shape->hosts - distance) % shape->hosts);
}

/* Parents and children of nodes whose subtrees have this size */
static void tree_add_peers(const struct coll_shape *shape, u32 fan, u32 nodes, u64 *hosts)
{
	const struct subtree tree = { .nodes = nodes };
	u32 child;

	for (child = 0; child < tree_children(&tree, fan); child++)
		coll_tree_peers_at(shape, tree_child(&tree, fan, child).node, hosts);
}

/**
 * coll_tree_peers() - add the parents and children of a host, whatever the root
 * @shape: the host, and the number of hosts
 * @fan: most children of a node
 * @hosts: grown by them
 *
 * Subtrees at the same depth differ in size by one node at most.
 */
void coll_tree_peers(const struct coll_shape *shape, u32 fan, u64 *hosts)
{
	u32 most = shape->hosts, least = most, nodes;

	while (most > 1) {
		for (nodes = max(least, 2U); nodes <= most; nodes++)
			tree_add_peers(shape, fan, nodes, hosts);
		most = DIV_ROUND_UP(most - 1, fan);
		least = max((least - 1) / fan, 1U);
	}
}

/**
 * coll_tree_room_reduce() - add the memory that a reduction needs, whatever the root
 * @shape: the number of hosts
 * @fan: most children of a node
 * @room: grown by it
 */
void coll_tree_room_reduce(const struct coll_shape *shape, u32 fan, struct coll_room *room)
{
	u32 children = min(fan, shape->hosts - 1);

	coll_room_grow(room, children ? 1 : 0, children ? 2 : 1, children ? 1 + children : 0);
}

/**
 * coll_tree_room_broadcast() - add the memory that a broadcast needs, whatever the root
 * @shape: the number of hosts
 * @fan: most children of a node
 * @room: grown by it
 */
void coll_tree_room_broadcast(const struct coll_shape *shape, u32 fan, struct coll_room *room)
{
	u32 children = min(fan, shape->hosts - 1);

	coll_room_grow(room, children, children ? 2 : 1, children ? 1 : 0);
}
