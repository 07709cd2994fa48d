// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that do not get through although both hosts are alive: the path drops long ones,
 * or filters of a host refuse them (Documentation/failure.md).
 */
#include "failure_fixture.h"

/* ---- the path ---- */

static bool drop_large_to_1(struct unit_network *n, struct world_packet *p)
{
	return p->to == 1 && p->bytes > 1000;
}

/* A switch with a smaller MTU than the interfaces: probes get through, payloads do not. */
TEST_F(net, a_message_that_never_gets_through_is_an_error_on_both_sides)
{
	static const s64 values[COLLSOCK_DEFAULT_SEGMENT / 8];
	u32 host;

	begin(_metadata, &self->n, 2);
	self->n.tap = drop_large_to_1;
	for (host = 0; host < 2; host++)
		ASSERT_EQ(0, unit_allreduce(&self->n, host, COLLSOCK_INT64, COLLSOCK_SUM,
					    ARRAY_SIZE(values), values));
	/* Host 0 has received everything that it needs for the first one. */
	ASSERT_TRUE(unit_await(&self->n, 0, 3, SECOND));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 60 * SECOND);
	ends_with(_metadata, &self->n, 0, 4, ETIMEDOUT, 1);
	ends_with(_metadata, &self->n, 1, 3, ETIMEDOUT, 1);
}

static bool drop_large_to_1_unless_fragmented(struct unit_network *n, struct world_packet *p)
{
	return drop_large_to_1(n, p) && !p->fragments;
}

TEST_F(net, packets_that_do_not_get_through_where_short_ones_do_are_fragmented)
{
	static const s64 values[132];
	u32 host;

	begin(_metadata, &self->n, 2);
	self->n.tap = drop_large_to_1_unless_fragmented;
	for (host = 0; host < 2; host++)
		ASSERT_EQ(0, unit_allreduce(&self->n, host, COLLSOCK_INT64, COLLSOCK_SUM, 132,
					    values));
	ASSERT_TRUE(unit_await_all(&self->n, 3 * SECOND));
	EXPECT_EQ(1, unit_group(&self->n, 0)->stats.peers_fragmented);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.peers_fragmented);
}

static bool drop_large_unless_fragmented(struct unit_network *n, struct world_packet *p)
{
	return p->bytes > 1000 && !p->fragments;
}

