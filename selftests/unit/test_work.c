// SPDX-License-Identifier: GPL-2.0
/* How much one event does, and that the rest follows in its order (work.h). */
#include "liveness.h"
#include "net_fixture.h"
#include "report.h"
#include "work.h"

#include "../../uapi/linux/collsock_netlink.h"

#define SECOND	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

#define CHILDREN	COLLSOCK_MAX_DEGREE
#define DOUBLES		(COLLSOCK_MAX_PAYLOAD / 8)
/* More than an event may do at once, of packets without a payload or completions */
#define AT_ONCE		20

static double doubles[DOUBLES];

static struct collsock_post of_doubles(u8 operation, u8 algorithm, u32 count)
{
	struct collsock_post post = unit_post_of(operation, algorithm, 0, count);

	post.type = COLLSOCK_DOUBLE;
	return post;
}

static void begin_star(struct __test_metadata *_metadata, struct unit_network *n, u32 children)
{
	unit_network_init(n, 1 + children, 1);
	n->join.degree = children;
	n->join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	n->join.window = 4;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

/* Ranks of host 0 */
static void begin_locals(struct __test_metadata *_metadata, struct unit_network *n, u32 ranks)
{
	u32 *host_of_rank = calloc(ranks, sizeof(*host_of_rank));

	unit_network_place(n, host_of_rank, ranks, 1);
	free(host_of_rank);
	n->join.max_bytes = sizeof(double) * 1024;
	n->join.window = 4;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static u32 count_done(const struct unit_network *n)
{
	u32 i, done = 0;

	for (i = 0; i < n->count; i++)
		done += n->ranks[i].posted && unit_last(n, i)->done;
	return done;
}

/* Turns are late by up to this time from now on. */
static void delay_turns(struct unit_network *n, u64 ns)
{
	n->group.turn_ns = ns;
}

/* Until no host has anything left */
static u32 count_turns(struct unit_network *n, u32 host)
{
	struct coll_group *g = unit_group(n, host);
	u32 turns = 0;

	for (; coll_work_remains(g); turns++)
		coll_group_run(g, n->world.now);
	return turns;
}

TEST_F(net, a_post_sends_a_limited_number_of_packets)
{
	struct collsock_post post;
	u32 i;

	begin_star(_metadata, &self->n, CHILDREN);
	post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, 1000);
	for (i = CHILDREN; i; i--)
		ASSERT_EQ(0, unit_post(&self->n, i, &post, NULL));
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	EXPECT_GE(AT_ONCE, self->n.world.sent);
	EXPECT_TRUE(coll_work_remains(unit_group(&self->n, 0)));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_LE(CHILDREN, self->n.world.sent);
	EXPECT_FALSE(coll_work_remains(unit_group(&self->n, 0)));
}

/* Messages with nothing in them that one event leaves out: each takes more than 80 instructions */
#define LEFT_OUT_AT_ONCE	600
/* Hosts to which each sends in the first round of an allgather */
#define FIRST_SENDS		(COLLSOCK_MAX_EXCHANGE_DEGREE - 1)

/* A block is 21 of 1,365 segments long: the others have nothing of it. */
/* The children are too far away to acknowledge anything. */
TEST_F(net, an_event_holds_back_a_limited_number_of_messages)
{
	struct collsock_post post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, 1);
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 held;

	unit_network_init(n, 17, 1);
	n->join.degree = 16;
	n->join.window = COLLSOCK_MAX_WINDOW;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	g = unit_group(n, 0);
	n->world.link.delay_ns = 1000 * SECOND;
	delay_turns(n, 1000 * SECOND);
	while (coll_group_writable(g, 0))
		ASSERT_EQ(0, unit_post(n, 0, &post, doubles));
	g->work.most = 4 * COLL_WORK_HELD;
	do {
		held = g->peers.held;
		coll_group_run(g, n->world.now);
		ASSERT_GE(4, g->peers.held - held);
	} while (coll_work_waits(g));
	EXPECT_LT(8, g->peers.held);
}

