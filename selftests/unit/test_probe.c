// SPDX-License-Identifier: GPL-2.0
/*
 * Probes, challenges and answers that a member, or a former life of one, makes up.
 */
#include "hostile_fixture.h"

/* ---- answers ---- */

/* Host @from answers a probe of host 0. */
static void receive_answer(struct __test_metadata *_metadata, struct unit_network *n, u32 from,
			   u64 nonce, const struct coll_wait *wait)
{
	const struct coll_answer answer = { .nonce = nonce, .wait = *wait };
	u8 payload[COLL_WIRE_ANSWER];
	struct coll_body body = {
		.type		= COLL_PACKET_ANSWER,
		.done		= COLL_NOTHING_DONE,
		.credit		= COLL_NOTHING_DONE,
		.payload	= payload,
		.payload_bytes	= sizeof(payload),
	};

	coll_wire_write_answer(payload, &answer);
	receive(_metadata, n, from, 0, &body);
}

static bool lose_all(struct unit_network *n, struct world_packet *p)
{
	return true;
}

/* Host 0 waits for all others, has sent @probes probes, and no packet arrives. */
static struct coll_group *begin_probing(struct __test_metadata *_metadata,
					struct unit_network *n, u64 probes)
{
	struct coll_group *g = unit_group(n, 0);
	u32 i;

	n->tap = lose_all;
	EXPECT_EQ(0, unit_barrier(n, 0));
	unit_run(n, SECOND / 10);
	for (i = 1; i < n->hosts; i++)
		unit_peer(n, 0, i)->watch.probes = probes;
	return g;
}

static const struct coll_wait nobody = { .host = COLL_NOBODY, .rank = COLLSOCK_NO_RANK };

TEST_F(net, an_answer_that_comes_again_proves_nothing)
{
	struct unit_network *n = &self->n;
	const struct coll_wait other = { .host = 1, .rank = 1 };
	struct coll_peer *peer;
	struct coll_group *g;
	u64 heard;

	begin_attack(_metadata, n, 2);
	g = begin_probing(_metadata, n, 3);
	peer = unit_peer(n, 0, 1);
	receive_answer(_metadata, n, 1, 2, &nobody);
	heard = peer->live.heard_ns;
	EXPECT_EQ(n->world.now, heard);
	EXPECT_EQ(2, peer->watch.answers);
	unit_run(n, SECOND / 10);
	receive_answer(_metadata, n, 1, 2, &other);
	receive_answer(_metadata, n, 1, 1, &other);
	receive_answer(_metadata, n, 1, 0, &other);
	EXPECT_EQ(3, g->stats.stale);
	EXPECT_EQ(heard, peer->live.heard_ns);
	EXPECT_EQ(COLL_NOBODY, peer->watch.wait.host);
	receive_answer(_metadata, n, 1, 3, &other);
	EXPECT_EQ(n->world.now, peer->live.heard_ns);
	EXPECT_EQ(1, peer->watch.wait.host);
}

TEST_F(net, an_answer_to_a_probe_that_was_not_sent_proves_nothing)
{
	struct unit_network *n = &self->n;
	struct coll_peer *peer;
	struct coll_group *g;
	u64 heard;

	begin_attack(_metadata, n, 2);
	g = begin_probing(_metadata, n, 3);
	peer = unit_peer(n, 0, 1);
	heard = peer->live.heard_ns;
	receive_answer(_metadata, n, 1, 4, &nobody);
	receive_answer(_metadata, n, 1, ~0ULL, &nobody);
	EXPECT_EQ(2, g->stats.stale);
	EXPECT_EQ(heard, peer->live.heard_ns);
	EXPECT_EQ(0, peer->watch.answers);
}

/* Three hosts, the last with two ranks; 3 is the operation in which host 0 waits. */
static const struct unit_report {
	const char		*what;
	struct coll_wait	wait;
} reports[] = {
	{ "no host", { .host = 3, .rank = COLLSOCK_NO_RANK, .operation = 3 } },
	{ "nobody", { .host = COLL_NOBODY, .rank = COLLSOCK_NO_RANK, .operation = 3 } },
	{ "no rank", { .host = 2, .rank = 4, .operation = 3 } },
	{ "a rank far beyond all", { .host = 2, .rank = 1U << 30, .operation = 3 } },
	{ "a rank of another host", { .host = 1, .rank = 2, .operation = 3 } },
	{ "a circle", { .host = 1, .rank = 1, .operation = 3, .hops = 64 } },
	{ "hops without end", { .host = 1, .rank = 1, .operation = 3, .hops = ~0U } },
	{ "a later operation", { .host = 1, .rank = 1, .operation = 4 } },
};

