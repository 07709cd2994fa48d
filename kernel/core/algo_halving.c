// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Recursive halving and doubling: an all-reduce of a vector in parts. In each of the first m
 * rounds, with 2^m hosts, two hosts exchange halves of the range that both have: each sends one
 * half and folds the other, until each host has the result of one block of 2^m. The other m rounds
 * are the reverse, and collect the blocks.
 *
 * A host sends and receives 2 * (1 - 2^-m) times the vector, where a pairwise exchange
 * (algo_exchange.c) sends it m times, and folds less than one vector instead of m. It has twice
 * the rounds: so it is for vectors of many packets.
 *
 * Nearest neighbours exchange first: after round r a host has folded the contributions of the
 * aligned run of 2^(r+1) hosts that it is in, always two adjacent ranges in their order. So each
 * block is folded in the order of the pairwise exchange, with the same bits. The host that is
 * lower in its pair keeps the lower half, so that ranges stay contiguous; the blocks end up in
 * bit-reversed order of hosts.
 *
 *	n = 4:	0 with 1, 2 with 3	halves: 0 and 2 keep blocks 0-1, 1 and 3 blocks 2-3
 *		0 with 2, 1 with 3	quarters: 0 keeps block 0, 2: 1, 1: 2, 3: 3
 *		and back
 *
 * For other n, 2^m is the largest power below n, and hosts are runs of one or two as in the
 * pairwise exchange: the second host of a run hands its vector in before, and receives the result
 * after.
 *
 * Reference: Rabenseifner, "Optimization of Collective Reduction Operations" (ICCS 2004), §3.4;
 * there the furthest neighbours exchange first.
 *
 * Rounds: 2m, or 2m + 2 if n is not 2^m; some are empty on some hosts. Messages: 2^m * 2m + 2 *
 * (n - 2^m), each for every lane that it has something of.
 */
#include "algorithm.h"
#include "runs.h"

/* A schedule counts blocks in 16 bits. */
#define HALVING_MOST_BLOCKS	32768

/**
 * struct halving - a schedule under construction
 * @s: the schedule of our host
 * @runs: one for each partner, a power of two
 * @number: of our run
 * @first: first host of our run, its partner
 * @first_block: of the range that our host has
 * @blocks: in that range
 */
struct halving {
	struct coll_schedule	*s;
	struct coll_runs	runs;
	u32			number;
	u32			first;
	u32			first_block;
	u32			blocks;
};

static int halving_start(struct halving *h, struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 partners = 1;
	int err;

	while (2 * partners <= shape->hosts && partners < HALVING_MOST_BLOCKS)
		partners *= 2;
	err = coll_schedule_start_parts(s, shape->hosts, shape->self, partners);
	if (err)
		return err;
	s->synchronising = true;
	h->s = s;
	h->runs = coll_runs_of(shape->hosts, partners);
	h->number = coll_runs_number(&h->runs, shape->self);
	h->first = coll_runs_first(&h->runs, h->number);
	h->first_block = 0;
	h->blocks = partners;
	return 0;
}

/* Add the first round if the number of hosts is not a power of two: hand in the whole vector. */
static int halving_hand_in(const struct halving *h)
{
	int err = coll_schedule_round(h->s);

	if (err || coll_runs_length(&h->runs, h->number) == 1)
		return err;
	if (h->s->self != h->first)
		return coll_schedule_send_blocks(h->s, h->first, 0, h->blocks);
	return coll_schedule_fold_blocks(h->s, h->first + 1, 0, h->blocks, COLL_FOLD_RIGHT);
}

/* Add the last round if the number of hosts is not a power of two: hand out the whole vector. */
static int halving_hand_out(const struct halving *h)
{
	int err = coll_schedule_round(h->s);

	if (err || coll_runs_length(&h->runs, h->number) == 1)
		return err;
	if (h->s->self == h->first)
		return coll_schedule_send_blocks(h->s, h->first + 1, 0, h->blocks);
	return coll_schedule_fold_blocks(h->s, h->first, 0, h->blocks, COLL_PLACE);
}

/* Send one half of the range to the partner at @distance, and fold the other half. */
static int halving_halve(struct halving *h, u32 distance)
{
	u32 other = coll_runs_first(&h->runs, h->number ^ distance), half = h->blocks / 2, sent;
	bool lower = !(h->number & distance);
	int err;

	sent = h->first_block + (lower ? half : 0);
	h->first_block += lower ? 0 : half;
	h->blocks = half;
	err = coll_schedule_send_blocks(h->s, other, sent, half);
	return err ?: coll_schedule_fold_blocks(h->s, other, h->first_block, half,
						lower ? COLL_FOLD_RIGHT : COLL_FOLD_LEFT);
}

/* Send the range, and receive that of the partner at @distance, which is beside it. */
static int halving_double(struct halving *h, u32 distance)
{
	u32 other = coll_runs_first(&h->runs, h->number ^ distance), theirs;
	bool lower = !(h->number & distance);
	int err;

	err = coll_schedule_send_blocks(h->s, other, h->first_block, h->blocks);
	theirs = lower ? h->first_block + h->blocks : h->first_block - h->blocks;
	err = err ?: coll_schedule_fold_blocks(h->s, other, theirs, h->blocks, COLL_PLACE);
	h->first_block = min(h->first_block, theirs);
	h->blocks *= 2;
	return err;
}

static int halving_round(struct halving *h, u32 distance,
			 int (*exchange)(struct halving *h, u32 distance))
{
	int err = coll_schedule_round(h->s);

	if (!err && h->s->self == h->first)
		err = exchange(h, distance);
	return err;
}

static int halving_build(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct halving h;
	bool hands_in;
	u32 distance;
	int err;

	err = halving_start(&h, s, shape);
	if (err)
		return err;
	hands_in = h.runs.count < shape->hosts;
	if (hands_in)
		err = halving_hand_in(&h);
	for (distance = 1; !err && distance < h.runs.count; distance *= 2)
		err = halving_round(&h, distance, halving_halve);
	while (!err && (distance /= 2))
		err = halving_round(&h, distance, halving_double);
	if (!err && hands_in)
		err = halving_hand_out(&h);
	return err;
}

const struct coll_algorithm coll_halving_allreduce = {
	.operation	= COLLSOCK_ALLREDUCE,
	.algorithm	= COLLSOCK_HALVING,
	.by_name	= true,
	.build		= halving_build,
};
