// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast ahead of the tree: what it saves, what a lost copy costs, and which copies are
 * believed.
 */
#include "multicast.h"
#include "net_fixture.h"
#include "seed.h"
#include "work.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)
#define DELAY	(50 * NSEC_PER_USEC)	/* of each packet */
/* Operations until all connections rely on multicast: a report comes up one height with each */
#define LEARNED	10

/* ---- copies that are lost ---- */

static bool (*copy_lost)(const struct world_packet *p);
static u64 unicast, copies;

static bool tap(struct unit_network *n, struct world_packet *p)
{
	if (!coll_wire_is_multicast(p->data)) {
		unicast++;
		return false;
	}
	copies++;
	return copy_lost && copy_lost(p);
}

static bool lose_all(const struct world_packet *p)
{
	return true;
}

static bool lose_to_1(const struct world_packet *p)
{
	return p->to == 1;
}

/* The last of seven hosts in a tree of degree 2 has host 2 above it, and that the source. */
static bool lose_but_to_6(const struct world_packet *p)
{
	return p->to != 6;
}

/* ---- groups ---- */

static void describe(struct unit_network *n, u32 hosts, u8 degree)
{
	unit_network_init(n, hosts, seed_start());
	n->world.link.spread_ns = 0;
	n->world.link.delay_ns = DELAY;
	n->join.multicast[0] = 1;
	n->join.degree = degree;
	if (degree) {
		n->join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_KARY;
		n->join.algorithm[COLLSOCK_ALLREDUCE] = COLLSOCK_KARY;
		n->join.algorithm[COLLSOCK_BROADCAST] = COLLSOCK_KARY;
	}
	n->tap = tap;
	copy_lost = NULL;
}

static void make(struct __test_metadata *_metadata, struct unit_network *n, u32 hosts, u8 degree)
{
	describe(n, hosts, degree);
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

/* A barrier of all, posted at the same time; how long it takes. */
static u64 barrier(struct __test_metadata *_metadata, struct unit_network *n)
{
	u64 begin = n->world.now, end = begin;
	u32 i;

	for (i = 0; i < n->count; i++)
		EXPECT_EQ(0, unit_barrier(n, i));
	EXPECT_TRUE(unit_await_all(n, 10 * SECOND));
	for (i = 0; i < n->count; i++) {
		EXPECT_EQ(0, unit_last(n, i)->error);
		end = max(end, unit_last(n, i)->at);
	}
	return end - begin;
}

static void barriers(struct __test_metadata *_metadata, struct unit_network *n, u32 count)
{
	while (count--)
		barrier(_metadata, n);
}

static void learn(struct __test_metadata *_metadata, struct unit_network *n)
{
	barriers(_metadata, n, LEARNED);
	unicast = 0;
	copies = 0;
}

#define SUM(n, field)	sum_of(n, offsetof(struct collsock_stats, field))

/* A counter, of all hosts together */
static u64 sum_of(const struct unit_network *n, size_t at)
{
	u64 sum = 0, value;
	u32 i;

	for (i = 0; i < n->hosts; i++) {
		memcpy(&value, (const u8 *)&unit_group(n, i)->stats + at, sizeof(value));
		sum += value;
	}
	return sum;
}

/* All slots are free, and no packet leaves any more. */
static void expect_settled(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	unit_run(n, SECOND);
	unicast = 0;
	unit_run(n, SECOND);
	EXPECT_EQ(0, unicast);
	for (i = 0; i < n->hosts; i++)
		EXPECT_EQ(unit_group(n, i)->window.next, unit_group(n, i)->window.oldest);
}

/* ---- what it saves ---- */

TEST_F(net, a_barrier_is_a_message_of_each_host_and_one_for_all)
{
	u64 alone;

	make(_metadata, &self->n, 16, 0);
	learn(_metadata, &self->n);
	alone = SUM(&self->n, lone_acks);
	barriers(_metadata, &self->n, 100);
	EXPECT_EQ(100 * 15, unicast);
	EXPECT_EQ(100 * 15, copies);
	EXPECT_EQ(LEARNED + 100, unit_group(&self->n, 0)->stats.copies_sent);
	EXPECT_EQ(alone, SUM(&self->n, lone_acks));
	EXPECT_EQ(0, SUM(&self->n, copies_repaired));
	expect_settled(_metadata, &self->n);
}

TEST_F(net, a_barrier_of_64_hosts_takes_4_message_times)
{
	make(_metadata, &self->n, 64, 0);
	learn(_metadata, &self->n);
	EXPECT_EQ(4 * DELAY, barrier(_metadata, &self->n));
}

/* Whatever the parents have received, none of them acknowledges it alone. */
TEST_F(net, after_a_pause_each_host_sends_one_acknowledgment)
{
	u64 alone;

	make(_metadata, &self->n, 16, 0);
	learn(_metadata, &self->n);
	unit_run(&self->n, SECOND);
	alone = SUM(&self->n, lone_acks);
	barrier(_metadata, &self->n);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(alone + 15, SUM(&self->n, lone_acks));
	EXPECT_EQ(0, SUM(&self->n, copies_repaired));
}

TEST_F(net, without_a_multicast_address_nothing_is_sent_to_all)
{
	unit_network_init(&self->n, 8, seed_start());
	self->n.tap = tap;
	copies = 0;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	barriers(_metadata, &self->n, 20);
	EXPECT_EQ(0, copies);
}

/* ---- broadcasts ---- */

static void broadcast(struct __test_metadata *_metadata, struct unit_network *n, u32 root,
		      u64 value)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		ASSERT_EQ(0, unit_broadcast(n, i, root, value));
	ASSERT_TRUE(unit_await_all(n, 10 * SECOND));
	for (i = 0; i < n->count; i++)
		EXPECT_EQ(i == root ? 0 : value, unit_value(unit_last(n, i)));
}

