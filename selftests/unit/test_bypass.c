// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions and broadcasts: a rank that receives no result does not wait, and no rank
 * waits for one that does not contribute (Documentation/reductions.md).
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

static void begin(struct __test_metadata *_metadata, struct unit_network *n, u32 hosts)
{
	unit_network_init(n, hosts, seed_start());
	n->join.degree = 3;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

/* ---- results ---- */

static void check_reduce(struct __test_metadata *_metadata, struct unit_network *n, u32 root,
			 u8 algorithm)
{
	u64 sum = 0;
	u32 i, host;

	for (i = 0; i < n->count; i++) {
		host = (i + root + 1) % n->count;
		ASSERT_EQ(0, unit_post_value(n, host, COLLSOCK_REDUCE, algorithm, root,
					     host * 7 + 1));
		sum += host * 7 + 1;
		/* The root posts last: no rank has waited for it. */
		ASSERT_EQ(host != root || n->count == 1, unit_last(n, host)->done);
		ASSERT_EQ(n->count == 1 ? 8 : 0, unit_last(n, host)->bytes);
	}
	ASSERT_TRUE(unit_await(n, root, n->ranks[root].posted - 1, SECOND));
	ASSERT_EQ(0, unit_last(n, root)->error);
	ASSERT_EQ(8, unit_last(n, root)->bytes);
	ASSERT_EQ(sum, unit_value(unit_last(n, root)));
}

static void check_broadcast(struct __test_metadata *_metadata, struct unit_network *n, u32 root,
			    u8 algorithm)
{
	u64 value = unit_random(n);
	u32 i;

	ASSERT_EQ(0, unit_post_value(n, root, COLLSOCK_BROADCAST, algorithm, root, value));
	ASSERT_TRUE(unit_last(n, root)->done);
	ASSERT_EQ(0, unit_last(n, root)->bytes);
	for (i = 0; i < n->count; i++)
		if (i != root)
			ASSERT_EQ(0, unit_post_value(n, i, COLLSOCK_BROADCAST, algorithm, root, 0));
	for (i = 0; i < n->count; i++) {
		ASSERT_TRUE(unit_await(n, i, n->ranks[i].posted - 1, SECOND));
		ASSERT_EQ(0, unit_last(n, i)->error);
		if (i != root)
			ASSERT_EQ(value, unit_value(unit_last(n, i)));
	}
}

TEST_F(net, every_root_receives_reductions_and_sends_broadcasts)
{
	static const u32 sizes[] = { 1, 2, 3, 5, 8, 13 };
	u32 k, root;
	u8 a;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		begin(_metadata, &self->n, sizes[k]);
		for (root = 0; root < sizes[k]; root++) {
			for (a = COLLSOCK_BINOMIAL; a <= COLLSOCK_KARY; a++) {
				check_reduce(_metadata, &self->n, root, a);
				check_broadcast(_metadata, &self->n, root, a);
			}
		}
		unit_network_free(&self->n);
	}
}

/* ---- ranks that need not wait ---- */

TEST_F(net, a_broadcast_passes_hosts_whose_ranks_compute)
{
	u32 i;

	begin(_metadata, &self->n, 8);
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 42));
	/* 7 is a child of 6, and 6 of 4. */
	ASSERT_EQ(0, unit_broadcast(&self->n, 7, 0, 0));
	ASSERT_TRUE(unit_await(&self->n, 7, 0, SECOND));
	EXPECT_EQ(42, unit_value(unit_last(&self->n, 7)));
	unit_run(&self->n, 3600 * SECOND);
	for (i = 1; i < 7; i++) {
		ASSERT_EQ(0, unit_broadcast(&self->n, i, 0, 0));
		ASSERT_TRUE(unit_last(&self->n, i)->done);
		EXPECT_EQ(42, unit_value(unit_last(&self->n, i)));
	}
}

TEST_F(net, a_host_folds_and_forwards_when_its_rank_has_closed)
{
	begin(_metadata, &self->n, 4);
	/* 3 is a child of 2, which has left before 3 joins. */
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, 10));
	unit_leave(&self->n, 2);
	unit_run(&self->n, 100 * SECOND);
	EXPECT_TRUE(unit_joined(&self->n, 2));
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	ASSERT_EQ(0, unit_reduce(&self->n, 1, 0, 1));
	ASSERT_EQ(0, unit_reduce(&self->n, 3, 0, 3));
	ASSERT_TRUE(unit_await(&self->n, 0, 0, SECOND));
	EXPECT_EQ(16, unit_value(unit_last(&self->n, 0)));
	unit_run(&self->n, SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 2));
}

