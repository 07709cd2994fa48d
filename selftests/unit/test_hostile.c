// SPDX-License-Identifier: GPL-2.0
/*
 * What a member that means harm, and a stranger who repeats what members have sent, cannot do
 * to a host.
 */
#include "hostile_fixture.h"
#include "stack.h"

/* ---- a member ---- */

/* Each is lower than the one before, and the last one not lower than the first. */
static const u64 circle[] = { 2, 2 - BIT_ULL(62), 2 - BIT_ULL(63) };

/* Host 0 tells host @to that another one is silent. */
static void receive_limit(struct __test_metadata *_metadata, struct unit_network *n, u32 to,
			  u64 limit)
{
	struct coll_body body = {
		.type			= COLL_PACKET_GOODBYE,
		.operation		= limit,
		.done			= limit,
		.credit			= limit,
		.signature.root		= 1,
		.signature.count	= COLL_REASON_SILENT,
	};

	receive(_metadata, n, 0, to, &body);
}

TEST_F(net, a_limit_never_goes_up_again)
{
	u32 i;

	begin_attack(_metadata, &self->n, 4);
	for (i = 0; i < ARRAY_SIZE(circle); i++) {
		receive_limit(_metadata, &self->n, 2, circle[i]);
		EXPECT_TRUE(coll_group_ended(unit_group(&self->n, 2), 0));
	}
	EXPECT_EQ(2, unit_group(&self->n, 2)->stats.invalid);
}

/* Host 1 tells host 0 that operations beyond @last cannot complete. */
static void receive_goodbye(struct __test_metadata *_metadata, struct unit_network *n, u64 last,
			    u32 rank, u32 reason)
{
	struct coll_body body = {
		.type			= COLL_PACKET_GOODBYE,
		.operation		= last,
		.done			= last,
		.credit			= last,
		.signature.root		= rank,
		.signature.count	= reason,
	};

	receive(_metadata, n, 1, 0, &body);
}

TEST_F(net, a_host_that_has_left_ends_no_group_by_a_later_goodbye)
{
	struct coll_group *g;

	begin_attack(_metadata, &self->n, 3);
	g = unit_group(&self->n, 0);
	receive_goodbye(_metadata, &self->n, 5, 1, COLL_REASON_LEFT);
	receive_goodbye(_metadata, &self->n, 9, 0, COLL_REASON_SILENT);
	EXPECT_FALSE(g->failure.terminal);
	EXPECT_EQ(5, unit_peer(&self->n, 0, 1)->goodbye.last);
	receive_goodbye(_metadata, &self->n, 4, 1, COLL_REASON_LEFT);
	EXPECT_EQ(4, g->failure.what.limit);
}

TEST_F(net, a_host_that_says_this_one_disagrees_is_named_itself)
{
	struct coll_group *g;

	begin_attack(_metadata, &self->n, 3);
	g = unit_group(&self->n, 0);
	receive_goodbye(_metadata, &self->n, 2, 0, COLL_REASON_DISAGREES);
	EXPECT_TRUE(g->failure.terminal);
	EXPECT_EQ(1, g->failure.what.rank);
	EXPECT_EQ(COLL_REASON_DISAGREES, g->failure.what.reason);
}

/* In the largest group the last host has the index that stands for all: what comes to it so */
static u32 write_for_all(const struct unit_network *n, u8 type, u8 *packet)
{
	const struct coll_group *g = unit_group(n, 0);
	const struct coll_prefix prefix = {
		.tag = g->secret.tag, .descriptor = g->descriptor, .incarnation = g->incarnation,
		.epoch = 1, .source = 0, .destination = COLL_WIRE_ALL,
	};
	struct coll_body body = {
		.type = type, .number = ++next_number, .credit = COLL_NOTHING_DONE,
		.signature.root = 1, .signature.count = COLL_REASON_SILENT,
	};
	struct coll_wire_side side;

	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_wire_write(packet, &side, &body);
	return coll_wire_bytes(&body);
}

static enum coll_refusal receive_for_all(struct unit_network *n, u8 type)
{
	u8 packet[256];
	u32 bytes = write_for_all(n, type, packet);

	return coll_group_receive(unit_group(n, 2), 0, packet, bytes, false, n->world.now);
}