TEST_F(net, an_event_leaves_out_a_limited_number_of_messages_with_nothing_in_them)
{
	struct collsock_post post = of_doubles(COLLSOCK_ALLGATHER, COLLSOCK_AUTO,
					       DOUBLES / (1 + CHILDREN));
	struct coll_group *g;
	struct coll_op *op;
	u32 before = 0;

	unit_network_init(&self->n, 1 + CHILDREN, 1);
	self->n.join.degree = COLLSOCK_MAX_EXCHANGE_DEGREE;
	self->n.join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	self->n.join.segment_bytes = 48;
	self->n.join.window = 4;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, CHILDREN);
	op = coll_group_slot(g, 0);
	ASSERT_EQ(0, unit_post(&self->n, CHILDREN, &post, doubles));
	ASSERT_EQ(1365, op->layout.segments);
	while (coll_work_remains(g)) {
		ASSERT_GE(LEFT_OUT_AT_ONCE, (op->begun - before) * FIRST_SENDS);
		before = op->begun;
		coll_group_run(g, self->n.world.now);
	}
	EXPECT_EQ(op->layout.segments, op->begun);
}

static u64 block[COLLSOCK_MAX_RESULT / 16];

/* Two hosts gather a block of 512 KiB each; the root posts last. */
static void begin_blocks(struct __test_metadata *_metadata, struct unit_network *n,
			 struct collsock_post *post)
{
	*post = unit_post_of(COLLSOCK_GATHER, COLLSOCK_AUTO, 0, ARRAY_SIZE(block));
	unit_network_init(n, 2, 1);
	n->join.max_bytes = 8;
	n->join.max_result_bytes = COLLSOCK_MAX_RESULT;
	n->join.window = 2;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	delay_turns(n, 1000 * SECOND);
	ASSERT_EQ(0, unit_post(n, 1, post, block));
}

/* What is copied is the caller's until then. */
TEST_F(net, a_long_contribution_is_copied_outside_of_an_event)
{
	struct collsock_post post;

	begin_blocks(_metadata, &self->n, &post);
	EXPECT_FALSE(unit_last(&self->n, 1)->done);
	EXPECT_EQ(0, unit_group(&self->n, 1)->stats.messages_sent);
	delay_turns(&self->n, 0);
	unit_run(&self->n, 2000 * SECOND);
	EXPECT_TRUE(unit_last(&self->n, 1)->done);
	EXPECT_LE(COLLSOCK_MAX_RESULT / 2 / COLLSOCK_DEFAULT_SEGMENT,
		  unit_group(&self->n, 1)->stats.messages_sent);
}

TEST_F(net, an_event_copies_a_limited_part_of_a_long_result)
{
	struct collsock_post post;

	begin_blocks(_metadata, &self->n, &post);
	delay_turns(&self->n, 0);
	unit_run(&self->n, 2000 * SECOND);
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, block));
	delay_turns(&self->n, 1000 * SECOND);
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	EXPECT_LE(COLLSOCK_MAX_RESULT / COLLSOCK_MAX_PAYLOAD, count_turns(&self->n, 0));
	EXPECT_EQ(COLLSOCK_MAX_RESULT, unit_last(&self->n, 0)->bytes);
}

TEST_F(net, an_event_completes_a_limited_number_of_posts)
{
	u32 i, done, before = 0;

	begin_locals(_metadata, &self->n, 100);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	EXPECT_LE(1, count_done(&self->n));
	while ((done = count_done(&self->n)) < 100) {
		ASSERT_GE(AT_ONCE, done - before);
		before = done;
		ASSERT_TRUE(world_step(&self->n.world, self->n.world.now + SECOND));
	}
	EXPECT_EQ(100, done);
}

/* 64 KiB of each of 16 children: 131,072 elements, which take more than 128 instructions each */
TEST_F(net, an_event_folds_a_limited_number_of_elements)
{
	struct collsock_post post;
	u32 i;

	begin_star(_metadata, &self->n, 16);
	post = of_doubles(COLLSOCK_REDUCE, COLLSOCK_KARY, DOUBLES);
	for (i = 16; i; i--)
		ASSERT_EQ(0, unit_post(&self->n, i, &post, doubles));
	unit_run(&self->n, SECOND);
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	EXPECT_FALSE(unit_last(&self->n, 0)->done);
	EXPECT_LE(16 * DOUBLES / 512, count_turns(&self->n, 0));
	EXPECT_TRUE(unit_last(&self->n, 0)->done);
}

