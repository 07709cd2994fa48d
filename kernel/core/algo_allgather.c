// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * n-ary dissemination of blocks: an allgather. With the degree k host i sends, in round r, to
 * hosts i + j * d for j = 1 ... k - 1, with d = k^r, and receives from hosts i - j * d, all
 * modulo n. Before the round it has the d blocks that end with its own, after it k * d: so
 * ceil(log_k n) rounds suffice for any n, and all hosts have the same role.
 *
 * Host i receives from i - j * d those blocks that end with the sender's, at most d, that it
 * does not receive otherwise: min(d, n - j * d). So it receives each block once. The last
 * round leaves out distances of n and more, as in a barrier (algo_dissemination.c).
 *
 * Rounds: R = ceil(log_k n). Messages of each host: k - 1 in each round but the last, in
 * that ceil(n / k^(R-1)) - 1. With k = 2 it is one in each.
 *
 * Reference: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient Algorithms for All-to-All
 * Communications in Multiport Message-Passing Systems", §4.
 */
#include "algorithm.h"

/* Number of distances of a round whose least is @distance */
static u32 allgather_distances(const struct coll_shape *shape, u32 distance)
{
	return min(shape->degree - 1, DIV_ROUND_UP(shape->hosts, distance) - 1);
}

/* How many blocks go this far in a round whose least distance is @distance */
static u32 allgather_blocks(const struct coll_schedule *s, u32 distance, u32 far)
{
	return min(distance, s->hosts - far);
}

/* The first of @blocks blocks that end with that of @host */
static u32 allgather_first(const struct coll_schedule *s, u32 host, u32 blocks)
{
	return (host + 1 + s->hosts - blocks) % s->hosts;
}

static int allgather_send(struct coll_schedule *s, u32 distance, u32 distances)
{
	u32 i, blocks;
	int err = 0;

	for (i = 1; !err && i <= distances; i++) {
		blocks = allgather_blocks(s, distance, i * distance);
		err = coll_schedule_send_blocks(s, (s->self + i * distance) % s->hosts,
						allgather_first(s, s->self, blocks), blocks);
		if (!err)
			coll_schedule_fan_in(s, distances);
	}
	return err;
}

static int allgather_place(struct coll_schedule *s, u32 distance, u32 distances)
{
	u32 i, from, blocks;
	int err = 0;

	for (i = 1; !err && i <= distances; i++) {
		from = (s->self + s->hosts - i * distance) % s->hosts;
		blocks = allgather_blocks(s, distance, i * distance);
		err = coll_schedule_fold_blocks(s, from, allgather_first(s, from, blocks), blocks,
						COLL_PLACE);
	}
	return err;
}

static int allgather_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 distance, distances;
	int err;

	err = coll_schedule_start_places(s, shape->hosts, shape->self);
	if (err || shape->degree < 2)
		return err ?: -EINVAL;
	s->synchronising = true;

	for (distance = 1; !err && distance < shape->hosts; distance *= shape->degree) {
		distances = allgather_distances(shape, distance);
		err = coll_schedule_round(s);
		err = err ?: allgather_send(s, distance, distances);
		err = err ?: allgather_place(s, distance, distances);
	}
	return err;
}

const struct coll_algorithm coll_allgather_dissemination = {
	.operation	= COLLSOCK_ALLGATHER,
	.algorithm	= COLLSOCK_DISSEMINATION,
	.exchanges	= true,
	.most_degree	= COLLSOCK_MAX_EXCHANGE_DEGREE,
	.build		= allgather_build,
};
