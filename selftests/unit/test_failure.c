// SPDX-License-Identifier: GPL-2.0
/*
 * Failure of groups, promise by promise (Documentation/failure.md). The simulator searches
 * for unforeseen cases; here each rule is tested separately.
 */
#include "failure_fixture.h"
#include "mac.h"

TEST_F(net, a_host_to_which_nobody_sends_is_probed)
{
	begin(_metadata, &self->n, 4);
	unit_cut(&self->n, 3);
	/* Host 0 sends to 1 and waits for 3. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ends_with(_metadata, &self->n, 0, 3, ETIMEDOUT, 3);
	EXPECT_GT(unit_group(&self->n, 0)->stats.probes_sent, 10);
}

TEST_F(net, a_crash_is_noticed_through_a_chain_of_hosts_that_have_not_posted)
{
	u32 dead;

	for (dead = 1; dead < 11; dead++) {
		begin(_metadata, &self->n, 11);
		unit_cut(&self->n, dead);
		ASSERT_EQ(0, unit_barrier(&self->n, 0));
		ends_with(_metadata, &self->n, 0, 3, ETIMEDOUT, dead);
		unit_network_free(&self->n);
	}
}

TEST_F(net, answers_report_the_end_of_the_chain_of_waits)
{
	struct coll_peer *peer;
	struct coll_wait wait;

	begin(_metadata, &self->n, 5);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 4));
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	unit_run(&self->n, 3 * SECOND);
	/* In round 1 0 waits for 3, which waits in round 0 for 2, which has not posted. */
	peer = unit_peer(&self->n, 0, 3);
	ASSERT_NE(NULL, peer);
	ASSERT_TRUE(coll_watch_told(peer, 3, &wait, self->n.world.now));
	EXPECT_EQ(2, wait.host);
	EXPECT_EQ(2, wait.rank);
	EXPECT_EQ(3, wait.operation);
	EXPECT_EQ(2, wait.hops);
	EXPECT_GE(wait.waited_ms + wait.age_ms, 1000);
	EXPECT_LE(wait.waited_ms + wait.age_ms, 3000);
	peer = unit_peer(&self->n, 3, 2);
	ASSERT_NE(NULL, peer);
	ASSERT_TRUE(coll_watch_told(peer, 3, &wait, self->n.world.now));
	EXPECT_EQ(2, wait.host);
	EXPECT_EQ(1, wait.hops);
	/* An operation before that waits for another rank. */
	EXPECT_FALSE(coll_watch_told(peer, 2, &wait, self->n.world.now));
}

/* A report about a finished operation does not apply to the current one. */
TEST_F(net, an_answer_about_a_finished_operation_names_no_host)
{
	struct coll_wait wait = { };
	struct coll_peer *peer;
	u32 op, i;

	begin(_metadata, &self->n, 5);
	/* First rank 2 is late, and 3 reports this to 0. */
	for (i = 0; i < 5; i++)
		if (i != 2)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_run(&self->n, 3 * SECOND);
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	/* From now on rank 3 is always late, by less than the time until it is probed. */
	for (op = 4; op < 104; op++) {
		for (i = 0; i < 5; i++)
			if (i != 3)
				ASSERT_EQ(0, unit_barrier(&self->n, i));
		unit_run(&self->n, SECOND * 6 / 10);
		peer = unit_peer(&self->n, 0, 3);
		ASSERT_NE(NULL, peer);
		if (op == 103)
			break;
		ASSERT_EQ(0, unit_barrier(&self->n, 3));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	}
	EXPECT_FALSE(coll_watch_told(peer, op, &wait, self->n.world.now)) {
		TH_LOG("operation %u waits for rank %u in operation %u, said %u ms ago", op,
		       wait.rank, wait.operation, wait.age_ms);
	}
}

/*
 * Operation 3, a reduce to rank 1, waits for rank 5. Operation 4, a broadcast
 * of rank 2, waits for rank 2 alone, and reaches some hosts through host 1.
 */