/* 64 KiB for each of 8 ranks of a host, when the message of the host before has come */
TEST_F(net, an_event_makes_a_limited_part_of_the_prefixes_of_a_host)
{
	static const u32 host_of_rank[] = { 0, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct collsock_post post = of_doubles(COLLSOCK_EXSCAN, COLLSOCK_AUTO, DOUBLES);
	u32 i;

	unit_network_place(&self->n, host_of_rank, ARRAY_SIZE(host_of_rank), 1);
	self->n.join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	self->n.join.window = 4;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (i = 1; i < ARRAY_SIZE(host_of_rank); i++)
		ASSERT_EQ(0, unit_post(&self->n, i, &post, doubles));
	unit_run(&self->n, SECOND);
	delay_turns(&self->n, 1000 * SECOND);
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	count_turns(&self->n, 0);
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(unit_last(&self->n, 8)->done);
	EXPECT_LE(7 * DOUBLES / 512, count_turns(&self->n, 1));
	for (i = 1; i < ARRAY_SIZE(host_of_rank); i++)
		EXPECT_EQ(COLLSOCK_MAX_PAYLOAD, unit_last(&self->n, i)->bytes);
}

/* The message of a child for the next operation arrives while the first one waits. */
TEST_F(net, while_work_waits_a_packet_is_stored_and_acknowledged)
{
	struct collsock_post post;
	struct coll_group *g;
	u64 rounds, received;
	u32 i;

	begin_star(_metadata, &self->n, 2);
	g = unit_group(&self->n, 0);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, unit_barrier(&self->n, i));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	delay_turns(&self->n, 1000 * SECOND);
	post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, DOUBLES);
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	ASSERT_EQ(0, unit_barrier_by(&self->n, 0, COLLSOCK_KARY));
	ASSERT_TRUE(coll_work_remains(g));
	rounds = g->stats.rounds;
	received = g->stats.messages_received;
	delay_turns(&self->n, 0);
	for (i = 1; i < 3; i++) {
		ASSERT_EQ(0, unit_post(&self->n, i, &post, NULL));
		ASSERT_EQ(0, unit_barrier_by(&self->n, i, COLLSOCK_KARY));
	}
	unit_run(&self->n, 10 * MS);
	EXPECT_EQ(rounds, g->stats.rounds);
	EXPECT_EQ(received + 2, g->stats.messages_received);
	EXPECT_EQ(0, unit_peer(&self->n, 1, 0)->send.unacked);
	ASSERT_TRUE(unit_await_all(&self->n, 2000 * SECOND));
}

TEST_F(net, what_waits_longest_is_done_first)
{
	struct collsock_post post;
	struct coll_group *g;

	begin_star(_metadata, &self->n, 2);
	g = unit_group(&self->n, 0);
	delay_turns(&self->n, 1000 * SECOND);
	post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, DOUBLES);
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	ASSERT_FALSE(list_empty(&g->work.ready));
	EXPECT_EQ(0, list_first_entry(&g->work.ready, struct coll_lane, link)->op->head.number);
	while (!coll_engine_finished(coll_group_slot(g, 0))) {
		ASSERT_FALSE(coll_group_slot(g, 1)->begun);
		coll_group_run(g, self->n.world.now);
	}
	count_turns(&self->n, 0);
	EXPECT_TRUE(coll_engine_finished(coll_group_slot(g, 1)));
}

TEST_F(net, an_operation_that_is_aborted_waits_no_longer)
{
	struct collsock_post post;
	struct coll_group *g;

	begin_star(_metadata, &self->n, 2);
	g = unit_group(&self->n, 1);
	delay_turns(&self->n, 1000 * SECOND);
	post = of_doubles(COLLSOCK_ALLREDUCE, COLLSOCK_KARY, DOUBLES);
	ASSERT_EQ(0, unit_post(&self->n, 1, &post, doubles));
	ASSERT_FALSE(list_empty(&g->work.ready));
	coll_group_end(g, self->n.world.now);
	EXPECT_TRUE(list_empty(&g->work.ready));
	ASSERT_TRUE(unit_await(&self->n, 1, 0, SECOND));
	EXPECT_NE(0, unit_last(&self->n, 1)->error);
}

/* ---- what nobody needs ---- */

/* More messages than an event forgets: that takes more than 80 instructions each */
#define FORGOTTEN_AT_ONCE	700

static u32 messages_sent, goodbyes_sent;

static bool count_of_root(struct unit_network *n, struct world_packet *p)
{
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	messages_sent += !p->from && body.type == COLL_PACKET_MESSAGE;
	goodbyes_sent += !p->from && body.type == COLL_PACKET_GOODBYE;
	return false;
}

