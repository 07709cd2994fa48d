// SPDX-License-Identifier: GPL-2.0
/*
 * Several ranks on a host: they combine in its group, and the network sees hosts. Each
 * joins, posts and leaves separately.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

#define MAX_PLACED	10

static const struct placement {
	u32	count;
	u32	host_of_rank[MAX_PLACED];
} placements[] = {
	{ 4, { 0, 0, 0, 0 } },
	{ 9, { 0, 0, 0, 1, 1, 1, 2, 2, 2 } },
	{ 9, { 0, 1, 2, 0, 1, 2, 0, 1, 2 } },
	{ 9, { 0, 1, 1, 1, 1, 1, 2, 2, 3 } },
	{ 10, { 0, 1, 0, 2, 3, 1, 1, 0, 3, 2 } },
};

/* Ranks 0 and 1 on host 0, 2 to 4 on host 1. */
static const u32 two_hosts[] = { 0, 0, 1, 1, 1 };

static void begin(struct __test_metadata *_metadata, struct unit_network *n)
{
	unit_network_place(n, two_hosts, ARRAY_SIZE(two_hosts), seed_start());
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static void expect_failure(struct __test_metadata *_metadata, struct unit_network *n, u32 rank,
			   u32 error, u32 failed_rank)
{
	EXPECT_TRUE(unit_last(n, rank)->done);
	EXPECT_EQ(error, unit_last(n, rank)->error) {
		TH_LOG("rank %u", rank);
	}
	EXPECT_EQ(failed_rank, unit_last(n, rank)->failed_rank) {
		TH_LOG("rank %u", rank);
	}
}

/* ---- results ---- */

/* All ranks post, beginning with any of them. */
static void check_operation(struct __test_metadata *_metadata, struct unit_network *n,
			    const struct coll_algorithm *a, u32 root)
{
	u64 sum = 0, expected;
	u32 i, first = world_below(&n->world.random, n->count);
	bool receives;

	for (i = 0; i < n->count; i++) {
		u32 rank = (first + i) % n->count;

		sum += 1ULL << 6 * rank;
		ASSERT_EQ(0, unit_post_value(n, rank, a->operation, a->algorithm, root,
					     1ULL << 6 * rank));
	}
	ASSERT_TRUE(unit_await_all(n, SECOND));
	for (i = 0; i < n->count; i++) {
		receives = coll_operation_receives(a->operation, i == root) &&
			   coll_operations[a->operation].typed;
		expected = a->operation == COLLSOCK_BROADCAST ? 1ULL << 6 * root : sum;
		ASSERT_EQ(0, unit_last(n, i)->error);
		ASSERT_EQ(receives ? 8 : 0, unit_last(n, i)->bytes);
		if (receives)
			ASSERT_EQ(expected, unit_value(unit_last(n, i)));
	}
}

static u32 roots_of(const struct coll_algorithm *a, u32 ranks)
{
	return coll_algorithm_rooted(a) ? ranks : 1;
}

TEST_F(net, every_operation_gives_every_rank_its_result_wherever_ranks_are)
{
	const struct placement *p;
	u32 k, a, root;

	for (k = 0; k < ARRAY_SIZE(placements); k++) {
		p = &placements[k];
		unit_network_place(&self->n, p->host_of_rank, p->count, seed_start() + k);
		self->n.join.degree = 3;
		self->n.join.algorithms = unit_every_algorithm();
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (a = 0; a < coll_registry_count; a++) {
			/* With a block for each rank: test_blocks; prefixes: test_scan */
			if (coll_operations[coll_registry[a]->operation].blocks ||
			    coll_operations[coll_registry[a]->operation].prefix)
				continue;
			for (root = 0; root < roots_of(coll_registry[a], p->count); root++)
				check_operation(_metadata, &self->n, coll_registry[a], root);
		}
		unit_network_free(&self->n);
	}
}

/* (1e308 - 1e308) + 1 is 1; in any other order it is 0. */
TEST_F(net, contributions_are_folded_in_rank_order_whichever_posts_first)
{
	static const u32 orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 },
					 { 2, 0, 1 }, { 2, 1, 0 } };
	static const double values[] = { 1e308, -1e308, 1 };
	const struct collsock_post post = {
		.size = sizeof(post), .operation = COLLSOCK_ALLREDUCE, .type = COLLSOCK_DOUBLE,
		.op = COLLSOCK_SUM, .count = 1,
	};
	u32 i, k;

	begin(_metadata, &self->n);
	for (k = 0; k < ARRAY_SIZE(orders); k++) {
		static const double nothing;

		ASSERT_EQ(0, unit_post(&self->n, 0, &post, &nothing));
		ASSERT_EQ(0, unit_post(&self->n, 1, &post, &nothing));
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, unit_post(&self->n, 2 + orders[k][i], &post,
					       &values[orders[k][i]]));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		for (i = 0; i < self->n.count; i++) {
			double result = 0;

			memcpy(&result, unit_last(&self->n, i)->result, sizeof(result));
			EXPECT_EQ(1, result) {
				TH_LOG("order %u, rank %u", k, i);
			}
		}
	}
}

