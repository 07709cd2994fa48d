// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of real cores on a virtual network: the promises of a group, without
 * and with loss, repetition and reordering.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)

static u64 posted_last(const struct unit_network *n, u32 op)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < n->count; i++)
		last = max(last, n->ranks[i].ops[op].posted);
	return last;
}

static u64 total(const struct unit_network *n, size_t offset)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < n->count; i++)
		sum += *(u64 *)((char *)&unit_group(n, i)->stats + offset);
	return sum;
}

#define TOTAL(n, field) total(n, offsetof(struct collsock_stats, field))

TEST_F(net, joining_sends_nothing)
{
	unit_network_init(&self->n, 8, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	unit_run(&self->n, 10 * SECOND);
	EXPECT_EQ(0, self->n.world.sent);
	EXPECT_EQ(0, unit_group(&self->n, 0)->stats.peers);
}

TEST_F(net, a_group_of_one_completes_at_once)
{
	s64 value = 42;

	unit_network_init(&self->n, 1, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_allreduce(&self->n, 0, COLLSOCK_INT64, COLLSOCK_SUM, 1, &value));
	EXPECT_TRUE(self->n.ranks[0].ops[0].done && self->n.ranks[0].ops[1].done);
	EXPECT_EQ(42, *(s64 *)self->n.ranks[0].ops[1].result);
	EXPECT_EQ(0, self->n.world.sent);
}

/* Ranks post at random times; none completes before the last post. */
static void skewed_barriers(struct __test_metadata *_metadata, struct unit_network *n,
			    u32 rounds, u8 algorithm)
{
	u32 op, i;

	for (op = 0; op < rounds; op++) {
		u32 first = unit_random(n) % n->count;

		for (i = 0; i < n->count; i++) {
			u32 host = (first + i) % n->count;

			ASSERT_EQ(0, unit_barrier_by(n, host, algorithm));
			unit_run(n, unit_random(n) % (100 * NSEC_PER_USEC));
		}
		ASSERT_TRUE(unit_await_all(n, 60 * SECOND));
		for (i = 0; i < n->count; i++) {
			ASSERT_EQ(0, n->ranks[i].ops[op].error);
			ASSERT_GE(n->ranks[i].ops[op].at, posted_last(n, op)) {
				TH_LOG("host %u of %u left barrier %u early", i, n->count, op);
			}
		}
	}
}

TEST_F(net, no_rank_leaves_a_barrier_before_all_have_arrived)
{
	static const u32 sizes[] = { 2, 3, 4, 5, 7, 8, 13, 16, 31 };
	u32 k, algorithm;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		for (algorithm = 0; algorithm <= 2; algorithm++) {
			unit_network_init(&self->n, sizes[k], seed_start() + k);
			ASSERT_EQ(0, unit_join_all(&self->n, NULL));
			skewed_barriers(_metadata, &self->n, 40, algorithm);
			unit_network_free(&self->n);
		}
	}
}

TEST_F(net, a_tight_loop_of_barriers_needs_no_packet_beyond_the_schedule)
{
	static const u8 algorithms[] = { COLLSOCK_DISSEMINATION, COLLSOCK_EXCHANGE };
	u32 k, op, i, warm = 20;
	u64 sent;

	for (k = 0; k < ARRAY_SIZE(algorithms); k++) {
		unit_network_init(&self->n, 16, 1);
		self->n.join.algorithm[COLLSOCK_BARRIER] = algorithms[k];
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (op = 0; op < 1000; op++) {
			if (op == warm)
				sent = self->n.world.sent;
			for (i = 0; i < 16; i++)
				ASSERT_EQ(0, unit_barrier(&self->n, i));
			ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		}
		EXPECT_EQ((1000 - warm) * 16 * 4, self->n.world.sent - sent);
		EXPECT_EQ(0, TOTAL(&self->n, retransmits));
		EXPECT_EQ(0, TOTAL(&self->n, duplicates));
		unit_network_free(&self->n);
	}
}