/* A root waits for an operation, and owes its children three later ones of 64 KiB. */
static void begin_with_all_under_way(struct __test_metadata *_metadata, struct unit_network *n)
{
	struct coll_group *g;
	u32 i;

	begin_star(_metadata, n, 16);
	g = unit_group(n, 0);
	for (i = 0; i <= 16; i++)
		ASSERT_EQ(0, unit_barrier_by(n, i, COLLSOCK_KARY));
	ASSERT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, 10 * MS);
	n->world.link.delay_ns = MS;
	for (i = 0; i < 4; i++) {
		struct collsock_post post = of_doubles(i ? COLLSOCK_BROADCAST : COLLSOCK_REDUCE,
						       COLLSOCK_KARY, DOUBLES);

		ASSERT_EQ(0, unit_post(n, 0, &post, doubles));
	}
	unit_turns(n);
	ASSERT_LT(2 * FORGOTTEN_AT_ONCE, g->peers.held);
	messages_sent = 0;
	goodbyes_sent = 0;
	n->tap = count_of_root;
	delay_turns(n, 1000 * SECOND);
}

TEST_F(net, a_failure_forgets_a_limited_number_of_messages_at_once)
{
	struct coll_group *g;
	u32 held;

	begin_with_all_under_way(_metadata, &self->n);
	g = unit_group(&self->n, 0);
	held = g->peers.held;
	coll_group_end(g, self->n.world.now);
	EXPECT_GE(FORGOTTEN_AT_ONCE, held - g->peers.held);
	EXPECT_EQ(16, goodbyes_sent);
	while (coll_work_remains(g)) {
		held = g->peers.held;
		coll_group_run(g, self->n.world.now);
		ASSERT_GE(FORGOTTEN_AT_ONCE, held - g->peers.held);
	}
	EXPECT_EQ(0, g->peers.held);
	EXPECT_EQ(0, messages_sent);
}

/* The oldest operation has no messages, and the others are looked at first. */
TEST_F(net, a_slot_is_not_free_while_its_messages_are_forgotten)
{
	struct coll_group *g;
	u32 i;

	begin_with_all_under_way(_metadata, &self->n);
	g = unit_group(&self->n, 0);
	coll_group_end(g, self->n.world.now);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(COLL_OP_DONE, coll_group_slot(g, 1)->state);
	EXPECT_FALSE(coll_group_quiet(g));
	count_turns(&self->n, 0);
	for (i = 0; i <= g->window.mask; i++) {
		EXPECT_EQ(0, g->window.slots[i].head.unacked);
		EXPECT_EQ(COLL_OP_FREE, g->window.slots[i].state);
	}
}

/* A rank leaves: the group could go on, but nothing is sent that is about to be forgotten. */
TEST_F(net, nothing_that_is_to_be_forgotten_is_sent)
{
	struct coll_group *g;

	begin_with_all_under_way(_metadata, &self->n);
	g = unit_group(&self->n, 0);
	unit_leave(&self->n, 16);
	while (!g->failure.known)
		ASSERT_TRUE(world_step(&self->n.world, self->n.world.now + SECOND));
	messages_sent = 0;
	EXPECT_FALSE(g->failure.terminal);
	EXPECT_LT(0, g->peers.held);
	unit_run(&self->n, SECOND);
	EXPECT_LT(0, g->peers.held);
	EXPECT_EQ(0, messages_sent);
	count_turns(&self->n, 0);
	unit_run(&self->n, SECOND);
	EXPECT_EQ(0, g->peers.held);
	EXPECT_EQ(0, messages_sent);
}

/* What a report of an operation says of its messages, of all attributes */
static bool keep_unacked(void *message, u16 type, const void *value, u32 bytes)
{
	if (type == COLLSOCK_A_OPERATION_UNACKED)
		memcpy(message, value, bytes);
	return true;
}

static bool keep_no_u64(void *message, u16 type, u64 value, u16 pad)
{
	return true;
}

static int keep_nest(void *message, u16 type)
{
	return 0;
}

static void keep_nest_end(void *message, int at)
{
}

static u32 reported_unacked(struct coll_group *g, struct coll_op *op, u64 now)
{
	static const struct coll_report_writer writer = {
		keep_unacked, keep_no_u64, keep_nest, keep_nest_end
	};
	u32 unacked = ~0U;
	struct coll_report r = { .writer = &writer, .message = &unacked };

	coll_report_operation(&r, g, op, now);
	return unacked;
}

