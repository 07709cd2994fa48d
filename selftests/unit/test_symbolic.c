// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolic executor checks all algorithms; here it is tested itself. Each schedule has
 * one planted bug, which the executor must find.
 */
#include "../harness.h"

#include "symbolic.h"

/* Every host sends to every other, and each folds in rank order: correct, in one round. */
static int build_star(struct coll_schedule *s, const struct coll_shape *shape)
{
	u32 host;
	int err;

	err = coll_schedule_start(s, shape->hosts, shape->self);
	err = err ?: coll_schedule_round(s);
	for (host = 0; host < shape->hosts && !err; host++) {
		if (host != shape->self)
			err = coll_schedule_send(s, host, 0);
		err = err ?: coll_schedule_fold(s, host, 0, host ? COLL_FOLD_RIGHT :
								   COLL_PLACE);
	}
	s->synchronising = true;
	return err;
}

/* The highest host folds from the other end: right, but not the same bits. */
static int build_star_from_the_right(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_star(s, shape);
	u32 i;

	if (err || shape->self + 1 < shape->hosts)
		return err;
	for (i = 0; i < shape->hosts; i++) {
		s->fold[i].host = shape->hosts - 1 - i;
		s->fold[i].action = i ? COLL_FOLD_LEFT : COLL_PLACE;
	}
	return 0;
}

static int build_star_of_empty_register(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_star(s, shape);

	s->registers = 2;
	if (!shape->self)
		s->send[0].reg = 1;
	return err;
}

static int build_star_sent_twice(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_star(s, shape);

	if (!shape->self)
		s->send[1].host = s->send[0].host;
	return err;
}

/* One more round, in which only host 0 sends, to host 1 that does not expect it. */
static int build_star_and_unawaited(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_star(s, shape);

	err = err ?: coll_schedule_round(s);
	if (!err && !shape->self)
		err = coll_schedule_send(s, 1, 0);
	return err;
}

/* The last round at distance 1 instead of 2^k. */
static int build_wrong_distance(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_dissemination_barrier.build(s, shape);

	if (err || !s->rounds)
		return err;
	s->send[s->sends - 1].host = (shape->self + 1) % shape->hosts;
	s->fold[s->folds - 1].host = (shape->self + shape->hosts - 1) % shape->hosts;
	return 0;
}

static int build_one_round_short(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_dissemination_barrier.build(s, shape);

	if (s->rounds)
		s->rounds--;
	return err;
}

/* Host 0 does not wait in its last round. */
static int build_one_does_not_wait(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_dissemination_barrier.build(s, shape);

	if (!shape->self && s->rounds)
		s->round[s->rounds - 1].folds = 0;
	return err;
}

static int build_side_swapped(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_exchange_allreduce.build(s, shape);
	u32 i;

	for (i = 0; !shape->self && i < s->folds; i++)
		if (s->fold[i].action == COLL_FOLD_RIGHT)
			s->fold[i].action = COLL_FOLD_LEFT;
	return err;
}

/* The hosts that had handed in do not receive the result. */
static int build_nothing_handed_out(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_exchange_allreduce.build(s, shape);

	if (s->rounds)
		s->round[s->rounds - 1].sends = 0;
	return err;
}

/* … or they fold the result onto their register instead of replacing it. */
static int build_folded_twice(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_exchange_allreduce.build(s, shape);
	struct coll_round *r = &s->round[s->rounds - 1];
	u32 other;

	if (err || !r->folds || r->folds > 1)
		return err;
	other = s->fold[--s->folds].host;
	r->folds = 0;
	r->recvs = 0;
	return coll_schedule_combine(s, other, 0, COLL_FOLD_LEFT);
}

/* … or they do not expect the result. */
static int build_handed_out_unawaited(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_exchange_allreduce.build(s, shape);

	if (shape->self % 2 && s->rounds)
		s->round[s->rounds - 1].folds = 0;
	return err;
}