TEST_F(net, a_probe_is_answered_for_the_operation_that_it_names)
{
	const u32 hosts = 8, late = 5, root = 2;
	const struct coll_op *op;
	struct coll_peer *peer;
	struct coll_wait wait;
	u32 via, i, host, seen = 0;

	for (via = 0; via < hosts; via++) {
		if (via == late || via == root)
			continue;
		begin(_metadata, &self->n, hosts);
		for (i = 0; i < hosts; i++)
			if (i != late)
				ASSERT_EQ(0, unit_reduce(&self->n, i, via, 1));
		for (i = 0; i < hosts; i++)
			if (i != late && i != root)
				ASSERT_EQ(0, unit_broadcast(&self->n, i, root, 1));
		unit_run(&self->n, 5 * SECOND);
		/* The root itself may wait in operation 3, and therefore not post. */
		op = coll_group_slot(unit_group(&self->n, root), 3);
		for (host = op->state == COLL_OP_RUNNING ? hosts : 0; host < hosts; host++) {
			op = coll_group_slot(unit_group(&self->n, host), 4);
			peer = unit_peer(&self->n, host, via);
			if (host == late || host == via || !peer ||
			    op->state != COLL_OP_RUNNING || op->schedule->folds == 0 ||
			    op->schedule->fold[0].host != via ||
			    !coll_watch_told(peer, 4, &wait, self->n.world.now))
				continue;
			seen++;
			EXPECT_EQ(root, wait.host) {
				TH_LOG("host %u, via %u: rank %u in operation %u", host, via,
				       wait.rank, wait.operation);
			}
		}
		unit_network_free(&self->n);
	}
	EXPECT_NE(0, seen);
}

/* Time-outs of the whole range of the tunables are used unchanged. */
TEST_F(net, long_time_outs_are_used_unchanged)
{
	struct coll_timing timing = coll_timing_default;
	struct coll_peer *peer;

	timing.rto_initial = 4 * SECOND;
	timing.rto_ceiling = 4 * SECOND;
	timing.rto_unheard = 4 * SECOND;
	unit_network_init(&self->n, 2, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, &timing));
	unit_cut(&self->n, 1);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	peer = unit_peer(&self->n, 0, 1);
	ASSERT_NE(NULL, peer);
	EXPECT_EQ(timing.rto_initial, peer->rtt.rto_ns);
	unit_run(&self->n, SECOND * 39 / 10);
	EXPECT_EQ(0, unit_group(&self->n, 0)->stats.retransmits);
}

/* Host and rank of an answer belong to one member. */
TEST_F(net, an_answer_whose_rank_is_on_another_host_is_ignored)
{
	struct coll_peer *peer;
	struct coll_wait wait;

	begin(_metadata, &self->n, 5);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 3 * SECOND);
	peer = unit_peer(&self->n, 0, 3);
	ASSERT_NE(NULL, peer);
	ASSERT_TRUE(coll_watch_told(peer, 3, &wait, self->n.world.now));
	peer->watch.wait.host = 3;
	peer->watch.wait.rank = 0;
	EXPECT_FALSE(coll_watch_told(peer, 3, &wait, self->n.world.now));
}

