// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Dissemination barrier: in round k host i sends to host i + 2^k and receives from host i -
 * 2^k, both modulo n. After round k it knows that the 2^(k+1) hosts that end with itself
 * have arrived, so ceil(log2 n) rounds suffice for any n, and all hosts have the same role.
 * In the last round some hosts are counted twice unless n is a power of two: harmless for a
 * barrier, wrong for a sum. So this algorithm carries no data.
 *
 * Rounds: ceil(log2 n). Messages: n * ceil(log2 n), one from each host in each round.
 *
 * Reference: "Evaluation of Optimized Barrier Algorithms for SCI Networks", §4.2,
 * mode 2 with n = 2; "Barrier Synchronization with OpenMP and MPI", §1.2.2,
 * algorithm 4, and §3.2.2 for rounds and messages.
 */
#include "algorithm.h"

static int dissemination_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 hosts = shape->hosts, self = shape->self, distance;
	int err;

	err = coll_schedule_start(s, hosts, self);
	if (err)
		return err;
	s->all_to_all = true;

	for (distance = 1; distance < hosts; distance <<= 1) {
		u32 next = (self + distance) % hosts;
		u32 previous = (self + hosts - distance) % hosts;

		err = coll_schedule_round(s);
		err = err ?: coll_schedule_send(s, next, 0);
		err = err ?: coll_schedule_combine(s, previous, 0, COLL_FOLD_RIGHT);
		if (err)
			return err;
	}
	return 0;
}

const struct coll_algorithm coll_dissemination_barrier = {
	.name		= "dissemination",
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_DISSEMINATION,
	.build		= dissemination_build,
};