/* The pairing of the paper: host i with host i - 2^m. */
static int build_pairs_apart(struct coll_schedule *s, const struct coll_shape *shape)
{
	static const u32 natural[] = { 0, 4, 1, 5, 2, 3 };	/* of the six */
	u32 i, number;
	int err;

	for (number = 0; natural[number] != shape->self; number++)
		;
	err = coll_exchange_allreduce.build(s, &(struct coll_shape){ .hosts = 6, .self = number,
								     .degree = 2 });
	s->self = shape->self;
	for (i = 0; i < s->sends; i++)
		s->send[i].host = natural[s->send[i].host];
	for (i = 0; i < s->folds; i++)
		s->fold[i].host = natural[s->fold[i].host];
	return err;
}

static int build_too_large(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_shape large = { .hosts = COLL_MAX_EDGES + 2, .self = shape->self };

	return build_star(s, &large);
}

static int build_in_blocks(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_star(s, shape);

	s->blocks = 2;
	return err;
}

/* As in the registry */
static int build_dissemination(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_dissemination_barrier.build(s, shape);
}

static int build_binomial_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_binomial_reduce.build(s, shape);
}

static int build_kary_reduce(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_kary_reduce.build(s, shape);
}

static int build_kary_broadcast(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_kary_broadcast.build(s, shape);
}

/* Trees: of seven hosts with root 2, node i is host (i + 2) mod 7. */

static u32 node_of(const struct coll_shape *shape)
{
	return (shape->self + shape->hosts - shape->root) % shape->hosts;
}

static u32 host_of(const struct coll_shape *shape, u32 node)
{
	return (node + shape->root) % shape->hosts;
}

static int build_reduce_synchronising(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_reduce.build(s, shape);

	s->synchronising = true;
	return err;
}

/* To the host after the root, which the root does not notice */
static int build_reduce_to_another(struct coll_schedule *s, const struct coll_shape *shape)
{
	struct coll_shape other = *shape;

	other.root = host_of(shape, 1);
	return coll_binomial_reduce.build(s, &other);
}

/* The root folds all messages in the order of ranks, itself among them. */
static int build_reduce_by_rank(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_schedule_start(s, shape->hosts, shape->self);
	u32 host;

	err = err ?: coll_schedule_round(s);
	if (!err && node_of(shape))
		return coll_schedule_send(s, shape->root, 0);
	for (host = 0; !err && host < shape->hosts; host++)
		err = coll_schedule_fold(s, host, 0, host ? COLL_FOLD_RIGHT : COLL_PLACE);
	return err;
}

static int build_reduce_from_the_left(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_kary_reduce.build(s, shape);

	if (node_of(shape) == 1)
		s->fold[s->folds - 1].action = COLL_FOLD_LEFT;
	return err;
}

/* The root overwrites its own contribution with the first message. */
static int build_reduce_of_the_others(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_reduce.build(s, shape);

	if (!node_of(shape)) {
		s->round[0].fold_first++;
		s->round[0].folds--;
		s->fold[1].action = COLL_PLACE;
	}
	return err;
}

/* The root does not wait for its last subtree. */
static int build_reduce_root_in_haste(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_reduce.build(s, shape);

	if (!node_of(shape))
		s->rounds--;
	return err;
}

/* A leaf that has contributed continues to wait. Its rank does not: only the schedule hangs. */
static int build_reduce_leaf_waits(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_reduce.build(s, shape);

	err = err ?: coll_schedule_round(s);
	if (!err && node_of(shape) == 1)
		err = coll_schedule_fold(s, shape->root, 0, COLL_PLACE);
	return err;
}

/* A chain in one round: all but the root send before they have received. */
static int build_broadcast_too_soon(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_schedule_start(s, shape->hosts, shape->self);
	u32 node = node_of(shape);

	err = err ?: coll_schedule_round(s);
	if (!err && node + 1 < shape->hosts)
		err = coll_schedule_send(s, host_of(shape, node + 1), 0);
	if (!err && node)
		err = coll_schedule_fold(s, host_of(shape, node - 1), 0, COLL_PLACE);
	return err;
}