TEST_F(net, probing_detects_a_disagreement_about_the_operation)
{
	s64 v = 1;

	begin(_metadata, &self->n, 5);
	/* No message of host 0 reaches host 4: 0 sends to 1, 4 to 0. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 2 * SECOND);
	ASSERT_EQ(0, unit_allreduce(&self->n, 4, COLLSOCK_INT64, COLLSOCK_SUM, 1, &v));
	ASSERT_TRUE(unit_await(&self->n, 0, 3, 20 * SECOND));
	ASSERT_TRUE(unit_await(&self->n, 4, 3, 20 * SECOND));
	EXPECT_EQ(EPROTO, self->n.ranks[0].ops[3].error);
	EXPECT_EQ(EPROTO, self->n.ranks[4].ops[3].error);
}

/* Their messages have one length and go along the same edges. */
TEST_F(net, different_operations_of_one_number_are_not_combined)
{
	s64 v = 1;

	begin(_metadata, &self->n, 2);
	ASSERT_EQ(0, unit_allreduce(&self->n, 0, COLLSOCK_INT64, COLLSOCK_SUM, 1, &v));
	ASSERT_EQ(0, unit_allreduce(&self->n, 1, COLLSOCK_INT64, COLLSOCK_MAX, 1, &v));
	ends_with(_metadata, &self->n, 0, 3, EPROTO, 1);
	ends_with(_metadata, &self->n, 1, 3, EPROTO, 0);
}

TEST_F(net, errors_are_held_until_they_have_settled)
{
	u64 left;

	begin(_metadata, &self->n, 2);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	left = self->n.world.now;
	unit_leave(&self->n, 1);
	unit_run(&self->n, coll_timing_default.settle / 2);
	EXPECT_FALSE(self->n.ranks[0].ops[3].done);
	/* Operations posted meanwhile fail with the others, in order. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	EXPECT_FALSE(self->n.ranks[0].ops[5].done);
	ends_with(_metadata, &self->n, 0, 5, ECONNRESET, 1);
	EXPECT_GE(self->n.ranks[0].ops[3].at, left + coll_timing_default.settle);
	EXPECT_EQ(ECONNRESET, self->n.ranks[0].ops[4].error);
	EXPECT_LT(self->n.ranks[0].ops[4].order, self->n.ranks[0].ops[5].order);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	EXPECT_TRUE(self->n.ranks[0].ops[6].done);
}

TEST_F(net, of_ranks_that_leave_together_the_lowest_is_named)
{
	u32 i;

	begin(_metadata, &self->n, 9);
	for (i = 0; i < 9; i++)
		if (i != 3 && i != 6)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_leave(&self->n, 6);
	unit_leave(&self->n, 3);
	for (i = 0; i < 9; i++) {
		if (i == 3 || i == 6)
			continue;
		/* All but 0 are connected with 3; 0 is notified by others, or by 6. */
		if (i)
			ends_with(_metadata, &self->n, i, 3, ECONNRESET, 3);
		ASSERT_TRUE(unit_await(&self->n, i, 3, SECOND));
		EXPECT_TRUE(self->n.ranks[i].ops[3].failed_rank == 3 ||
			    self->n.ranks[i].ops[3].failed_rank == 6);
	}
}