TEST_F(net, an_operation_begins_when_the_last_sibling_has_posted)
{
	begin(_metadata, &self->n);
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	unit_run(&self->n, 100 * MS);
	EXPECT_EQ(0, self->n.world.sent);
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	EXPECT_EQ(1, self->n.world.sent);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	unit_run(&self->n, 100 * MS);
	EXPECT_FALSE(unit_last(&self->n, 4)->done);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
}

/* ---- ranks that run ahead ---- */

TEST_F(net, each_rank_has_a_window_of_its_own)
{
	u32 i;

	unit_network_place(&self->n, two_hosts, ARRAY_SIZE(two_hosts), seed_start());
	self->n.join.window = 4;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	EXPECT_EQ(-EAGAIN, unit_reduce(&self->n, 2, 0, 2));
	/* The others have their results, though their host is last in the schedule. */
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_reduce(&self->n, 3, 0, 3));
	EXPECT_EQ(-EAGAIN, unit_reduce(&self->n, 3, 0, 3));
	ASSERT_EQ(0, unit_reduce(&self->n, 4, 0, 4));
	unit_run(&self->n, SECOND);
	/* The first is over on all hosts but that of its root: each rank may post one more. */
	EXPECT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	EXPECT_EQ(-EAGAIN, unit_reduce(&self->n, 2, 0, 2));
	for (i = 0; i < 5; i++) {
		if (i)
			ASSERT_EQ(0, unit_reduce(&self->n, 4, 0, 4));
		if (i == 4)
			ASSERT_EQ(0, unit_reduce(&self->n, 3, 0, 3));
		ASSERT_EQ(0, unit_reduce(&self->n, 1, 0, 1));
		ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, 100));
		unit_run(&self->n, SECOND);
		EXPECT_EQ(110, unit_value(unit_last(&self->n, 0)));
	}
}

TEST_F(net, a_rank_that_receives_nothing_waits_for_no_sibling)
{
	begin(_metadata, &self->n);
	ASSERT_EQ(0, unit_reduce(&self->n, 3, 0, 3));
	EXPECT_TRUE(unit_last(&self->n, 3)->done);
	ASSERT_EQ(0, unit_reduce(&self->n, 1, 0, 1));
	EXPECT_TRUE(unit_last(&self->n, 1)->done);
	ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, 10));
	ASSERT_EQ(0, unit_reduce(&self->n, 4, 0, 4));
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(20, unit_value(unit_last(&self->n, 0)));
}

TEST_F(net, a_broadcast_waits_for_the_root_alone)
{
	static const u32 chain[] = { 0, 0, 1, 1, 2, 2, 3, 3 };

	unit_network_place(&self->n, chain, ARRAY_SIZE(chain), seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	/* A sibling of the root was first; 3 is a child of 2, none of whose ranks posts. */
	ASSERT_EQ(0, unit_broadcast(&self->n, 1, 0, 0));
	ASSERT_EQ(0, unit_broadcast(&self->n, 7, 0, 0));
	unit_run(&self->n, 100 * MS);
	EXPECT_FALSE(unit_last(&self->n, 1)->done);
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 42));
	EXPECT_TRUE(unit_last(&self->n, 0)->done);
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 1)));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 7)));
	/* A rank that posts an hour later has the result at once, one after the other. */
	unit_run(&self->n, 3600 * SECOND);
	ASSERT_EQ(0, unit_broadcast(&self->n, 6, 0, 0));
	ASSERT_EQ(0, unit_broadcast(&self->n, 4, 0, 0));
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 6)));
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 4)));
	ASSERT_EQ(0, unit_broadcast(&self->n, 5, 0, 0));
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 5)));
}

/* ---- joining ---- */

TEST_F(net, a_rank_joins_once_and_only_on_its_host)
{
	struct coll_group *g;

	unit_network_place(&self->n, two_hosts, ARRAY_SIZE(two_hosts), seed_start());
	EXPECT_EQ(1, unit_join(&self->n, 3, NULL));
	g = unit_group(&self->n, 1);
	EXPECT_EQ(-EEXIST, coll_group_join(g, 3));
	EXPECT_EQ(-ENOENT, coll_group_join(g, 0));
	EXPECT_EQ(-ENOENT, coll_group_join(g, 5));
	EXPECT_EQ(-ENOENT, coll_group_join(g, ~0U));
	EXPECT_EQ(2, unit_join(&self->n, 4, NULL));
	unit_leave(&self->n, 3);
	EXPECT_EQ(-EEXIST, coll_group_join(g, 3));
	EXPECT_EQ(0, unit_join(&self->n, 2, NULL));
}

