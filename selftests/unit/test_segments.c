// SPDX-License-Identifier: GPL-2.0
/*
 * Payloads larger than a segment: one lane for each, and lanes do not wait for each other.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

#define ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)
#define WHOLE		COLLSOCK_DEFAULT_SEGMENT

static u64 payload[ELEMENTS];

static const u32 own_hosts[] = { 0, 1, 2, 3, 4 };
static const u32 shared_hosts[] = { 0, 1, 0, 2, 2 };

static void begin(struct __test_metadata *_metadata, struct unit_network *n,
		  const u32 *host_of_rank, u32 count, u32 segment_bytes)
{
	unit_network_place(n, host_of_rank, count, seed_start());
	n->join.segment_bytes = segment_bytes;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	n->join.window = 4;
	n->join.degree = 3;
	n->join.degrees = COLLSOCK_DEGREE(2);
	n->join.algorithms = unit_every_algorithm();
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

/* Each element encodes its position, in its segment and among the segments. */
static void fill(u32 rank)
{
	u32 i;

	for (i = 0; i < ELEMENTS; i++)
		payload[i] = (u64)(rank + 1) << 48 | i * (rank + 3);
}

/* Like a program: wait while the window is full; others may still be running. */
static int post(struct unit_network *n, u32 rank, const struct collsock_post *p)
{
	u64 until = n->world.now + 60 * SECOND;
	int err;

	fill(rank);
	do
		err = unit_post(n, rank, p, payload);
	while (err == -EAGAIN && world_step(&n->world, until));
	return err;
}

static void check_result(struct __test_metadata *_metadata, struct unit_network *n, u32 rank,
			 const struct collsock_post *p)
{
	const u64 *result = (const u64 *)unit_last(n, rank)->result;
	u32 i, k;

	ASSERT_EQ(0, unit_last(n, rank)->error);
	if (p->operation == COLLSOCK_REDUCE ? rank != p->root :
	    p->operation == COLLSOCK_BROADCAST && rank == p->root) {
		ASSERT_EQ(0, unit_last(n, rank)->bytes);
		return;
	}
	ASSERT_EQ(8 * p->count, unit_last(n, rank)->bytes);
	for (i = 0; i < p->count; i++) {
		u64 expected = 0;

		for (k = 0; k < n->count; k++)
			if (p->operation != COLLSOCK_BROADCAST || k == p->root)
				expected += (u64)(k + 1) << 48 | i * (k + 3);
		ASSERT_EQ(expected, result[i]) {
			TH_LOG("rank %u, element %u of %u", rank, i, p->count);
		}
	}
}

static void check_operation(struct __test_metadata *_metadata, struct unit_network *n,
			    const struct coll_algorithm *a)
{
	/* Whole segments; part of one; one element more than whole segments */
	static const u32 counts[] = { ELEMENTS, ELEMENTS - 7, 145, 1 };
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(counts); k++) {
		struct collsock_post p = unit_post_of(a->operation, a->algorithm, 0, counts[k]);

		if (coll_algorithm_rooted(a))
			p.root = world_below(&n->world.random, n->count);
		for (i = 0; i < n->count; i++)
			ASSERT_EQ(0, post(n, i, &p));
		ASSERT_TRUE(unit_await_all(n, 60 * SECOND));
		for (i = 0; i < n->count; i++)
			check_result(_metadata, n, i, &p);
	}
}

static void check_all(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 a;

	for (a = 0; a < coll_registry_count; a++)
		/* With a block for each rank: test_blocks; prefixes: test_scan */
		if (coll_registry[a]->operation != COLLSOCK_BARRIER &&
		    !coll_operations[coll_registry[a]->operation].blocks &&
		    !coll_operations[coll_registry[a]->operation].prefix)
			check_operation(_metadata, n, coll_registry[a]);
}