TEST_F(net, a_report_that_is_not_plausible_names_no_host)
{
	static const u32 host_of_rank[] = { 0, 1, 2, 2 };
	const struct coll_wait sane = { .host = 2, .rank = 3, .operation = 3, .hops = 63 };
	struct unit_network *n = &self->n;
	struct coll_wait told;
	struct coll_peer *peer;
	u64 nonce = 0;
	u32 op, i;

	next_number = 1 << 20;
	unit_network_place(n, host_of_rank, ARRAY_SIZE(host_of_rank), seed_start());
	n->join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	n->join.degree = 2;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (op = 0; op < 3; op++) {
		for (i = 0; i < n->count; i++)
			ASSERT_EQ(0, unit_barrier(n, i));
		ASSERT_TRUE(unit_await_all(n, SECOND));
	}
	begin_probing(_metadata, n, 100);
	peer = unit_peer(n, 0, 2);
	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		receive_answer(_metadata, n, 2, ++nonce, &reports[i].wait);
		EXPECT_FALSE(coll_watch_told(peer, 3, &told, n->world.now))
			TH_LOG("%s", reports[i].what);
		receive_answer(_metadata, n, 2, ++nonce, &sane);
		EXPECT_TRUE(coll_watch_told(peer, 3, &told, n->world.now));
	}
	EXPECT_EQ(0, unit_group(n, 0)->stats.stale);
}

/* ---- probes ---- */

/* Host 1 probes host 0 about an operation. */
static void receive_probe(struct __test_metadata *_metadata, struct unit_network *n, u64 number,
			  u8 algorithm)
{
	struct coll_body body = barrier_body(number, 0);
	u8 payload[COLL_WIRE_PROBE];

	body.type = COLL_PACKET_PROBE;
	body.signature.algorithm = algorithm;
	body.payload = payload;
	body.payload_bytes = sizeof(payload);
	coll_wire_write_nonce(payload, 1);
	receive(_metadata, n, 1, 0, &body);
}

TEST_F(net, a_probe_opens_an_operation_only_within_the_window)
{
	struct coll_group *g;
	u64 last;

	begin_attack(_metadata, &self->n, 2);
	g = unit_group(&self->n, 0);
	last = g->window.oldest + g->window.size - 1;
	receive_probe(_metadata, &self->n, last + 1, COLLSOCK_DISSEMINATION);
	EXPECT_EQ(COLL_OP_FREE, coll_group_slot(g, last + 1)->state);
	receive_probe(_metadata, &self->n, last, COLLSOCK_DISSEMINATION);
	EXPECT_EQ(COLL_OP_EARLY, coll_group_slot(g, last)->state);
}

TEST_F(net, a_probe_about_an_operation_that_nobody_can_post_is_invalid)
{
	struct coll_group *g;

	begin_attack(_metadata, &self->n, 2);
	g = unit_group(&self->n, 0);
	receive_probe(_metadata, &self->n, g->window.oldest, 200);
	EXPECT_EQ(1, g->stats.invalid);
	EXPECT_EQ(COLL_OP_FREE, coll_group_slot(g, g->window.oldest)->state);
}

TEST_F(net, a_probe_about_another_operation_of_that_number_is_a_disagreement)
{
	struct coll_group *g;

	begin_attack(_metadata, &self->n, 2);
	g = unit_group(&self->n, 0);
	ASSERT_EQ(0, unit_barrier(&self->n, 0));
	receive_probe(_metadata, &self->n, g->window.oldest, COLLSOCK_DISSEMINATION);
	EXPECT_FALSE(g->failure.known);
	receive_probe(_metadata, &self->n, g->window.oldest, COLLSOCK_KARY);
	EXPECT_EQ(COLL_REASON_DISAGREES, g->failure.what.reason);
	EXPECT_EQ(1, g->failure.what.rank);
}

TEST_F(net, a_probe_opens_no_operation_of_a_group_that_has_failed)
{
	struct coll_group *g;

	begin_attack(_metadata, &self->n, 3);
	g = unit_group(&self->n, 0);
	coll_failure_end(g, COLL_REASON_ENDED, 2, self->n.world.now);
	receive_probe(_metadata, &self->n, g->window.oldest, COLLSOCK_DISSEMINATION);
	EXPECT_EQ(COLL_OP_FREE, coll_group_slot(g, g->window.oldest)->state);
}