TEST_F(net, a_failure_reaches_all_hosts_with_one_dead_host_fewer_than_neighbours)
{
	u32 k, i, dead, reached;

	for (k = 0; k < 60; k++) {
		begin(_metadata, &self->n, 17);
		/* Neighbours are at the distances 1, 2, 4, 8 and 16 on both sides: 8 hosts. */
		for (dead = 0; dead < 7; dead++) {
			u32 host = unit_random(&self->n) % 17;

			if (host)
				unit_cut(&self->n, host);
		}
		unit_cut(&self->n, 16);
		ASSERT_EQ(0, unit_barrier(&self->n, 0));
		ASSERT_TRUE(unit_await(&self->n, 0, 3, 20 * SECOND));
		unit_run(&self->n, SECOND);
		for (i = 0, reached = 0; i < 17; i++) {
			if (self->n.cut[i])
				continue;
			reached++;
			EXPECT_TRUE(coll_group_failed(unit_group(&self->n, i))) {
				TH_LOG("host %u has not heard of it", i);
			}
		}
		EXPECT_GE(reached, 9);
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_failure_reaches_hosts_without_connections)
{
	u32 i;

	unit_network_init(&self->n, 17, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	unit_cut(&self->n, 16);
	coll_failure_end(unit_group(&self->n, 0), COLL_REASON_SILENT, 16, self->n.world.now);
	unit_run(&self->n, SECOND);
	for (i = 0; i < 16; i++) {
		EXPECT_TRUE(coll_group_failed(unit_group(&self->n, i))) {
			TH_LOG("host %u has not heard of it", i);
		}
	}
}

TEST_F(net, a_live_host_that_is_accused_fails_too)
{
	begin(_metadata, &self->n, 4);
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	coll_failure_end(unit_group(&self->n, 0), COLL_REASON_SILENT, 2, self->n.world.now);
	ends_with(_metadata, &self->n, 2, 3, ETIMEDOUT, 2);
	EXPECT_TRUE(unit_group(&self->n, 2)->failure.terminal);
}

TEST_F(net, a_host_that_left_long_ago_is_not_blamed_for_missing_a_failure)
{
	u32 i;

	begin(_metadata, &self->n, 4);
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 7));
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 8));
	unit_leave(&self->n, 0);
	ASSERT_EQ(0, unit_broadcast(&self->n, 3, 0, 0));
	unit_run(&self->n, 20 * SECOND);
	ASSERT_TRUE(unit_timewait(&self->n, 0));
	/*
	 * The others may still complete 3; 0, which had posted 4, must learn that this
	 * fails.
	 */
	coll_failure_end(unit_group(&self->n, 3), COLL_REASON_SILENT, 3, self->n.world.now);
	unit_run(&self->n, 20 * SECOND);
	for (i = 1; i < 3; i++) {
		EXPECT_FALSE(unit_group(&self->n, i)->failure.terminal);
		ASSERT_EQ(0, unit_broadcast(&self->n, i, 0, 0));
		ends_with(_metadata, &self->n, i, 3, 0, COLLSOCK_NO_RANK);
		ASSERT_EQ(0, unit_broadcast(&self->n, i, 0, 0));
		ends_with(_metadata, &self->n, i, 4, ETIMEDOUT, 3);
	}
}

TEST_F(net, a_host_that_restarted_is_named_by_all)
{
	u32 i;

	begin(_metadata, &self->n, 6);
	world_crash(&self->n.world, unit_member(&self->n, 2)->host);
	world_start(unit_member(&self->n, 2)->host);
	ASSERT_EQ(0, unit_join(&self->n, 2, NULL));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	/* It starts from scratch, the others do not: its operation is their first. */
	for (i = 0; i < 6; i++)
		ends_with(_metadata, &self->n, i, 3, ECONNRESET, 2);
}

TEST_F(net, a_restarted_host_does_not_wait_for_messages_of_its_former_incarnation)
{
	u32 i;

	begin(_metadata, &self->n, 4);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	world_crash(&self->n.world, unit_member(&self->n, 2)->host);
	for (i = 0; i < 4; i += 3)
		unit_leave(&self->n, i);
	world_start(unit_member(&self->n, 2)->host);
	ASSERT_EQ(0, unit_join(&self->n, 2, NULL));
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	ends_with(_metadata, &self->n, 2, 4, ECONNRESET, 2);
}

/* A packet of an earlier incarnation of host 1 */
static struct world_packet *old_packet;

static bool keep_a_packet_of_1(struct unit_network *n, struct world_packet *p)
{
	if (p->from != 1 || p->to != 0 || old_packet)
		return false;
	old_packet = world_packet_new(p->bytes);
	memcpy(old_packet->data, p->data, p->bytes);
	old_packet->from = 1;
	old_packet->to = 0;
	return false;
}

TEST_F(net, a_packet_of_an_earlier_incarnation_changes_nothing)
{
	u64 stale;

	old_packet = NULL;
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	self->n.tap = keep_a_packet_of_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_NE(NULL, old_packet);
	/* Host 1 restarts before any host has heard from it. */
	world_crash(&self->n.world, unit_member(&self->n, 1)->host);
	unit_run(&self->n, SECOND);
	world_crash(&self->n.world, unit_member(&self->n, 0)->host);
	world_start(unit_member(&self->n, 0)->host);
	world_start(unit_member(&self->n, 1)->host);
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await(&self->n, 0, 0, SECOND));
	unit_run(&self->n, SECOND);

	stale = unit_group(&self->n, 0)->stats.stale;
	world_inject(&self->n.world, old_packet);
	unit_run(&self->n, 100 * NSEC_PER_USEC);
	EXPECT_EQ(stale + 1, unit_group(&self->n, 0)->stats.stale);
	EXPECT_EQ(1, unit_group(&self->n, 0)->stats.challenges);
	unit_run(&self->n, 10 * SECOND);
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.known);
}