/* A host forwards what its rank has not posted, and learns of a failure; then it is posted. */
TEST_F(net, an_operation_that_failed_keeps_its_slot_when_it_is_posted)
{
	struct collsock_post post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, DOUBLES);
	struct coll_group *g;
	struct coll_op *op;
	u32 messages = 0, i;

	unit_network_init(&self->n, 7, 1);
	self->n.join.degree = 2;
	self->n.join.max_bytes = COLLSOCK_MAX_PAYLOAD;
	self->n.join.window = 4;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	g = unit_group(&self->n, 1);
	op = coll_group_slot(g, 0);
	self->n.world.link.delay_ns = MS;
	ASSERT_EQ(0, unit_post(&self->n, 0, &post, doubles));
	while (op->head.unacked < 8)
		ASSERT_TRUE(world_step(&self->n.world, self->n.world.now + SECOND));
	ASSERT_EQ(COLL_OP_EARLY, op->state);
	delay_turns(&self->n, 1000 * SECOND);
	g->work.most = 1;
	coll_group_end(g, self->n.world.now);
	ASSERT_TRUE(op->forget.in_turns);
	for (i = 0; i < op->layout.segments * op->schedule->sends; i++)
		messages += !!op->messages[i].peer;
	EXPECT_EQ(messages, reported_unacked(g, op, self->n.world.now));
	ASSERT_EQ(0, unit_post(&self->n, 1, &post, NULL));
	unit_run(&self->n, SECOND);
	EXPECT_NE(0, unit_last(&self->n, 1)->error);
	count_turns(&self->n, 1);
	EXPECT_EQ(0, op->head.unacked);
	EXPECT_EQ(COLL_OP_FREE, op->state);
}

/* ---- connections ---- */

/* Connections that one event opens or releases, about each of which listeners are told */
#define CHANGED_AT_ONCE		20
/* Connections that one event opens to say goodbye */
#define OPENED_TO_TELL_AT_ONCE	10
/* Messages of which one event finds out whether they are late, and those of one host more */
#define LOOKED_AT_AT_ONCE	(960 + COLL_PEER_WINDOW)

/* A root has met all its children. */
static struct coll_group *begin_met(struct __test_metadata *_metadata, struct unit_network *n,
				    u32 window)
{
	u32 i;

	unit_network_init(n, 1 + CHILDREN, 1);
	n->join.degree = CHILDREN;
	n->join.window = window;
	ASSERT_EQ(0, unit_join_all(n, NULL)) {
		return NULL;
	}
	for (i = 0; i <= CHILDREN; i++)
		unit_barrier_by(n, i, COLLSOCK_KARY);
	EXPECT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, 100 * MS);
	EXPECT_EQ(CHILDREN, unit_group(n, 0)->stats.peers);
	return unit_group(n, 0);
}

/*
 * A pause of the root makes all its connections due together, now and when they have been
 * idle for long enough. The most that one event releases
 */
static u32 become_idle(struct unit_network *n)
{
	struct coll_group *g = unit_group(n, 0);
	u32 before, most = 0;

	world_pause(&n->world, unit_member(n, 0)->host, 2 * coll_timing_default.idle, false);
	do {
		before = g->stats.peers;
		if (!world_step(&n->world, n->world.now + 3 * coll_timing_default.idle))
			break;
		most = max(most, before - g->stats.peers);
	} while (g->stats.peers);
	return most;
}

TEST_F(net, an_event_releases_a_limited_number_of_idle_connections)
{
	struct coll_group *g = begin_met(_metadata, &self->n, 4);

	EXPECT_GE(CHANGED_AT_ONCE, become_idle(&self->n));
	EXPECT_EQ(0, g->stats.peers);
	EXPECT_EQ(CHILDREN, g->stats.peers_idle);
}