TEST_F(net, a_broadcast_is_one_packet_for_all)
{
	u32 op;

	make(_metadata, &self->n, 16, 0);
	for (op = 0; op < LEARNED; op++) {
		broadcast(_metadata, &self->n, 3, op);
		unit_run(&self->n, 5 * MS);
	}
	unicast = 0;
	copies = 0;
	broadcast(_metadata, &self->n, 3, 77);
	EXPECT_EQ(0, unicast);
	EXPECT_EQ(15, copies);
	expect_settled(_metadata, &self->n);
	EXPECT_EQ(0, SUM(&self->n, copies_repaired));
}

/* Ranks that have not posted have their message, and their hosts say so. */
TEST_F(net, a_broadcast_to_ranks_that_are_late_is_not_repeated)
{
	u32 op, i;

	make(_metadata, &self->n, 8, 0);
	for (op = 0; op < LEARNED; op++) {
		broadcast(_metadata, &self->n, 0, op);
		unit_run(&self->n, 5 * MS);
	}
	for (op = 0; op < 4; op++)
		ASSERT_EQ(0, unit_broadcast(&self->n, 0, 0, 100 + op));
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, SUM(&self->n, copies_repaired));
	EXPECT_EQ(unit_group(&self->n, 0)->window.next, unit_group(&self->n, 0)->window.oldest);
	for (op = 0; op < 4; op++)
		for (i = 1; i < 8; i++) {
			ASSERT_EQ(0, unit_broadcast(&self->n, i, 0, 0));
			EXPECT_EQ(100 + op, unit_value(unit_last(&self->n, i)));
		}
}

/* Reductions to host 6, to which host 0 is not the root but above hosts 1 and 2, and broadcasts. */
static void reduce_and_broadcast(struct __test_metadata *_metadata, struct unit_network *n,
				 u32 from, u32 to)
{
	for (; from < to; from++) {
		ASSERT_EQ(0, unit_reduce(n, from, 6, from));
		ASSERT_EQ(0, unit_broadcast(n, from, 0, 7));
	}
}

/* An acknowledgment of other messages that is piggybacked meanwhile is none of the copy. */
TEST_F(net, a_copy_that_is_early_is_acknowledged_whatever_is_sent_before)
{
	struct unit_network *n = &self->n;
	u32 count;

	describe(n, 7, 2);
	n->join.algorithm[COLLSOCK_REDUCE] = COLLSOCK_KARY;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	learn(_metadata, n);
	unit_run(n, SECOND);
	for (count = 0; count < 10; count++) {
		reduce_and_broadcast(_metadata, n, 0, 1);
		reduce_and_broadcast(_metadata, n, 3, 7);
		unit_run(n, MS / 2);
		reduce_and_broadcast(_metadata, n, 1, 3);
		ASSERT_TRUE(unit_await_all(n, SECOND));
		unit_run(n, 20 * MS);
	}
	EXPECT_EQ(0, SUM(n, copies_repaired));
	expect_settled(_metadata, n);
}