TEST_F(net, a_packet_for_all_belongs_to_no_connection)
{
	u64 before;

	begin_attack(_metadata, &self->n, 4);
	before = world_digest(unit_member(&self->n, 2));
	EXPECT_EQ(COLL_WRONG_SOURCE, receive_for_all(&self->n, COLL_PACKET_MULTICAST));
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 2)));
}

/* Nor if a message with the same prefix came before */
TEST_F(net, a_packet_for_all_is_no_goodbye)
{
	struct coll_group *g;

	next_number = 0;
	unit_network_init(&self->n, 4, seed_start());
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, 2);
	EXPECT_EQ(COLL_ACCEPTED, receive_for_all(&self->n, COLL_PACKET_MESSAGE));
	g->stats.invalid = 0;
	EXPECT_EQ(COLL_ACCEPTED, receive_for_all(&self->n, COLL_PACKET_MULTICAST));
	EXPECT_EQ(1, g->stats.invalid);
	EXPECT_FALSE(coll_group_ended(g, 0));
}

TEST_F(net, a_packet_for_all_that_filters_refuse_excuses_no_host)
{
	u8 packet[256];
	u32 bytes;

	begin_attack(_metadata, &self->n, 4);
	bytes = write_for_all(&self->n, COLL_PACKET_MULTICAST, packet);
	coll_group_receive_refused(unit_group(&self->n, 2), 0, packet, bytes);
	EXPECT_FALSE(unit_peer(&self->n, 2, 0)->live.filtered_in);
}

TEST_F(net, a_packet_for_all_is_not_answered_from_timewait)
{
	u8 packet[256], answer[COLL_TIMEWAIT_ANSWER];
	struct unit_network *n = &self->n;
	struct coll_timewait t;
	u32 bytes, answered;

	begin_attack(_metadata, n, 4);
	coll_timewait_set(unit_group(n, 2), &t, n->world.now);
	bytes = write_for_all(n, COLL_PACKET_MULTICAST, packet);
	EXPECT_EQ(COLL_ACCEPTED, coll_timewait_answer(&t, packet, bytes, answer, &answered));
	EXPECT_EQ(0, answered);
}

/*
 * A platform makes contiguous, and lets be read, only what has a right length and a right source:
 * of this packet nothing can be.
 */
TEST_F(net, a_packet_for_timewait_is_not_read_before_its_length_and_source_are_checked)
{
	u8 *unreadable = malloc(2) + 2, answer[COLL_TIMEWAIT_ANSWER];
	struct unit_network *n = &self->n;
	struct coll_timewait t;
	u32 answered;

	begin_attack(_metadata, n, 4);
	coll_timewait_set(unit_group(n, 2), &t, n->world.now);
	EXPECT_EQ(COLL_TOO_LONG, coll_endpoint_receive(&t, true, unreadable, t.packet_bytes + 1,
						       answer, &answered));
	EXPECT_EQ(COLL_WRONG_SOURCE, coll_endpoint_receive(&t, false, unreadable, t.packet_bytes,
							   answer, &answered));
	EXPECT_EQ(0, answered);
	free(unreadable - 2);
}

/* Host 0 receives from host 3 in the first round, and from host 2 in the second. */
TEST_F(net, a_message_that_the_schedule_does_not_have_is_invalid)
{
	static const struct {
		u32	from;
		u8	round;
	} others[] = {
		{ 1, 0 }, { 1, 1 }, { 2, 0 }, { 3, 1 }, { 3, 2 }, { 2, 255 },
	};
	const struct collsock_stats *stats;
	struct coll_body body;
	u64 received;
	u32 i;

	begin_attack(_metadata, &self->n, 4);
	stats = &unit_group(&self->n, 0)->stats;
	received = stats->messages_received;
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		body = barrier_body(3, others[i].round);
		receive(_metadata, &self->n, others[i].from, 0, &body);
		EXPECT_EQ(i + 1, stats->invalid)
			TH_LOG("host %u, round %u", others[i].from, others[i].round);
	}
	EXPECT_EQ(received, stats->messages_received);
	body = barrier_body(3, 0);
	receive(_metadata, &self->n, 3, 0, &body);
	EXPECT_EQ(received + 1, stats->messages_received);
}