TEST_F(net, after_the_last_barrier_all_is_acknowledged_and_no_more_is_sent)
{
	u64 sent;
	u32 i;

	unit_network_init(&self->n, 8, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 20, COLLSOCK_AUTO);
	unit_run(&self->n, SECOND);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(20, unit_group(&self->n, i)->window.oldest);
	sent = self->n.world.sent;
	unit_run(&self->n, 100 * SECOND);
	EXPECT_EQ(sent, self->n.world.sent);
	EXPECT_EQ(0, TOTAL(&self->n, retransmits));
}

/* Every message is retransmitted at first, so none is a sample (RFC 6298, 5.5 to 5.7). */
TEST_F(net, a_round_trip_longer_than_the_first_time_out_is_learned)
{
	static const u8 algorithms[] = { COLLSOCK_EXCHANGE, COLLSOCK_DISSEMINATION };
	u64 again[2];
	u32 k;

	for (k = 0; k < 2 * ARRAY_SIZE(algorithms); k++) {
		unit_network_init(&self->n, 8, 1);
		self->n.world.link.delay_ns = 20 * NSEC_PER_MSEC;
		self->n.join.algorithm[COLLSOCK_BARRIER] = algorithms[k / 2];
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		skewed_barriers(_metadata, &self->n, k % 2 ? 40 : 10, COLLSOCK_AUTO);
		unit_run(&self->n, SECOND);
		again[k % 2] = TOTAL(&self->n, retransmits);
		EXPECT_GT(again[k % 2], 0);
		if (k % 2)
			EXPECT_EQ(again[0], again[1]);
		unit_network_free(&self->n);
	}
}

/* Longer than the time-out, shorter than two of them: each is sent twice, not more often. */
TEST_F(net, a_round_trip_that_grows_beyond_the_time_out_is_learned)
{
	u32 op, i, retransmits = 0;

	unit_network_init(&self->n, 2, seed_start());
	self->n.world.link.spread_ns = 0;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (op = 0; op < 300; op++) {
		if (op == 100)
			self->n.world.link.delay_ns = 9 * NSEC_PER_MSEC;
		if (op == 200)
			retransmits = unit_group(&self->n, 0)->stats.retransmits;
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
		ASSERT_TRUE(unit_await_all(&self->n, NSEC_PER_SEC));
		unit_run(&self->n, 50 * NSEC_PER_MSEC);
	}
	EXPECT_EQ(retransmits, unit_group(&self->n, 0)->stats.retransmits);
}

TEST_F(net, a_group_of_1024_has_exactly_the_peers_its_schedule_names)
{
	static const u8 algorithms[] = { COLLSOCK_EXCHANGE, COLLSOCK_DISSEMINATION };
	static const u32 peers[] = { 10, 19 };
	u32 k, i;

	for (k = 0; k < 2; k++) {
		unit_network_init(&self->n, 1024, 1);
		self->n.join.window = 2;
		self->n.join.max_bytes = 8;
		self->n.join.algorithm[COLLSOCK_BARRIER] = algorithms[k];
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (i = 0; i < 1024; i++)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
		ASSERT_TRUE(unit_await_all(&self->n, 60 * SECOND));
		for (i = 0; i < 1024; i++)
			ASSERT_EQ(peers[k], unit_group(&self->n, i)->stats.peers);
		unit_network_free(&self->n);
	}
	/* A fifth of it is the window against replay. */
	EXPECT_LE(sizeof(struct coll_peer), 744);
}

TEST_F(net, a_host_has_at_most_512_peers_whatever_degrees_are_named)
{
	unit_network_init(&self->n, 1024, 1);
	self->n.join.window = 2;
	self->n.join.max_bytes = 8;
	self->n.join.degrees = ~(COLLSOCK_DEGREE(2) - 1);
	ASSERT_EQ(-E2BIG, unit_join(&self->n, 0, NULL));
	unit_network_free(&self->n);

	unit_network_init(&self->n, 1024, 1);
	self->n.join.window = 2;
	self->n.join.max_bytes = 8;
	self->n.join.degrees = COLLSOCK_DEGREE(4) | COLLSOCK_DEGREE(16);
	EXPECT_EQ(0, unit_join(&self->n, 0, NULL));
}

