// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds on what anyone can make a host do: the memory of a group, what a member makes it
 * store, what it sends to an address from which no member was heard.
 */
#include "net_fixture.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* The limit of a namespace uses what groups report. */
TEST_F(net, a_group_reports_the_memory_it_has_reserved)
{
	static const u32 sizes[] = { 1, 2, 3, 17, 100 };
	u32 k, i;

	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		unit_network_init(&self->n, sizes[k], 1);
		self->n.join.window = 1 + 7 * k;
		ASSERT_EQ(0, unit_join_all(&self->n, NULL));
		for (i = 0; i < sizes[k]; i++)
			EXPECT_EQ(world_reserved(unit_member(&self->n, i)),
				  unit_member(&self->n, i)->charged);
		unit_network_free(&self->n);
	}
}

static void send_message(struct unit_network *n, struct coll_wire_side *side, u32 from, u32 to,
			 const struct coll_body *body)
{
	struct world_packet *p = world_packet_new(coll_wire_bytes(body));

	coll_wire_write(p->data, side, body);
	p->from = from;
	p->to = to;
	world_inject(&n->world, p);
}

/* A member that ignores all rules: it sends its part of all operation numbers. */
TEST_F(net, of_a_million_early_operations_only_a_window_is_kept)
{
	const u32 million = 1000000, window = 4;
	struct coll_body body = {
		.type = COLL_PACKET_MESSAGE,
		.signature.operation = COLLSOCK_BARRIER,
		.signature.algorithm = COLLSOCK_DISSEMINATION,
		.signature.degree = 2,
		.credit = COLL_NOTHING_DONE + window,
		.done = COLL_NOTHING_DONE,
	};
	const struct collsock_stats *stats;
	long memory;
	u32 i, sent;

	unit_network_init(&self->n, 2, 1);
	self->n.join.window = window;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	/* Host 0 has posted a full window; from now on others send in its name. */
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	unit_run(&self->n, SECOND / 10);
	stats = &unit_group(&self->n, 1)->stats;
	ASSERT_EQ(1, stats->early);
	memory = world_memory;
	sent = self->n.world.sent;
	for (i = 1; i <= million; i++) {
		body.operation = i;
		body.number = 1000 + i;
		send_message(&self->n, &unit_group(&self->n, 0)->peers.all->conn.tx, 0, 1, &body);
		unit_run(&self->n, 20 * NSEC_PER_USEC);
	}
	unit_run(&self->n, SECOND / 10);
	EXPECT_EQ(window, stats->early);
	EXPECT_EQ(million, stats->beyond_window + stats->invalid + window - 1);
	EXPECT_EQ(memory, world_memory);
	/* A host that ignores its credit is not sent it each time. */
	EXPECT_LT(self->n.world.sent - sent, million / 4);
}

/* ---- what is sent to an address from which no member was heard ---- */

static u64 bytes_to_2;

static bool count_bytes_to_2(struct unit_network *n, struct world_packet *p)
{
	bytes_to_2 += p->to == 2 ? p->bytes : 0;
	return false;
}

/* Three hosts, of which the last never joins */
static void begin_without_2(struct __test_metadata *_metadata, struct unit_network *n, u64 nonce)
{
	unit_network_init(n, 3, nonce);
	n->tap = count_bytes_to_2;
	bytes_to_2 = 0;
	ASSERT_EQ(0, unit_join(n, 0, NULL));
	ASSERT_EQ(0, unit_join(n, 1, NULL));
	ASSERT_EQ(0, unit_barrier(n, 0));
	ASSERT_EQ(0, unit_barrier(n, 1));
}

static void send_copy(struct unit_network *n, const struct world_packet *p, u32 from, u32 to,
		      s32 flip)
{
	struct world_packet *copy = world_packet_new(p->bytes);

	memcpy(copy->data, p->data, p->bytes);
	if (flip >= 0)
		copy->data[flip / 8] ^= 1 << flip % 8;
	copy->from = from;
	copy->to = to;
	world_inject(&n->world, copy);
}

static struct world_packet *seen[8];
static u32 seen_count;

static bool keep_packets(struct unit_network *n, struct world_packet *p)
{
	struct world_packet *copy;

	if (seen_count == ARRAY_SIZE(seen))
		return false;
	copy = world_packet_new(p->bytes);
	memcpy(copy->data, p->data, p->bytes);
	copy->from = p->from;
	copy->to = p->to;
	seen[seen_count++] = copy;
	return false;
}

