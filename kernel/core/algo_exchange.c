// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * n-ary exchange: sets of hosts merge k at a time, k being the degree; each host of one set
 * exchanges with one host of each of the k - 1 others, until one set is left. k = 2 is the
 * pairwise exchange. With data it is known as recursive doubling, for other k as recursive
 * multiplying; barrier and all-reduce use the same schedule. If there are at most k hosts,
 * all exchange with all in one round.
 *
 * Reference: the SCI collectives library, §4.2, mode 1 of the n-ary exchange; for k = 2 the
 * "NIC-based barrier over Myrinet/GM" paper, §2.2: log_k n rounds for a power of k. For
 * other n the exchange is among k^m hosts, the largest power of k below n; each of the
 * other n - k^m hosts sends its contribution to one of them before and receives the result
 * after: floor(log_k n) + 2 rounds.
 *
 * We keep these rounds but choose other partners. The natural choice, i with i - k^m, would
 * make partner 0 hold ranks {0, k^m}; a sum in rank order cannot be composed of such
 * pieces. Here hosts form k^m runs of neighbours, which differ in length by one at most,
 * the longer ones first; a run has at most k hosts. The first host of each is a partner, to
 * which the others hand in. Partners are numbered in rank order, and the sets of round i
 * are the aligned runs of k^i of these numbers: every register is always the fold of one
 * contiguous range, and every merge joins adjacent ranges, in their order.
 *
 *	k = 2, n = 6, so 2^m = 4:	1 to 0, 3 to 2		hand in
 *					0 with 2, 4 with 5	exchange at distance 1
 *					0 with 4, 2 with 5	exchange at distance 2
 *					0 to 1, 2 to 3		hand out
 *
 * Rounds: log_k n, or floor(log_k n) + 2 if that is not whole; some are empty on some hosts.
 * Messages: k^m * m * (k - 1) + 2 * (n - k^m), where m = floor(log_k n): each partner sends
 * k - 1 in each exchange, and each other host sends one and receives one.
 */
#include "algorithm.h"
#include "runs.h"

/**
 * struct exchange - an exchange under construction
 * @s: the schedule of our host
 * @degree: number of sets that merge into one, at most the number of hosts
 * @runs: one for each host that exchanges: the largest power of @degree up to n
 * @number: of our run
 * @first: first host of our run, its partner
 * @run: hosts of our run
 */
struct exchange {
	struct coll_schedule	*s;
	u32			degree;
	struct coll_runs	runs;
	u32			number;
	u32			first;
	u32			run;
};

static int exchange_start(struct exchange *x, struct coll_schedule *s,
			  const struct coll_shape *shape)
{
	int err = coll_schedule_start(s, shape->hosts, shape->self);
	u32 partners = 1;

	if (err || shape->degree < 2)
		return err ?: -EINVAL;
	s->synchronising = true;
	x->s = s;
	x->degree = min(shape->degree, max(shape->hosts, 2U));
	while (partners * x->degree <= shape->hosts)
		partners *= x->degree;
	x->runs = coll_runs_of(shape->hosts, partners);
	x->number = coll_runs_number(&x->runs, shape->self);
	x->first = coll_runs_first(&x->runs, x->number);
	x->run = coll_runs_length(&x->runs, x->number);
	return 0;
}

/* Add the first round if the number of hosts is not a power of the degree. */
static int exchange_hand_in(const struct exchange *x)
{
	int err = coll_schedule_round(x->s);
	u32 i;

	if (err || x->run == 1)
		return err;
	if (x->s->self != x->first) {
		err = coll_schedule_send(x->s, x->first, 0);
		if (!err)
			coll_schedule_fan_in(x->s, x->run - 1);
		return err;
	}
	err = coll_schedule_fold(x->s, x->first, 0, COLL_PLACE);
	for (i = 1; !err && i < x->run; i++)
		err = coll_schedule_fold(x->s, x->first + i, 0, COLL_FOLD_RIGHT);
	return err;
}

/* Member @i of the partners that exchange at a distance with ours, in rank order */
static u32 exchange_member(const struct exchange *x, u32 distance, u32 i)
{
	u32 ours = x->number / distance % x->degree;

	return coll_runs_first(&x->runs, x->number - ours * distance + i * distance);
}

static int exchange_send(const struct exchange *x, u32 distance)
{
	u32 i, host;
	int err = 0;

	for (i = 0; !err && i < x->degree; i++) {
		host = exchange_member(x, distance, i);
		if (host == x->s->self)
			continue;
		err = coll_schedule_send(x->s, host, 0);
		if (!err)
			coll_schedule_fan_in(x->s, x->degree - 1);
	}
	return err;
}

/*
 * Fold the two ranges of a pairwise exchange. With the own range first, the message is found at
 * once (coll_schedule_find()).
 */
static int exchange_fold_pair(const struct exchange *x, u32 distance)
{
	u32 ours = x->number / distance % 2;

	return coll_schedule_combine(x->s, exchange_member(x, distance, !ours), 0,
				     ours ? COLL_FOLD_LEFT : COLL_FOLD_RIGHT);
}

static int exchange_fold(const struct exchange *x, u32 distance)
{
	int err = 0;
	u32 i;

	if (x->degree == 2)
		return exchange_fold_pair(x, distance);
	for (i = 0; !err && i < x->degree; i++)
		err = coll_schedule_fold(x->s, exchange_member(x, distance, i), 0,
					 i ? COLL_FOLD_RIGHT : COLL_PLACE);
	return err;
}

/* Add a round in which partners exchange at this distance, counted in partners. */
static int exchange_round(const struct exchange *x, u32 distance)
{
	int err = coll_schedule_round(x->s);

	if (err || x->s->self != x->first)
		return err;
	err = exchange_send(x, distance);
	return err ?: exchange_fold(x, distance);
}

/*
 * Add the last round if the number of hosts is not a power of the degree: hosts that handed in
 * receive the result.
 */
static int exchange_hand_out(const struct exchange *x)
{
	int err = coll_schedule_round(x->s);
	u32 i;

	if (!err && x->s->self != x->first)
		return coll_schedule_fold(x->s, x->first, 0, COLL_PLACE);
	for (i = 1; !err && i < x->run; i++)
		err = coll_schedule_send(x->s, x->first + i, 0);
	return err;
}

static int exchange_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct exchange x;
	bool hands_in;
	u32 distance;
	int err;

	err = exchange_start(&x, s, shape);
	if (err)
		return err;
	hands_in = x.runs.count < shape->hosts;
	if (hands_in)
		err = exchange_hand_in(&x);
	for (distance = 1; !err && distance < x.runs.count; distance *= x.degree)
		err = exchange_round(&x, distance);
	if (!err && hands_in)
		err = exchange_hand_out(&x);
	return err;
}

const struct coll_algorithm coll_exchange_barrier = {
	.operation	= COLLSOCK_BARRIER,
	.algorithm	= COLLSOCK_EXCHANGE,
	.exchanges	= true,
	.most_degree	= COLLSOCK_MAX_EXCHANGE_DEGREE,
	.build		= exchange_build,
};

const struct coll_algorithm coll_exchange_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_EXCHANGE,
	.exchanges	= true,
	.most_degree	= COLLSOCK_MAX_EXCHANGE_DEGREE,
	.build		= exchange_build,
};