/* ---- copies that are lost ---- */

/* The deepest host waits for one time-out, not for one at each height. */
TEST_F(net, the_loss_of_all_copies_costs_one_time_out)
{
	u64 took, most = 0;
	u32 i;

	make(_metadata, &self->n, 31, 2);
	learn(_metadata, &self->n);
	for (i = 1; i < 31; i++) {
		struct coll_peer *peer = unit_peer(&self->n, 0, i);

		most = max_t(u64, most, peer ? peer->rtt.rto_ns : 0);
	}
	copy_lost = lose_all;
	took = barrier(_metadata, &self->n);
	EXPECT_LE(took, most + most / 4 + COLL_DEADLINE_GRAIN + 8 * DELAY);
	EXPECT_GT(SUM(&self->n, copies_repaired), 0);
	expect_settled(_metadata, &self->n);
}

/* It is repaired once; from then on it gets its messages at once, until copies reach it again. */
TEST_F(net, a_host_that_multicast_does_not_reach_is_repaired_once)
{
	u64 repaired;

	make(_metadata, &self->n, 8, 0);
	learn(_metadata, &self->n);
	copy_lost = lose_to_1;
	barriers(_metadata, &self->n, 50);
	repaired = SUM(&self->n, copies_repaired);
	EXPECT_EQ(1, repaired);
	EXPECT_EQ(3 * DELAY, barrier(_metadata, &self->n));
	copy_lost = NULL;
	learn(_metadata, &self->n);
	barriers(_metadata, &self->n, 10);
	EXPECT_EQ(10 * 7, unicast);
	EXPECT_EQ(1, SUM(&self->n, copies_repaired));
	expect_settled(_metadata, &self->n);
}

/* After 16 operations, and then after 32, 64, … others. */
TEST_F(net, where_no_copy_arrives_its_source_pauses_longer_and_longer)
{
	static const u32 tried[] = { 16, 16 + 16 + 1, 33 + 32 + 1, 66 + 64 + 1 };
	u32 i, op = 0;

	make(_metadata, &self->n, 8, 0);
	copy_lost = lose_all;
	for (i = 0; i < ARRAY_SIZE(tried); i++) {
		barriers(_metadata, &self->n, tried[i] - op);
		op = tried[i];
		EXPECT_EQ(16 + i, unit_group(&self->n, 0)->stats.copies_sent);
	}
	EXPECT_EQ(0, SUM(&self->n, copies_repaired));
	copy_lost = NULL;
	barriers(_metadata, &self->n, 200);
	learn(_metadata, &self->n);
	barriers(_metadata, &self->n, 10);
	EXPECT_EQ(10 * 7, unicast);
}

/* What one host remarks is passed up to a source that is no neighbour of it. */
TEST_F(net, a_source_goes_on_for_one_host_at_the_bottom_of_the_tree)
{
	make(_metadata, &self->n, 7, 2);
	copy_lost = lose_but_to_6;
	barriers(_metadata, &self->n, 100);
	EXPECT_EQ(100, unit_group(&self->n, 0)->stats.copies_sent);
	EXPECT_LE(100 - LEARNED, unit_group(&self->n, 6)->stats.copies_received);
	expect_settled(_metadata, &self->n);
}

/* ---- long vectors ---- */

#define LONG_SEGMENTS	60

/* Ranks from @first on post an all-reduce, the last one first. */
static void post_long(struct __test_metadata *_metadata, struct unit_network *n, u32 first,
		      u32 end)
{
	static const u64 vector[LONG_SEGMENTS * COLLSOCK_DEFAULT_SEGMENT / sizeof(u64)];
	struct collsock_post post = unit_post_of(COLLSOCK_ALLREDUCE, COLLSOCK_KARY, 0,
						 ARRAY_SIZE(vector));

	while (end-- > first)
		ASSERT_EQ(0, unit_post(n, end, &post, vector));
}

static void begin_long(struct __test_metadata *_metadata, struct unit_network *n)
{
	describe(n, 8, 4);
	n->join.max_bytes = LONG_SEGMENTS * COLLSOCK_DEFAULT_SEGMENT;
	/* Acknowledgments that are not asked for come after 16 messages, or late. */
	n->join.window = 32;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	learn(_metadata, n);
}

