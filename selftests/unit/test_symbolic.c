// SPDX-License-Identifier: GPL-2.0
/*
 * The symbolic executor judges all algorithms; here it is judged itself. Each
 * schedule has one planted bug, and the executor must find that fault in it.
 */
#include "kselftest_harness.h"

#include "symbolic.h"

/* All tell all, and each folds in rank order: sound, in one round. */
static int build_star(struct coll_schedule *s, u32 hosts, u32 self)
{
	u32 host;
	int err;

	err = coll_schedule_start(s, hosts, self);
	err = err ?: coll_schedule_round(s);
	for (host = 0; host < hosts && !err; host++) {
		if (host != self)
			err = coll_schedule_send(s, host, 0);
		err = err ?: coll_schedule_fold(s, host, 0, host ? COLL_FOLD_RIGHT :
								   COLL_PLACE);
	}
	s->all_to_all = true;
	return err;
}

/* The highest host folds from the other end: right, but not the same bits. */
static int build_star_from_the_right(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = build_star(s, hosts, self);
	u32 i;

	if (err || self + 1 < hosts)
		return err;
	for (i = 0; i < hosts; i++) {
		s->fold[i].host = hosts - 1 - i;
		s->fold[i].action = i ? COLL_FOLD_LEFT : COLL_PLACE;
	}
	return 0;
}

static int build_star_of_empty_register(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = build_star(s, hosts, self);

	s->registers = 2;
	if (!self)
		s->send[0].reg = 1;
	return err;
}

static int build_star_sent_twice(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = build_star(s, hosts, self);

	if (!self)
		s->send[1].host = s->send[0].host;
	return err;
}

/* A round more, in which only host 0 sends, to host 1 that knows nothing of it. */
static int build_star_and_unawaited(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = build_star(s, hosts, self);

	err = err ?: coll_schedule_round(s);
	if (!err && !self)
		err = coll_schedule_send(s, 1, 0);
	return err;
}

/* The last round at distance 1 instead of 2^k. */
static int build_wrong_distance(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_dissemination_build(s, hosts, self);

	if (err || !s->rounds)
		return err;
	s->send[s->sends - 1].host = (self + 1) % hosts;
	s->fold[s->folds - 1].host = (self + hosts - 1) % hosts;
	return 0;
}

static int build_one_round_short(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_dissemination_build(s, hosts, self);

	if (s->rounds)
		s->rounds--;
	return err;
}

/* Host 0 does not wait in its last round. */
static int build_one_does_not_wait(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_dissemination_build(s, hosts, self);

	if (!self && s->rounds)
		s->round[s->rounds - 1].folds = 0;
	return err;
}

static int build_side_swapped(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_pairwise_build(s, hosts, self);
	u32 i;

	for (i = 0; !self && i < s->folds; i++)
		if (s->fold[i].action == COLL_FOLD_RIGHT)
			s->fold[i].action = COLL_FOLD_LEFT;
	return err;
}

/* The hosts that had handed in are not told. */
static int build_nothing_handed_out(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_pairwise_build(s, hosts, self);

	if (s->rounds)
		s->round[s->rounds - 1].sends = 0;
	return err;
}

/* … or they fold the outcome to what they had instead of taking it. */
static int build_folded_twice(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_pairwise_build(s, hosts, self);
	struct coll_round *r = &s->round[s->rounds - 1];
	u32 other;

	if (err || !r->folds || r->folds > 1)
		return err;
	other = s->fold[--s->folds].host;
	r->folds = 0;
	r->recvs = 0;
	return coll_schedule_combine(s, other, 0, COLL_FOLD_LEFT);
}

/* … or nobody has told them that they will be told. */
static int build_handed_out_unawaited(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = coll_pairwise_build(s, hosts, self);

	if (self % 2 && s->rounds)
		s->round[s->rounds - 1].folds = 0;
	return err;
}

/* The pairing of the paper: host i with host i - 2^m. */
static int build_pairs_apart(struct coll_schedule *s, u32 hosts, u32 self)
{
	static const u32 natural[] = { 0, 4, 1, 5, 2, 3 };	/* of the six */
	u32 i, number;
	int err;

	for (number = 0; natural[number] != self; number++)
		;
	err = coll_pairwise_build(s, hosts, number);
	s->self = self;
	for (i = 0; i < s->sends; i++)
		s->send[i].host = natural[s->send[i].host];
	for (i = 0; i < s->folds; i++)
		s->fold[i].host = natural[s->fold[i].host];
	return err;
}

