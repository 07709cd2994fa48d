/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trees: reduce to a root, broadcast from it, and one after the other, which is an
 * all-reduce, or without data a barrier; gather and scatter.
 *
 * Hosts are numbered from the root on: host h is node (h - root) mod n. In every tree the
 * nodes of a subtree are consecutive, its root first, so a node folds one range of nodes:
 * first its own contribution, then that of each subtree in order. The order depends on the
 * root alone.
 *
 * tree(f_in, f_out): on the way up a node has at most f_in children, whose subtrees differ in
 * size by one node at most, and on the way down likewise f_out in another such tree. f_in =
 * f_out is k-ary (algo_kary.c) or flat (algo_flat.c), 4 and 2 is MCS (algo_mcs.c). A node at
 * depth d sends in round D - d of a reduction, D being the depth of the tree, and in round d
 * of a broadcast. Binomial trees (algo_binomial.c) have only the numbering from here.
 *
 * Rounds of a reduction or a broadcast: the least depth at which n nodes have at most f
 * children each. Messages: n - 1, in a reduction one from each host but the root, in a
 * broadcast one to each. In a reduction the root receives the most, min(f_in, n - 1); if a
 * broadcast follows, its first child may receive one more.
 *
 * Pure; any context.
 */
#ifndef COLL_CORE_TREE_H
#define COLL_CORE_TREE_H

#include "schedule.h"
#include "shape.h"

/**
 * struct coll_tree - a tree under construction
 * @s: the schedule of our host
 * @root: host that is node 0
 * @node: number of our host in the tree
 */
struct coll_tree {
	struct coll_schedule	*s;
	u32			root;
	u32			node;
};

/* There are at most 2^16 hosts, so this does not overflow. */
static inline u32 coll_tree_host(const struct coll_tree *t, u32 node)
{
	return (node + t->root) % t->s->hosts;
}

int coll_tree_start(struct coll_tree *t, struct coll_schedule *s, const struct coll_shape *shape);
int coll_tree_start_places(struct coll_tree *t, struct coll_schedule *s,
			   const struct coll_shape *shape);
int coll_tree_send(struct coll_tree *t, u32 node);
int coll_tree_place(struct coll_tree *t, u32 parent);

int coll_tree_build(struct coll_schedule *s, const struct coll_shape *shape, u32 fan_in,
		    u32 fan_out);
void coll_tree_peers(const struct coll_shape *shape, u32 fan, u64 *hosts);
void coll_tree_peers_at(const struct coll_shape *shape, u32 distance, u64 *hosts);
void coll_tree_room_reduce(const struct coll_shape *shape, u32 fan, struct coll_room *room);
void coll_tree_room_broadcast(const struct coll_shape *shape, u32 fan, struct coll_room *room);

#endif