/* What is planted is not to be found by the absence of a downward phase. */
static int without_down(struct coll_schedule *s, int err)
{
	s->down_send = COLL_NO_DOWN;
	s->down_fold = COLL_NO_DOWN;
	return err;
}

/* A leaf folds what it receives onto its register, which is empty. */
static int build_broadcast_folded(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = without_down(s, coll_binomial_broadcast.build(s, shape));
	struct coll_round *r = &s->round[s->rounds - 1];

	if (err || node_of(shape) != 5)
		return err;
	s->folds = 0;
	r->folds = 0;
	r->recvs = 0;
	return coll_schedule_combine(s, host_of(shape, 4), 0, COLL_FOLD_RIGHT);
}

/* The last node receives twice, and sums both. */
static int build_broadcast_told_twice(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_kary_broadcast.build(s, shape);
	u32 last = shape->hosts - 1;

	err = err ?: coll_schedule_round(s);
	if (!err && !node_of(shape))
		err = coll_schedule_send(s, host_of(shape, last), 0);
	if (!err && node_of(shape) == last)
		err = coll_schedule_combine(s, shape->root, 0, COLL_FOLD_RIGHT);
	return err;
}

/* A leaf receives nothing, and does not wait. */
static int build_broadcast_without_one(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = without_down(s, coll_binomial_broadcast.build(s, shape));

	if (node_of(shape) <= 1) {
		s->round[s->rounds - 1].sends = 0;
		s->round[s->rounds - 1].folds = 0;
	}
	return err;
}

/* A host that has contributed continues: up the tree without down. */
static int build_barrier_half(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_reduce.build(s, shape);

	s->synchronising = true;
	return err;
}

/* The first child is released with what the root knows before the last message arrives. */
static int build_barrier_in_haste(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_schedule_start(s, shape->hosts, shape->self);
	u32 child;

	s->synchronising = true;
	for (child = 1; !err && child < shape->hosts; child++) {
		err = coll_schedule_round(s);
		if (!err && shape->self == child)
			err = coll_schedule_send(s, 0, 0);
		if (!err && !shape->self)
			err = coll_schedule_combine(s, child, 0, COLL_FOLD_RIGHT);
		err = err ?: coll_schedule_round(s);
		if (!err && !shape->self)
			err = coll_schedule_send(s, child, 0);
		if (!err && shape->self == child)
			err = coll_schedule_fold(s, 0, 0, COLL_PLACE);
	}
	return err;
}

/* The phase begins with what is still sent up. */
static int build_down_too_early(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_allreduce.build(s, shape);

	if (shape->self == 5)
		s->down_send--;
	return err;
}

/* One host takes another one for the source. */
static int build_down_from_another(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_allreduce.build(s, shape);

	if (shape->self == 5)
		s->source = 1;
	return err;
}

/* One host names the entry of a child. */
static int build_down_from_a_child(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_allreduce.build(s, shape);

	if (shape->self == 4)
		s->down_fold = 1;
	return err;
}

/* The phase of the source begins while others are still to come. */
static int build_down_in_haste(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_barrier_in_haste(s, shape);

	s->down_send = !!shape->self;
	s->source = 0;
	if (!shape->self)
		return err;
	s->down_fold = 0;
	s->down_round = 2 * shape->self - 1;
	return err;
}

static int build_barrier_promises_nothing(struct coll_schedule *s,
					  const struct coll_shape *shape)
{
	int err = coll_binomial_allreduce.build(s, shape);

	s->synchronising = false;
	return err;
}

/* ---- place-only schedules ---- */

static int build_allgather(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_allgather_dissemination.build(s, shape);
}

static int build_gather(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_binomial_gather.build(s, shape);
}

static int build_scatter(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_binomial_scatter.build(s, shape);
}