/* The root's rank leaves: it says goodbye to all that it has met, and does not end before. */
TEST_F(net, an_event_opens_a_limited_number_of_idle_connections)
{
	struct coll_group *g = begin_met(_metadata, &self->n, 4);
	u32 before;

	become_idle(&self->n);
	ASSERT_EQ(0, g->stats.peers);
	goodbyes_sent = 0;
	self->n.tap = count_of_root;
	delay_turns(&self->n, 1000 * SECOND);
	unit_leave(&self->n, 0);
	EXPECT_LE(1, g->stats.peers);
	EXPECT_GE(CHANGED_AT_ONCE, g->stats.peers);
	EXPECT_FALSE(coll_group_quiet(g));
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(coll_group_quiet(g));
	while (unit_joined(&self->n, 0) && coll_work_remains(g)) {
		before = g->stats.peers;
		coll_group_run(g, self->n.world.now);
		ASSERT_GE(CHANGED_AT_ONCE, g->stats.peers - before);
	}
	EXPECT_EQ(CHILDREN, g->stats.peers);
	unit_run(&self->n, 2000 * SECOND);
	EXPECT_LE(CHILDREN, goodbyes_sent);
	EXPECT_FALSE(unit_joined(&self->n, 0));
}

/* Another rank of the host joins when only some of the connections are open. */
TEST_F(net, all_hosts_are_told_that_a_rank_left_although_another_joins_meanwhile)
{
	static const u32 host_of_rank[] = { 0, 0, 1, 2, 3, 4 };
	const u32 ranks = ARRAY_SIZE(host_of_rank);
	u32 rank, host;

	unit_network_place(&self->n, host_of_rank, ranks, 1);
	self->n.join.degree = 4;
	for (rank = 0; rank < ranks; rank++)
		if (rank != 1)
			ASSERT_LE(0, unit_join(&self->n, rank, NULL));
	for (rank = 2; rank < ranks; rank++)
		ASSERT_EQ(0, unit_post_value(&self->n, rank, COLLSOCK_REDUCE, COLLSOCK_KARY, 0, 1));
	unit_run(&self->n, 2 * coll_timing_default.idle + SECOND);
	ASSERT_EQ(0, unit_group(&self->n, 0)->stats.peers);
	delay_turns(&self->n, SECOND);
	unit_group(&self->n, 0)->work.most = 1;
	unit_leave(&self->n, 0);
	ASSERT_LE(0, unit_join(&self->n, 1, NULL));
	unit_run(&self->n, 100 * SECOND);
	for (host = 1; host < 5; host++)
		EXPECT_TRUE(unit_group(&self->n, host)->failure.known);
}

/* Children that were never heard from: only the check opens their connections. */
TEST_F(net, a_check_opens_a_limited_number_of_connections_at_once)
{
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 before, i;

	unit_network_init(n, 1 + CHILDREN, 1);
	n->join.degree = CHILDREN;
	ASSERT_EQ(0, unit_join(n, 0, NULL));
	g = unit_group(n, 0);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, unit_post_value(n, 0, COLLSOCK_REDUCE, COLLSOCK_KARY, 0, 1));
	while (g->stats.peers < CHILDREN) {
		before = g->stats.peers;
		ASSERT_TRUE(world_step(&n->world, n->world.now + 2 * SECOND));
		ASSERT_GE(CHANGED_AT_ONCE, g->stats.peers - before);
	}
	unit_run(n, 10 * SECOND);
	for (i = 1; i <= CHILDREN; i++)
		EXPECT_TRUE(coll_liveness_matters(unit_peer(n, 0, i)));
	EXPECT_FALSE(g->failure.known);
}

TEST_F(net, a_check_goes_on_within_an_operation)
{
	struct unit_network *n = &self->n;
	u32 i;

	unit_network_init(n, 6, 1);
	n->join.degree = 5;
	ASSERT_EQ(0, unit_join(n, 0, NULL));
	unit_group(n, 0)->work.most = 1;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_post_value(n, 0, COLLSOCK_REDUCE, COLLSOCK_KARY, 0, 1));
	unit_run(n, 10 * SECOND);
	for (i = 1; i < 6; i++) {
		ASSERT_NE(NULL, unit_peer(n, 0, i));
		EXPECT_TRUE(coll_liveness_matters(unit_peer(n, 0, i)));
	}
}

/* A failure is told hosts at all distances 2^k, which have not been met. */
TEST_F(net, a_failure_opens_a_limited_number_of_connections_at_once)
{
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 before, distance, told = 0;

	unit_network_init(n, 1000, 1);
	ASSERT_EQ(0, unit_join(n, 0, NULL));
	g = unit_group(n, 0);
	delay_turns(n, 1000 * SECOND);
	coll_group_end(g, n->world.now);
	EXPECT_GE(OPENED_TO_TELL_AT_ONCE, g->stats.peers);
	while (coll_work_remains(g)) {
		before = g->stats.peers;
		coll_group_run(g, n->world.now);
		ASSERT_GE(OPENED_TO_TELL_AT_ONCE, g->stats.peers - before);
	}
	for (distance = 1; distance < 1000; distance *= 2) {
		EXPECT_TRUE(unit_peer(n, 0, distance)->send.told);
		EXPECT_TRUE(unit_peer(n, 0, 1000 - distance)->send.told);
		told += 2;
	}
	EXPECT_EQ(told, g->stats.peers);
}