TEST_F(net, replayed_packets_do_not_keep_the_dead_alive)
{
	u32 i;

	old_packet = NULL;
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	self->n.tap = keep_a_packet_of_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	ASSERT_NE(NULL, old_packet);
	world_crash(&self->n.world, unit_member(&self->n, 1)->host);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	for (i = 0; i < 100 && !self->n.ranks[0].ops[1].done; i++) {
		struct world_packet *p = world_packet_new(old_packet->bytes);

		memcpy(p->data, old_packet->data, old_packet->bytes);
		p->from = 1;
		p->to = 0;
		world_inject(&self->n.world, p);
		unit_run(&self->n, SECOND / 10);
	}
	free(old_packet);
	ends_with(_metadata, &self->n, 0, 1, ETIMEDOUT, 1);
	EXPECT_LT(i, 60);
}

TEST_F(net, a_rank_that_leaves_notifies_hosts_with_idle_connections)
{
	begin(_metadata, &self->n, 4);
	unit_run(&self->n, 2 * coll_timing_default.idle + SECOND);
	unit_leave(&self->n, 3);
	unit_run(&self->n, 10 * SECOND);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ends_with(_metadata, &self->n, 0, 3, ECONNRESET, 3);
}

TEST_F(net, silence_is_noticed_whatever_the_retransmission_time_outs)
{
	static const u64 ceilings_us[] = { 10, 100, 1000, 10000000 };
	struct coll_timing t = coll_timing_default;
	u32 i, host;

	for (i = 0; i < ARRAY_SIZE(ceilings_us); i++) {
		unit_network_init(&self->n, 4, seed_start());
		t.rto_ceiling = ceilings_us[i] * NSEC_PER_USEC;
		t.rto_floor = min(t.rto_ceiling, coll_timing_default.rto_floor);
		t.rto_initial = min(t.rto_ceiling, coll_timing_default.rto_initial);
		ASSERT_EQ(0, unit_join_all(&self->n, &t));
		for (host = 0; host < 4; host++) {
			self->n.world.hosts[host].late_ns = 5 * NSEC_PER_MSEC;
			ASSERT_EQ(0, unit_barrier(&self->n, host));
		}
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		unit_cut(&self->n, 3);
		ASSERT_EQ(0, unit_barrier(&self->n, 0));
		ASSERT_TRUE(unit_await(&self->n, 0, 1, 60 * SECOND)) {
			TH_LOG("ceiling of %llu us: waits indefinitely", ceilings_us[i]);
		}
		EXPECT_EQ(3, self->n.ranks[0].ops[1].failed_rank);
		unit_network_free(&self->n);
	}
}

static void sum_all(struct __test_metadata *_metadata, struct unit_network *n, u32 op)
{
	s64 one = 1;
	u32 i;

	for (i = 0; i < n->count; i++)
		ASSERT_EQ(0, unit_allreduce(n, i, COLLSOCK_INT64, COLLSOCK_SUM, 1, &one));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	for (i = 0; i < n->count; i++)
		ASSERT_EQ(0, n->ranks[i].ops[op].error);
}

/*
 * With everything acknowledged, advance the numbers as if many more operations had
 * completed, in which every peer sent messages.
 */