/* All-reduces until all windows are as wide as they become */
static void open_windows(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 i;

	begin_long(_metadata, n);
	for (i = 0; i < 8; i++) {
		post_long(_metadata, n, 0, n->count);
		ASSERT_TRUE(unit_await_all(n, 10 * SECOND));
	}
	copies = 0;
}

/* All that the source has to send is there when its rank posts. */
TEST_F(net, copies_of_a_long_vector_wait_for_acknowledgments)
{
	struct unit_network *n = &self->n;

	begin_long(_metadata, n);
	post_long(_metadata, n, 1, 8);
	unit_run(n, SECOND);
	copies = 0;
	post_long(_metadata, n, 0, 1);
	unit_run(n, 2 * DELAY - 1);
	EXPECT_LT(0, copies);
	EXPECT_GE(7 * COLL_CONGESTION_BUDGET, copies);
	EXPECT_TRUE(unit_await_all(n, 10 * SECOND));
	expect_settled(_metadata, n);
}

TEST_F(net, copies_of_a_long_vector_wait_for_no_acknowledgment_delay)
{
	struct unit_network *n = &self->n;
	u64 begin;

	begin_long(_metadata, n);
	begin = n->world.now;
	post_long(_metadata, n, 0, 8);
	ASSERT_TRUE(unit_await_all(n, 10 * SECOND));
	EXPECT_GT(coll_timing_default.ack_delay, n->world.now - begin);
}

TEST_F(net, acknowledged_copies_open_the_window_until_all_goes_by_multicast)
{
	struct unit_network *n = &self->n;

	open_windows(_metadata, n);
	post_long(_metadata, n, 0, 8);
	ASSERT_TRUE(unit_await_all(n, 10 * SECOND));
	EXPECT_EQ(7 * LONG_SEGMENTS, copies);
	expect_settled(_metadata, n);
}

TEST_F(net, lost_copies_halve_the_window)
{
	struct unit_network *n = &self->n;
	u32 window;

	open_windows(_metadata, n);
	window = unit_peer(n, 0, 1)->congestion.window;
	copy_lost = lose_to_1;
	post_long(_metadata, n, 0, 8);
	ASSERT_TRUE(unit_await_all(n, 10 * SECOND));
	EXPECT_LT(COLL_CONGESTION_BUDGET, window);
	EXPECT_LE(1, unit_group(n, 0)->stats.windows_reduced);
	EXPECT_GT(window, unit_peer(n, 0, 1)->congestion.window);
}

/* ---- work ---- */

#define CHILDREN	COLLSOCK_MAX_DEGREE
/* What an event may look at, and the messages of one connection more */
#define LOOKED_AT_AT_ONCE	(COLL_WORK_MOST / COLL_WORK_CHECK + COLL_PEER_WINDOW)

/* The root has sent copies of as many broadcasts as there can be; no child says that it has any. */
static void carry_full_windows(struct __test_metadata *_metadata, struct unit_network *n)
{
	struct coll_group *g = unit_group(n, 0);
	struct coll_peer *peer;
	u32 op;

	for (peer = g->peers.all; peer; peer = peer->all) {
		peer->congestion.window = COLL_PEER_WINDOW;
		peer->congestion.limit = COLL_PEER_WINDOW;
		ASSERT_TRUE(coll_peer_ahead(peer)->receives);
	}
	copy_lost = lose_all;
	for (op = 1; op < COLL_PEER_WINDOW; op++) {
		g->multicast.silent = 0;
		ASSERT_EQ(0, unit_post_value(n, 0, COLLSOCK_BROADCAST, COLLSOCK_KARY, 0, op));
	}
	unit_turns(n);
	for (peer = g->peers.all; peer; peer = peer->all)
		ASSERT_LE(COLL_PEER_WINDOW - 2, peer->send.ahead);
}

TEST_F(net, an_event_looks_at_a_limited_number_of_messages_that_copies_have_carried)
{
	struct unit_network *n = &self->n;
	struct coll_peer *peer;
	struct coll_group *g;
	u32 looked_at = 0;

	describe(n, 1 + CHILDREN, CHILDREN);
	n->join.window = COLL_PEER_WINDOW;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	learn(_metadata, n);
	g = unit_group(n, 0);
	carry_full_windows(_metadata, n);
	for (peer = g->peers.all; peer; peer = peer->all)
		peer->due_ns = n->world.now;
	coll_group_expire(g, n->world.now);
	for (peer = g->peers.all; peer; peer = peer->all)
		if (peer->due_ns > n->world.now)
			looked_at += peer->send.ahead;
	EXPECT_LT(0, looked_at);
	EXPECT_GE(LOOKED_AT_AT_ONCE, looked_at);
	expect_settled(_metadata, n);
}