/* The contribution of a host to post number @op, known to all. */
static s64 contribution(u32 host, u32 op, u32 element)
{
	return (s64)(host + 1) * 1000003 * (op + 7) - element * 77;
}

static int post_mixed(struct unit_network *n, u32 host, u32 op)
{
	s64 values[20];
	u32 i, count = 1 + op % 20;

	if (op % 3 == 0)
		return unit_barrier_by(n, host, 1 + op % 2);
	for (i = 0; i < count; i++)
		values[i] = contribution(host, op, i);
	return unit_allreduce(n, host, COLLSOCK_INT64, op % 3 == 1 ? COLLSOCK_SUM : COLLSOCK_MAX,
			      count, values);
}

static bool mixed_right(const struct unit_network *n, u32 host, u32 op)
{
	const struct unit_completion *c = &n->ranks[host].ops[op];
	u32 i, h, count = 1 + op % 20;

	if (c->error || c->at < posted_last(n, op))
		return false;
	if (op % 3 == 0)
		return c->bytes == 0;
	if (c->bytes != count * 8)
		return false;
	for (i = 0; i < count; i++) {
		s64 expected = contribution(0, op, i);

		for (h = 1; h < n->count; h++) {
			s64 v = contribution(h, op, i);

			expected = op % 3 == 1 ? expected + v : max(expected, v);
		}
		if (((s64 *)c->result)[i] != expected)
			return false;
	}
	return true;
}

/* Hosts run ahead of each other as far as the window lets them. */
static void mixed_operations(struct __test_metadata *_metadata, struct unit_network *n, u32 ops)
{
	u64 limit = n->world.now + 600 * SECOND;
	u32 op, i, busy = 1;

	while (busy) {
		busy = 0;
		for (i = 0; i < n->count; i++) {
			struct unit_rank *r = &n->ranks[i];

			if (r->posted < ops && unit_random(n) % 4 == 0) {
				int err = post_mixed(n, i, r->posted);

				ASSERT_TRUE(err == 0 || err == -EAGAIN);
			}
			busy += r->completed < ops;
		}
		unit_run(n, unit_random(n) % (30 * NSEC_PER_USEC));
		ASSERT_LT(n->world.now, limit);
	}
	for (op = 0; op < ops; op++)
		for (i = 0; i < n->count; i++) {
			ASSERT_TRUE(mixed_right(n, i, op)) {
				TH_LOG("host %u of %u, operation %u is wrong", i, n->count, op);
			}
		}
}

FIXTURE(faults)
{
	struct unit_network n;
};

FIXTURE_VARIANT(faults)
{
	u32 loss;
	u32 duplication;
	u32 reordering;
	bool slow;
};

FIXTURE_VARIANT_ADD(faults, none) { };
FIXTURE_VARIANT_ADD(faults, loss_5_percent) { .loss = 50, .duplication = 100, .reordering = 100 };
FIXTURE_VARIANT_ADD(faults, loss_20_percent) { .loss = 200, .duplication = 100, .reordering = 100 };
/* Most of the time passes in back-off. */
FIXTURE_VARIANT_ADD(faults, loss_50_percent) { .loss = 500, .duplication = 300, .reordering = 300,
					       .slow = true };

FIXTURE_SETUP(faults)
{
}

FIXTURE_TEARDOWN(faults)
{
	unit_network_free(&self->n);
	EXPECT_EQ(0, world_memory);
}