TEST_F(net, a_message_beyond_the_window_is_neither_stored_nor_acknowledged)
{
	const struct coll_peer *peer;
	struct coll_body body;
	struct coll_group *g;
	u64 accepted, early;

	begin_attack(_metadata, &self->n, 2);
	g = unit_group(&self->n, 1);
	early = g->stats.early;
	peer = unit_peer(&self->n, 1, 0);
	accepted = peer->ack.accepted;
	body = barrier_body(g->window.oldest + g->window.size, 0);
	receive(_metadata, &self->n, 0, 1, &body);
	EXPECT_EQ(1, g->stats.beyond_window);
	EXPECT_EQ(early, g->stats.early);
	EXPECT_EQ(accepted, peer->ack.accepted);
	body.operation--;
	receive(_metadata, &self->n, 0, 1, &body);
	EXPECT_EQ(early + 1, g->stats.early);
	EXPECT_EQ(next_number, peer->ack.accepted);
}

static int broadcast(struct unit_network *n, u32 rank, u8 algorithm, u32 count,
		     const void *payload)
{
	struct collsock_post post = unit_post_of(COLLSOCK_BROADCAST, algorithm, 0, count);

	return unit_post(n, rank, &post, payload);
}

/* It would run again, with the lists of the schedule before it: an endless loop. */
TEST_F(net, limits_that_go_round_revive_no_operation_that_was_stopped)
{
	static const u64 payload[4 * COLLSOCK_DEFAULT_SEGMENT / sizeof(u64)];
	struct unit_network *n = &self->n;
	u32 i, count = ARRAY_SIZE(payload);

	next_number = 1 << 20;
	unit_network_init(n, 4, seed_start());
	n->join.window = 1;
	n->join.degree = 3;
	n->join.max_bytes = sizeof(payload);
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, broadcast(n, i, COLLSOCK_BINOMIAL, count, payload));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, SECOND / 10);
	/* It is over on host 2, whose rank has not posted it. */
	ASSERT_EQ(0, broadcast(n, 0, COLLSOCK_KARY, count, payload));
	unit_run(n, SECOND / 10);
	ASSERT_EQ(COLL_OP_EARLY, unit_group(n, 2)->window.slots[0].state);
	for (i = 0; i < ARRAY_SIZE(circle); i++) {
		receive_limit(_metadata, n, 2, circle[i] - 2);
		unit_run(n, 200 * NSEC_PER_USEC);
	}
	ASSERT_EQ(0, broadcast(n, 2, COLLSOCK_KARY, count, NULL));
	unit_run(n, SECOND);
	EXPECT_EQ(ETIMEDOUT, unit_last(n, 2)->error);
}

static u32 forgetting(const struct coll_group *g)
{
	u32 i, found = 0;

	for (i = 0; i <= g->window.mask; i++)
		found += g->window.slots[i].forget.in_turns;
	return found;
}

/* A message of host 0 for each operation of the window, of which host 1 has posted none */
static void fill_window(struct __test_metadata *_metadata, struct unit_network *n, u64 first)
{
	static const u8 payload[48];
	struct coll_body body = {
		.type			= COLL_PACKET_MESSAGE,
		.payload		= payload,
		.payload_bytes		= sizeof(payload),
		.signature.operation	= COLLSOCK_BROADCAST,
		.signature.algorithm	= COLLSOCK_KARY,
		.signature.degree	= 2,
		.signature.type		= COLLSOCK_UINT64,
		.signature.count	= COLLSOCK_MAX_PAYLOAD / sizeof(u64),
	};
	u32 i;

	for (i = 0; i < n->join.window; i++) {
		body.operation = first + i;
		body.done = first - 1;
		body.credit = body.operation;
		receive(_metadata, n, 0, 1, &body);
		unit_run(n, NSEC_PER_MSEC);
	}
}

TEST_F(net, lower_limits_abort_operations_once)
{
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 i, op;

	next_number = 1 << 20;
	unit_network_init(n, 3, seed_start());
	n->join.window = 64;
	n->join.degree = 2;
	n->join.segment_bytes = 48;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (op = 0; op < 100; op++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, unit_barrier(n, i));
		ASSERT_TRUE(unit_await_all(n, SECOND));
	}
	fill_window(_metadata, n, op);
	g = unit_group(n, 1);
	receive_limit(_metadata, n, 1, 90);
	EXPECT_LT(0, g->stats.early);
	unit_run(n, NSEC_PER_SEC / 100);
	EXPECT_EQ(0, forgetting(g));
	g->work.most = 1;
	receive_limit(_metadata, n, 1, 80);
	EXPECT_EQ(0, forgetting(g));
}

