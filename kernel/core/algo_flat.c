// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Flat trees: tree(n - 1, n - 1). All hosts send to the root, which sends to all: one round
 * each way, and the root receives and sends n - 1 messages. The hierarchical barrier of the
 * SCI collectives library (§4.2) has this fan in small groups.
 *
 * As any host may be the root, a host may need a peer for each other one. So only groups
 * that name the algorithm have it.
 */
#include "algorithm.h"
#include "tree.h"

static_assert(COLLSOCK_MAX_FLAT_HOSTS < COLL_MAX_EDGES);

/* A single host has no children, but coll_tree_build() takes a fan of 0 for "no such phase". */
static u32 flat_fan(const struct coll_shape *shape)
{
	return shape->hosts > 1 ? shape->hosts - 1 : 1;
}

static int flat_build_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, flat_fan(shape), 0);
}

static int flat_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, 0, flat_fan(shape));
}

static int flat_build_both(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, flat_fan(shape), flat_fan(shape));
}

static void flat_peers(const struct coll_shape *shape, u64 *hosts)
{
	coll_tree_peers(shape, flat_fan(shape), hosts);
}

static void flat_room_reduce(const struct coll_shape *shape, struct coll_room *room)
{
	coll_tree_room_reduce(shape, flat_fan(shape), room);
}

static void flat_room_broadcast(const struct coll_shape *shape, struct coll_room *room)
{
	coll_tree_room_broadcast(shape, flat_fan(shape), room);
}

const struct coll_algorithm coll_flat_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_FLAT,
	.by_name	= true,
	.most_hosts	= COLLSOCK_MAX_FLAT_HOSTS,
	.build		= flat_build_both,
};

const struct coll_algorithm coll_flat_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_FLAT,
	.by_name	= true,
	.most_hosts	= COLLSOCK_MAX_FLAT_HOSTS,
	.build		= flat_build_both,
};

const struct coll_algorithm coll_flat_reduce = {
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_FLAT,
	.by_name	= true,
	.most_hosts	= COLLSOCK_MAX_FLAT_HOSTS,
	.build		= flat_build_reduce,
	.peers		= flat_peers,
	.room		= flat_room_reduce,
};

const struct coll_algorithm coll_flat_broadcast = {
	.operation	= COLLSOCK_BROADCAST,
	.algorithm	= COLLSOCK_FLAT,
	.by_name	= true,
	.most_hosts	= COLLSOCK_MAX_FLAT_HOSTS,
	.build		= flat_build_broadcast,
	.peers		= flat_peers,
	.room		= flat_room_broadcast,
};