static void age(struct unit_network *n, u64 ops)
{
	struct coll_group *g;
	struct coll_peer *peer;
	u32 i;

	for (i = 0; i < n->count; i++) {
		g = unit_group(n, i);
		g->window.next += ops;
		g->ranks.local[0].next += ops;
		g->window.oldest += ops;
		g->window.completed += ops;
		g->credit.cover_done += ops;
		g->credit.acknowledged += ops;
		g->credit.floor_operation += ops;
		g->credit.floor += ops;
		g->credit.common += ops;
		for (peer = g->peers.all; peer; peer = peer->all) {
			peer->send.credit += ops;
			peer->send.done += ops;
		}
	}
}

/* Near what counters of 16, 31, 32 and 63 bits hold. */
static const u64 near[] = { S16_MAX, 1 << 16, 1ULL << 31, 1ULL << 32, 1ULL << 62 };

TEST_F(net, operations_complete_whatever_their_numbers_are)
{
	u32 i, k, op = 0;
	u64 next;

	/* Sums and barriers have other peers when the hosts are no power of two. */
	unit_network_init(&self->n, 11, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	sum_all(_metadata, &self->n, op++);
	unit_run(&self->n, SECOND);
	for (i = 0; i < ARRAY_SIZE(near); i++) {
		next = unit_group(&self->n, 0)->window.next;
		age(&self->n, near[i] - 2 - next);
		for (k = 0; k < 4; k++)
			sum_all(_metadata, &self->n, op++);
		unit_run(&self->n, SECOND);
		EXPECT_EQ(near[i] + 2, unit_group(&self->n, 0)->window.next);
	}
	for (i = 1; i < 11; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_run(&self->n, 2 * SECOND);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < 11; i++)
		EXPECT_EQ(0, self->n.ranks[i].ops[op].error);
}

TEST_F(net, packets_are_accepted_whatever_their_numbers_are)
{
	u32 i, k;

	begin(_metadata, &self->n, 2);
	for (i = 0; i < ARRAY_SIZE(near); i++) {
		unit_peer(&self->n, 0, 1)->send.number = near[i] - 2;
		for (k = 0; k < 4; k++) {
			ASSERT_EQ(0, unit_barrier(&self->n, 0));
			ASSERT_EQ(0, unit_barrier(&self->n, 1));
			ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		}
		unit_run(&self->n, SECOND);
		EXPECT_GT(unit_peer(&self->n, 1, 0)->recv.packets.highest, near[i]);
		EXPECT_EQ(0, unit_group(&self->n, 1)->stats.stale);
	}
}

TEST_F(net, idle_connections_are_released_and_reopened)
{
	u32 i;

	begin(_metadata, &self->n, 8);
	EXPECT_EQ(5, unit_group(&self->n, 0)->stats.peers);
	unit_run(&self->n, 2 * coll_timing_default.idle + SECOND);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(0, unit_group(&self->n, i)->stats.peers);
		EXPECT_EQ(5, unit_group(&self->n, i)->stats.peers_idle);
		EXPECT_EQ(COLL_NEVER, unit_group(&self->n, i)->armed_ns);
	}
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(5, unit_group(&self->n, 0)->stats.peers);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, self->n.ranks[i].ops[3].error);
}

TEST_F(net, a_connection_released_by_one_side_is_reopened)
{
	u32 op, i;

	begin(_metadata, &self->n, 2);
	for (op = 3; op < 40; op++) {
		/* Only host 0 releases its connections, now and then. */
		unit_group(&self->n, 0)->timing.idle = op % 3 ? coll_timing_default.idle : SECOND;
		unit_run(&self->n, 3 * SECOND);
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, unit_barrier(&self->n, (op + i) % 2));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		ASSERT_EQ(0, self->n.ranks[0].ops[op].error);
	}
	EXPECT_GT(unit_group(&self->n, 0)->stats.peers_idle, 3);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.peers_idle);
}

