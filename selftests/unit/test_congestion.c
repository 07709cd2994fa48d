// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control: how many packets of a connection are in flight, and what is sent again
 * when some of them are lost.
 */
#include "congestion.h"
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)
#define US	((u64)NSEC_PER_USEC)

#define ROUND_TRIP	(100 * US)
#define ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)

static u64 payload[ELEMENTS];

/*
 * A wide window of operations, so that acknowledgments come neither early nor often unless
 * they are asked for.
 */
static void begin_with(struct __test_metadata *_metadata, struct unit_network *n, u32 hosts,
		       u32 degree, u64 algorithms)
{
	unit_network_init(n, hosts, seed_start());
	n->world.link.spread_ns = 0;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	n->join.window = 64;
	n->join.degree = degree;
	n->join.algorithms = algorithms;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static void begin(struct __test_metadata *_metadata, struct unit_network *n, u32 hosts,
		  u32 degree)
{
	begin_with(_metadata, n, hosts, degree, 0);
}

static void barrier(struct __test_metadata *_metadata, struct unit_network *n, u8 algorithm)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		ASSERT_EQ(0, unit_barrier_by(n, i, algorithm));
	ASSERT_TRUE(unit_await_all(n, SECOND));
}

/* They know each other, and owe each other nothing. */
static void introduce(struct __test_metadata *_metadata, struct unit_network *n)
{
	barrier(_metadata, n, COLLSOCK_AUTO);
	unit_run(n, SECOND);
}

/* From host 0 to host 1; rank 1 does not post, so only acknowledgments come back. */
static void send(struct __test_metadata *_metadata, struct unit_network *n, u32 bytes)
{
	struct collsock_post p = unit_post_of(COLLSOCK_BROADCAST, COLLSOCK_BINOMIAL, 0, bytes / 8);

	ASSERT_EQ(0, unit_post(n, 0, &p, payload));
	unit_turns(n);
}

static const struct collsock_stats *stats(const struct unit_network *n)
{
	return &unit_group(n, 0)->stats;
}

static u32 unsent(const struct unit_network *n)
{
	return unit_group(n, 0)->peers.held;
}

/* ---- packets ---- */

static u32 seen, to_lose, first_lost, asking, last_ce;

static struct coll_body body_of(const struct world_packet *p)
{
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	return body;
}

/* Of the messages of host 0, those from @first_lost on. */
static bool lose(struct unit_network *n, struct world_packet *p)
{
	if (p->from || body_of(p).type != COLL_PACKET_MESSAGE)
		return false;
	return seen++ >= first_lost && to_lose && to_lose--;
}

static void lose_some(struct unit_network *n, u32 first, u32 count)
{
	seen = 0;
	first_lost = first;
	to_lose = count;
	n->tap = lose;
}

/* Of what host 0 sends to host 1, @count messages from @first on get lost. */
static void send_with_loss(struct __test_metadata *_metadata, struct unit_network *n, u32 bytes,
			   u32 first, u32 count)
{
	begin(_metadata, n, 2, 0);
	introduce(_metadata, n);
	lose_some(n, first, count);
	send(_metadata, n, bytes);
}

static bool count_asking(struct unit_network *n, struct world_packet *p)
{
	asking += body_of(p).ack_now;
	return false;
}

static bool count_messages(struct unit_network *n, struct world_packet *p)
{
	seen += body_of(p).type == COLL_PACKET_MESSAGE;
	return false;
}

/* Each packet of host 0 is marked; @last_ce: what host 1 has told. */
static bool mark(struct unit_network *n, struct world_packet *p)
{
	p->ce = !p->from;
	if (p->from)
		last_ce = body_of(p).ce;
	return false;
}

/* ---- ack me now ---- */

/* Without asking, each window would wait for the delay of the acknowledgment. */
TEST_F(net, a_sender_whose_window_is_full_does_not_wait_for_a_delay)
{
	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	send(_metadata, &self->n, 20 * 1024);
	EXPECT_LT(0, unsent(&self->n));
	EXPECT_LT(0, stats(&self->n)->paced);
	unit_run(&self->n, 2 * ROUND_TRIP);
	EXPECT_EQ(0, unsent(&self->n));
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, unit_peer(&self->n, 0, 1)->send.unacked);
	EXPECT_EQ(0, stats(&self->n)->retransmits);
}

TEST_F(net, an_acknowledgment_that_was_asked_for_leaves_in_that_event)
{
	const struct coll_peer *peer;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	send(_metadata, &self->n, 5 * 1056);
	unit_run(&self->n, ROUND_TRIP);
	peer = unit_peer(&self->n, 0, 1);
	/* Half of the initial window. */
	EXPECT_EQ(0, peer->send.unacked);
}

