// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * n-ary dissemination barrier: with the degree k host i sends, in round r, to hosts i +
 * j * k^r for j = 1 ... k - 1, and receives from hosts i - j * k^r, all modulo n. After the
 * round it knows that the k^(r+1) hosts that end with itself have arrived, so ceil(log_k n)
 * rounds suffice for any n, and all hosts have the same role. The last round leaves out
 * distances of n and more. Some hosts are counted twice there unless n is a power of k:
 * harmless for a barrier, wrong for a sum. So this algorithm carries no data.
 *
 * Rounds: R = ceil(log_k n). Messages of each host: k - 1 in each round but the last, in
 * that ceil(n / k^(R-1)) - 1. With k = 2 it is one in each.
 *
 * Reference: "Evaluation of Optimized Barrier Algorithms for SCI Networks", §4.2,
 * mode 2; with k = 2: "Barrier Synchronization with OpenMP and MPI", §1.2.2,
 * algorithm 4, and §3.2.2 for rounds and messages.
 */
#include "algorithm.h"

/* Number of distances of a round whose least is @distance */
static u32 dissemination_distances(const struct coll_shape *shape, u32 distance)
{
	return min(shape->degree - 1, DIV_ROUND_UP(shape->hosts, distance) - 1);
}

static int dissemination_send(struct coll_schedule *s, u32 distance, u32 distances)
{
	int err = 0;
	u32 i;

	for (i = 1; !err && i <= distances; i++) {
		err = coll_schedule_send(s, (s->self + i * distance) % s->hosts, 0);
		if (!err)
			coll_schedule_fan_in(s, distances);
	}
	return err;
}

static int dissemination_fold(struct coll_schedule *s, u32 distance, u32 distances)
{
	int err = coll_schedule_fold(s, s->self, 0, COLL_PLACE);
	u32 i;

	for (i = 1; !err && i <= distances; i++)
		err = coll_schedule_fold(s, (s->self + s->hosts - i * distance) % s->hosts, 0,
					 COLL_FOLD_RIGHT);
	return err;
}

static int dissemination_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 distance, distances;
	int err;

	err = coll_schedule_start(s, shape->hosts, shape->self);
	if (err || shape->degree < 2)
		return err ?: -EINVAL;
	s->synchronising = true;

	for (distance = 1; !err && distance < shape->hosts; distance *= shape->degree) {
		distances = dissemination_distances(shape, distance);
		err = coll_schedule_round(s);
		err = err ?: dissemination_send(s, distance, distances);
		err = err ?: dissemination_fold(s, distance, distances);
	}
	return err;
}

const struct coll_algorithm coll_dissemination_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_DISSEMINATION,
	.exchanges	= true,
	.most_degree	= COLLSOCK_MAX_EXCHANGE_DEGREE,
	.build		= dissemination_build,
};