TEST_F(faults, every_result_is_right_and_none_is_early)
{
	static const u32 sizes[] = { 2, 3, 5, 8, 13 };
	struct coll_timing t = coll_timing_default;
	u32 k;

	/* When half of all packets are lost, three seconds of silence may happen. */
	t.liveness = 60 * SECOND;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		unit_network_init(&self->n, sizes[k], seed_start() + 10 * k);
		self->n.world.link.loss = variant->loss;
		self->n.world.link.duplication = variant->duplication;
		self->n.world.link.reordering = variant->reordering;
		self->n.join.window = 1 + (k * 5) % 16;
		ASSERT_EQ(0, unit_join_all(&self->n, &t));
		mixed_operations(_metadata, &self->n,
				 variant->slow && seed_soak() == 1 ? 100 : 300);
		EXPECT_EQ(0, TOTAL(&self->n, invalid));
		EXPECT_EQ(0, self->n.world.forged);
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_rank_that_runs_ahead_stays_within_its_window)
{
	u32 i;

	unit_network_init(&self->n, 3, 1);
	self->n.join.window = 4;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, 0));
	EXPECT_EQ(-EAGAIN, unit_barrier(&self->n, 0));
	EXPECT_FALSE(coll_group_writable(unit_group(&self->n, 0), 0));
	unit_run(&self->n, 100 * SECOND);
	EXPECT_EQ(-EAGAIN, unit_barrier(&self->n, 0));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, unit_barrier(&self->n, 1));
		ASSERT_EQ(0, unit_barrier(&self->n, 2));
	}
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, unit_barrier(&self->n, 0));
}

TEST_F(net, messages_beyond_the_window_are_refused_and_get_through_later)
{
	unit_network_init(&self->n, 5, seed_start());
	self->n.world.link.loss = 200;
	self->n.join.window = 1;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	mixed_operations(_metadata, &self->n, 500);
	EXPECT_LT(0, TOTAL(&self->n, no_credit));
	EXPECT_LT(0, TOTAL(&self->n, beyond_window));
}

TEST_F(net, a_silent_host_fails_the_group_after_the_liveness_time_with_its_rank)
{
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
	unit_cut(&self->n, 1);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, 2900 * NSEC_PER_MSEC);
	EXPECT_FALSE(self->n.ranks[0].ops[3].done);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(ETIMEDOUT, self->n.ranks[0].ops[3].error);
	EXPECT_EQ(1, self->n.ranks[0].ops[3].failed_rank);
	/* It is sticky: later operations fail at once. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	EXPECT_EQ(ETIMEDOUT, self->n.ranks[0].ops[4].error);
}

TEST_F(net, a_rank_that_computes_for_hours_is_not_accused)
{
	unit_network_init(&self->n, 3, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	unit_run(&self->n, 7200 * SECOND);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(0, self->n.ranks[0].ops[3].error);
}

TEST_F(net, posts_of_a_leaving_rank_complete_and_later_operations_name_it)
{
	u32 i;

	unit_network_init(&self->n, 4, 1);
	self->n.world.link.loss = 200;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_EXCHANGE);
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	unit_leave(&self->n, 2);
	for (i = 0; i < 4; i++)
		if (i != 2)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
	for (i = 0; i < 4; i++)
		if (i != 2)
			ASSERT_TRUE(unit_await(&self->n, i, 3, 10 * SECOND));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, self->n.ranks[i].ops[3].error);
	unit_run(&self->n, 2 * SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 2));
	/* Hosts 0 and 3 have a peer to host 2: 2 ^ 1, 2 ^ 2. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	EXPECT_EQ(ECONNRESET, self->n.ranks[0].ops[4].error);
	EXPECT_EQ(2, self->n.ranks[0].ops[4].failed_rank);
	EXPECT_EQ(ECONNRESET, self->n.ranks[3].ops[4].error);
	EXPECT_EQ(2, self->n.ranks[3].ops[4].failed_rank);
}

TEST_F(net, an_operation_under_way_fails_when_a_rank_leaves_without_posting)
{
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 2, COLLSOCK_AUTO);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, SECOND);
	unit_leave(&self->n, 1);
	ASSERT_TRUE(unit_await(&self->n, 0, 2, SECOND));
	EXPECT_EQ(ECONNRESET, self->n.ranks[0].ops[2].error);
	EXPECT_EQ(1, self->n.ranks[0].ops[2].failed_rank);
}

TEST_F(net, what_lasts_too_long_after_a_rank_has_left_fails_everywhere_with_it)
{
	u32 i;

	unit_network_init(&self->n, 4, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 2, COLLSOCK_AUTO);
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	unit_leave(&self->n, 2);
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(unit_timewait(&self->n, 2));
	world_give_up(unit_member(&self->n, 2));
	unit_run(&self->n, SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 2));
	for (i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		ASSERT_EQ(0, unit_barrier(&self->n, i));
		ASSERT_TRUE(unit_await(&self->n, i, 2, SECOND));
		EXPECT_EQ(ECONNRESET, self->n.ranks[i].ops[2].error);
		EXPECT_EQ(2, self->n.ranks[i].ops[2].failed_rank);
	}
}

static bool drop_acks_of_1(struct unit_network *n, struct world_packet *p)
{
	return p->from == 1 && unit_joined(n, 1) &&
	       p->data[COLL_WIRE_PREFIX] == COLL_PACKET_ACK;
}

TEST_F(net, a_timewait_entry_answers_when_the_last_acknowledgment_was_lost)
{
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
	self->n.tap = drop_acks_of_1;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_leave(&self->n, 1);
	unit_run(&self->n, SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 1));
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.terminal);
	unit_leave(&self->n, 0);
	unit_run(&self->n, 10 * SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 0));
}

TEST_F(net, all_leave_at_once_under_loss_and_no_memory_remains)
{
	u32 i;

	unit_network_init(&self->n, 8, seed_start());
	self->n.world.link.loss = 300;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 5, COLLSOCK_AUTO);
	for (i = 0; i < 8; i++)
		unit_leave(&self->n, i);
	unit_run(&self->n, 30 * SECOND);
	for (i = 0; i < 8; i++)
		EXPECT_TRUE(unit_timewait(&self->n, i));
	EXPECT_EQ(0, world_memory);
}

/* Ranks that post ahead of each other leave one after the other, in any order. */
static void leave_in_mid_traffic(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 turn, i, left = 0;

	for (turn = 0; left < n->count; turn++) {
		i = unit_random(n) % n->count;
		if (unit_joined(n, i) && !unit_group(n, i)->ranks.leaving) {
			if (turn > 100 && unit_random(n) % 8 == 0) {
				unit_leave(n, i);
				left++;
			} else {
				unit_barrier(n, i);
			}
		}
		unit_run(n, unit_random(n) % (60 * NSEC_PER_USEC));
	}
	unit_run(n, 30 * SECOND);
	for (i = 0; i < n->count; i++) {
		ASSERT_TRUE(unit_timewait(n, i)) {
			TH_LOG("host %u of %u lingers", i, n->count);
		}
	}
}