/* In the last round all send as many blocks as they have. */
static int build_allgather_too_much(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_allgather_dissemination.build(s, shape);
	struct coll_edge *last = &s->send[s->sends - 1], *to = &s->fold[s->folds - 1];

	last->first_block = (shape->self + 1) % shape->hosts;
	last->blocks = shape->hosts;
	to->first_block = (to->host + 1) % shape->hosts;
	to->blocks = shape->hosts;
	return err;
}

/* Blocks that begin with the sender's, not those that end with it. */
static int build_allgather_not_held(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_allgather_dissemination.build(s, shape);
	u32 i;

	for (i = 0; i < s->sends; i++) {
		s->send[i].first_block = shape->self;
		s->fold[i].first_block = s->fold[i].host;
	}
	return err;
}

static int build_allgather_twice(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_allgather_dissemination.build(s, shape);

	/* At distance 4 of five hosts one block is received; the one before it has come. */
	s->send[s->sends - 1].first_block = (s->send[s->sends - 1].first_block + 4) % 5;
	s->fold[s->folds - 1].first_block = (s->fold[s->folds - 1].first_block + 4) % 5;
	s->send[s->sends - 1].blocks = 2;
	s->fold[s->folds - 1].blocks = 2;
	return err;
}

static int build_gather_other_blocks(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_gather.build(s, shape);

	if (!node_of(shape))
		s->fold[0].first_block = (s->fold[0].first_block + 1) % shape->hosts;
	return err;
}

static int build_gather_one_round_short(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_binomial_gather.build(s, shape);

	s->rounds--;
	return err;
}

/* ---- prefixes ---- */

static int build_scan(struct coll_schedule *s, const struct coll_shape *shape)
{
	return coll_hillis_steele_scan.build(s, shape);
}

static int build_scan_promises(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_scan(s, shape);

	s->synchronising = true;
	return err;
}

/* Without the last round with messages */
static int build_scan_one_round_short(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_scan(s, shape);

	s->round[s->rounds - 2].sends = 0;
	s->round[s->rounds - 2].folds = 0;
	if (shape->self >= 4) {
		s->fold[4] = s->fold[6];
		s->folds = 5;
		s->round[s->rounds - 1].fold_first = 4;
	}
	return err;
}

static int build_scan_on_the_right(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_scan(s, shape);
	u32 i;

	for (i = 0; i < s->folds; i++)
		if (s->fold[i].action == COLL_FOLD_LEFT)
			s->fold[i].action = COLL_FOLD_RIGHT;
	return err;
}

/* The farthest host first: then messages do not begin where the one before ends. */
static int build_scan_in_reverse(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = coll_schedule_start_prefixes(s, shape->hosts, shape->self);
	u32 distance;

	for (distance = 4; !err && distance; distance /= 2) {
		err = coll_schedule_round(s);
		if (!err && s->self + distance < s->hosts)
			err = coll_schedule_send(s, s->self + distance, 0);
		if (!err && s->self >= distance)
			err = coll_schedule_combine(s, s->self - distance, 0, COLL_FOLD_LEFT);
	}
	err = err ?: coll_schedule_round(s);
	return err || !s->self ? err : coll_schedule_prefix(s);
}

/* Nobody folds the messages. */
static int build_scan_without_below(struct coll_schedule *s, const struct coll_shape *shape)
{
	int err = build_scan(s, shape);

	s->rounds--;
	return err;
}

#define TREE { .hosts = 7, .root = 2, .degree = 2 }