/* Nothing is sent over it, and nothing owed. */
TEST_F(net, a_connection_that_an_acknowledgment_opens_becomes_idle_again)
{
	struct unit_network *n = &self->n;
	u32 i;

	begin(_metadata, n, 2);
	unit_run(n, 2 * coll_timing_default.idle + SECOND);
	coll_peer_send_ack(coll_peers_get(unit_group(n, 1), 0, n->world.now), n->world.now);
	unit_run(n, SECOND);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(1, unit_group(n, i)->stats.peers);
	unit_run(n, 2 * coll_timing_default.idle);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, unit_group(n, i)->stats.peers);
		EXPECT_EQ(2, unit_group(n, i)->stats.peers_idle);
	}
}

/* Of host 1 to host 0: a packet as a module with another version may send it. */
static void speak_version(struct unit_network *n, u8 version, const struct coll_mac *mac)
{
	const struct coll_peer *peer = unit_peer(n, 1, 0);
	struct world_packet *p = world_packet_new(48);
	__be64 code;

	memset(p->data, 0xaa, p->bytes);
	memcpy(p->data, peer->conn.tx.prefix, 16);
	p->data[0] = version;
	code = mac_of(p->data, p->bytes, mac);
	memcpy(p->data + p->bytes - sizeof(code), &code, sizeof(code));
	p->from = 1;
	p->to = 0;
	world_inject(&n->world, p);
	unit_run(n, 200 * NSEC_PER_USEC);
}

TEST_F(net, a_member_that_speaks_another_version_ends_the_group_and_is_named)
{
	static const struct coll_mac guess = { .algorithm = COLLSOCK_MAC_SIPHASH };

	begin(_metadata, &self->n, 3);
	speak_version(&self->n, 3, &guess);
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.known);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	speak_version(&self->n, 3, &self->n.group.secret.mac);
	ASSERT_TRUE(unit_await(&self->n, 0, 3, SECOND));
	EXPECT_EQ(EPROTO, self->n.ranks[0].ops[3].error);
	EXPECT_EQ(1, self->n.ranks[0].ops[3].failed_rank);
	EXPECT_EQ(COLL_REASON_VERSION, unit_group(&self->n, 0)->failure.what.reason);
}

/* Of host 1 to host 0: a goodbye that operations beyond @last cannot complete, and why */
static void say_goodbye(struct unit_network *n, u64 last, u32 rank, u32 reason)
{
	struct coll_peer *peer = unit_peer(n, 1, 0);
	const struct coll_body body = {
		.type			= COLL_PACKET_GOODBYE,
		.number			= ++peer->send.number,
		.operation		= last,
		.done			= last,
		.credit			= last,
		.signature.root		= rank,
		.signature.count	= reason,
	};
	struct world_packet *p = world_packet_new(coll_wire_bytes(&body));

	coll_wire_write(p->data, &peer->conn.tx, &body);
	p->from = 1;
	p->to = 0;
	world_inject(&n->world, p);
	unit_run(n, 200 * NSEC_PER_USEC);
}

/* Later modules may have other reasons, among them some that name a rank of the receiver. */
TEST_F(net, a_goodbye_that_is_not_understood_means_that_its_sender_has_left)
{
	static const struct {
		u32	rank;
		u32	reason;
	} goodbyes[] = {
		{ 0, COLL_REASONS }, { 2, COLL_REASONS }, { 0, 9 }, { 0, ~0U },
		{ 3, COLL_REASON_SILENT },
	};
	static const u32 host_of_rank[] = { 0, 1, 1 };
	const struct coll_group *g;
	u32 k, op;

	for (k = 0; k < ARRAY_SIZE(goodbyes); k++) {
		unit_network_place(&self->n, host_of_rank, 3, seed_start());
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (op = 0; op < 3; op++)
			sum_all(_metadata, &self->n, op);
		unit_run(&self->n, SECOND);
		say_goodbye(&self->n, 3, goodbyes[k].rank, goodbyes[k].reason);
		g = unit_group(&self->n, 0);
		ASSERT_TRUE(g->failure.known);
		EXPECT_EQ(COLL_REASON_LEFT, g->failure.what.reason);
		sum_all(_metadata, &self->n, 3);
		ASSERT_EQ(0, unit_barrier(&self->n, 0));
		ends_with(_metadata, &self->n, 0, 4, ECONNRESET, 1);
		EXPECT_FALSE(g->failure.terminal);
		EXPECT_EQ(0, g->stats.invalid);
		unit_network_free(&self->n);
	}
}