TEST_F(net, ranks_that_leave_in_mid_traffic_do_not_linger)
{
	u32 k;

	for (k = 0; k < 200; k++) {
		unit_network_init(&self->n, 2 + k % 7, seed_start() + k);
		self->n.world.link.loss = k % 3 * 100;
		self->n.join.window = 1 + k % 4;
		self->n.join.algorithm[COLLSOCK_BARRIER] = k % 2 + 1;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		leave_in_mid_traffic(_metadata, &self->n);
		unit_network_free(&self->n);
	}
}

TEST_F(net, disagreement_about_an_operation_is_eproto_with_the_rank)
{
	s64 v[2] = { 1, 2 };

	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	ASSERT_EQ(0, unit_allreduce(&self->n, 0, COLLSOCK_INT64, COLLSOCK_SUM, 1, v));
	unit_run(&self->n, SECOND);
	ASSERT_EQ(0, unit_allreduce(&self->n, 1, COLLSOCK_INT64, COLLSOCK_SUM, 2, v));
	ASSERT_TRUE(unit_await(&self->n, 1, 0, SECOND));
	EXPECT_EQ(EPROTO, self->n.ranks[1].ops[0].error);
	EXPECT_EQ(0, self->n.ranks[1].ops[0].failed_rank);
	/* The other one is notified, though the first closes at once. */
	unit_leave(&self->n, 1);
	ASSERT_TRUE(unit_await(&self->n, 0, 0, SECOND));
	EXPECT_EQ(EPROTO, self->n.ranks[0].ops[0].error);
	EXPECT_EQ(1, self->n.ranks[0].ops[0].failed_rank);
}