TEST_F(net, an_acknowledgment_of_what_was_not_sent_repeats_nothing)
{
	static const u8 payload[8640];
	struct coll_body body = {
		.type		= COLL_PACKET_ACK,
		.acknowledges	= true,
		.ack_number	= BIT_ULL(60),
		.ack_bits	= 7,
		.credit		= 15,
	};
	struct unit_network *n = &self->n;
	struct coll_peer *peer;
	u64 sent;
	u32 i;

	next_number = 1 << 20;
	unit_network_init(n, 2, seed_start());
	n->join.segment_bytes = COLLSOCK_MAX_SEGMENT;
	n->join.max_bytes = sizeof(payload);
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(n, i));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_cut(n, 1);
	ASSERT_EQ(0, broadcast(n, 0, COLLSOCK_BINOMIAL, sizeof(payload) / sizeof(u64), payload));
	peer = unit_peer(n, 0, 1);
	sent = peer->send.number;
	for (i = 0; i < 100; i++)
		receive(_metadata, n, 1, 0, &body);
	EXPECT_EQ(sent, peer->send.number);
}

/*
 * Host 1 has room for no more, and says all the same that all hosts have completed what waits
 * for it. That message was in the same memory as one that was sent.
 */
TEST_F(net, a_message_that_waits_is_no_sample_of_the_round_trip_time)
{
	struct coll_body body = {
		.type			= COLL_PACKET_MESSAGE,
		.signature.operation	= COLLSOCK_BARRIER,
		.signature.algorithm	= COLLSOCK_DISSEMINATION,
		.signature.degree	= 2,
	};
	struct unit_network *n = &self->n;
	struct coll_peer_rtt before;
	struct coll_peer *peer;
	struct coll_group *g;
	u32 i;

	next_number = 1 << 20;
	unit_network_init(n, 2, seed_start());
	n->join.window = 4;
	n->join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	g = unit_group(n, 0);
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, unit_broadcast(n, 0, 0, i));
		if (i < 4)
			ASSERT_EQ(0, unit_broadcast(n, 1, 0, 0));
		unit_run(n, SECOND);
	}
	peer = unit_peer(n, 0, 1);
	ASSERT_EQ(0, unit_broadcast(n, 0, 0, 8));
	ASSERT_EQ(0, unit_barrier(n, 0));
	ASSERT_EQ(2, g->peers.held);
	ASSERT_EQ(1, list_first_entry(&peer->send.held, struct coll_message, link)->tries);
	before = peer->rtt;
	body.operation = 9;
	body.done = 8;
	body.credit = 7;
	receive(_metadata, n, 1, 0, &body);
	EXPECT_TRUE(unit_last(n, 0)->done);
	EXPECT_EQ(1, g->peers.held);
	EXPECT_EQ(0, memcmp(&before, &peer->rtt, sizeof(before)));
}

/* ---- what the prefix of a packet says ---- */

TEST_F(net, a_packet_of_a_rank_with_another_descriptor_changes_nothing)
{
	struct coll_body body = {
		.type = COLL_PACKET_ACK, .done = COLL_NOTHING_DONE, .credit = COLL_NOTHING_DONE,
	};
	struct coll_prefix prefix;
	u64 before;

	begin_attack(_metadata, &self->n, 2);
	prefix = prefix_to_0(&self->n);
	before = world_digest(unit_member(&self->n, 0));
	prefix.descriptor ^= 1;
	EXPECT_EQ(COLL_WRONG_DESCRIPTOR, receive_with(&self->n, &prefix, &body));
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));
	prefix.descriptor ^= 1;
	EXPECT_EQ(COLL_ACCEPTED, receive_with(&self->n, &prefix, &body));
	EXPECT_NE(before, world_digest(unit_member(&self->n, 0)));
}

TEST_F(net, a_packet_for_another_life_of_this_host_changes_nothing)
{
	struct coll_body body = {
		.type = COLL_PACKET_ACK, .done = COLL_NOTHING_DONE, .credit = COLL_NOTHING_DONE,
	};
	struct coll_prefix prefix;
	u64 before;

	begin_attack(_metadata, &self->n, 2);
	prefix = prefix_to_0(&self->n);
	prefix.known++;
	unit_group(&self->n, 0)->stats.stale = 0;
	before = world_digest(unit_member(&self->n, 0));
	EXPECT_EQ(COLL_ACCEPTED, receive_with(&self->n, &prefix, &body));
	EXPECT_EQ(1, unit_group(&self->n, 0)->stats.stale);
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));
}