/* ---- which copies are believed ---- */

/* A copy that @from sends, with its epoch plus @wrong, about the operation of @body */
static void inject(struct unit_network *n, u32 from, u32 to, u32 wrong,
		   const struct coll_body *body)
{
	const struct coll_group *g = unit_group(n, from);
	struct coll_prefix prefix = {
		.tag = g->secret.tag, .descriptor = g->descriptor, .incarnation = g->incarnation,
		.epoch = g->multicast.host[from].epoch + wrong, .source = from,
		.destination = COLL_WIRE_ALL,
	};
	struct world_packet *p = world_packet_new(coll_wire_bytes(body));
	struct coll_wire_side side;

	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_wire_write(p->data, &side, body);
	p->from = from;
	p->to = to;
	world_inject(&n->world, p);
	unit_run(n, 2 * DELAY);
}

/* What is sent to all about the next barrier, or a broadcast of a number */
static struct coll_body body_of(const struct unit_network *n, u8 operation, u32 root,
				const u64 *value)
{
	const struct coll_group *g = unit_group(n, root);
	bool data = operation == COLLSOCK_BROADCAST;

	return (struct coll_body) {
		.type = COLL_PACKET_MULTICAST, .number = 1, .operation = g->window.next,
		.done = g->window.completed, .credit = COLL_NOTHING_DONE,
		.signature = {
			.operation = operation, .type = data ? COLLSOCK_UINT64 : COLLSOCK_NONE,
			.algorithm = COLLSOCK_KARY, .degree = 4, .count = data, .root = root,
		},
		.payload = (const u8 *)value, .payload_bytes = data ? sizeof(*value) : 0,
	};
}

/* Root 3 and another one have sent broadcasts, so their epochs are known to all. */
static void begin_hostile(struct __test_metadata *_metadata, struct unit_network *n)
{
	u32 op;

	make(_metadata, n, 8, 0);
	for (op = 0; op < 4; op++) {
		broadcast(_metadata, n, 2, op);
		broadcast(_metadata, n, 3, op);
	}
	unit_run(n, SECOND);
}

/* Rank 1 posts the broadcast; has it what the copy said? */
static bool has_come(struct __test_metadata *_metadata, struct unit_network *n)
{
	EXPECT_EQ(0, unit_broadcast(n, 1, 3, 0));
	return unit_last(n, 1)->done;
}

TEST_F(net, a_copy_of_the_root_completes_a_broadcast)
{
	const u64 value = 55;
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	inject(&self->n, 3, 1, 0, &body);
	EXPECT_TRUE(has_come(_metadata, &self->n));
	EXPECT_EQ(55, unit_value(unit_last(&self->n, 1)));
}

TEST_F(net, a_copy_with_another_epoch_changes_nothing)
{
	const u64 value = 55;
	struct coll_body body;
	u64 unused;

	begin_hostile(_metadata, &self->n);
	unused = unit_group(&self->n, 1)->stats.copies_unused;
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	inject(&self->n, 3, 1, 1, &body);
	EXPECT_EQ(unused + 1, unit_group(&self->n, 1)->stats.copies_unused);
	EXPECT_FALSE(has_come(_metadata, &self->n));
}

TEST_F(net, a_copy_of_a_host_that_is_not_the_source_is_invalid)
{
	const u64 value = 55;
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	inject(&self->n, 2, 1, 0, &body);
	EXPECT_EQ(1, unit_group(&self->n, 1)->stats.invalid);
	EXPECT_FALSE(has_come(_metadata, &self->n));
}

TEST_F(net, a_copy_about_another_operation_does_not_complete_this_one)
{
	const u64 value = 55;
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	body.operation++;
	inject(&self->n, 3, 1, 0, &body);
	EXPECT_FALSE(has_come(_metadata, &self->n));
	EXPECT_TRUE(has_come(_metadata, &self->n));
}