TEST_F(net, a_rank_may_join_when_the_others_of_its_host_have_left)
{
	u32 i;

	unit_network_place(&self->n, two_hosts, ARRAY_SIZE(two_hosts), seed_start());
	for (i = 0; i < 4; i++)
		ASSERT_LE(0, unit_join(&self->n, i, NULL));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_leave(&self->n, 2);
	unit_leave(&self->n, 3);
	unit_run(&self->n, SECOND);
	/* What they have posted waits for it. */
	ASSERT_EQ(WORLD_JOINED, self->n.ranks[3].member->state);
	EXPECT_EQ(2, unit_join(&self->n, 4, NULL));
	EXPECT_FALSE(unit_group(&self->n, 1)->ranks.leaving);
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < self->n.count; i++)
		EXPECT_EQ(0, unit_last(&self->n, i)->error);
	/* But only up to that. */
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	expect_failure(_metadata, &self->n, 4, ECONNRESET, 2);
}

static void join_without_3(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	unit_network_place(n, two_hosts, ARRAY_SIZE(two_hosts), seed_start());
	for (i = 0; i < n->count; i++)
		if (i != 3)
			ASSERT_LE(0, unit_join(n, i, NULL));
}

TEST_F(net, a_rank_that_never_joins_is_named_after_the_join_timeout)
{
	u64 join_timeout = coll_timing_default.join_timeout;
	u32 i;

	join_without_3(_metadata, &self->n);
	/* They may post at any time. */
	unit_run(&self->n, 2 * join_timeout);
	for (i = 0; i < self->n.count; i++)
		if (i != 3)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_run(&self->n, join_timeout - SECOND);
	EXPECT_FALSE(unit_last(&self->n, 0)->done || unit_last(&self->n, 2)->done);
	unit_run(&self->n, 10 * SECOND);
	for (i = 0; i < self->n.count; i++)
		if (i != 3)
			expect_failure(_metadata, &self->n, i, ETIMEDOUT, 3);
}

TEST_F(net, a_rank_that_never_joins_is_named_by_others_while_its_siblings_compute)
{
	u64 join_timeout = coll_timing_default.join_timeout;

	join_without_3(_metadata, &self->n);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	unit_run(&self->n, join_timeout - SECOND);
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	unit_run(&self->n, 10 * SECOND);
	expect_failure(_metadata, &self->n, 0, ETIMEDOUT, 3);
	expect_failure(_metadata, &self->n, 1, ETIMEDOUT, 3);
}

TEST_F(net, other_hosts_do_not_wait_for_a_rank_that_contributes_nothing)
{
	u64 join_timeout = coll_timing_default.join_timeout;

	join_without_3(_metadata, &self->n);
	/* Host 1 has what host 0 waits for, when 4 posts. */
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 4, 0));
	ASSERT_EQ(0, unit_broadcast(&self->n, 1, 4, 0));
	unit_run(&self->n, 3 * join_timeout);
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	ASSERT_EQ(0, unit_broadcast(&self->n, 4, 4, 7));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(7, unit_value(unit_last(&self->n, 0)));
	EXPECT_EQ(7, unit_value(unit_last(&self->n, 1)));
}

/* ---- leaving ---- */

TEST_F(net, a_rank_that_leaves_is_named_by_its_siblings_and_by_others)
{
	u32 i;

	begin(_metadata, &self->n);
	for (i = 0; i < self->n.count; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	/* One leaves while its operation is under way. */
	unit_leave(&self->n, 3);
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < self->n.count; i++)
		EXPECT_EQ(0, unit_last(&self->n, i)->error);
	for (i = 0; i < self->n.count; i++)
		if (i != 3)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < self->n.count; i++)
		if (i != 3)
			expect_failure(_metadata, &self->n, i, ECONNRESET, 3);
	EXPECT_FALSE(unit_group(&self->n, 1)->ranks.leaving);
}

TEST_F(net, of_ranks_that_leave_one_after_the_other_the_one_that_posted_least_is_named)
{
	u32 i, k;

	begin(_metadata, &self->n);
	for (k = 0; k < 3; k++)
		for (i = 0; i < self->n.count; i++)
			if (i != 4 || k < 2)
				ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_leave(&self->n, 2);
	unit_leave(&self->n, 4);
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < self->n.count; i++)
		if (i != 4)
			expect_failure(_metadata, &self->n, i, ECONNRESET, 4);
}