/* ---- challenges ---- */

static u64 challenge;

static bool keep_challenge(struct unit_network *n, struct world_packet *p)
{
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	if (body.type == COLL_PACKET_PROBE && coll_wire_read_nonce(body.payload) >> 63)
		challenge = coll_wire_read_nonce(body.payload);
	return false;
}

/*
 * Its nonce is a MAC that everybody can read. The shortest packet of another version has as
 * many bytes before its MAC as four numbers.
 */
TEST_F(net, a_challenge_is_the_mac_of_no_packet)
{
	struct unit_network *n = &self->n;
	u32 words[4] = { 0 }, i;

	begin(_metadata, n, 2);
	challenge = 0;
	n->tap = keep_challenge;
	world_crash(&n->world, unit_member(n, 1)->host);
	world_start(unit_member(n, 1)->host);
	ASSERT_EQ(0, unit_join(n, 1, NULL));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, unit_barrier(n, i));
	unit_run(n, SECOND);
	ASSERT_NE(0, challenge);
	words[0] = unit_group(n, 0)->incarnation;
	words[1] = unit_group(n, 1)->incarnation;
	words[3] = 1;
	EXPECT_NE(challenge, siphash(words, sizeof(words), &unit_group(n, 0)->secret.mac.key) |
			     BIT_ULL(63));
}

/* A packet of another life of host 1, which knows this one of host 0: an answer with that nonce */
static void answer_challenge(struct __test_metadata *_metadata, struct unit_network *n, u64 nonce)
{
	const struct coll_answer answer = { .nonce = nonce, .wait = nobody };
	struct coll_prefix prefix = prefix_to_0(n);
	u8 payload[COLL_WIRE_ANSWER];
	struct coll_body body = {
		.type		= COLL_PACKET_ANSWER,
		.payload	= payload,
		.payload_bytes	= sizeof(payload),
	};

	coll_wire_write_answer(payload, &answer);
	prefix.incarnation++;
	EXPECT_EQ(COLL_ACCEPTED, receive_with(n, &prefix, &body));
}

/* A message of another life of host 1 */
static void provoke_challenge(struct __test_metadata *_metadata, struct unit_network *n)
{
	struct coll_prefix prefix = prefix_to_0(n);
	struct coll_body body = barrier_body(0, 0);

	prefix.incarnation++;
	EXPECT_EQ(COLL_ACCEPTED, receive_with(n, &prefix, &body));
}

TEST_F(net, only_who_answers_the_challenge_is_another_life_of_a_host)
{
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 incarnation;

	begin_attack(_metadata, n, 2);
	g = unit_group(n, 0);
	incarnation = unit_peer(n, 0, 1)->conn.incarnation;
	challenge = 0;
	n->tap = keep_challenge;
	provoke_challenge(_metadata, n);
	unit_run(n, NSEC_PER_MSEC);
	ASSERT_NE(0, challenge);
	answer_challenge(_metadata, n, 0);
	answer_challenge(_metadata, n, 1);
	answer_challenge(_metadata, n, challenge ^ 1);
	answer_challenge(_metadata, n, challenge ^ BIT_ULL(63));
	EXPECT_FALSE(g->failure.known);
	EXPECT_EQ(incarnation, unit_peer(n, 0, 1)->conn.incarnation);
	answer_challenge(_metadata, n, challenge);
	EXPECT_TRUE(g->failure.terminal);
	EXPECT_EQ(COLL_REASON_RESTARTED, g->failure.what.reason);
	EXPECT_EQ(1, g->failure.what.rank);
	EXPECT_EQ(incarnation + 1, unit_peer(n, 0, 1)->conn.incarnation);
}

TEST_F(net, packets_of_another_life_are_challenged_once_in_a_time_out)
{
	struct unit_network *n = &self->n;
	struct coll_group *g;
	u32 i;

	begin_attack(_metadata, n, 2);
	g = unit_group(n, 0);
	for (i = 0; i < 10; i++)
		provoke_challenge(_metadata, n);
	EXPECT_EQ(1, g->stats.challenges);
	EXPECT_EQ(10, g->stats.stale);
	unit_run(n, coll_timing_default.rto_initial);
	provoke_challenge(_metadata, n);
	EXPECT_EQ(2, g->stats.challenges);
}

TEST_HARNESS_MAIN