/* ---- messages that are late ---- */

static bool lose_all(struct unit_network *n, struct world_packet *p)
{
	return true;
}

/* Of a peer that was due, and is due later now, all messages were looked at. */
static u32 count_looked_at(const struct coll_group *g, const u64 *due, u64 now)
{
	const struct coll_peer *peer;
	u32 looked_at = 0;

	for (peer = g->peers.all; peer; peer = peer->all)
		if (due[peer->host] <= now && peer->due_ns > now)
			looked_at += peer->send.unacked;
	return looked_at;
}

static u32 count_not_found(const struct coll_group *g)
{
	const struct coll_message *m;
	const struct coll_peer *peer;
	u32 count = 0;

	for (peer = g->peers.all; peer; peer = peer->all)
		list_for_each_entry(m, &peer->send.sent, link)
			count += m->tries == 1 && !m->lost;
	return count;
}

/* The root has as many messages to each child in flight as there can be, and none arrives. */
static void send_full_windows(struct __test_metadata *_metadata, struct unit_network *n)
{
	struct coll_group *g = unit_group(n, 0);
	struct coll_peer *peer;
	u32 i;

	n->tap = lose_all;
	for (peer = g->peers.all; peer; peer = peer->all) {
		peer->congestion.window = COLL_PEER_WINDOW;
		peer->congestion.initial = COLL_PEER_WINDOW;
		peer->congestion.limit = COLL_PEER_WINDOW;
	}
	for (i = 1; i < COLL_PEER_WINDOW; i++)
		ASSERT_EQ(0, unit_post_value(n, 0, COLLSOCK_BROADCAST, COLLSOCK_KARY, 0, i));
	unit_turns(n);
	ASSERT_LE(CHILDREN * (COLL_PEER_WINDOW - 2), count_not_found(g));
}

TEST_F(net, an_event_looks_for_late_messages_among_a_limited_number)
{
	struct coll_group *g = begin_met(_metadata, &self->n, COLL_PEER_WINDOW);
	u64 due[1 + CHILDREN], end;
	struct coll_peer *peer;
	u32 i, found = 0;

	send_full_windows(_metadata, &self->n);
	end = self->n.world.now + SECOND;
	for (;;) {
		for (peer = g->peers.all; peer; peer = peer->all)
			due[peer->host] = peer->due_ns;
		if (!world_step(&self->n.world, end))
			break;
		i = count_looked_at(g, due, self->n.world.now);
		ASSERT_GE(LOOKED_AT_AT_ONCE, i);
		found += i;
	}
	EXPECT_LE(CHILDREN * (COLL_PEER_WINDOW - 2), found);
	EXPECT_EQ(0, count_not_found(g));
}

static u64 first_due(const struct coll_group *g)
{
	const struct coll_peer *peer;
	u64 first = COLL_NEVER;

	for (peer = g->peers.all; peer; peer = peer->all)
		first = min(first, peer->due_ns);
	return first;
}

/* An acknowledgment is due now to the last host, and messages to all in a millisecond. */
TEST_F(net, a_connection_that_is_due_does_not_wait_for_those_that_will_be)
{
	struct coll_group *g = begin_met(_metadata, &self->n, COLL_PEER_WINDOW);
	struct coll_peer *last = g->peers.all;
	u64 first, expired;

	send_full_windows(_metadata, &self->n);
	while (last->all)
		last = last->all;
	first = first_due(g);
	ASSERT_LT(self->n.world.now + MS, first);
	unit_run(&self->n, first - MS - self->n.world.now);
	ASSERT_LE(self->n.world.now + MS, first_due(g));
	ASSERT_FALSE(last->ack.owed);
	expired = self->n.world.expired;
	coll_ack_owe(last, self->n.world.now - 2 * COLL_DEADLINE_GRAIN);
	unit_run(&self->n, MS / 2);
	EXPECT_FALSE(last->ack.owed);
	EXPECT_EQ(1, self->n.world.expired - expired);
}