static const struct planted {
	const char *name;
	u8 operation;
	struct coll_shape shape;
	int (*build)(struct coll_schedule *s, const struct coll_shape *shape);
	enum symbolic_hold hold;
	enum symbolic_fault fault;
} planted[] = {
	{ "no bug", COLLSOCK_ALLREDUCE, { .hosts = 5, .degree = 2 }, build_star,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "wrong distance", COLLSOCK_BARRIER, { .hosts = 7, .degree = 2 }, build_wrong_distance,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "one round short", COLLSOCK_BARRIER, { .hosts = 4, .degree = 2 }, build_one_round_short,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "one round short and late", COLLSOCK_BARRIER, { .hosts = 4, .degree = 2 },
	  build_one_round_short,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_TOO_EARLY },
	{ "one does not wait", COLLSOCK_BARRIER, { .hosts = 4, .degree = 2 },
	  build_one_does_not_wait,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "side swapped", COLLSOCK_ALLREDUCE, { .hosts = 8, .degree = 2 }, build_side_swapped,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "nothing handed out", COLLSOCK_ALLREDUCE, { .hosts = 6, .degree = 2 },
	  build_nothing_handed_out, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DEADLOCK },
	{ "folded twice", COLLSOCK_ALLREDUCE, { .hosts = 6, .degree = 2 }, build_folded_twice,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "handed out unawaited", COLLSOCK_ALLREDUCE, { .hosts = 6, .degree = 2 },
	  build_handed_out_unawaited, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_TOO_EARLY },
	{ "sent unawaited", COLLSOCK_ALLREDUCE, { .hosts = 3, .degree = 2 },
	  build_star_and_unawaited,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_AWAITED },
	{ "pairs apart", COLLSOCK_ALLREDUCE, { .hosts = 6, .degree = 2 }, build_pairs_apart,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "dissemination of data", COLLSOCK_ALLREDUCE, { .hosts = 8, .degree = 2 },
	  build_dissemination,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "dissemination of data twice", COLLSOCK_ALLREDUCE, { .hosts = 6, .degree = 2 },
	  build_dissemination, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "not the same bits", COLLSOCK_ALLREDUCE, { .hosts = 4, .degree = 2 },
	  build_star_from_the_right,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DIFFERENT },
	{ "empty register", COLLSOCK_ALLREDUCE, { .hosts = 3, .degree = 2 },
	  build_star_of_empty_register,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "sent twice", COLLSOCK_ALLREDUCE, { .hosts = 3, .degree = 2 }, build_star_sent_twice,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_TWICE },
	{ "not built", COLLSOCK_ALLREDUCE, { .hosts = 3, .degree = 2 }, build_too_large,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_BUILT },
	{ "in blocks", COLLSOCK_ALLREDUCE, { .hosts = 3, .degree = 2 }, build_in_blocks,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_BLOCKS },

	{ "binomial reduce", COLLSOCK_REDUCE, TREE, build_binomial_reduce,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "k-ary broadcast", COLLSOCK_BROADCAST, TREE, build_kary_broadcast,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "synchronising reduce", COLLSOCK_REDUCE, TREE, build_reduce_synchronising,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_SYNCHRONISING },
	{ "to another root", COLLSOCK_REDUCE, TREE, build_reduce_to_another,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "in the order of ranks", COLLSOCK_REDUCE, TREE, build_reduce_by_rank,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "folded from the left", COLLSOCK_REDUCE, TREE, build_reduce_from_the_left,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "without the root's own", COLLSOCK_REDUCE, TREE, build_reduce_of_the_others,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "the root in haste", COLLSOCK_REDUCE, TREE, build_reduce_root_in_haste,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_AWAITED },
	{ "a leaf waits", COLLSOCK_REDUCE, TREE, build_reduce_leaf_waits,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DEADLOCK },
	{ "reduce as broadcast", COLLSOCK_BROADCAST, TREE, build_kary_reduce,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "sent too soon", COLLSOCK_BROADCAST, TREE, build_broadcast_too_soon,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "folded to nothing", COLLSOCK_BROADCAST, TREE, build_broadcast_folded,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "told twice", COLLSOCK_BROADCAST, TREE, build_broadcast_told_twice,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "one is not told", COLLSOCK_BROADCAST, TREE, build_broadcast_without_one,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "half a barrier", COLLSOCK_BARRIER, { .hosts = 7, .degree = 2 }, build_barrier_half,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_TOO_EARLY },
	{ "a barrier in haste", COLLSOCK_BARRIER, { .hosts = 3, .degree = 2 },
	  build_barrier_in_haste,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "allgather", COLLSOCK_ALLGATHER, { .hosts = 5, .degree = 2 }, build_allgather,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "gather", COLLSOCK_GATHER, TREE, build_gather, SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "scatter", COLLSOCK_SCATTER, TREE, build_scatter,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "more than there is", COLLSOCK_ALLGATHER, { .hosts = 5, .degree = 2 },
	  build_allgather_too_much, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_HELD },
	{ "blocks not held", COLLSOCK_ALLGATHER, { .hosts = 5, .degree = 2 },
	  build_allgather_not_held, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_HELD },
	{ "a block twice", COLLSOCK_ALLGATHER, { .hosts = 5, .degree = 2 },
	  build_allgather_twice, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_HELD },
	{ "blocks of others", COLLSOCK_GATHER, TREE, build_gather_other_blocks,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_RANGE },
	{ "not all blocks", COLLSOCK_GATHER, TREE, build_gather_one_round_short,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_RESULT },
	{ "scatter as gather", COLLSOCK_GATHER, TREE, build_scatter,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_HELD },
	{ "scan", COLLSOCK_SCAN, { .hosts = 7 }, build_scan, SYMBOLIC_HOLD_ARRIVAL,
	  SYMBOLIC_SOUND },
	{ "synchronising scan", COLLSOCK_SCAN, { .hosts = 7 }, build_scan_promises,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_SYNCHRONISING },
	{ "not all below", COLLSOCK_SCAN, { .hosts = 7 }, build_scan_one_round_short,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "scan on the right", COLLSOCK_SCAN, { .hosts = 7 }, build_scan_on_the_right,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "scan in reverse", COLLSOCK_SCAN, { .hosts = 7 }, build_scan_in_reverse,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "nothing below", COLLSOCK_SCAN, { .hosts = 7 }, build_scan_without_below,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "down too early", COLLSOCK_ALLREDUCE, { .hosts = 7, .degree = 2 }, build_down_too_early,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DOWN },
	{ "down from another", COLLSOCK_ALLREDUCE, { .hosts = 7, .degree = 2 },
	  build_down_from_another, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DOWN_SOURCE },
	{ "down from a child", COLLSOCK_ALLREDUCE, { .hosts = 7, .degree = 2 },
	  build_down_from_a_child, SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DOWN_EDGE },
	{ "down in haste", COLLSOCK_BARRIER, { .hosts = 3, .degree = 2 }, build_down_in_haste,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_UP },
	{ "no promise", COLLSOCK_BARRIER, { .hosts = 7, .degree = 2 },
	  build_barrier_promises_nothing,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_SYNCHRONISING },
};

TEST(every_planted_bug_is_found_as_the_right_fault)
{
	struct symbolic_group group = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		struct symbolic_adversary adversary = { .hold = planted[i].hold };
		struct coll_algorithm algorithm = {
			.operation = planted[i].operation,
			.build = planted[i].build,
		};

		symbolic_build(&group, &algorithm, &planted[i].shape);
		symbolic_run_victims(&group, &adversary);
		EXPECT_EQ(planted[i].fault, group.outcome.fault)
			TH_LOG("%s: %s", planted[i].name, symbolic_outcome(&group));
	}
	symbolic_free(&group);
}

TEST(an_operation_that_the_executor_cannot_check_is_a_fault)
{
	struct coll_algorithm unknown = { .operation = 255, .build = build_star };
	struct coll_shape three = { .hosts = 3, .degree = 2 };
	struct symbolic_adversary adversary = {};
	struct symbolic_group group = {};

	symbolic_build(&group, &unknown, &three);
	symbolic_run(&group, &adversary);
	EXPECT_EQ(SYMBOLIC_OPERATION, group.outcome.fault);
	symbolic_free(&group);
}

TEST_HARNESS_MAIN