/* Keep the packets of the same hosts under an earlier nonce. */
static void keep_an_earlier_instance(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	unit_network_init(n, 3, 1);
	n->tap = keep_packets;
	seen_count = 0;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, unit_barrier(n, i));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, SECOND);
	unit_network_free(n);
	ASSERT_EQ(ARRAY_SIZE(seen), seen_count);
}

/*
 * Amplification: bytes sent to an address from which no member was heard, for each byte
 * received from there. It must be zero: what that host is sent depends on the operations
 * that wait for it, not on packets in its name.
 */
TEST_F(net, packets_in_the_name_of_a_host_never_heard_from_cause_no_packets)
{
	u64 undisturbed, unheard, received = 0;
	u32 round, i;

	keep_an_earlier_instance(_metadata, &self->n);
	begin_without_2(_metadata, &self->n, 2);
	unit_run(&self->n, 20 * SECOND);
	undisturbed = bytes_to_2;
	unheard = self->n.world.forged; /* they have no receiver */
	EXPECT_LT(0, undisturbed);
	unit_network_free(&self->n);

	begin_without_2(_metadata, &self->n, 2);
	for (round = 0; round < 20000; round++) {
		const struct world_packet *p = seen[round % ARRAY_SIZE(seen)];

		/* replayed from the earlier instance; changed; reflected to its sender */
		for (i = 0; i < 2; i++)
			send_copy(&self->n, p, 2, i, round % 3 - 1 ? -1 :
				  (s32)(unit_random(&self->n) % (p->bytes * 8)));
		received += 2 * p->bytes;
		unit_run(&self->n, SECOND / 1000);
	}
	printf("# %llu bytes received in its name, %llu sent to it, %llu without that\n",
	       (unsigned long long)received, (unsigned long long)bytes_to_2,
	       (unsigned long long)undisturbed);
	fflush(stdout);
	EXPECT_LT(1000000, received);
	EXPECT_EQ(undisturbed, bytes_to_2);
	EXPECT_EQ(40000 + unheard, self->n.world.forged);
	for (i = 0; i < seen_count; i++)
		free(seen[i]);
}

static struct world_packet *early_packet;
static u32 packets_of_1;

static bool keep_one(struct unit_network *n, struct world_packet *p)
{
	if (p->from == 1 && ++packets_of_1 == 20) {
		early_packet = world_packet_new(p->bytes);
		early_packet->from = p->from;
		memcpy(early_packet->data, p->data, p->bytes);
	}
	return false;
}

/* One of host 1's messages is kept. */
static void run_barriers(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	unit_network_init(n, 2, 1);
	n->join.window = 4;
	n->tap = keep_one;
	packets_of_1 = 0;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, unit_barrier(n, 0));
		ASSERT_EQ(0, unit_barrier(n, 1));
		ASSERT_TRUE(unit_await_all(n, SECOND));
	}
	unit_run(n, SECOND / 10);
	n->tap = NULL;
}

TEST_F(net, replays_cause_no_acknowledgment)
{
	u64 acks;
	u32 i;

	run_barriers(_metadata, &self->n);
	acks = unit_group(&self->n, 0)->stats.lone_acks;
	for (i = 0; i < 1000; i++) {
		send_copy(&self->n, early_packet, 1, 0, -1);
		unit_run(&self->n, 1000);
	}
	free(early_packet);
	unit_run(&self->n, SECOND / 10);
	EXPECT_EQ(acks, unit_group(&self->n, 0)->stats.lone_acks);
	EXPECT_EQ(1000, unit_group(&self->n, 0)->stats.duplicates);
}

/* The message is sent again and again, in new packets. */
TEST_F(net, repetitions_cause_one_acknowledgment_per_delay)
{
	struct coll_body body = {};
	struct coll_peer *peer;
	u64 acks;
	u32 i;

	run_barriers(_metadata, &self->n);
	acks = unit_group(&self->n, 0)->stats.lone_acks;
	peer = unit_peer(&self->n, 1, 0);
	coll_wire_read_body(early_packet->data, early_packet->bytes, &body);
	ASSERT_EQ(COLL_PACKET_MESSAGE, body.type);
	for (i = 0; i < 1000; i++) {
		body.number = ++peer->send.number;
		send_message(&self->n, &peer->conn.tx, 1, 0, &body);
		unit_run(&self->n, 1000);
	}
	free(early_packet);
	/* All within a millisecond, which is less than the delay */
	EXPECT_GE(acks + 2, unit_group(&self->n, 0)->stats.lone_acks);
	unit_run(&self->n, SECOND / 10);
	EXPECT_LT(acks, unit_group(&self->n, 0)->stats.lone_acks);
	EXPECT_EQ(1000, unit_group(&self->n, 0)->stats.duplicates);
}