/* ---- large contributions of one host ---- */

#define RANKS	5
#define COUNT	300

static void swap_order(u32 *order, u32 a, u32 b)
{
	u32 rank = order[a];

	order[a] = order[b];
	order[b] = rank;
}

/* ((0 1) (2 3)) 4, the same whichever posts first; no other order has this result. */
TEST_F(net, local_ranks_are_folded_along_a_fixed_tree)
{
	static const double values[RANKS] = { 1e308, -1e308, 1, 0.001, 1e16 };
	const double expected = ((values[0] + values[1]) + (values[2] + values[3])) + values[4];
	struct collsock_post post = of_doubles(COLLSOCK_ALLREDUCE, COLLSOCK_BINOMIAL, COUNT);
	u32 order[RANKS] = { 0, 1, 2, 3, 4 };
	double contribution[COUNT], result;
	u32 i, k, round;

	begin_locals(_metadata, &self->n, RANKS);
	delay_turns(&self->n, MS);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < RANKS; i++)
			swap_order(order, i, world_below(&self->n.world.random, RANKS));
		for (i = 0; i < RANKS; i++) {
			for (k = 0; k < COUNT; k++)
				contribution[k] = values[order[i]];
			ASSERT_EQ(0, unit_post(&self->n, order[i], &post, contribution));
			if (round % 2)
				unit_run(&self->n, MS / 2);
		}
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		for (i = 0; i < RANKS; i++) {
			memcpy(&result, unit_last(&self->n, i)->result + 8 * (COUNT - 1), 8);
			EXPECT_EQ(expected, result);
		}
	}
}

TEST_F(net, a_slot_is_not_free_while_its_contributions_are_folded)
{
	struct collsock_post post = of_doubles(COLLSOCK_ALLREDUCE, COLLSOCK_BINOMIAL, COUNT);
	const struct coll_op *op;
	u32 i;

	begin_locals(_metadata, &self->n, 2);
	delay_turns(&self->n, 1000 * SECOND);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_post(&self->n, i, &post, doubles));
	op = coll_group_slot(unit_group(&self->n, 0), 0);
	EXPECT_EQ(1, unit_member(&self->n, 0)->folds);
	coll_group_end(unit_group(&self->n, 0), self->n.world.now);
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(COLL_OP_DONE, op->state);
	unit_run(&self->n, 1000 * SECOND);
	EXPECT_EQ(0, unit_member(&self->n, 0)->folds);
	EXPECT_EQ(COLL_OP_FREE, op->state);
}

/* Host 0 posts a full window and waits for others. Does a check of that stop halfway? */
static bool check_stops(struct __test_metadata *_metadata, struct unit_network *n, u32 children,
			struct collsock_post post)
{
	struct coll_group *g;
	bool partly = false;
	u64 end;
	u32 i;

	unit_network_init(n, 1 + children, 1);
	n->join.degree = max(children, 2U);
	n->join.window = 64;
	EXPECT_EQ(0, unit_join_all(n, NULL));
	for (i = 0; i <= children; i++)
		EXPECT_EQ(0, unit_barrier_by(n, i, COLLSOCK_KARY));
	EXPECT_TRUE(unit_await_all(n, SECOND));
	unit_run(n, 100 * MS);
	g = unit_group(n, 0);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(0, unit_post(n, 0, &post, doubles));
	end = n->world.now + 60 * SECOND;
	while (!partly && world_step(&n->world, end))
		partly = g->watch.left;
	unit_run(n, 60 * SECOND);
	EXPECT_LE(children, g->stats.probes_sent);
	EXPECT_FALSE(g->failure.known);
	return partly;
}

/* A million element-lane-slot combinations are looked at in several events. */
TEST_F(net, a_check_of_what_is_waited_for_goes_on_in_later_events)
{
	EXPECT_TRUE(check_stops(_metadata, &self->n, CHILDREN,
				of_doubles(COLLSOCK_REDUCE, COLLSOCK_KARY, 1)));
}

/* Each waits for one host, so a check does not stop within any. */
TEST_F(net, a_check_of_many_operations_goes_on_in_later_events)
{
	struct collsock_post post = of_doubles(COLLSOCK_BROADCAST, COLLSOCK_KARY, 1);

	post.root = 1;
	EXPECT_TRUE(check_stops(_metadata, &self->n, 1, post));
}

TEST_HARNESS_MAIN
