// SPDX-License-Identifier: GPL-2.0
/* Hosts that join later than others, or never. */
#include "net_fixture.h"

#define SECOND	((u64)NSEC_PER_SEC)

TEST_F(net, a_host_that_joins_late_gets_what_was_sent_before)
{
	u64 begin;

	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 20 * SECOND + 700 * NSEC_PER_MSEC);
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.terminal);
	EXPECT_LE(self->n.world.sent, 30);
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	begin = self->n.world.now;
	coll_group_notify_join(unit_group(&self->n, 1), 0, self->n.world.now);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, 10 * SECOND));
	EXPECT_LT(self->n.world.now - begin, 10 * NSEC_PER_MSEC);
}

TEST_F(net, a_host_that_joins_a_moment_late_gets_what_was_sent_before_at_once)
{
	u64 begin;

	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 900 * NSEC_PER_USEC);
	begin = self->n.world.now;
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	coll_group_notify_join(unit_group(&self->n, 1), 0, self->n.world.now);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_LT(self->n.world.now - begin, coll_timing_default.rto_initial / 2);
}

TEST_F(net, a_host_never_heard_from_fails_the_group_after_the_join_timeout)
{
	struct coll_timing t = coll_timing_default;

	t.join_timeout = 20 * SECOND;
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join(&self->n, 0, &t));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 19 * SECOND);
	EXPECT_FALSE(self->n.ranks[0].ops[0].done);
	unit_run(&self->n, 10 * SECOND);
	EXPECT_TRUE(self->n.ranks[0].ops[0].done);
	EXPECT_EQ(ETIMEDOUT, self->n.ranks[0].ops[0].error);
	EXPECT_EQ(1, self->n.ranks[0].ops[0].failed_rank);
}

TEST_HARNESS_MAIN