TEST_F(net, sixty_four_kib_are_exact_with_every_algorithm_under_loss_and_reordering)
{
	begin(_metadata, &self->n, own_hosts, ARRAY_SIZE(own_hosts), 0);
	self->n.world.link.loss = 50;
	self->n.world.link.duplication = 50;
	self->n.world.link.reordering = 200;
	check_all(_metadata, &self->n);
	unit_network_free(&self->n);
	begin(_metadata, &self->n, shared_hosts, ARRAY_SIZE(shared_hosts), 0);
	self->n.world.link.loss = 50;
	self->n.world.link.reordering = 200;
	check_all(_metadata, &self->n);
}

struct pair {
	u64	value;
	u32	index;
} __packed;

#define PAIRS	(COLLSOCK_MAX_PAYLOAD / sizeof(struct pair))

/* A segment of 64 bytes has five of them, so their vector has more segments than others. */
TEST_F(net, a_vector_of_pairs_may_be_as_long_as_any)
{
	struct collsock_post p = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE, 0, PAIRS);
	static struct pair pairs[PAIRS];
	const struct pair *result;
	u32 rank, i;

	p.type = COLLSOCK_INT64_INT;
	p.op = COLLSOCK_MAXLOC;
	begin(_metadata, &self->n, own_hosts, 2, 64);
	for (rank = 0; rank < 2; rank++) {
		for (i = 0; i < PAIRS; i++)
			pairs[i] = (struct pair) { i + (i % 2 == rank), rank };
		ASSERT_EQ(0, unit_post(&self->n, rank, &p, pairs));
	}
	ASSERT_TRUE(unit_await_all(&self->n, 60 * SECOND));
	ASSERT_EQ(0, unit_last(&self->n, 0)->error);
	ASSERT_EQ(sizeof(pairs), unit_last(&self->n, 0)->bytes);
	result = (const struct pair *)unit_last(&self->n, 0)->result;
	for (i = 0; i < PAIRS; i++) {
		ASSERT_EQ(i + 1, result[i].value);
		ASSERT_EQ(i % 2, result[i].index);
	}
	EXPECT_EQ(2 * DIV_ROUND_UP(PAIRS, 5), unit_group(&self->n, 0)->stats.messages_sent +
					      unit_group(&self->n, 1)->stats.messages_sent);
}

TEST_F(net, a_payload_beyond_the_largest_is_refused)
{
	struct collsock_post p = unit_post_of(COLLSOCK_ALLREDUCE, 0, 0, ELEMENTS + 1);
	struct coll_signature sig;

	begin(_metadata, &self->n, own_hosts, 2, 0);
	EXPECT_EQ(-EMSGSIZE, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
	p.count--;
	EXPECT_EQ(COLLSOCK_MAX_PAYLOAD,
		  coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
}

TEST_F(net, a_group_without_room_for_data_has_barriers)
{
	struct collsock_post p = { .size = sizeof(p), .operation = COLLSOCK_BARRIER };
	u32 bytes, i;

	for (bytes = 1; bytes < 8; bytes++) {
		unit_network_place(&self->n, shared_hosts, ARRAY_SIZE(shared_hosts), bytes);
		self->n.join.max_bytes = bytes;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (i = 0; i < self->n.count; i++)
			ASSERT_EQ(0, unit_post(&self->n, i, &p, NULL));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		for (i = 0; i < self->n.count; i++)
			EXPECT_EQ(0, unit_last(&self->n, i)->error);
		unit_network_free(&self->n);
	}
}

/* ---- flow control ---- */

/* To a host that only one sends to in a round */
#define INITIAL_WINDOW	10

static u32 most_under_way;

static bool count_under_way(struct unit_network *n, struct world_packet *p)
{
	const struct coll_group *g = unit_group(n, p->from);
	const struct coll_message *m;
	const struct coll_peer *peer;
	u32 count = 0;

	if (n->group.members[p->from].state != WORLD_JOINED)
		return false;
	for (peer = g->peers.all; peer; peer = peer->all) {
		list_for_each_entry(m, &peer->send.sent, link)
			count++;
		most_under_way = max(most_under_way, count);
		count = 0;
	}
	return false;
}

TEST_F(net, messages_beyond_the_window_of_a_peer_wait)
{
	struct collsock_post p = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_BINOMIAL, 0, ELEMENTS);
	u32 i;

	begin(_metadata, &self->n, own_hosts, 2, COLLSOCK_MIN_SEGMENT);
	/* Packets that overtake each other look like lost ones. */
	self->n.world.link.spread_ns = 0;
	self->n.tap = count_under_way;
	most_under_way = 0;
	ASSERT_EQ(0, post(&self->n, 1, &p));
	unit_turns(&self->n);
	EXPECT_EQ(INITIAL_WINDOW, self->n.world.sent);
	EXPECT_EQ(DIV_ROUND_UP(COLLSOCK_MAX_PAYLOAD, COLLSOCK_MIN_SEGMENT) - INITIAL_WINDOW,
		  unit_group(&self->n, 1)->peers.held);
	ASSERT_EQ(0, post(&self->n, 0, &p));
	ASSERT_TRUE(unit_await_all(&self->n, 60 * SECOND));
	self->n.world.link.loss = 20;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, post(&self->n, i, &p));
	ASSERT_TRUE(unit_await_all(&self->n, 60 * SECOND));
	for (i = 0; i < 2; i++)
		check_result(_metadata, &self->n, i, &p);
	EXPECT_EQ(COLL_PEER_WINDOW, most_under_way);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, unit_group(&self->n, 0)->peers.held + unit_group(&self->n, 1)->peers.held);
}