/* No algorithm, whatever its fan-in, with one operation under way. */
TEST_F(net, barriers_ask_for_no_acknowledgment)
{
	static const u8 algorithms[] = {
		COLLSOCK_DISSEMINATION, COLLSOCK_EXCHANGE, COLLSOCK_BINOMIAL, COLLSOCK_KARY,
		COLLSOCK_FLAT, COLLSOCK_MCS,
	};
	u32 i, k, degree;
	u64 all = 0;

	for (i = 0; i < ARRAY_SIZE(algorithms); i++)
		all |= BIT_ULL(algorithms[i]);
	for (degree = 2; degree <= 32; degree *= 4) {
		begin_with(_metadata, &self->n, 33, degree, all);
		self->n.tap = count_asking;
		asking = 0;
		for (i = 0; i < ARRAY_SIZE(algorithms); i++)
			for (k = 0; k < 20; k++)
				barrier(_metadata, &self->n, algorithms[i]);
		EXPECT_EQ(0, asking);
		EXPECT_EQ(0, stats(&self->n)->paced);
		unit_network_free(&self->n);
	}
}

/* ---- gaps ---- */

static struct coll_body ack_of(u64 number, u64 bits)
{
	return (struct coll_body) { .acknowledges = true, .ack_number = number, .ack_bits = bits };
}

TEST(a_message_is_lost_when_three_later_ones_have_arrived)
{
	static const struct {
		u64	number;
		u64	bits;
		bool	lost;
	} cases[] = {
		{ 101, 0x1, false },
		{ 102, 0x3, false },
		{ 103, 0x7, true },
		/* Only later ones count. */
		{ 102, 0xfffffffffffffff3, false },
		{ 110, 0x3, false },
		{ 110, 0x83, true },
		{ 163, 0x7, true },
		{ 164, 0x7, true },
		{ 164, 0x3, false },
		{ 1000, ~0ULL, true },
		{ 99, ~0ULL, false },
		{ 5, 0x1f, false },
	};
	const struct coll_message m = { .first = 90, .latest = 100 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct coll_body ack = ack_of(cases[i].number, cases[i].bits);

		EXPECT_EQ(cases[i].lost, coll_congestion_gap(&m, &ack)) {
			TH_LOG("case %u", i);
		}
	}
}

TEST_F(net, a_lost_message_is_repaired_in_a_round_trip)
{
	send_with_loss(_metadata, &self->n, 20 * 1024, 1, 1);
	unit_run(&self->n, MS);
	EXPECT_EQ(0, unsent(&self->n));
	EXPECT_EQ(1, stats(&self->n)->retransmits);
	EXPECT_EQ(1, stats(&self->n)->gap_repairs);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, unit_peer(&self->n, 0, 1)->send.unacked);
	EXPECT_EQ(1, stats(&self->n)->retransmits);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.duplicates);
}

/* The repair is lost, too: it has a number of its own. */
TEST_F(net, a_message_is_repaired_once_in_a_round_trip)
{
	send_with_loss(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD, 0, 1);
	/* The packets of the first round trip tell of the gap many times. */
	unit_run(&self->n, ROUND_TRIP + 10 * US);
	EXPECT_EQ(1, stats(&self->n)->retransmits);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(1, stats(&self->n)->retransmits);
}

/* ---- the window ---- */

TEST_F(net, the_window_is_halved_once_in_a_round_trip)
{
	send_with_loss(_metadata, &self->n, 10 * 1056, 1, 4);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(4, stats(&self->n)->retransmits);
	EXPECT_EQ(4, stats(&self->n)->gap_repairs);
	EXPECT_EQ(1, stats(&self->n)->windows_reduced);
	EXPECT_LE(5, unit_peer(&self->n, 0, 1)->congestion.window);
	EXPECT_GE(7, unit_peer(&self->n, 0, 1)->congestion.window);
}

/* The window is what it was, for the next payload. */
TEST_F(net, the_window_grows_while_it_is_the_limit_and_is_kept)
{
	u32 window;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	send(_metadata, &self->n, 10 * 1056);
	unit_run(&self->n, SECOND);
	window = unit_peer(&self->n, 0, 1)->congestion.window;
	EXPECT_EQ(COLL_CONGESTION_BUDGET, window);
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, 5 * SECOND);
	window = unit_peer(&self->n, 0, 1)->congestion.window;
	EXPECT_LT(2 * COLL_CONGESTION_BUDGET, window);
	seen = 0;
	self->n.tap = count_messages;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	EXPECT_EQ(window, seen);
}