TEST_F(net, a_copy_beyond_the_window_is_dropped_and_counted)
{
	const u64 value = 55;
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	body.operation += unit_group(&self->n, 1)->window.size;
	inject(&self->n, 3, 1, 0, &body);
	EXPECT_EQ(1, unit_group(&self->n, 1)->stats.beyond_window);
}

/* Who captures copies can send them again, but not make a host believe that copies reach it. */
TEST_F(net, a_copy_that_comes_again_changes_nothing)
{
	const u64 value = 55;
	struct coll_body body;
	u64 digest;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	inject(&self->n, 3, 1, 0, &body);
	unit_run(&self->n, SECOND);
	unit_group(&self->n, 1)->multicast.copied = 0;
	digest = world_digest(unit_member(&self->n, 1));
	inject(&self->n, 3, 1, 0, &body);
	EXPECT_EQ(digest, world_digest(unit_member(&self->n, 1)));
}

/* Nobody can have what all contribute before this host has contributed. */
TEST_F(net, a_copy_about_a_barrier_that_has_not_begun_here_is_invalid)
{
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BARRIER, 0, NULL);
	inject(&self->n, 0, 1, unit_group(&self->n, 0)->incarnation -
	       unit_group(&self->n, 0)->multicast.host[0].epoch, &body);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.invalid);
	barriers(_metadata, &self->n, 2);
	body = body_of(&self->n, COLLSOCK_BARRIER, 0, NULL);
	inject(&self->n, 0, 1, 0, &body);
	EXPECT_EQ(1, unit_group(&self->n, 1)->stats.invalid);
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	EXPECT_FALSE(unit_last(&self->n, 1)->done);
}

/* A source that is in haste: host 1 still waits for its child, and has nothing to send up. */
TEST_F(net, a_copy_that_is_early_waits_for_its_round)
{
	struct coll_body body;

	make(_metadata, &self->n, 4, 2);
	learn(_metadata, &self->n);
	unit_run(&self->n, SECOND);
	body = body_of(&self->n, COLLSOCK_BARRIER, 0, NULL);
	body.signature.degree = 2;
	ASSERT_EQ(0, unit_barrier(&self->n, 1));
	unicast = 0;
	inject(&self->n, 0, 1, 0, &body);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.invalid);
	EXPECT_EQ(0, unicast);
	EXPECT_FALSE(unit_last(&self->n, 1)->done);
}

/* It says nothing about its source but what is in the message. */
TEST_F(net, a_copy_carries_no_credit_and_proves_no_life)
{
	const struct coll_peer *peer;
	const u64 value = 55;
	u64 credit, done, heard;
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	peer = unit_peer(&self->n, 4, 3);
	ASSERT_TRUE(peer);
	credit = peer->send.credit;
	done = peer->send.done;
	heard = peer->live.heard_ns;
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	body.credit = body.operation + 100;
	body.done = body.operation + 100;
	inject(&self->n, 3, 4, 0, &body);
	EXPECT_EQ(credit, peer->send.credit);
	EXPECT_EQ(done, peer->send.done);
	EXPECT_EQ(heard, peer->live.heard_ns);
}

/* The MAC of a message along the tree does not fit one for all, whatever else is equal. */
TEST_F(net, a_copy_that_no_member_has_written_is_forged)
{
	const struct coll_group *g;
	const u64 value = 55;
	struct coll_body body;
	struct world_packet *p;
	u64 forged;

	begin_hostile(_metadata, &self->n);
	g = unit_group(&self->n, 3);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	p = world_packet_new(coll_wire_bytes(&body));
	body.type = COLL_PACKET_MESSAGE;
	coll_wire_write(p->data, &g->multicast.tx, &body);
	p->data[COLL_WIRE_PREFIX] = COLL_PACKET_MULTICAST;
	p->from = 3;
	p->to = 1;
	forged = self->n.world.forged;
	world_inject(&self->n.world, p);
	unit_run(&self->n, 2 * DELAY);
	EXPECT_EQ(forged + 1, self->n.world.forged);
	EXPECT_FALSE(has_come(_metadata, &self->n));
}

/* What host 1 drops as invalid, and what as unused: a copy that is not quite the source's */
static void expect_dropped(struct __test_metadata *_metadata, struct unit_network *n,
			   const struct coll_body *body, u64 invalid, u64 unused, const char *why)
{
	const struct collsock_stats *stats = &unit_group(n, 1)->stats;
	const struct collsock_stats before = *stats;

	inject(n, 3, 1, 0, body);
	EXPECT_EQ(before.invalid + invalid, stats->invalid) TH_LOG("%s", why);
	EXPECT_EQ(before.copies_unused + unused, stats->copies_unused) TH_LOG("%s", why);
}