/* A lane whose first message is lost does not hold up the others. */
static bool lose_first_segment(struct unit_network *n, struct world_packet *p)
{
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	return body.type == COLL_PACKET_MESSAGE && !body.segment && body.round == 0;
}

/* After each payload nothing is sent for a while, and the round-trip time grows. */
TEST_F(net, a_new_connection_learns_a_longer_round_trip_too)
{
	struct collsock_post p = unit_post_of(COLLSOCK_BROADCAST, COLLSOCK_BINOMIAL, 0, ELEMENTS);
	static const u32 delays_ms[] = { 0, 5, 20 };
	const struct coll_group *g;
	const struct coll_peer *peer = NULL;
	u32 i, k;

	begin(_metadata, &self->n, own_hosts, 2, 0);
	g = unit_group(&self->n, 0);
	for (k = 0; k < ARRAY_SIZE(delays_ms); k++) {
		if (delays_ms[k])
			self->n.world.link.delay_ns = delays_ms[k] * MS;
		for (i = 0; i < 2; i++)
			ASSERT_EQ(0, post(&self->n, i, &p));
		unit_turns(&self->n);
		peer = g->peers.all;
		ASSERT_TRUE(unit_await_all(&self->n, 10 * SECOND));
		unit_run(&self->n, 2 * SECOND);
		EXPECT_GE(peer->rtt.rto_ns, 2 * delays_ms[k] * MS);
		unit_run(&self->n, 2 * coll_timing_default.idle);
		EXPECT_EQ(NULL, g->peers.all);
	}
	EXPECT_EQ(3, g->stats.peers_idle);
}

TEST_F(net, lanes_do_not_wait_for_each_other)
{
	struct collsock_post p =
		unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE, 0, 10 * WHOLE / 8);
	const struct coll_op *op;
	u32 i;

	p.degree = 2;
	begin(_metadata, &self->n, own_hosts, 4, 0);
	self->n.tap = lose_first_segment;
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, post(&self->n, i, &p));
	unit_run(&self->n, 500 * MS);
	op = &unit_group(&self->n, 2)->window.slots[0];
	EXPECT_EQ(10, op->layout.segments);
	EXPECT_EQ(1, op->unfinished);
	EXPECT_EQ(0, op->lanes[0].round);
	self->n.tap = NULL;
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	for (i = 0; i < 4; i++)
		check_result(_metadata, &self->n, i, &p);
}