/* Each remaining rank continues to post, and ends with this error and rank. */
static void all_but_one_end_with(struct __test_metadata *_metadata, struct unit_network *n,
				 u32 one, u32 op, u32 error)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		if (i != one)
			ASSERT_EQ(0, unit_barrier(n, i));
	for (i = 0; i < n->count; i++) {
		if (i == one)
			continue;
		ASSERT_TRUE(unit_await(n, i, op, 20 * SECOND)) {
			TH_LOG("host %u of %u waits indefinitely", i, n->count);
		}
		ASSERT_EQ(error, n->ranks[i].ops[op].error);
		ASSERT_EQ(one, n->ranks[i].ops[op].failed_rank);
	}
}

TEST_F(net, a_rank_that_left_is_named_by_all_hosts)
{
	u32 k;

	for (k = 0; k < 40; k++) {
		unit_network_init(&self->n, 2 + k % 9, seed_start() + k);
		self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_EXCHANGE;
		self->n.world.link.loss = k % 2 * 200;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
		unit_leave(&self->n, k % self->n.count);
		unit_run(&self->n, k % 3 * SECOND);
		all_but_one_end_with(_metadata, &self->n, k % self->n.count, 3, ECONNRESET);
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_host_that_was_cut_off_is_named_by_all_hosts)
{
	u32 k;

	for (k = 0; k < 40; k++) {
		unit_network_init(&self->n, 2 + k % 9, seed_start() + k);
		self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_EXCHANGE;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
		unit_cut(&self->n, k % self->n.count);
		all_but_one_end_with(_metadata, &self->n, k % self->n.count, 3, ETIMEDOUT);
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_failed_group_that_closed_does_not_leave_others_waiting)
{
	unit_network_init(&self->n, 4, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_EXCHANGE;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 2, COLLSOCK_AUTO);
	unit_cut(&self->n, 3);
	ASSERT_EQ(0, unit_barrier(&self->n, 2));
	ASSERT_TRUE(unit_await(&self->n, 2, 2, 10 * SECOND));
	EXPECT_EQ(ETIMEDOUT, self->n.ranks[2].ops[2].error);
	unit_leave(&self->n, 2);
	unit_run(&self->n, 10 * SECOND);
	EXPECT_TRUE(unit_timewait(&self->n, 2));
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await(&self->n, 0, 2, 10 * SECOND));
	ASSERT_TRUE(unit_await(&self->n, 1, 2, 10 * SECOND));
	EXPECT_EQ(ETIMEDOUT, self->n.ranks[0].ops[2].error);
	EXPECT_EQ(3, self->n.ranks[0].ops[2].failed_rank);
	EXPECT_EQ(3, self->n.ranks[1].ops[2].failed_rank);
}

TEST_F(net, a_host_that_was_paused_for_long_blames_no_host)
{
	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	/* Its timer runs before the packets that arrived in the meantime. */
	self->n.world.now += 4 * SECOND;
	unit_member(&self->n, 0)->deadline = COLL_NEVER;
	coll_group_expire(unit_group(&self->n, 0), self->n.world.now);
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.terminal);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(0, self->n.ranks[0].ops[3].error);
}

/* A member sends a false "done", half the number range ahead each time. */
static bool lie_about_done(struct unit_network *n, struct world_packet *p)
{
	struct coll_group *g = unit_group(n, p->from);
	struct coll_prefix prefix;
	struct coll_wire_side side;
	struct coll_body body = {};

	coll_wire_read_prefix(p->data, &prefix);
	coll_wire_read_body(p->data, p->bytes, &body);
	if (p->from != 1 && p->from != 2)
		return false;
	body.done -= p->from == 1 ? 0x7fffffffU : 0x7fffffffU + (1U << 24);
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_wire_write(p->data, &side, &body);
	return false;
}

TEST_F(net, a_false_done_acknowledges_nothing)
{
	u32 i;

	unit_network_init(&self->n, 4, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_EXCHANGE;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	self->n.tap = lie_about_done;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < 4; i++) {
		EXPECT_FALSE(coll_after(unit_group(&self->n, i)->credit.acknowledged, 0)) {
			TH_LOG("%u", unit_group(&self->n, i)->credit.acknowledged);
		}
	}
}