/* It may mean what was sent in another life of this host. */
TEST_F(net, a_packet_that_names_no_life_of_this_host_acknowledges_nothing)
{
	struct coll_body body = { .type = COLL_PACKET_ACK, .acknowledges = true };
	struct unit_network *n = &self->n;
	struct coll_prefix prefix;
	struct coll_peer *peer;
	u64 credit;

	begin_attack(_metadata, n, 2);
	unit_cut(n, 1);
	ASSERT_EQ(0, unit_barrier(n, 0));
	unit_turns(n);
	peer = unit_peer(n, 0, 1);
	credit = peer->send.credit;
	body.operation = unit_group(n, 0)->window.oldest;
	body.done = body.operation;
	body.credit = credit + 1;
	body.ack_number = peer->send.number;
	prefix = prefix_to_0(n);
	prefix.known = 0;
	EXPECT_EQ(COLL_ACCEPTED, receive_with(n, &prefix, &body));
	EXPECT_EQ(1, peer->send.unacked);
	EXPECT_EQ(credit, peer->send.credit);
	prefix = prefix_to_0(n);
	EXPECT_EQ(COLL_ACCEPTED, receive_with(n, &prefix, &body));
	EXPECT_EQ(0, peer->send.unacked);
	EXPECT_EQ(credit + 1, peer->send.credit);
}

TEST_F(net, a_packet_of_other_lives_that_filters_refuse_excuses_no_host)
{
	const struct coll_body body = { .type = COLL_PACKET_ACK, .number = 1 << 20 };
	struct unit_network *n = &self->n;
	struct coll_prefix prefixes[4];
	struct coll_wire_side side;
	u8 packet[256];
	u32 i;

	begin_attack(_metadata, n, 2);
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		prefixes[i] = prefix_to_0(n);
	prefixes[0].descriptor ^= 1;
	prefixes[1].known++;
	prefixes[2].incarnation++;
	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		coll_wire_side_set(&side, &prefixes[i], &unit_group(n, 1)->secret.mac);
		coll_wire_write(packet, &side, &body);
		coll_group_receive_refused(unit_group(n, 0), 1, packet, coll_wire_bytes(&body));
		EXPECT_EQ(i == 3, unit_peer(n, 0, 1)->live.filtered_in) TH_LOG("prefix %u;", i);
	}
}

/* ---- how far apart numbers may be ---- */

/* Host 0 has sent one message, as two packets or more. */
TEST_F(net, an_acknowledgment_names_no_packet_that_is_far_from_its_number)
{
	struct coll_body body = {
		.type = COLL_PACKET_ACK, .acknowledges = true, .ack_bits = ~1ULL,
		.done = COLL_NOTHING_DONE, .credit = COLL_NOTHING_DONE,
	};
	struct unit_network *n = &self->n;
	struct coll_peer *peer;

	begin_attack(_metadata, n, 2);
	unit_cut(n, 1);
	ASSERT_EQ(0, unit_barrier(n, 0));
	unit_run(n, SECOND);
	peer = unit_peer(n, 0, 1);
	ASSERT_EQ(1, peer->send.unacked);
	ASSERT_LT(list_first_entry(&peer->send.sent, struct coll_message, link)->first,
		  peer->send.number);
	body.ack_number = list_first_entry(&peer->send.sent, struct coll_message, link)->first;
	receive(_metadata, n, 1, 0, &body);
	EXPECT_EQ(1, peer->send.unacked);
	peer->send.number += 1000;
	body.ack_number = peer->send.number;
	receive(_metadata, n, 1, 0, &body);
	EXPECT_EQ(1, peer->send.unacked);
}

TEST_F(net, a_message_that_is_far_behind_others_is_not_named_by_an_acknowledgment)
{
	struct unit_network *n = &self->n;
	struct coll_peer *peer;
	struct coll_body body;
	u64 latest;

	begin_attack(_metadata, n, 2);
	peer = unit_peer(n, 1, 0);
	body = barrier_body(3, 0);
	receive(_metadata, n, 0, 1, &body);
	latest = next_number;
	EXPECT_EQ(latest, peer->ack.accepted);
	EXPECT_EQ(1, peer->ack.bits);
	next_number -= 2 + COLL_PEER_WINDOW;
	body = barrier_body(4, 0);
	receive(_metadata, n, 0, 1, &body);
	EXPECT_EQ(latest, peer->ack.accepted);
	EXPECT_EQ(1, peer->ack.bits);
	EXPECT_EQ(COLL_OP_EARLY, coll_group_slot(unit_group(n, 1), 4)->state);
}

