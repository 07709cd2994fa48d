// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * k-ary trees: tree(k, k), k being the degree, 4 where nobody selects one. With k >= n - 1 it is
 * flat.
 *
 * This is the hierarchical barrier of the SCI collectives library (§4.2), whose f_in and
 * f_out were equal, as other settings showed no advantage there.
 */
#include "algorithm.h"
#include "tree.h"

#define USUAL_DEGREE	4

static int kary_build_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, shape->degree, 0);
}

static int kary_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, 0, shape->degree);
}

static int kary_build_both(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_tree_build(s, shape, shape->degree, shape->degree);
}

static void kary_peers(const struct coll_shape *shape, u64 *hosts)
{
	coll_tree_peers(shape, shape->degree, hosts);
}

static void kary_room_reduce(const struct coll_shape *shape, struct coll_room *room)
{
	coll_tree_room_reduce(shape, shape->degree, room);
}

static void kary_room_broadcast(const struct coll_shape *shape, struct coll_room *room)
{
	coll_tree_room_broadcast(shape, shape->degree, room);
}

const struct coll_algorithm coll_kary_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_KARY,
	.usual_degree	= USUAL_DEGREE,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_both,
};

const struct coll_algorithm coll_kary_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_KARY,
	.usual_degree	= USUAL_DEGREE,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_both,
};

const struct coll_algorithm coll_kary_reduce = {
	.operation	= COLLSOCK_REDUCE,
	.algorithm	= COLLSOCK_KARY,
	.usual_degree	= USUAL_DEGREE,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_reduce,
	.peers		= kary_peers,
	.room		= kary_room_reduce,
};

const struct coll_algorithm coll_kary_broadcast = {
	.operation	= COLLSOCK_BROADCAST,
	.algorithm	= COLLSOCK_KARY,
	.usual_degree	= USUAL_DEGREE,
	.most_degree	= COLLSOCK_MAX_DEGREE,
	.most_hosts	= COLLSOCK_MAX_KARY_HOSTS,
	.build		= kary_build_broadcast,
	.peers		= kary_peers,
	.room		= kary_room_broadcast,
};