static int build_too_large(struct coll_schedule *s, u32 hosts, u32 self)
{
	return build_star(s, COLL_MAX_EDGES + 2, self);
}

static int build_in_blocks(struct coll_schedule *s, u32 hosts, u32 self)
{
	int err = build_star(s, hosts, self);

	s->blocks = 2;
	return err;
}

static const struct planted {
	const char *name;
	u8 operation;
	u32 hosts;
	int (*build)(struct coll_schedule *s, u32 hosts, u32 self);
	enum symbolic_hold hold;
	enum symbolic_fault fault;
} planted[] = {
	{ "no bug", COLLSOCK_ALLREDUCE, 5, build_star,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_SOUND },
	{ "wrong distance", COLLSOCK_BARRIER, 7, build_wrong_distance,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "one round short", COLLSOCK_BARRIER, 4, build_one_round_short,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "one round short and late", COLLSOCK_BARRIER, 4, build_one_round_short,
	  SYMBOLIC_HOLD_ARRIVAL, SYMBOLIC_TOO_EARLY },
	{ "one does not wait", COLLSOCK_BARRIER, 4, build_one_does_not_wait,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_KNOWN },
	{ "side swapped", COLLSOCK_ALLREDUCE, 8, build_side_swapped,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "nothing handed out", COLLSOCK_ALLREDUCE, 6, build_nothing_handed_out,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DEADLOCK },
	{ "folded twice", COLLSOCK_ALLREDUCE, 6, build_folded_twice,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "handed out unawaited", COLLSOCK_ALLREDUCE, 6, build_handed_out_unawaited,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_TOO_EARLY },
	{ "sent unawaited", COLLSOCK_ALLREDUCE, 3, build_star_and_unawaited,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_AWAITED },
	{ "pairs apart", COLLSOCK_ALLREDUCE, 6, build_pairs_apart,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "dissemination of data", COLLSOCK_ALLREDUCE, 8, coll_dissemination_build,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_ORDER },
	{ "dissemination of data twice", COLLSOCK_ALLREDUCE, 6, coll_dissemination_build,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_COUNT },
	{ "not the same bits", COLLSOCK_ALLREDUCE, 4, build_star_from_the_right,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_DIFFERENT },
	{ "empty register", COLLSOCK_ALLREDUCE, 3, build_star_of_empty_register,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_EMPTY },
	{ "sent twice", COLLSOCK_ALLREDUCE, 3, build_star_sent_twice,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_TWICE },
	{ "not built", COLLSOCK_ALLREDUCE, 3, build_too_large,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_NOT_BUILT },
	{ "in blocks", COLLSOCK_ALLREDUCE, 3, build_in_blocks,
	  SYMBOLIC_HOLD_NOTHING, SYMBOLIC_BLOCKS },
};

TEST(every_planted_bug_is_seen_as_what_it_is)
{
	struct symbolic_group group = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		struct symbolic_adversary adversary = { .hold = planted[i].hold };
		struct coll_algorithm algorithm = {
			.name = planted[i].name,
			.operation = planted[i].operation,
			.build = planted[i].build,
		};

		symbolic_build(&group, &algorithm, planted[i].hosts);
		symbolic_run_victims(&group, &adversary);
		EXPECT_EQ(planted[i].fault, group.verdict.fault)
			TH_LOG("%s", symbolic_verdict(&group));
	}
	symbolic_free(&group);
}

TEST(an_operation_that_the_executor_cannot_judge_is_not_sound)
{
	struct coll_algorithm unknown = { .operation = 255, .build = build_star };
	struct symbolic_adversary adversary = {};
	struct symbolic_group group = {};

	symbolic_build(&group, &unknown, 3);
	symbolic_run(&group, &adversary);
	EXPECT_EQ(SYMBOLIC_OPERATION, group.verdict.fault);
	symbolic_free(&group);
}

TEST_HARNESS_MAIN