/* ---- failure ---- */

static u32 messages_from_1;

static bool count_messages(struct unit_network *n, struct world_packet *p)
{
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	messages_from_1 += p->from == 1 && body.type == COLL_PACKET_MESSAGE;
	return false;
}

TEST_F(net, segments_that_wait_are_not_sent_when_the_operation_cannot_complete)
{
	struct collsock_post p = unit_post_of(COLLSOCK_REDUCE, COLLSOCK_BINOMIAL, 0, ELEMENTS);

	begin(_metadata, &self->n, own_hosts, 3, COLLSOCK_MIN_SEGMENT);
	self->n.tap = count_messages;
	messages_from_1 = 0;
	ASSERT_EQ(0, post(&self->n, 1, &p));
	unit_turns(&self->n);
	EXPECT_EQ(INITIAL_WINDOW, messages_from_1);
	coll_failure_end(unit_group(&self->n, 1), COLL_REASON_SILENT, 2, self->n.world.now);
	EXPECT_EQ(INITIAL_WINDOW, messages_from_1);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(INITIAL_WINDOW, messages_from_1);
	EXPECT_EQ(0, unit_group(&self->n, 1)->peers.held);
}

TEST_F(net, segments_that_wait_are_not_sent_when_their_receiver_leaves)
{
	struct collsock_post p = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_BINOMIAL, 0, ELEMENTS);

	begin(_metadata, &self->n, own_hosts, 3, COLLSOCK_MIN_SEGMENT);
	self->n.tap = count_messages;
	messages_from_1 = 0;
	ASSERT_EQ(0, post(&self->n, 1, &p));
	unit_turns(&self->n);
	unit_leave(&self->n, 0);
	unit_run(&self->n, SECOND);
	/* Its first packet acknowledges some before its goodbye. */
	EXPECT_GE(2 * 64, messages_from_1);
	EXPECT_EQ(0, unit_group(&self->n, 1)->peers.held);
}

/* ---- a hostile member with the key ---- */

struct hostile {
	const char	*what;
	u32		segment;
	u32		round;
	u32		bytes;
};

/* From host 0 to host 1. */
static void receive_hostile(struct unit_network *n, const struct hostile *h,
			    const struct coll_signature *sig)
{
	static const u8 payload[COLLSOCK_MAX_SEGMENT];
	struct coll_body body = {
		.type = COLL_PACKET_MESSAGE, .operation = 1, .segment = h->segment,
		.round = h->round, .signature = *sig, .payload = payload,
		.payload_bytes = h->bytes,
		.credit = COLL_NOTHING_DONE + n->join.window, .done = COLL_NOTHING_DONE,
	};
	u8 packet[COLL_WIRE_MAX];

	body.number = ++unit_group(n, 0)->peers.all->send.number;
	coll_wire_write(packet, &unit_group(n, 0)->peers.all->conn.tx, &body);
	coll_group_receive(unit_group(n, 1), 0, packet, coll_wire_bytes(&body), false,
			   n->world.now);
}

/* All that is known but for which packets have come. */
static u64 digest_but_packets(struct unit_network *n, u32 i)
{
	struct coll_replay *packets = &unit_group(n, i)->peers.all->recv.packets, saved = *packets;
	u64 digest;

	memset(packets, 0, sizeof(*packets));
	digest = world_digest(unit_member(n, i));
	*packets = saved;
	return digest;
}