/* What host 1 sent last to host 0. */
static struct world_packet *recorded;

static bool record(struct unit_network *n, struct world_packet *p)
{
	if (p->from == 1 && p->to == 0) {
		free(recorded);
		recorded = world_packet_new(p->bytes);
		memcpy(recorded->data, p->data, p->bytes);
		recorded->from = 1;
		recorded->to = 0;
	}
	return false;
}

static void replay(struct unit_network *n)
{
	struct world_packet *p = world_packet_new(recorded->bytes);

	memcpy(p->data, recorded->data, p->bytes);
	p->from = recorded->from;
	p->to = recorded->to;
	world_inject(&n->world, p);
	unit_run(n, 200 * NSEC_PER_USEC);
}

TEST_F(net, a_packet_that_is_replayed_changes_nothing_at_once_or_much_later)
{
	const struct collsock_stats *stats;
	u64 before;
	u32 i;

	begin(_metadata, &self->n, 2);
	self->n.tap = record;
	/* The last packet is a lone acknowledgment: nothing else travels then. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	self->n.tap = NULL;
	stats = &unit_group(&self->n, 0)->stats;
	before = world_digest(unit_member(&self->n, 0));
	replay(&self->n);
	EXPECT_EQ(1, stats->duplicates);
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));

	age(&self->n, 1U << 31);
	unit_peer(&self->n, 1, 0)->send.number += COLL_REPLAY_WINDOW;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	before = world_digest(unit_member(&self->n, 0));
	replay(&self->n);
	EXPECT_EQ(1, stats->stale);
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));
	free(recorded);
	recorded = NULL;
}

/* The entry does not know how many packets its group has sent. */
TEST_F(net, a_host_that_was_accused_believes_a_time_wait_entry)
{
	u32 i;

	begin(_metadata, &self->n, 2);
	unit_peer(&self->n, 1, 0)->send.number += 2 * COLL_REPLAY_WINDOW;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	unit_cut(&self->n, 0);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ends_with(_metadata, &self->n, 1, 4, ETIMEDOUT, 0);
	unit_leave(&self->n, 1);
	unit_run(&self->n, SECOND);
	ASSERT_TRUE(unit_timewait(&self->n, 1));
	self->n.cut[0] = false;
	unit_member(&self->n, 0)->host->deaf_ns = 0;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ends_with(_metadata, &self->n, 0, 4, ETIMEDOUT, 0);
}

TEST_F(net, a_forged_packet_does_not_use_up_its_number)
{
	static const struct coll_mac guess = { .algorithm = COLLSOCK_MAC_SIPHASH };
	struct coll_body body = { .type = COLL_PACKET_ACK };
	struct coll_wire_side side;
	struct coll_prefix prefix;
	struct world_packet *p;
	u64 before;

	begin(_metadata, &self->n, 2);
	body.number = unit_peer(&self->n, 1, 0)->send.number + COLL_REPLAY_WINDOW;
	prefix = coll_peer_prefix(unit_peer(&self->n, 1, 0), unit_group(&self->n, 0)->incarnation);
	coll_wire_side_set(&side, &prefix, &guess);
	p = world_packet_new(coll_wire_bytes(&body));
	coll_wire_write(p->data, &side, &body);
	p->from = 1;
	p->to = 0;
	before = world_digest(unit_member(&self->n, 0));
	world_inject(&self->n.world, p);
	unit_run(&self->n, 200 * NSEC_PER_USEC);
	EXPECT_EQ(1, self->n.world.forged);
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(0, unit_group(&self->n, 0)->stats.stale);
}

TEST_HARNESS_MAIN