/* Neither hears anything of the other one before a long packet gets through. */
TEST_F(net, first_packets_that_are_long_get_through_both_ways)
{
	static const s64 values[132];
	u32 host;

	unit_network_init(&self->n, 2, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	self->n.tap = drop_large_unless_fragmented;
	for (host = 0; host < 2; host++)
		ASSERT_EQ(0, unit_allreduce(&self->n, host, COLLSOCK_INT64, COLLSOCK_SUM, 132,
					    values));
	EXPECT_TRUE(unit_await_all(&self->n, 3 * SECOND));
}

/* It may not have joined yet, which says nothing about the path. */
TEST_F(net, packets_to_a_host_that_joins_late_are_not_fragmented_afterwards)
{
	static const s64 values[132];
	u32 host;

	unit_network_init(&self->n, 2, seed_start());
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	ASSERT_EQ(0, unit_allreduce(&self->n, 0, COLLSOCK_INT64, COLLSOCK_SUM, 132, values));
	unit_run(&self->n, 3 * SECOND);
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	ASSERT_EQ(0, unit_allreduce(&self->n, 1, COLLSOCK_INT64, COLLSOCK_SUM, 132, values));
	ASSERT_TRUE(unit_await_all(&self->n, 3 * SECOND));
	for (host = 0; host < 2; host++) {
		EXPECT_FALSE(unit_peer(&self->n, host, !host)->conn.fragments);
		EXPECT_EQ(0, unit_group(&self->n, host)->stats.peers_fragmented);
	}
}

static bool drop_all(struct unit_network *n, struct world_packet *p)
{
	return true;
}

TEST_F(net, packets_are_not_fragmented_because_nothing_gets_through)
{
	static const s64 values[132];

	begin(_metadata, &self->n, 2);
	self->n.tap = drop_all;
	ASSERT_EQ(0, unit_allreduce(&self->n, 0, COLLSOCK_INT64, COLLSOCK_SUM, 132, values));
	ends_with(_metadata, &self->n, 0, 3, ETIMEDOUT, 1);
	EXPECT_EQ(0, unit_group(&self->n, 0)->stats.peers_fragmented);
}

static u64 outage_end;

static bool drop_in_outage(struct unit_network *n, struct world_packet *p)
{
	return n->world.now < outage_end;
}

/* Whenever the outage ends, the answer to the last of many probes counts. */
TEST_F(net, an_outage_shorter_than_the_liveness_time_is_no_blocked_path)
{
	struct coll_timing timing = coll_timing_default;
	u32 host, ms;

	timing.liveness = 60 * SECOND;
	for (ms = 0; ms < 100; ms += 5) {
		unit_network_init(&self->n, 2, seed_start());
		ASSERT_EQ(0, unit_join_all(&self->n, &timing));
		for (host = 0; host < 2; host++)
			ASSERT_EQ(0, unit_barrier(&self->n, host));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		outage_end = self->n.world.now + 20 * SECOND + ms * NSEC_PER_MSEC;
		self->n.tap = drop_in_outage;
		for (host = 0; host < 2; host++)
			ASSERT_EQ(0, unit_barrier(&self->n, host));
		for (host = 0; host < 2; host++) {
			ASSERT_TRUE(unit_await(&self->n, host, 1, 30 * SECOND));
			EXPECT_EQ(0, self->n.ranks[host].ops[1].error);
		}
		unit_network_free(&self->n);
	}
}

/* ---- filters of a host ---- */

static bool refuse_out_of_1(struct unit_network *n, struct world_packet *p)
{
	if (p->from != 1)
		return false;
	coll_group_send_refused(unit_group(n, 1), p->to);
	return true;
}

static bool refuse_half_out_of_1(struct unit_network *n, struct world_packet *p)
{
	static u32 packets;

	return packets++ % 2 && refuse_out_of_1(n, p);
}

TEST_F(net, a_host_whose_filters_refuse_all_that_it_sends_blames_itself)
{
	begin(_metadata, &self->n, 2);
	self->n.tap = refuse_out_of_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	/* It hears the other host: only its own packets are missing. */
	ends_with(_metadata, &self->n, 1, 3, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ends_with(_metadata, &self->n, 1, 4, EPERM, 1);
	ends_with(_metadata, &self->n, 0, 3, ETIMEDOUT, 1);
}

TEST_F(net, the_other_hosts_learn_that_a_host_refuses_its_own_packets)
{
	begin(_metadata, &self->n, 3);
	self->n.tap = refuse_out_of_1;
	unit_barrier(&self->n, 0);
	unit_barrier(&self->n, 1);
	unit_barrier(&self->n, 2);
	ends_with(_metadata, &self->n, 0, 3, ETIMEDOUT, 1);
	ends_with(_metadata, &self->n, 2, 3, ETIMEDOUT, 1);
	/* It is told that it is silent, and knows better why. */
	ends_with(_metadata, &self->n, 1, 3, EPERM, 1);
}

/* Some runs find it out by a probe of their own, too. */
TEST_F(net, a_host_whose_packets_are_refused_later_learns_it_from_others)
{
	u32 host, run;

	for (run = 0; run < 20; run++) {
		begin_with_seed(_metadata, &self->n, 3, seed_start() + run);
		for (host = 0; host < 3; host++)
			ASSERT_EQ(0, unit_barrier(&self->n, host));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		self->n.tap = refuse_out_of_1;
		for (host = 0; host < 3; host++)
			ASSERT_EQ(0, unit_barrier(&self->n, host));
		ends_with(_metadata, &self->n, 0, 4, ETIMEDOUT, 1);
		ends_with(_metadata, &self->n, 2, 4, ETIMEDOUT, 1);
		ends_with(_metadata, &self->n, 1, 4, EPERM, 1);
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_host_is_silent_if_some_packets_to_it_pass)
{
	begin(_metadata, &self->n, 2);
	unit_cut(&self->n, 0);
	self->n.tap = refuse_half_out_of_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ends_with(_metadata, &self->n, 1, 3, ETIMEDOUT, 0);
}

static bool refuse_into_1(struct unit_network *n, struct world_packet *p)
{
	if (p->to != 1)
		return false;
	coll_group_receive_refused(unit_group(n, 1), p->from, p->data, p->bytes);
	return true;
}

static bool refuse_forged_into_1(struct unit_network *n, struct world_packet *p)
{
	p->data[p->bytes - 1] ^= 1;
	return refuse_into_1(n, p);
}

TEST_F(net, a_host_whose_filters_refuse_what_comes_blames_itself)
{
	begin(_metadata, &self->n, 2);
	self->n.tap = refuse_into_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ends_with(_metadata, &self->n, 1, 3, EPERM, 1);
}

TEST_F(net, forged_packets_that_filters_refuse_excuse_no_host)
{
	begin(_metadata, &self->n, 2);
	self->n.tap = refuse_forged_into_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ends_with(_metadata, &self->n, 1, 3, ETIMEDOUT, 0);
}

TEST_HARNESS_MAIN