TEST_F(net, impossible_segments_and_lengths_are_invalid_and_change_nothing)
{
	static const struct hostile messages[] = {
		{ "the segment after the last one", 3, 0, WHOLE },
		{ "the last segment of all", 0xffff, 0, WHOLE },
		{ "the last segment of the largest payload", COLLSOCK_MAX_PAYLOAD / WHOLE, 0,
		  WHOLE },
		{ "a whole segment where the last one is shorter", 2, 0, WHOLE },
		{ "a short segment where a whole one belongs", 0, 0, 8 },
		{ "an element less", 1, 0, WHOLE - 8 },
		{ "an element more", 1, 0, WHOLE + 8 },
		{ "half an element", 2, 0, 4 },
		{ "nothing", 1, 0, 0 },
		{ "a round that does not exist", 1, 1, WHOLE },
		{ "the last possible round", 1, 255, WHOLE },
	};
	struct collsock_post p =
		unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE, 0, WHOLE / 4 + 1);
	struct coll_group *g;
	u64 before;
	u32 i;

	begin(_metadata, &self->n, own_hosts, 2, 0);
	/* Host 1 has what host 0 sent first, and nothing is pending. */
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, post(&self->n, i, &p));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	g = unit_group(&self->n, 1);
	ASSERT_EQ(0, post(&self->n, 1, &p));
	before = digest_but_packets(&self->n, 1);
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		receive_hostile(&self->n, &messages[i], &g->window.slots[1].head.signature);
		EXPECT_EQ(i + 1, g->stats.invalid);
		EXPECT_EQ(before, digest_but_packets(&self->n, 1)) {
			TH_LOG("%s", messages[i].what);
		}
	}
	/* Host 0 behaves correctly, and nothing was lost. */
	ASSERT_EQ(0, post(&self->n, 0, &p));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	check_result(_metadata, &self->n, 1, &p);
}

/* Of an operation that host 1 has not posted, so that its signature is unknown */
TEST_F(net, unknown_signatures_are_invalid_and_change_nothing)
{
	static const struct coll_signature good = {
		.operation = COLLSOCK_ALLREDUCE, .type = COLLSOCK_DOUBLE,
		.operator = COLLSOCK_SUM, .algorithm = COLLSOCK_EXCHANGE, .degree = 2, .count = 1,
	};
#define BUT(field, value) { #field " " #value, offsetof(struct coll_signature, field), value }
	static const struct {
		const char	*what;
		size_t		offset;
		u8		value;
	} wrong[] = {
		BUT(operation, 0), BUT(operation, COLL_MAX_OPERATIONS - 1),
		BUT(operation, COLL_MAX_OPERATIONS),
		BUT(operation, 255), BUT(operation, COLLSOCK_BARRIER),
		BUT(algorithm, COLLSOCK_AUTO), BUT(algorithm, COLLSOCK_DISSEMINATION),
		BUT(algorithm, COLL_MAX_ALGORITHMS - 1), BUT(algorithm, COLL_MAX_ALGORITHMS),
		BUT(algorithm, 255),
		BUT(degree, 0), BUT(degree, 1), BUT(degree, 4), BUT(degree, 255),
		BUT(type, COLLSOCK_NONE), BUT(type, 255),
		BUT(operator, COLLSOCK_NOP), BUT(operator, 255), BUT(root, 1),
	};
#undef BUT
	struct collsock_post first =
		unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_EXCHANGE, 0, 1);
	const struct hostile message = { "", 0, 0, 8 };
	struct coll_signature sig;
	struct coll_group *g;
	u64 before;
	u32 i;

	begin(_metadata, &self->n, own_hosts, 2, 0);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, post(&self->n, i, &first));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND);
	g = unit_group(&self->n, 1);
	before = digest_but_packets(&self->n, 1);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		sig = good;
		((u8 *)&sig)[wrong[i].offset] = wrong[i].value;
		receive_hostile(&self->n, &message, &sig);
		EXPECT_EQ(i + 1, g->stats.invalid)
			TH_LOG("%s", wrong[i].what);
		EXPECT_EQ(before, digest_but_packets(&self->n, 1))
			TH_LOG("%s", wrong[i].what);
	}
	receive_hostile(&self->n, &message, &good);
	EXPECT_EQ(ARRAY_SIZE(wrong), g->stats.invalid);
	EXPECT_NE(before, digest_but_packets(&self->n, 1));
}

TEST_HARNESS_MAIN