TEST_F(net, a_copy_that_does_not_fit_its_operation_is_dropped)
{
	static const u64 values[] = { 55, 56 };
	struct coll_body body, other;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, values);
	other = body;
	other.operation = 2;
	expect_dropped(_metadata, &self->n, &other, 0, 1, "of a former operation");
	other = body;
	other.segment = 1;
	expect_dropped(_metadata, &self->n, &other, 1, 0, "of a segment beyond the vector");
	other = body;
	other.payload_bytes = sizeof(values);
	expect_dropped(_metadata, &self->n, &other, 1, 0, "longer than its segment");
	other.payload_bytes = 0;
	expect_dropped(_metadata, &self->n, &other, 1, 0, "shorter than its segment");
	other = body;
	other.signature.type = COLLSOCK_INT64;
	expect_dropped(_metadata, &self->n, &other, 1, 0, "of another signature");
	EXPECT_FALSE(has_come(_metadata, &self->n));
	inject(&self->n, 3, 1, 0, &body);
	EXPECT_TRUE(unit_last(&self->n, 1)->done);
	EXPECT_EQ(55, unit_value(unit_last(&self->n, 1)));
}

/* The memory of what has come may be in use already. */
TEST_F(net, a_second_copy_with_another_value_is_dropped)
{
	static const u64 values[] = { 55, 66 };
	struct coll_body body;

	begin_hostile(_metadata, &self->n);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &values[0]);
	inject(&self->n, 3, 1, 0, &body);
	body.payload = (const u8 *)&values[1];
	body.number++;
	expect_dropped(_metadata, &self->n, &body, 0, 1, "the second");
	EXPECT_TRUE(has_come(_metadata, &self->n));
	EXPECT_EQ(55, unit_value(unit_last(&self->n, 1)));
}

TEST_F(net, a_copy_opens_no_operation_of_a_group_that_has_failed)
{
	const u64 value = 55;
	struct coll_body body;
	struct coll_group *g;

	begin_hostile(_metadata, &self->n);
	g = unit_group(&self->n, 1);
	body = body_of(&self->n, COLLSOCK_BROADCAST, 3, &value);
	coll_failure_end(g, COLL_REASON_ENDED, 2, self->n.world.now);
	expect_dropped(_metadata, &self->n, &body, 0, 1, "after the end");
	EXPECT_EQ(COLL_OP_FREE, coll_group_slot(g, body.operation)->state);
}

/* What host 1 says to a copy of root 3 in whose prefix, or MAC, something is another */
static enum coll_refusal copy_with(struct unit_network *n, u32 source, u32 descriptor, u8 mac)
{
	const struct coll_group *g = unit_group(n, 3);
	const u64 value = 55;
	const struct coll_body body = body_of(n, COLLSOCK_BROADCAST, 3, &value);
	const struct coll_prefix prefix = {
		.tag = g->secret.tag, .descriptor = g->descriptor ^ descriptor,
		.incarnation = g->incarnation, .epoch = g->multicast.host[3].epoch,
		.source = source, .destination = COLL_WIRE_ALL,
	};
	struct coll_wire_side side;
	u8 packet[256];

	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_wire_write(packet, &side, &body);
	packet[coll_wire_bytes(&body) - 1] ^= mac;
	return coll_group_receive_multicast(unit_group(n, 1), packet, coll_wire_bytes(&body),
					    n->world.now);
}

TEST_F(net, a_copy_of_no_other_host_or_of_another_descriptor_or_forged_is_refused)
{
	begin_hostile(_metadata, &self->n);
	EXPECT_EQ(COLL_WRONG_SOURCE, copy_with(&self->n, 8, 0, 0)) TH_LOG("a host too many");
	EXPECT_EQ(COLL_WRONG_SOURCE, copy_with(&self->n, 0xfffe, 0, 0)) TH_LOG("far beyond all");
	EXPECT_EQ(COLL_WRONG_SOURCE, copy_with(&self->n, 1, 0, 0)) TH_LOG("the host itself");
	EXPECT_EQ(COLL_WRONG_DESCRIPTOR, copy_with(&self->n, 3, 1, 0)) TH_LOG("of others");
	EXPECT_EQ(COLL_FORGED, copy_with(&self->n, 2, 0, 1)) TH_LOG("forged, the first");
	EXPECT_FALSE(has_come(_metadata, &self->n));
	EXPECT_EQ(COLL_ACCEPTED, copy_with(&self->n, 3, 0, 0));
	EXPECT_TRUE(unit_last(&self->n, 1)->done);
}

