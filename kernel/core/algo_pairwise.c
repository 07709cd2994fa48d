// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Pairwise exchange: sets of hosts merge two at a time, each host of one set exchanging
 * with one host of the other, until one set is left. With data it is known as recursive
 * doubling; barrier and allreduce use the same schedule.
 *
 * Reference: the "NIC-based barrier over Myrinet/GM" paper, §2.2: log2 n steps for a power
 * of two. For other n the exchange is among 2^m hosts, the largest power of two below n;
 * each of the other n - 2^m hosts sends its contribution to one of them before and receives
 * the result after: floor(log2 n) + 2 steps.
 *
 * We keep these steps but choose other partners. The natural choice, i with i - 2^m, would
 * make partner 0 hold ranks {0, 2^m}; a sum in rank order cannot be composed of such
 * pieces. Here the odd ones of the first 2 * (n - 2^m) hosts hand in, each to its lower
 * neighbour, so a pair is a range of ranks. The 2^m partners are numbered in rank order,
 * and the sets of round k are the aligned runs of 2^k of these numbers: every register is
 * always the fold of one contiguous range, and every merge joins two adjacent ranges, the
 * lower on the left.
 *
 *	n = 6, so 2^m = 4:	1 to 0, 3 to 2		hand in
 *				0 with 2, 4 with 5	exchange at distance 1
 *				0 with 4, 2 with 5	exchange at distance 2
 *				0 to 1, 2 to 3		hand out
 *
 * Rounds: log2 n, or floor(log2 n) + 2 if that is not whole; some are empty on some hosts.
 * Messages: 2^m * m + 2 * (n - 2^m), where m = floor(log2 n): each partner sends one in
 * each exchange, and each other host sends one and receives one.
 */
#include "algorithm.h"

/* Hosts that exchange: the largest power of two up to n. */
static u32 pairwise_partners(u32 hosts)
{
	return 1U << ilog2(hosts);
}

/* Number of hosts that hand in: the odd ones of the first 2 * extra hosts. */
static u32 pairwise_extra(u32 hosts)
{
	return hosts - pairwise_partners(hosts);
}

/* First round if the number of hosts is not a power of two */
static int pairwise_hand_in(struct coll_schedule *s, u32 extra)
{
	int err = coll_schedule_round(s);

	if (err || s->self >= 2 * extra)
		return err;
	if (s->self % 2)
		return coll_schedule_send(s, s->self - 1, 0);
	return coll_schedule_combine(s, s->self + 1, 0, COLL_FOLD_RIGHT);
}

/* The partners exchange at this distance, counted in partners. */
static int pairwise_exchange(struct coll_schedule *s, u32 extra, u32 distance)
{
	bool paired = s->self < 2 * extra;
	u32 number, other;
	int err;

	err = coll_schedule_round(s);
	if (err || (paired && s->self % 2))
		return err;

	number = paired ? s->self / 2 : s->self - extra;
	other = number ^ distance;
	other = other < extra ? 2 * other : other + extra;

	err = coll_schedule_send(s, other, 0);
	return err ?: coll_schedule_combine(s, other, 0, other < s->self ?
					    COLL_FOLD_LEFT : COLL_FOLD_RIGHT);
}

/* Last round, likewise: hosts that handed in receive the result. */
static int pairwise_hand_out(struct coll_schedule *s, u32 extra)
{
	int err = coll_schedule_round(s);

	if (err || s->self >= 2 * extra)
		return err;
	if (s->self % 2)
		return coll_schedule_fold(s, s->self - 1, 0, COLL_PLACE);
	return coll_schedule_send(s, s->self + 1, 0);
}

static int pairwise_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 partners, extra, distance;
	int err;

	err = coll_schedule_start(s, shape->hosts, shape->self);
	if (err)
		return err;
	s->all_to_all = true;
	partners = pairwise_partners(shape->hosts);
	extra = pairwise_extra(shape->hosts);

	if (extra)
		err = pairwise_hand_in(s, extra);
	for (distance = 1; !err && distance < partners; distance <<= 1)
		err = pairwise_exchange(s, extra, distance);
	if (!err && extra)
		err = pairwise_hand_out(s, extra);
	return err;
}

const struct coll_algorithm coll_pairwise_barrier = {
	.name		= "pairwise exchange",
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_PAIRWISE_EXCHANGE,
	.build		= pairwise_build,
};

const struct coll_algorithm coll_pairwise_allreduce = {
	.name		= "recursive doubling",
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_PAIRWISE_EXCHANGE,
	.build		= pairwise_build,
};