TEST_F(net, when_all_have_left_what_they_posted_completes)
{
	u32 i;

	begin(_metadata, &self->n);
	for (i = 0; i < self->n.count; i++)
		ASSERT_EQ(0, unit_reduce(&self->n, i, 0, i));
	for (i = 1; i < self->n.count; i++)
		unit_leave(&self->n, i);
	EXPECT_EQ(WORLD_JOINED, self->n.ranks[2].member->state);
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(10, unit_value(unit_last(&self->n, 0)));
	unit_run(&self->n, SECOND);
	EXPECT_EQ(WORLD_TIMEWAIT, self->n.ranks[2].member->state);
	EXPECT_EQ(WORLD_JOINED, self->n.ranks[0].member->state);
	unit_leave(&self->n, 0);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(WORLD_TIMEWAIT, self->n.ranks[0].member->state);
}

/* ---- disagreement ---- */

TEST_F(net, siblings_that_disagree_name_the_one_that_was_first)
{
	u32 i;

	begin(_metadata, &self->n);
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 1));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < 4; i++)
		expect_failure(_metadata, &self->n, i, EPROTO, 3);
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	expect_failure(_metadata, &self->n, 4, EPROTO, 3);
}

TEST_F(net, hosts_that_disagree_name_the_lowest_rank_of_each_other)
{
	begin(_metadata, &self->n);
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	unit_run(&self->n, 10 * MS);
	ASSERT_EQ(0, unit_reduce(&self->n, 1, 0, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	expect_failure(_metadata, &self->n, 1, EPROTO, 2);
	expect_failure(_metadata, &self->n, 3, EPROTO, 0);
}

/* ---- bounds ---- */

/* The limit of a namespace uses what groups report. */
TEST_F(net, a_group_reports_the_memory_of_its_ranks_and_lanes)
{
	const struct placement *p;
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(placements); k++) {
		p = &placements[k];
		unit_network_place(&self->n, p->host_of_rank, p->count, 1);
		self->n.join.segment_bytes = 96;
		self->n.join.max_bytes = 1000 * k;
		self->n.join.degree = k;
		if (k == 1)
			self->n.join.degree = 0;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (i = 0; i < self->n.hosts; i++)
			EXPECT_EQ(world_reserved(unit_member(&self->n, i)),
				  unit_member(&self->n, i)->charged);
		unit_network_free(&self->n);
	}
}

/* It posts up to its window, and its sibling follows. */
static void contribute(struct __test_metadata *_metadata, struct unit_network *n, u32 rank,
		       u32 total)
{
	const struct coll_rank *r = &n->ranks[rank].member->group.ranks.local[n->ranks[rank].local];

	while (r->next < total && !unit_reduce(n, rank, 0, (u64)r->next * rank)) {
		ASSERT_TRUE(unit_last(n, rank)->done);
		unit_forget(n, rank);
	}
}

/*
 * A rank of the root's host closes while its sibling stays: no rank there will ever receive
 * later results. A rank that has contributed to these, and closes, too, must not keep
 * sending.
 */
TEST_F(net, no_host_lingers_for_messages_that_cannot_be_used)
{
	static const u32 hosts[] = { 0, 0, 1 };
	u32 window = 4, posted = 0;

	unit_network_place(&self->n, hosts, ARRAY_SIZE(hosts), seed_start());
	self->n.join.window = window;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	while (posted < 2 * window) {
		if (unit_reduce(&self->n, 2, 0, 1))
			unit_run(&self->n, MS);
		else
			posted++;
	}
	unit_leave(&self->n, 1);
	unit_run(&self->n, SECOND);
	unit_leave(&self->n, 2);
	unit_run(&self->n, 10 * SECOND);
	EXPECT_EQ(WORLD_TIMEWAIT, self->n.group.members[1].state);
}

/* A million, and more in a soak. */
TEST_F_TIMEOUT(net, contributors_that_never_wait_lose_nothing_and_leave_no_memory, 3600)
{
	static const u32 hosts[] = { 0, 1, 1 };
	u32 total = 1000000 * min_t(u64, seed_soak(), 10), number, rank;
	long memory;

	unit_network_place(&self->n, hosts, ARRAY_SIZE(hosts), seed_start());
	self->n.join.window = 64;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	memory = world_memory;
	for (number = 0; number < total; number++) {
		struct unit_completion *root = &self->n.ranks[0].ops[0];

		ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, 1));
		do {
			for (rank = 1; rank < 3; rank++)
				contribute(_metadata, &self->n, rank, total);
		} while (!root->done && world_step(&self->n.world, COLL_NEVER - 1));
		ASSERT_EQ(0, root->error);
		ASSERT_EQ(1 + 3ULL * number, unit_value(root));
		unit_forget(&self->n, 0);
	}
	EXPECT_EQ(memory, world_memory);
	for (rank = 0; rank < 2; rank++)
		EXPECT_EQ(0, unit_group(&self->n, rank)->stats.invalid);
	EXPECT_EQ(2 * total, unit_group(&self->n, 1)->stats.completed);
	printf("# %u reduces\n", total);
	fflush(stdout);
}

TEST_HARNESS_MAIN
