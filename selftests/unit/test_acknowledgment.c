// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgments name packets: of a message that was sent several times, any of its
 * packets. And what is learned where "done" alone acknowledges, which names none.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

/* Two hosts that know each other, and owe each other nothing. */
static void begin(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	unit_network_init(n, 2, seed_start());
	n->world.link.spread_ns = 0;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(n, i));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, SECOND);
}

static u32 unacknowledged(const struct unit_network *n)
{
	return unit_peer(n, 0, 1)->send.unacked;
}

static u64 sent_again(const struct unit_network *n)
{
	return unit_group(n, 0)->stats.retransmits;
}

/* ---- packets that are lost ---- */

static u32 to_lose;

static bool lose_of_0(struct unit_network *n, struct world_packet *p)
{
	return p->from == 0 && to_lose && to_lose--;
}

static bool lose_of_1(struct unit_network *n, struct world_packet *p)
{
	return p->from == 1 && to_lose && to_lose--;
}

/* Rank 1 does not post, so only an acknowledgment says that its host has the message. */
TEST_F(net, a_message_whose_first_packet_was_lost_is_acknowledged)
{
	u32 lost;

	for (lost = 1; lost <= 3; lost++) {
		begin(_metadata, &self->n);
		self->n.tap = lose_of_0;
		to_lose = lost;
		ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 5));
		unit_run(&self->n, SECOND);
		EXPECT_EQ(0, unacknowledged(&self->n));
		EXPECT_EQ(lost, sent_again(&self->n));
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_message_whose_acknowledgment_was_lost_is_acknowledged_again)
{
	u32 lost;

	for (lost = 1; lost <= 3; lost++) {
		begin(_metadata, &self->n);
		self->n.tap = lose_of_1;
		to_lose = lost;
		ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 5));
		unit_run(&self->n, SECOND);
		EXPECT_EQ(0, unacknowledged(&self->n));
		EXPECT_EQ(lost, sent_again(&self->n));
		EXPECT_EQ(lost, unit_group(&self->n, 1)->stats.duplicates);
		unit_network_free(&self->n);
	}
}

/* It was sent again several times before the acknowledgment of the first packet came. */
TEST_F(net, a_path_longer_than_the_time_out_acknowledges_in_its_first_round_trip)
{
	begin(_metadata, &self->n);
	self->n.world.link.delay_ns = 20 * MS;
	ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 5));
	unit_run(&self->n, 39 * MS);
	EXPECT_EQ(1, unacknowledged(&self->n));
	EXPECT_GE(sent_again(&self->n), 2);
	unit_run(&self->n, 2 * MS + coll_timing_default.ack_delay);
	EXPECT_EQ(0, unacknowledged(&self->n));
	EXPECT_GE(unit_peer(&self->n, 0, 1)->rtt.rto_ns, 40 * MS);
}

/* ---- where "done" alone acknowledges ---- */

/* Acknowledgments are always too late: take them out of what is sent. */
static bool only_done(struct unit_network *n, struct world_packet *p)
{
	const struct coll_group *g = unit_group(n, p->from);
	struct coll_prefix prefix;
	struct coll_wire_side side;
	struct coll_body body = {};

	coll_wire_read_prefix(p->data, &prefix);
	coll_wire_read_body(p->data, p->bytes, &body);
	if (!body.acknowledges)
		return false;
	body.acknowledges = false;
	/* It moves towards the beginning. */
	memmove((u8 *)body.payload - COLL_WIRE_ACK, body.payload, body.payload_bytes);
	body.payload -= COLL_WIRE_ACK;
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_wire_write(p->data, &side, &body);
	p->bytes = coll_wire_bytes(&body);
	return false;
}

/* Nobody knows which packet arrived (Karn): no sample, until the time-out is long enough. */
TEST_F(net, a_round_trip_that_only_done_tells_is_learned)
{
	u32 op, i;
	u64 again = 0;

	begin(_metadata, &self->n);
	self->n.tap = only_done;
	self->n.world.link.delay_ns = 9 * MS;
	for (op = 0; op < 200; op++) {
		if (op == 100)
			again = sent_again(&self->n);
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	}
	EXPECT_GT(again, 0);
	EXPECT_EQ(again, sent_again(&self->n));
}

/*
 * In each barrier every host has messages to some and from others, to be sent again or acknowledged
 * if that does not happen by itself, which it does.
 */
TEST_F(net, a_tight_loop_lets_its_timers_expire_seldom)
{
	u64 begin, expired;
	u32 op, i;

	unit_network_init(&self->n, 16, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	self->n.world.link.delay_ns = MS / 10;
	self->n.world.link.spread_ns = MS / 40;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	begin = self->n.world.now;
	expired = self->n.world.expired;
	for (op = 0; op < 1000; op++) {
		for (i = 0; i < 16; i++)
			ASSERT_EQ(0, unit_barrier(&self->n, i));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	}
	EXPECT_GE((self->n.world.now - begin) / MS * 16 / 2, self->n.world.expired - expired);
}

/*
 * Host 3 is an operation ahead: its message is acknowledged by the "done" of host 0, which other
 * hosts pass on. It goes on with operations in which host 0 sends none.
 */
TEST_F(net, an_acknowledgment_is_not_postponed_before_it_is_due)
{
	struct coll_group *g;
	struct coll_peer *peer;
	u32 i;

	unit_network_init(&self->n, 5, 1);
	self->n.join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, 100 * MS);
	g = unit_group(&self->n, 0);
	peer = unit_peer(&self->n, 0, 3);
	for (i = 2; i < 4; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	while (!peer->ack.owed)
		ASSERT_TRUE(world_step(&self->n.world, self->n.world.now + MS));
	unit_run(&self->n, peer->ack.due_ns - MS - self->n.world.now);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	/* A timer expires for another connection. */
	coll_group_expire(g, self->n.world.now);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, unit_broadcast(&self->n, 3, 3, i));
	unit_run(&self->n, MS + 2 * COLL_DEADLINE_GRAIN);
	EXPECT_FALSE(peer->ack.owed);
}

/*
 * A round-trip time of 40 ms, where it was short: both are sent again until that has passed.
 */
TEST_F(net, messages_that_were_late_together_raise_the_time_out_once)
{
	const struct coll_peer *peer;
	u32 before, i;

	begin(_metadata, &self->n);
	self->n.tap = only_done;
	self->n.world.link.delay_ns = 20 * MS;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, unit_broadcast(&self->n, i % 2, 0, i));
	unit_turns(&self->n);
	peer = unit_peer(&self->n, 0, 1);
	EXPECT_EQ(2, peer->send.unacked);
	before = peer->rtt.rto_ns;
	unit_run(&self->n, 50 * MS);
	EXPECT_EQ(0, peer->send.unacked);
	EXPECT_GE(sent_again(&self->n), 6);
	EXPECT_GE(peer->rtt.rto_ns, 2 * before);
	EXPECT_LE(peer->rtt.rto_ns, 2 * 40 * MS);
}

TEST_HARNESS_MAIN