static bool reflect(struct unit_network *n, struct world_packet *p)
{
	if (p->to == 2 && p->from < 2)
		send_copy(n, p, 2, p->from, -1);
	return count_bytes_to_2(n, p);
}

TEST_F(net, reflected_packets_cause_no_packets)
{
	u64 undisturbed;

	begin_without_2(_metadata, &self->n, 2);
	unit_run(&self->n, 20 * SECOND);
	undisturbed = bytes_to_2;
	unit_network_free(&self->n);

	begin_without_2(_metadata, &self->n, 2);
	self->n.tap = reflect;
	unit_run(&self->n, 20 * SECOND);
	EXPECT_EQ(undisturbed, bytes_to_2);
	EXPECT_LT(0, self->n.world.forged);
}

/* A host whose packets come before the group gets one join notice, however many came. */
TEST_F(net, a_thousand_early_packets_are_answered_once)
{
	struct coll_body body = { .type = COLL_PACKET_MESSAGE, .number = 1 };
	struct coll_prefix prefix = { .incarnation = 1, .source = 2 };
	static const struct coll_mac guess = { .algorithm = COLLSOCK_MAC_SIPHASH };
	struct coll_wire_side side;
	struct world_packet *p;
	u32 i;

	unit_network_init(&self->n, 3, 1);
	self->n.tap = count_bytes_to_2;
	bytes_to_2 = 0;
	ASSERT_EQ(0, unit_join(&self->n, 0, NULL));
	body.signature.operation = COLLSOCK_BARRIER;
	body.signature.algorithm = COLLSOCK_DISSEMINATION;
	body.signature.degree = 2;
	prefix.tag = self->n.group.secret.tag;
	prefix.descriptor = self->n.group.descriptor;
	prefix.destination = 1;
	coll_wire_side_set(&side, &prefix, &guess);
	p = world_packet_new(coll_wire_bytes(&body));
	coll_wire_write(p->data, &side, &body);
	for (i = 0; i < 1000; i++) {
		send_copy(&self->n, p, 2, 1, -1);
		unit_run(&self->n, SECOND / 1000);
	}
	free(p);
	EXPECT_EQ(0, bytes_to_2);
	ASSERT_EQ(0, unit_join(&self->n, 1, NULL));
	unit_run(&self->n, 20 * SECOND);
	EXPECT_LT(0, bytes_to_2);
	EXPECT_GT(3 * COLL_WIRE_MAX, bytes_to_2);
}

/* ---- what a deadline makes a host do at once ---- */

#define CHILDREN	64

static u64 busiest_now;
static u32 busiest, at_once;

static bool count_at_once(struct unit_network *n, struct world_packet *p)
{
	if (p->from)
		return true;
	at_once = n->world.now == busiest_now ? at_once + 1 : 1;
	busiest_now = n->world.now;
	busiest = busiest > at_once ? busiest : at_once;
	return true;
}

/* All that was sent to all children falls due at the same time. */
TEST_F(net, of_many_messages_that_are_due_a_limited_number_is_sent_at_once)
{
	const struct collsock_stats *stats;
	u32 i, before, ops = 10;	/* as many as the initial window */

	unit_network_init(&self->n, 1 + CHILDREN, 1);
	self->n.join.degree = CHILDREN;
	self->n.join.window = ops;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 0; i <= CHILDREN; i++)
		ASSERT_EQ(0, unit_barrier_by(&self->n, i, COLLSOCK_KARY));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	unit_run(&self->n, SECOND / 10);
	stats = &unit_group(&self->n, 0)->stats;
	before = stats->messages_sent;
	self->n.tap = count_at_once;
	for (i = 0; i < ops; i++) {
		ASSERT_EQ(0, unit_post_value(&self->n, 0, COLLSOCK_BROADCAST, COLLSOCK_KARY, 0, i));
		/* They are sent one after the other. */
		unit_run(&self->n, NSEC_PER_USEC);
	}
	ASSERT_EQ(ops * CHILDREN, stats->messages_sent - before);
	ASSERT_EQ(0, stats->retransmits);
	busiest = 0;
	unit_run(&self->n, SECOND);
	EXPECT_LE(ops * CHILDREN, stats->retransmits);
	EXPECT_GE(72, busiest);
}

TEST_HARNESS_MAIN