/* ---- a stranger who repeats a packet of host 1 to host 0 ---- */

static struct world_packet *recorded;

static struct world_packet *copy_of(const struct world_packet *p)
{
	struct world_packet *copy = world_packet_new(p->bytes);

	memcpy(copy->data, p->data, p->bytes);
	copy->from = 1;
	copy->to = 0;
	return copy;
}

static bool record(struct unit_network *n, struct world_packet *p)
{
	if (p->from == 1 && p->to == 0 && !recorded)
		recorded = copy_of(p);
	return false;
}

/* The first one: host 1 has not heard of host 0. */
static bool record_first(struct unit_network *n, struct world_packet *p)
{
	struct coll_prefix prefix;

	coll_wire_read_prefix(p->data, &prefix);
	return !prefix.known && record(n, p);
}

static void barriers(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i, op;

	for (op = 0; op < 3; op++) {
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, unit_barrier(n, i));
		ASSERT_TRUE(unit_await_all(n, SECOND));
	}
	unit_run(n, SECOND);
}

static void begin_recording(struct __test_metadata *_metadata, struct unit_network *n,
			    bool (*tap)(struct unit_network *n, struct world_packet *p))
{
	recorded = NULL;
	unit_network_init(n, 2, seed_start());
	n->tap = tap;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	barriers(_metadata, n);
	n->tap = NULL;
	ASSERT_NE(NULL, recorded);
}

static void repeat(struct unit_network *n)
{
	world_inject(&n->world, copy_of(recorded));
	unit_run(n, 200 * NSEC_PER_USEC);
}

TEST_F(net, the_first_packet_repeated_changes_nothing)
{
	u64 before;

	begin_recording(_metadata, &self->n, record_first);
	before = world_digest(unit_member(&self->n, 0));
	repeat(&self->n);
	EXPECT_EQ(before, world_digest(unit_member(&self->n, 0)));
	EXPECT_TRUE(unit_peer(&self->n, 0, 1)->conn.knows_us);
	free(recorded);
}

TEST_F(net, a_repeated_packet_opens_no_idle_connection)
{
	begin_recording(_metadata, &self->n, record);
	unit_run(&self->n, 2 * coll_timing_default.idle + SECOND);
	ASSERT_EQ(NULL, unit_peer(&self->n, 0, 1));
	repeat(&self->n);
	EXPECT_EQ(NULL, unit_peer(&self->n, 0, 1));
	EXPECT_EQ(1, unit_group(&self->n, 0)->stats.duplicates);
	free(recorded);
}

/* The attacker repeats it such that a filter of host 0 refuses it. Host 1 is dead. */
TEST_F(net, a_repeated_packet_that_filters_refuse_excuses_no_host)
{
	struct unit_network *n = &self->n;
	u32 i;

	begin_recording(_metadata, n, record);
	world_crash(&n->world, unit_member(n, 1)->host);
	ASSERT_EQ(0, unit_barrier(n, 0));
	for (i = 0; i < 100 && !unit_last(n, 0)->done; i++) {
		coll_group_receive_refused(unit_group(n, 0), 1, recorded->data, recorded->bytes);
		unit_run(n, SECOND / 10);
	}
	EXPECT_EQ(ETIMEDOUT, unit_last(n, 0)->error);
	EXPECT_EQ(1, unit_last(n, 0)->failed_rank);
	free(recorded);
}

/* ---- what stays on the stack ---- */

/* A packet of host 1 that host 0 handles on a stack of its own */
static struct {
	const struct unit_network	*n;
	u32				bytes;
	u8				data[COLL_WIRE_MAX];
	enum coll_refusal		refusal;
} taken;

/* The first packet is taken, others are lost. */
static bool take(struct unit_network *n, struct world_packet *p)
{
	if (!taken.bytes)
		memcpy(taken.data, p->data, p->bytes);
	taken.bytes = taken.bytes ?: p->bytes;
	return true;
}