TEST_F(net, several_reductions_overlap_and_end_in_any_order)
{
	u32 root, i;

	begin(_metadata, &self->n, 6);
	/* Host 5 is late with all of them, so its ancestors cannot finish either. */
	for (root = 0; root < 6; root++)
		for (i = 0; i < 5; i++)
			ASSERT_EQ(0, unit_reduce(&self->n, i, root, 1ULL << (8 * i)));
	unit_run(&self->n, 10 * SECOND);
	for (root = 0; root < 5; root++)
		EXPECT_FALSE(self->n.ranks[root].ops[root].done);
	for (root = 0; root < 6; root++)
		ASSERT_EQ(0, unit_reduce(&self->n, 5, root, 1ULL << 40));
	for (root = 0; root < 6; root++) {
		ASSERT_TRUE(unit_await(&self->n, root, root, SECOND));
		EXPECT_EQ(0x10101010101ULL, unit_value(&self->n.ranks[root].ops[root]));
	}
}

/* The rank posts up to its window, and reads completions only to discard them. */
static void contribute(struct __test_metadata *_metadata, struct unit_network *n, u32 host,
		       u32 total)
{
	struct coll_group *g = unit_group(n, host);

	while (g->window.next < total && !unit_reduce(n, host, 0, g->window.next)) {
		ASSERT_TRUE(unit_last(n, host)->done);
		unit_forget(n, host);
	}
}

TEST_F(net, ranks_that_only_contribute_never_wait_and_leave_no_memory)
{
	u32 total = 20000 * seed_soak(), number, host;
	struct unit_completion *root;
	long memory;

	unit_network_init(&self->n, 4, seed_start());
	self->n.world.link.loss = 20;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	memory = world_memory;
	for (number = 0; number < total; number++) {
		unit_forget(&self->n, 0);
		ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, number));
		root = unit_last(&self->n, 0);
		do {
			for (host = 1; host < 4; host++)
				contribute(_metadata, &self->n, host, total);
		} while (!root->done && world_step(&self->n.world, COLL_NEVER - 1));
		ASSERT_EQ(0, root->error);
		ASSERT_EQ(4ULL * number, unit_value(root));
	}
	EXPECT_EQ(memory, world_memory);
	for (host = 0; host < 4; host++)
		EXPECT_EQ(0, unit_group(&self->n, host)->stats.invalid);
}

/* ---- failure ---- */

TEST_F(net, a_rank_that_has_its_completion_sees_the_failure_in_the_next_one)
{
	u32 i;

	begin(_metadata, &self->n, 4);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	world_crash(&self->n.world, unit_member(&self->n, 3)->host);
	/* 2 waits for 3 on behalf of the root, though its rank's post has completed. */
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	EXPECT_TRUE(unit_last(&self->n, 2)->done);
	EXPECT_EQ(0, unit_last(&self->n, 2)->error);
	unit_run(&self->n, 20 * SECOND);
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 2));
	EXPECT_TRUE(unit_last(&self->n, 2)->done);
	EXPECT_EQ(ETIMEDOUT, unit_last(&self->n, 2)->error);
	EXPECT_EQ(3, unit_last(&self->n, 2)->failed_rank);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_TRUE(unit_await(&self->n, 0, 1, SECOND));
	EXPECT_EQ(3, unit_last(&self->n, 0)->failed_rank);
}

TEST_F(net, two_ranks_that_both_wait_as_root_fail)
{
	begin(_metadata, &self->n, 2);
	ASSERT_EQ(0, unit_reduce(&self->n, 0, 0, 1));
	ASSERT_EQ(0, unit_reduce(&self->n, 1, 1, 1));
	ASSERT_TRUE(unit_await(&self->n, 0, 0, 20 * SECOND));
	ASSERT_TRUE(unit_await(&self->n, 1, 0, 20 * SECOND));
	EXPECT_EQ(EPROTO, unit_last(&self->n, 0)->error);
	EXPECT_EQ(EPROTO, unit_last(&self->n, 1)->error);
}