/* Those that are heard from in the same round divide the budget. */
TEST_F(net, the_first_burst_depends_on_the_fan_in)
{
	static const struct {
		u32	fan_in;
		u32	burst;
	} cases[] = { { 2, 5 }, { 3, 3 }, { 5, 2 }, { 16, 1 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct collsock_post p =
			unit_post_of(COLLSOCK_REDUCE, COLLSOCK_KARY, 0, ELEMENTS);

		begin(_metadata, &self->n, cases[i].fan_in + 1, cases[i].fan_in);
		self->n.tap = count_messages;
		seen = 0;
		ASSERT_EQ(0, unit_post(&self->n, 1, &p, payload));
		unit_turns(&self->n);
		EXPECT_EQ(cases[i].burst, seen);
		unit_network_free(&self->n);
	}
}

/* Many operations of one packet, to a host that has not joined. */
TEST_F(net, a_host_never_heard_from_gets_only_the_first_burst)
{
	u32 i;

	unit_network_init(&self->n, 2, seed_start());
	self->n.join.window = 64;
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	seen = 0;
	self->n.tap = count_messages;
	for (i = 0; i < 64; i++)
		ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, i));
	EXPECT_EQ(COLL_CONGESTION_BUDGET, seen);
	/* 10, 20, 40 ... ms, then one in a second. */
	unit_run(&self->n, 10 * SECOND);
	EXPECT_GE(COLL_CONGESTION_BUDGET + 20, seen);
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	for (i = 0; i < 64; i++)
		ASSERT_EQ(0, unit_broadcast(&self->n, 1, 0, 0));
	ASSERT_TRUE(unit_await_all(&self->n, 10 * SECOND));
}

/* Operation 0 waits for rank 2; meanwhile a payload from 0 to 1 waits for the window. */
TEST_F(net, the_oldest_operation_does_not_wait_for_later_ones)
{
	struct collsock_post first = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_BINOMIAL, 0, 1);
	struct collsock_post p = unit_post_of(COLLSOCK_BROADCAST, COLLSOCK_BINOMIAL, 0, ELEMENTS);
	u32 i, first_op;

	begin(_metadata, &self->n, 3, 0);
	introduce(_metadata, &self->n);
	first_op = self->n.ranks[1].posted;
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, unit_post(&self->n, i, &first, payload));
		ASSERT_EQ(0, unit_post(&self->n, i, &p, payload));
	}
	unit_turns(&self->n);
	EXPECT_LT(0, unsent(&self->n));
	ASSERT_EQ(0, unit_post(&self->n, 2, &first, payload));
	ASSERT_TRUE(unit_await(&self->n, 1, first_op, SECOND));
	EXPECT_LT(10, unsent(&self->n));
}

/* ---- time-outs ---- */

/* A window of 64 packets, and then none arrives. */
TEST_F(net, a_dead_link_gets_few_packets)
{
	u32 i;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	for (i = 0; i < 3; i++) {
		send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
		unit_run(&self->n, SECOND);
	}
	unit_cut(&self->n, 1);
	seen = 0;
	self->n.tap = count_messages;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	EXPECT_LT(32, seen);
	seen = 0;
	unit_run(&self->n, 2 * SECOND);
	/* 2.5, 5 ... 100 ms */
	EXPECT_LE(20, seen);
	EXPECT_GE(35, seen);
	EXPECT_EQ(1, unit_peer(&self->n, 0, 1)->congestion.window);
}

/* Nothing was lost: the path was slow for a moment. */
TEST_F(net, the_window_is_restored_if_the_first_packet_has_arrived)
{
	const struct coll_peer *peer;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	peer = unit_peer(&self->n, 0, 1);
	self->n.world.link.delay_ns = 5 * MS;
	send(_metadata, &self->n, 5 * 1056);
	unit_run(&self->n, 9 * MS);
	EXPECT_EQ(1, peer->congestion.window);
	EXPECT_LT(0, stats(&self->n)->retransmits);
	unit_run(&self->n, 5 * MS);
	EXPECT_EQ(COLL_CONGESTION_BUDGET, peer->congestion.window);
	EXPECT_EQ(0, peer->send.unacked);
}

/* The oldest message is late, and may not be repeated yet, as others fill the window. */
TEST_F(net, the_window_is_restored_before_anything_is_sent_again)
{
	const struct coll_peer *peer;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	peer = unit_peer(&self->n, 0, 1);
	self->n.world.link.delay_ns = 23 * MS / 10;
	send(_metadata, &self->n, 5 * 1056);
	unit_run(&self->n, 22 * MS / 10);
	send(_metadata, &self->n, 5 * 1056);
	unit_run(&self->n, 22 * MS / 10);
	EXPECT_EQ(1, peer->congestion.window);
	unit_run(&self->n, MS / 2);
	EXPECT_EQ(COLL_CONGESTION_BUDGET, peer->congestion.window);
	EXPECT_EQ(0, stats(&self->n)->retransmits);
}

