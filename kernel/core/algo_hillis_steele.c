// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Prefixes after Hillis and Steele: in round k host i sends to host i + 2^k what it has, and folds
 * what comes from host i - 2^k on its left, if there are such hosts. After round k it has the fold
 * of hosts i - 2^(k+1) + 1 ... i, or of all up to i: so ceil(log2 n) rounds suffice for any n, and
 * operands stay in rank order.
 *
 * An exclusive scan needs what is below host i, without its own contribution. That is the fold
 * of the messages alone: that of round k ends where that of round k - 1 begins, and the first
 * one ends with host i - 1. They are all there when the last one has come, so no second register
 * is carried along; a last round, without messages, folds them.
 *
 * Rounds: ceil(log2 n) + 1. Messages: n - 2^k in round k, so n * m - 2^m + 1 with
 * m = ceil(log2 n).
 *
 * Reference: Hillis, Steele, "Data parallel algorithms", 1986; over messages: Sanders, Träff,
 * "Parallel prefix (scan) algorithms for MPI", 2006, "simultaneous binomial trees".
 */
#include "algorithm.h"

static int hillis_steele_round(struct coll_schedule *s, u32 distance)
{
	int err = coll_schedule_round(s);

	if (!err && s->self + distance < s->hosts)
		err = coll_schedule_send(s, s->self + distance, 0);
	if (!err && s->self >= distance)
		err = coll_schedule_combine(s, s->self - distance, 0, COLL_FOLD_LEFT);
	return err;
}

static int hillis_steele_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 distance;
	int err;

	err = coll_schedule_start_prefixes(s, shape->hosts, shape->self);
	for (distance = 1; !err && distance < shape->hosts; distance *= 2)
		err = hillis_steele_round(s, distance);
	if (!err && shape->hosts > 1)
		err = coll_schedule_round(s);
	/* Nothing is below host 0. */
	return err || !shape->self ? err : coll_schedule_prefix(s);
}

const struct coll_algorithm coll_hillis_steele_scan = {
	.operation	= COLLSOCK_SCAN,
	.algorithm	= COLLSOCK_HILLIS_STEELE,
	.build		= hillis_steele_build,
};
