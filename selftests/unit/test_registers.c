// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules in two parts, and with several registers, which no algorithm uses yet: the engine
 * runs them instead of the schedule of a group.
 */
#include "net_fixture.h"
#include "validate.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* The group's schedule for an all-reduce, to be replaced */
static struct coll_schedule *allreduce_schedule(struct coll_group *g)
{
	const struct coll_choice *usual = &g->plan.menu.usual[COLLSOCK_ALLREDUCE][COLLSOCK_AUTO];
	int position = coll_registry_position(COLLSOCK_ALLREDUCE, usual->algorithm);

	return g->plan.schedules[position][usual->degree];
}

/* Pairs of hosts swap halves: each folds one half, then receives the other. */
static void parts_schedule(struct coll_schedule *s, u32 self)
{
	u32 other = self ^ 1, mine = self & 1, theirs = !mine;

	coll_schedule_start_parts(s, 16, self, 2);
	coll_schedule_round(s);
	coll_schedule_send_blocks(s, other, theirs, 1);
	coll_schedule_fold_blocks(s, other, mine, 1, mine ? COLL_FOLD_LEFT : COLL_FOLD_RIGHT);
	coll_schedule_round(s);
	coll_schedule_send_blocks(s, other, mine, 1);
	coll_schedule_fold_blocks(s, other, theirs, 1, COLL_PLACE);
}

static u32 longest_packet;

static bool watch_length(struct unit_network *n, struct world_packet *p)
{
	longest_packet = max(longest_packet, p->bytes);
	return false;
}

TEST_F(net, edges_of_blocks_fold_and_place_only_their_part)
{
	static const double in[2][5] = { { 1, 2, 3, 4, 5 }, { 10, 20, 30, 40, 50 } };
	static const double sum[5] = { 11, 22, 33, 44, 55 };
	u32 i, host;

	unit_network_init(&self->n, 16, 1);
	self->n.world.link.loss = 200;
	self->n.tap = watch_length;
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (host = 0; host < 2; host++) {
		struct coll_group *g = unit_group(&self->n, host);
		struct coll_schedule *s = allreduce_schedule(g);

		parts_schedule(s, host);
		ASSERT_EQ(0, validate_schedule(s));
	}
	for (i = 0; i < 50; i++) {
		for (host = 0; host < 2; host++)
			ASSERT_EQ(0, unit_allreduce(&self->n, host, COLLSOCK_DOUBLE,
						    COLLSOCK_SUM, 5, in[host]));
		for (host = 0; host < 2; host++) {
			ASSERT_TRUE(unit_await(&self->n, host, i, 10 * SECOND));
			ASSERT_EQ(0, memcmp(sum, self->n.ranks[host].ops[i].result, sizeof(sum)));
		}
		unit_run(&self->n, SECOND);
	}
	/* Of five elements the larger half has three. */
	EXPECT_LE(longest_packet, COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + 3 * 8);
}

/* A scan of two: register 1 keeps the own contribution, register 0 the prefix. */
static void registers_schedule(struct coll_schedule *s, u32 self)
{
	u32 other = self ^ 1;

	coll_schedule_start(s, 16, self);
	coll_schedule_round(s);
	coll_schedule_fold(s, self, 0, COLL_PLACE);
	coll_schedule_round(s);
	coll_schedule_send(s, other, 0);
	coll_schedule_fold(s, other, 1, COLL_PLACE);
	coll_schedule_round(s);
	coll_schedule_send(s, other, 1);
	coll_schedule_fold(s, self, 0, COLL_PLACE);
	coll_schedule_fold(s, other, 0, COLL_FOLD_RIGHT);
}

TEST_F(net, registers_are_sent_and_folded_independently)
{
	static const s64 in[2] = { 5, 7 };
	u32 host;

	unit_network_init(&self->n, 16, 1);
	ASSERT_EQ(0, unit_join_all(&self->n, NULL));
	for (host = 0; host < 2; host++) {
		struct coll_group *g = unit_group(&self->n, host);
		struct coll_schedule *s = allreduce_schedule(g);

		/* Memory is for one register in four rounds: two in one less. */
		registers_schedule(s, host);
		ASSERT_EQ(0, validate_schedule(s));
		g->payload.max_bytes /= 2;
		ASSERT_EQ(0, unit_allreduce(&self->n, host, COLLSOCK_INT64, COLLSOCK_SUM, 1,
					    &in[host]));
	}
	/* In round 2 each has received what it sent in round 1: twice its own. */
	for (host = 0; host < 2; host++) {
		ASSERT_TRUE(unit_await(&self->n, host, 0, SECOND));
		EXPECT_EQ(2 * in[host], *(s64 *)self->n.ranks[host].ops[0].result);
	}
}

TEST_HARNESS_MAIN