static bool flip_a_bit(struct unit_network *n, struct world_packet *p)
{
	u32 bit = unit_random(n) % (p->bytes * 8);

	p->data[bit / 8] ^= 1 << bit % 8;
	return false;
}

TEST_F(net, a_packet_changed_in_any_bit_changes_nothing)
{
	u32 i;

	unit_network_init(&self->n, 4, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	skewed_barriers(_metadata, &self->n, 3, COLLSOCK_AUTO);
	unit_run(&self->n, SECOND);
	self->n.tap = flip_a_bit;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	unit_run(&self->n, SECOND);
	self->n.tap = NULL;
	EXPECT_GT(self->n.world.forged, 30);
	ASSERT_EQ(0, unit_barrier(&self->n, 3));
	ASSERT_TRUE(unit_await_all(&self->n, 10 * SECOND));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, self->n.ranks[i].ops[3].error);
}

TEST_F(net, posts_name_the_algorithms_of_the_mask_only)
{
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };
	struct coll_signature sig;
	struct coll_group *g;

	unit_network_init(&self->n, 2, 1);
	self->n.join.algorithms = BIT_ULL(COLLSOCK_BINOMIAL) | BIT_ULL(COLLSOCK_DISSEMINATION);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_EXCHANGE;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, 0);
	post.algorithm = COLLSOCK_BINOMIAL;
	EXPECT_EQ(0, coll_signature_of_post(g, 0, &post, &sig));
	post.algorithm = COLLSOCK_EXCHANGE;
	EXPECT_EQ(-EINVAL, coll_signature_of_post(g, 0, &post, &sig));
	post.algorithm = COLLSOCK_AUTO;
	EXPECT_EQ(0, coll_signature_of_post(g, 0, &post, &sig));
}

TEST_F(net, bad_posts_are_refused_and_change_nothing)
{
	struct collsock_post good = {
		.size = sizeof(good), .operation = COLLSOCK_ALLREDUCE,
		.type = COLLSOCK_DOUBLE, .op = COLLSOCK_SUM, .count = 3,
	};
	struct coll_signature sig;
	struct collsock_post bad;
	struct coll_group *g;

	unit_network_init(&self->n, 2, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, 0);
	EXPECT_EQ(24, coll_signature_of_post(g, 0, &good, &sig));
#define REFUSED(field, value, error) ({ bad = good; bad.field = value; \
		EXPECT_EQ(error, coll_signature_of_post(g, 0, &bad, &sig)); })
	REFUSED(size, 16, -EINVAL);
	REFUSED(operation, 0, -EINVAL);
	REFUSED(operation, 200, -EINVAL);
	REFUSED(type, 0, -EINVAL);
	REFUSED(type, 77, -EINVAL);
	REFUSED(op, 0, -EINVAL);
	REFUSED(op, 99, -EINVAL);
	REFUSED(algorithm, COLLSOCK_DISSEMINATION, -EINVAL);
	REFUSED(algorithm, 50, -EINVAL);
	REFUSED(flags, COLLSOCK_QUIET, -EINVAL); /* this rank receives the result */
	REFUSED(flags, 2, -EINVAL);
	REFUSED(root, 1, -EINVAL);
	REFUSED(count, 0, -EINVAL);
	REFUSED(count, 0xffffffff, -EMSGSIZE);
	REFUSED(count, 145, -EMSGSIZE);
	REFUSED(degree, 1, -EINVAL);
	REFUSED(degree, 3, -ERANGE);
	REFUSED(degree, COLLSOCK_MAX_EXCHANGE_DEGREE + 1, -EINVAL);
	REFUSED(degree, 0xffffffff, -EINVAL);
	EXPECT_EQ(0, g->window.next);
	EXPECT_EQ(0, g->stats.posted);
}

/* The algorithms for which a group has reserved memory, and those that posts may name */
struct allowed {
	u8	operation;
	u8	algorithm;
	bool	runs;
	bool	may_name;
};