/* Its source may have been another one when that was sent. */
TEST_F(net, an_epoch_of_a_host_that_does_not_know_this_life_is_not_learnt)
{
	struct unit_network *n = &self->n;
	const u64 value = 55;
	struct coll_prefix prefix;
	struct coll_wire_side side;
	struct coll_body body;
	u8 packet[256];
	u32 epoch;

	begin_hostile(_metadata, n);
	epoch = unit_group(n, 4)->multicast.host[3].epoch;
	body = body_of(n, COLLSOCK_BROADCAST, 3, &value);
	body.type = COLL_PACKET_MESSAGE;
	body.number = 1 << 20;
	prefix = coll_peer_prefix(unit_peer(n, 3, 4), 0);
	prefix.epoch = epoch + 1;
	coll_wire_side_set(&side, &prefix, &unit_group(n, 3)->secret.mac);
	coll_wire_write(packet, &side, &body);
	EXPECT_EQ(COLL_ACCEPTED, coll_group_receive(unit_group(n, 4), 3, packet,
						    coll_wire_bytes(&body), false, n->world.now));
	EXPECT_EQ(COLL_OP_EARLY, coll_group_slot(unit_group(n, 4), body.operation)->state);
	EXPECT_EQ(0, unit_group(n, 4)->stats.invalid);
	EXPECT_EQ(epoch, unit_group(n, 4)->multicast.host[3].epoch);
}

/* It may be about what was sent in another life of this host. */
TEST_F(net, a_position_of_a_host_that_does_not_know_this_life_says_nothing)
{
	const struct coll_position all = { .operation = 9, .first = 1 };
	struct unit_network *n = &self->n;
	u8 payload[COLL_WIRE_POSITION];
	const struct coll_body body = {
		.type = COLL_PACKET_ACK, .flags = COLL_FLAG_COPIED | COLL_FLAG_POSITION,
		.payload = payload, .payload_bytes = sizeof(payload),
	};
	struct coll_peer *peer;

	begin_hostile(_metadata, n);
	peer = unit_peer(n, 3, 4);
	ASSERT_TRUE(peer);
	coll_wire_write_position(payload, &all);
	peer->conn.knows_us = false;
	coll_ahead_hear(peer, &body);
	EXPECT_NE(9, coll_peer_ahead(peer)->has.operation);
	peer->conn.knows_us = true;
	coll_ahead_hear(peer, &body);
	EXPECT_EQ(9, coll_peer_ahead(peer)->has.operation);
}

/* ---- positions ---- */

TEST(a_position_remembers_what_came_and_forgets_other_operations)
{
	struct coll_position p = {};
	u32 i;

	EXPECT_FALSE(coll_position_has(&p, 0, 0, 0));
	coll_position_mark(&p, 7, 2, 1);
	coll_position_mark(&p, 7, 2, 64);
	coll_position_mark(&p, 7, 2, 65);
	EXPECT_FALSE(coll_position_has(&p, 7, 2, 0));
	EXPECT_TRUE(coll_position_has(&p, 7, 2, 1));
	EXPECT_TRUE(coll_position_has(&p, 7, 2, 64));
	EXPECT_FALSE(coll_position_has(&p, 7, 2, 65));
	EXPECT_FALSE(coll_position_has(&p, 7, 3, 1));
	EXPECT_FALSE(coll_position_has(&p, 6, 2, 1));
	coll_position_mark(&p, 7, 2, 0);
	EXPECT_EQ(2, p.first);
	for (i = 2; i < 64; i++)
		coll_position_mark(&p, 7, 2, i);
	EXPECT_EQ(65, p.first);
	coll_position_mark(&p, 8, 2, 3);
	EXPECT_FALSE(coll_position_has(&p, 7, 2, 1));
	EXPECT_TRUE(coll_position_has(&p, 8, 2, 3));
}

TEST_HARNESS_MAIN
