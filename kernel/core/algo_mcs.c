// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The tree of Mellor-Crummey and Scott: tree(4, 2), arrivals up a 4-ary tree and the release
 * down a binary one. Their trees are heaps; these have contiguous subtrees and the same
 * depths, so that an all-reduce folds in rank order, as that of the 4-ary tree.
 *
 * Reference: "Barrier Synchronization with OpenMP and MPI", §1.2.1, algorithm 3, after
 * Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
 * Multiprocessors", 1991.
 */
#include "algorithm.h"
#include "tree.h"

#define MCS_FAN_IN	4
#define MCS_FAN_OUT	2

static int mcs_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, MCS_FAN_IN, MCS_FAN_OUT);
}

const struct coll_algorithm coll_mcs_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_MCS,
	.by_name	= true,
	.build		= mcs_build,
};

const struct coll_algorithm coll_mcs_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_MCS,
	.by_name	= true,
	.build		= mcs_build,
};