/* Host 1 posts; its message is taken. */
static void take_message(struct __test_metadata *_metadata, struct unit_network *n)
{
	memset(&taken, 0, sizeof(taken));
	taken.n = n;
	n->tap = take;
	ASSERT_EQ(0, unit_barrier(n, 1));
	ASSERT_NE(0, taken.bytes);
}

static void receive_taken(void)
{
	taken.refusal = coll_group_receive(unit_group(taken.n, 0), 1, taken.data, taken.bytes,
					   false, taken.n->world.now);
}

static void answer_taken(void)
{
	static u8 answer[COLL_TIMEWAIT_ANSWER];
	u32 bytes;

	taken.refusal = coll_timewait_answer(&unit_member(taken.n, 0)->timewait, taken.data,
					     taken.bytes, answer, &bytes);
	if (bytes)
		memcpy(taken.data, answer, bytes);
}

/* From a state what was before it can be computed: from each of these the key. */
static bool stack_has_state(const struct coll_prefix *prefix, const struct coll_secret *secret)
{
	struct coll_wire_side side;

	coll_wire_side_set(&side, prefix, &secret->mac);
	return unit_stack_has(side.mac, ARRAY_SIZE(side.mac));
}

/* Handle what was taken, and leave no state of its direction. */
static void handle(struct __test_metadata *_metadata, void (*how)(void), enum coll_refusal refusal,
		   const struct coll_secret *secret)
{
	struct coll_prefix prefix;

	coll_wire_read_prefix(taken.data, &prefix);
	ASSERT_TRUE(unit_stack_run(how));
	EXPECT_EQ(refusal, taken.refusal);
	EXPECT_FALSE(stack_has_state(&prefix, secret));
}

static void handle_forged(struct __test_metadata *_metadata, void (*how)(void),
			  const struct coll_secret *secret)
{
	taken.data[taken.bytes - 1] ^= 1;
	handle(_metadata, how, COLL_FORGED, secret);
	taken.data[taken.bytes - 1] ^= 1;
}

TEST_F(net, no_state_of_the_mac_of_a_first_packet_stays_on_the_stack)
{
	struct unit_network *n = &self->n;

	unit_network_init(n, 2, 1);
	ASSERT_EQ(0, unit_join_all(n, NULL));
	take_message(_metadata, n);
	handle_forged(_metadata, receive_taken, &unit_group(n, 0)->secret);
	handle(_metadata, receive_taken, COLL_ACCEPTED, &unit_group(n, 0)->secret);
	EXPECT_NE(NULL, unit_peer(n, 0, 1));
}

TEST_F(net, no_state_of_the_mac_of_a_challenge_stays_on_the_stack)
{
	struct unit_network *n = &self->n;
	struct coll_prefix prefix;
	struct coll_group *g;

	begin(_metadata, n, 2);
	g = unit_group(n, 0);
	world_crash(&n->world, unit_member(n, 1)->host);
	world_start(unit_member(n, 1)->host);
	ASSERT_EQ(0, unit_join(n, 1, NULL));
	take_message(_metadata, n);
	handle(_metadata, receive_taken, COLL_ACCEPTED, &g->secret);
	EXPECT_EQ(1, g->stats.challenges);
	prefix = coll_peer_prefix(unit_peer(n, 0, 1), unit_group(n, 1)->incarnation);
	EXPECT_FALSE(stack_has_state(&prefix, &g->secret));
}

TEST_F(net, no_state_of_the_mac_of_an_answer_from_timewait_stays_on_the_stack)
{
	struct unit_network *n = &self->n;
	const struct coll_secret *secret;
	struct coll_prefix prefix;
	u32 i;

	begin(_metadata, n, 2);
	secret = &unit_member(n, 0)->timewait.secret;
	take_message(_metadata, n);
	n->tap = NULL;
	for (i = 0; i < 2; i++)
		unit_leave(n, i);
	unit_run(n, SECOND);
	ASSERT_TRUE(unit_timewait(n, 0));
	handle_forged(_metadata, answer_taken, secret);
	handle(_metadata, answer_taken, COLL_ACCEPTED, secret);
	coll_wire_read_prefix(taken.data, &prefix);
	EXPECT_EQ(0, prefix.source);
	EXPECT_FALSE(stack_has_state(&prefix, secret));
}

TEST_HARNESS_MAIN