static void check_allowed(struct __test_metadata *_metadata, const struct coll_group *g,
			  const struct allowed *a)
{
	const struct coll_algorithm *row = coll_registry_find(a->operation, a->algorithm);
	bool typed = a->operation != COLLSOCK_BARRIER;
	struct collsock_post post = {
		.size = sizeof(post), .operation = a->operation, .algorithm = a->algorithm,
		.type = typed ? COLLSOCK_INT64 : 0, .count = typed,
		.op = typed && a->operation != COLLSOCK_BROADCAST ? COLLSOCK_SUM : 0,
	};
	struct coll_signature posted, heard = {
		.operation = post.operation, .algorithm = post.algorithm, .type = post.type,
		.count = post.count, .operator = post.op, .degree = row && row->most_degree ? 2 : 0,
	};

	EXPECT_EQ(a->runs, coll_signature_makes_sense(g, &heard))
		TH_LOG("operation %u by %u, heard", a->operation, a->algorithm);
	EXPECT_EQ(a->may_name, coll_signature_of_post(g, 0, &post, &posted) >= 0)
		TH_LOG("operation %u by %u, posted", a->operation, a->algorithm);
}

TEST_F(net, an_operation_without_reserved_memory_never_begins)
{
	/* Of five hosts; AUTO means dissemination in a barrier, binomial trees where rooted. */
	static const struct allowed allowed[] = {
		{ COLLSOCK_BARRIER,	COLLSOCK_DISSEMINATION,		true,	false },
		{ COLLSOCK_BARRIER,	COLLSOCK_EXCHANGE,	true,	true },
		{ COLLSOCK_BARRIER,	COLLSOCK_BINOMIAL,		false,	false },
		{ COLLSOCK_BARRIER,	COLLSOCK_KARY,			false,	false },
		{ COLLSOCK_BARRIER,	16,				false,	false },
		{ COLLSOCK_BARRIER,	255,				false,	false },
		{ COLLSOCK_ALLREDUCE,	COLLSOCK_DISSEMINATION,		false,	false },
		{ COLLSOCK_ALLREDUCE,	COLLSOCK_EXCHANGE,	true,	true },
		{ COLLSOCK_REDUCE,	COLLSOCK_EXCHANGE,	false,	false },
		{ COLLSOCK_REDUCE,	COLLSOCK_BINOMIAL,		false,	false },
		{ COLLSOCK_REDUCE,	COLLSOCK_KARY,			true,	false },
		{ COLLSOCK_BROADCAST,	COLLSOCK_BINOMIAL,		false,	false },
		{ COLLSOCK_BROADCAST,	COLLSOCK_KARY,			true,	false },
	};
	const struct coll_signature auto_heard = { .operation = COLLSOCK_BARRIER };
	u32 i;

	unit_network_init(&self->n, 5, 1);
	self->n.join.algorithms = BIT_ULL(COLLSOCK_EXCHANGE);
	self->n.join.algorithm[COLLSOCK_REDUCE] = COLLSOCK_KARY;
	self->n.join.algorithm[COLLSOCK_BROADCAST] = COLLSOCK_KARY;
	self->n.join.degree = 2;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < ARRAY_SIZE(allowed); i++)
		check_allowed(_metadata, unit_group(&self->n, 0), &allowed[i]);
	/* The poster chooses; the packet names the algorithm. */
	EXPECT_FALSE(coll_signature_makes_sense(unit_group(&self->n, 0), &auto_heard));
}

TEST_F(net, no_packet_begins_a_tree_of_another_degree_than_the_usual_one)
{
	static const u8 operations[] = {
		COLLSOCK_BARRIER, COLLSOCK_ALLREDUCE, COLLSOCK_REDUCE, COLLSOCK_BROADCAST,
	};
	u32 i;

	unit_network_init(&self->n, 5, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		check_allowed(_metadata, unit_group(&self->n, 0),
			      &(struct allowed) { operations[i], COLLSOCK_KARY, false, true });
}

TEST_HARNESS_MAIN