/* The message that was forwarded early is in a queue when the post follows too late. */
TEST_F(net, a_message_forwarded_early_stays_intact_when_the_group_fails_before_the_post)
{
	begin(_metadata, &self->n, 4);
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 5));
	unit_cut(&self->n, 3);
	unit_run(&self->n, 10 * MS);
	ASSERT_EQ(COLL_OP_EARLY, unit_group(&self->n, 2)->window.slots[0].state);
	ASSERT_EQ(1, unit_group(&self->n, 2)->window.slots[0].head.unacked);
	/* A rank leaves before this operation. */
	unit_leave(&self->n, 1);
	unit_run(&self->n, 10 * MS);
	ASSERT_EQ(0, unit_broadcast(&self->n, 2, 0, 0));
	ASSERT_TRUE(unit_await(&self->n, 2, 0, SECOND));
	EXPECT_EQ(ECONNRESET, unit_last(&self->n, 2)->error);
	unit_run(&self->n, 1000 * SECOND);
	EXPECT_EQ(0, unit_group(&self->n, 2)->window.slots[0].head.unacked);
}

TEST_F(net, a_different_operation_with_the_number_of_a_finished_one_is_eproto)
{
	begin(_metadata, &self->n, 4);
	/* 2, a child of the root, has finished it when 1 comes with another operation. */
	ASSERT_EQ(0, unit_reduce(&self->n, 3, 0, 1));
	ASSERT_EQ(0, unit_reduce(&self->n, 2, 0, 1));
	unit_run(&self->n, SECOND);
	ASSERT_EQ(1, unit_group(&self->n, 2)->window.oldest);
	/* It sends to 2 first; no probe is needed. */
	ASSERT_EQ(0, unit_barrier_by(&self->n, 1, COLLSOCK_DISSEMINATION));
	ASSERT_TRUE(unit_await(&self->n, 1, 0, 100 * MS));
	EXPECT_EQ(EPROTO, unit_last(&self->n, 1)->error);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.probes_sent);
}

TEST_F(net, bad_posts_with_a_root_are_refused)
{
	struct collsock_post good = {
		.size = sizeof(good), .operation = COLLSOCK_REDUCE, .type = COLLSOCK_DOUBLE,
		.op = COLLSOCK_SUM, .count = 3, .root = 1,
	};
	struct coll_signature sig;
	struct collsock_post post;
	struct coll_group *g;

	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, 0);
#define BECOMES(expected, ...) ({ post = good; __VA_ARGS__; \
		EXPECT_EQ(expected, coll_signature_of_post(g, 0, &post, &sig)); })
	EXPECT_EQ(24, coll_signature_of_post(g, 0, &good, &sig));
	BECOMES(24, post.root = 0);
	BECOMES(24, post.flags = COLLSOCK_QUIET);
	BECOMES(-EINVAL, post.root = 0; post.flags = COLLSOCK_QUIET);
	BECOMES(-EINVAL, post.root = 2);
	BECOMES(-EINVAL, post.op = 0);
	BECOMES(-EINVAL, post.count = 0);
	BECOMES(-EINVAL, post.algorithm = COLLSOCK_EXCHANGE);
	BECOMES(24, post.algorithm = COLLSOCK_BINOMIAL);
	BECOMES(24, post.algorithm = COLLSOCK_KARY);
	BECOMES(-ERANGE, post.algorithm = COLLSOCK_KARY; post.degree = 3);
	good.operation = COLLSOCK_BROADCAST;
	good.op = COLLSOCK_NOP;
	EXPECT_EQ(0, coll_signature_of_post(g, 0, &good, &sig));
	BECOMES(24, post.root = 0);
	BECOMES(-EINVAL, post.flags = COLLSOCK_QUIET);
	BECOMES(24, post.root = 0; post.flags = COLLSOCK_QUIET);
	BECOMES(-EINVAL, post.op = COLLSOCK_SUM);
	BECOMES(-EINVAL, post.type = COLLSOCK_NONE);
	BECOMES(-EINVAL, post.count = 0);
	BECOMES(-EMSGSIZE, post.count = 145);
}

TEST_HARNESS_MAIN