/* The greatest time-out is 100 ms by default. */
TEST_F(net, a_lost_message_is_repaired_on_a_path_longer_than_any_time_out)
{
	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	self->n.world.link.delay_ns = 150 * MS;
	send(_metadata, &self->n, 20 * 1024);
	unit_run(&self->n, 10 * SECOND);
	lose_some(&self->n, 0, 2);
	send(_metadata, &self->n, 1056);
	unit_run(&self->n, 5 * SECOND);
	EXPECT_EQ(0, unit_peer(&self->n, 0, 1)->send.unacked);
	EXPECT_FALSE(unit_group(&self->n, 0)->failure.known);
}

/* ---- queues of this host ---- */

TEST_F(net, a_full_queue_of_this_host_halves_the_window_once_in_a_round_trip)
{
	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	coll_group_send_congested(unit_group(&self->n, 0), 1);
	EXPECT_EQ(0, stats(&self->n)->windows_reduced);
	send(_metadata, &self->n, 5 * 1056);
	coll_group_send_congested(unit_group(&self->n, 0), 1);
	coll_group_send_congested(unit_group(&self->n, 0), 1);
	EXPECT_EQ(1, stats(&self->n)->windows_reduced);
	EXPECT_EQ(COLL_CONGESTION_BUDGET / 2, unit_peer(&self->n, 0, 1)->congestion.window);
	unit_run(&self->n, SECOND);
	send(_metadata, &self->n, 5 * 1056);
	coll_group_send_congested(unit_group(&self->n, 0), 1);
	EXPECT_EQ(2, stats(&self->n)->windows_reduced);
}

/* On a path of more than 1 ms: what waits here for less is no queue. */
TEST_F(net, the_window_does_not_grow_while_a_queue_of_this_host_is_long)
{
	const struct coll_peer *peer;
	u32 window;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	peer = unit_peer(&self->n, 0, 1);
	self->n.world.hosts[0].queued = 100;
	send(_metadata, &self->n, 20 * 1024);
	unit_run(&self->n, SECOND);
	EXPECT_LT(COLL_CONGESTION_BUDGET, peer->congestion.window);
	self->n.world.link.delay_ns = MS;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, SECOND);
	ASSERT_LT(MS, peer->rtt.srtt_ns);
	window = peer->congestion.window;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(window, peer->congestion.window);
	self->n.world.hosts[0].queued = 0;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, SECOND);
	EXPECT_LT(window, peer->congestion.window);
}

/* ---- marks ---- */

TEST_F(net, a_mark_halves_the_window_once_in_a_round_trip)
{
	const struct coll_peer *peer;
	u32 i;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	for (i = 0; i < 3; i++) {
		send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
		unit_run(&self->n, SECOND);
	}
	peer = unit_peer(&self->n, 0, 1);
	ASSERT_EQ(COLL_PEER_WINDOW, peer->congestion.window);
	self->n.tap = mark;
	last_ce = 0;
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, ROUND_TRIP + 10 * US);
	EXPECT_LT(0, last_ce);
	EXPECT_EQ(1, stats(&self->n)->windows_reduced);
	EXPECT_EQ(COLL_PEER_WINDOW / 2, peer->congestion.window);
	unit_run(&self->n, SECOND);
	send(_metadata, &self->n, COLLSOCK_MAX_PAYLOAD);
	unit_run(&self->n, SECOND);
	EXPECT_LT(1, stats(&self->n)->windows_reduced);
	EXPECT_EQ(0, stats(&self->n)->retransmits);
	EXPECT_EQ(unit_group(&self->n, 1)->stats.ce_received % 256, peer->congestion.ce);
}

TEST_F(net, a_mark_that_is_told_late_is_none)
{
	struct coll_peer *peer;

	begin(_metadata, &self->n, 2, 0);
	introduce(_metadata, &self->n);
	peer = unit_peer(&self->n, 0, 1);
	peer->congestion.ce = 255;
	coll_congestion_marked(peer, 254);
	coll_congestion_marked(peer, 200);
	EXPECT_EQ(0, stats(&self->n)->windows_reduced);
	EXPECT_EQ(255, peer->congestion.ce);
	coll_congestion_marked(peer, 2);
	EXPECT_EQ(1, stats(&self->n)->windows_reduced);
	EXPECT_EQ(2, peer->congestion.ce);
}

TEST_HARNESS_MAIN
