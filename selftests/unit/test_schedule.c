// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules: the builder accepts exactly what schedule.h allows, validate likewise, and
 * find returns the entry of each message.
 */
#include "../harness.h"

#include "schedule.h"
#include "seed.h"
#include "validate.h"

/*
 * Host 1 of 4, registers 0 and 1. Round 0 sends to hosts 0 and 2, receives from
 * them and folds in rank order, and keeps what it had in register 1; round 1 is
 * empty; round 2 sends to host 3; round 3 receives from host 3.
 */
FIXTURE(schedule)
{
	struct coll_schedule s;
};

FIXTURE_SETUP(schedule)
{
	struct coll_schedule *s = &self->s;

	memset(s, 0xa5, sizeof(*s));
	ASSERT_EQ(0, coll_schedule_start(s, 4, 1));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_send(s, 0, 0));
	ASSERT_EQ(0, coll_schedule_send(s, 2, 0));
	ASSERT_EQ(0, coll_schedule_combine(s, 0, 0, COLL_FOLD_LEFT));
	ASSERT_EQ(0, coll_schedule_fold(s, 2, 0, COLL_FOLD_RIGHT));
	ASSERT_EQ(0, coll_schedule_fold(s, 1, 1, COLL_PLACE));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_send(s, 3, 1));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_fold(s, 3, 0, COLL_PLACE));
}

FIXTURE_TEARDOWN(schedule)
{
}

/* Building */

TEST_F(schedule, the_schedule_is_what_the_builder_was_given)
{
	static const struct coll_round rounds[] = {
		{ .send_first = 0, .sends = 2, .fold_first = 0, .folds = 4, .recvs = 2 },
		{ .send_first = 2, .sends = 0, .fold_first = 4, .folds = 0, .recvs = 0 },
		{ .send_first = 2, .sends = 1, .fold_first = 4, .folds = 0, .recvs = 0 },
		{ .send_first = 3, .sends = 0, .fold_first = 4, .folds = 1, .recvs = 1 },
	};
	static const struct coll_edge sends[] = {
		{ .host = 0, .reg = 0, .blocks = 1, .action = COLL_SEND },
		{ .host = 2, .reg = 0, .blocks = 1, .action = COLL_SEND },
		{ .host = 3, .reg = 1, .blocks = 1, .action = COLL_SEND },
	};
	static const struct coll_edge folds[] = {
		{ .host = 1, .reg = 0, .blocks = 1, .action = COLL_PLACE },
		{ .host = 0, .reg = 0, .blocks = 1, .action = COLL_FOLD_LEFT },
		{ .host = 2, .reg = 0, .blocks = 1, .action = COLL_FOLD_RIGHT },
		{ .host = 1, .reg = 1, .blocks = 1, .action = COLL_PLACE },
		{ .host = 3, .reg = 0, .blocks = 1, .action = COLL_PLACE },
	};
	const struct coll_schedule *s = &self->s;
	u32 i;

	EXPECT_EQ(4, s->hosts);
	EXPECT_EQ(1, s->self);
	EXPECT_EQ(2, s->registers);
	EXPECT_EQ(1, s->blocks);
	EXPECT_EQ(false, s->synchronising);
	ASSERT_EQ(ARRAY_SIZE(rounds), s->rounds);
	ASSERT_EQ(ARRAY_SIZE(sends), s->sends);
	ASSERT_EQ(ARRAY_SIZE(folds), s->folds);
	EXPECT_EQ(0, memcmp(rounds, s->round, sizeof(rounds)));
	for (i = 0; i < s->sends; i++) {
		EXPECT_EQ(sends[i].host, s->send[i].host);
		EXPECT_EQ(sends[i].reg, s->send[i].reg);
		EXPECT_EQ(sends[i].first_block, s->send[i].first_block);
		EXPECT_EQ(sends[i].blocks, s->send[i].blocks);
		EXPECT_EQ(sends[i].action, s->send[i].action);
	}
	for (i = 0; i < s->folds; i++) {
		EXPECT_EQ(folds[i].host, s->fold[i].host);
		EXPECT_EQ(folds[i].reg, s->fold[i].reg);
		EXPECT_EQ(folds[i].first_block, s->fold[i].first_block);
		EXPECT_EQ(folds[i].blocks, s->fold[i].blocks);
		EXPECT_EQ(folds[i].action, s->fold[i].action);
	}
}

TEST(a_group_of_no_hosts_is_refused)
{
	struct coll_schedule s;

	EXPECT_EQ(-EINVAL, coll_schedule_start(&s, 0, 0));
}

TEST(a_group_of_too_many_hosts_is_refused)
{
	struct coll_schedule s;

	EXPECT_EQ(0, coll_schedule_start(&s, COLLSOCK_MAX_HOSTS, 0));
	EXPECT_EQ(-EINVAL, coll_schedule_start(&s, COLLSOCK_MAX_HOSTS + 1, 0));
}

TEST(a_host_that_is_not_in_the_group_is_refused)
{
	struct coll_schedule s;

	EXPECT_EQ(0, coll_schedule_start(&s, 3, 2));
	EXPECT_EQ(-EINVAL, coll_schedule_start(&s, 3, 3));
}

TEST(a_line_before_the_first_round_is_refused)
{
	struct coll_schedule s;

	ASSERT_EQ(0, coll_schedule_start(&s, 3, 0));
	EXPECT_EQ(-EINVAL, coll_schedule_send(&s, 1, 0));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&s, 1, 0, COLL_PLACE));
}

TEST(more_rounds_than_fit_are_e2big)
{
	struct coll_schedule s;
	u32 i;

	ASSERT_EQ(0, coll_schedule_start(&s, 3, 0));
	for (i = 0; i < COLL_MAX_ROUNDS; i++)
		ASSERT_EQ(0, coll_schedule_round(&s));
	EXPECT_EQ(-E2BIG, coll_schedule_round(&s));
	EXPECT_EQ(COLL_MAX_ROUNDS, s.rounds);
	EXPECT_EQ(0, validate_schedule(&s));
}

TEST(more_send_edges_than_fit_are_e2big)
{
	struct coll_schedule s;
	u32 i;

	ASSERT_EQ(0, coll_schedule_start(&s, COLL_MAX_EDGES + 2, 0));
	ASSERT_EQ(0, coll_schedule_round(&s));
	for (i = 1; i <= COLL_MAX_EDGES; i++)
		ASSERT_EQ(0, coll_schedule_send(&s, i, 0));
	EXPECT_EQ(-E2BIG, coll_schedule_send(&s, i, 0));
	EXPECT_EQ(COLL_MAX_EDGES, s.sends);
	EXPECT_EQ(0, validate_schedule(&s));
}

TEST(more_fold_entries_than_fit_are_e2big)
{
	struct coll_schedule s;
	u32 i;

	ASSERT_EQ(0, coll_schedule_start(&s, COLL_MAX_EDGES + 2, 0));
	ASSERT_EQ(0, coll_schedule_round(&s));
	for (i = 0; i < COLL_MAX_EDGES; i++)
		ASSERT_EQ(0, coll_schedule_fold(&s, i, 0,
						i ? COLL_FOLD_RIGHT : COLL_PLACE));
	EXPECT_EQ(-E2BIG, coll_schedule_fold(&s, i, 0, COLL_FOLD_RIGHT));
	EXPECT_EQ(COLL_MAX_EDGES, s.folds);
	EXPECT_EQ(0, validate_schedule(&s));
}

TEST_F(schedule, builder_refuses_a_send_to_a_host_outside_the_group)
{
	EXPECT_EQ(-EINVAL, coll_schedule_send(&self->s, 4, 0));
}

TEST_F(schedule, builder_refuses_a_fold_of_a_host_outside_the_group)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 4, 0, COLL_FOLD_RIGHT));
}

TEST_F(schedule, builder_refuses_a_send_to_self)
{
	EXPECT_EQ(-EINVAL, coll_schedule_send(&self->s, 1, 0));
}

TEST_F(schedule, builder_refuses_two_sends_to_one_host_in_a_round)
{
	EXPECT_EQ(0, coll_schedule_send(&self->s, 2, 0));
	EXPECT_EQ(-EINVAL, coll_schedule_send(&self->s, 2, 0));
	EXPECT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(0, coll_schedule_send(&self->s, 2, 0));
}

TEST_F(schedule, builder_refuses_two_messages_of_one_host_in_a_round)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 3, 0, COLL_FOLD_RIGHT));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 3, 1, COLL_PLACE));
	EXPECT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(0, coll_schedule_fold(&self->s, 3, 0, COLL_PLACE));
}

TEST_F(schedule, builder_refuses_self_twice_for_one_register)
{
	EXPECT_EQ(0, coll_schedule_fold(&self->s, 1, 0, COLL_FOLD_LEFT));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 1, 0, COLL_FOLD_LEFT));
	EXPECT_EQ(0, coll_schedule_fold(&self->s, 1, 1, COLL_PLACE));
}

TEST_F(schedule, builder_refuses_a_fold_into_a_register_not_placed)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 1, 1, COLL_FOLD_LEFT));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 1, 1, COLL_FOLD_RIGHT));
}

TEST_F(schedule, builder_refuses_to_place_a_register_twice_in_a_round)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 2, 0, COLL_PLACE));
	EXPECT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(0, coll_schedule_fold(&self->s, 2, 0, COLL_PLACE));
}

TEST_F(schedule, builder_refuses_a_register_that_does_not_exist)
{
	EXPECT_EQ(-EINVAL, coll_schedule_send(&self->s, 2, COLL_MAX_REGISTERS));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 2, COLL_MAX_REGISTERS,
					      COLL_PLACE));
}

TEST_F(schedule, builder_refuses_a_fold_entry_that_does_not_fold)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 2, 0, COLL_SEND));
	EXPECT_EQ(-EINVAL, coll_schedule_fold(&self->s, 2, 0, COLL_FOLD_RIGHT + 1));
}

TEST_F(schedule, builder_refuses_to_combine_with_what_another_entry_placed)
{
	EXPECT_EQ(-EINVAL, coll_schedule_combine(&self->s, 2, 0, COLL_FOLD_RIGHT));
}

TEST_F(schedule, refused_lines_are_not_in_the_schedule)
{
	struct coll_schedule before = self->s;

	coll_schedule_send(&self->s, 1, 0);
	coll_schedule_fold(&self->s, 3, 0, COLL_FOLD_RIGHT);
	EXPECT_EQ(before.sends, self->s.sends);
	EXPECT_EQ(before.folds, self->s.folds);
	EXPECT_EQ(0, memcmp(before.round, self->s.round, sizeof(before.round)));
}

/* Validating: one thing broken in each */

TEST_F(schedule, a_built_schedule_is_valid)
{
	EXPECT_EQ(0, validate_schedule(&self->s));
}

/* The head, of schedules without lines */

FIXTURE(empty)
{
	struct coll_schedule s;
};

FIXTURE_SETUP(empty)
{
	memset(&self->s, 0, sizeof(self->s));
	ASSERT_EQ(0, coll_schedule_start(&self->s, 4, 1));
	ASSERT_EQ(0, validate_schedule(&self->s));
}

FIXTURE_TEARDOWN(empty)
{
}

TEST_F(empty, validate_refuses_no_hosts)
{
	self->s.hosts = 0;
	self->s.self = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(empty, validate_refuses_too_many_hosts)
{
	self->s.hosts = COLLSOCK_MAX_HOSTS + 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(empty, validate_refuses_a_self_outside_the_group)
{
	self->s.self = 4;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(empty, validate_refuses_no_registers)
{
	self->s.registers = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(empty, validate_refuses_too_many_registers)
{
	self->s.registers = COLL_MAX_REGISTERS + 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(empty, validate_refuses_no_blocks)
{
	self->s.blocks = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

/*
 * Full schedules with one count beyond the arrays; the memory after the array looks valid.
 * On the heap, so that ASan detects reads beyond the schedule.
 */
FIXTURE(full)
{
	struct coll_schedule *s;
};

FIXTURE_SETUP(full)
{
	u32 i;

	self->s = calloc(1, sizeof(*self->s));
	ASSERT_NE(NULL, self->s);
	ASSERT_EQ(0, coll_schedule_start(self->s, 1000, 0));
	for (i = 0; i < COLL_MAX_ROUNDS; i++)
		ASSERT_EQ(0, coll_schedule_round(self->s));
}

FIXTURE_TEARDOWN(full)
{
	free(self->s);
}

TEST_F(full, validate_refuses_too_many_rounds)
{
	EXPECT_EQ(0, validate_schedule(self->s));
	self->s->rounds++;
	EXPECT_EQ(-EINVAL, validate_schedule(self->s));
}

static void fill_edges(struct coll_edge *edge, u8 action)
{
	u32 i;

	for (i = 0; i < COLL_MAX_EDGES; i++) {
		edge[i].host = (action == COLL_SEND ? 1 : 501) + i;
		edge[i].blocks = 1;
		edge[i].action = action;
	}
}

/* Send edges of the last round, followed by what looks like more of them */
static void fill_sends(struct coll_schedule *s)
{
	fill_edges(s->send, COLL_SEND);
	fill_edges(s->fold, COLL_FOLD_RIGHT);
	s->fold[0].action = COLL_SEND;
	s->sends = COLL_MAX_EDGES;
	s->round[COLL_MAX_ROUNDS - 1].sends = COLL_MAX_EDGES;
}

/* Fold entries of the last round. */
static void fill_folds(struct coll_schedule *s)
{
	fill_edges(s->fold, COLL_FOLD_RIGHT);
	s->fold[0].action = COLL_PLACE;
	s->folds = COLL_MAX_EDGES;
	s->round[COLL_MAX_ROUNDS - 1].folds = COLL_MAX_EDGES;
	s->round[COLL_MAX_ROUNDS - 1].recvs = COLL_MAX_EDGES;
}

TEST_F(full, validate_refuses_too_many_send_edges)
{
	fill_sends(self->s);
	EXPECT_EQ(0, validate_schedule(self->s));
	self->s->sends++;
	self->s->round[COLL_MAX_ROUNDS - 1].sends++;
	EXPECT_EQ(-EINVAL, validate_schedule(self->s));
}

TEST_F(full, validate_refuses_too_many_fold_entries)
{
	fill_folds(self->s);
	EXPECT_EQ(0, validate_schedule(self->s));
	self->s->folds++;
	self->s->round[COLL_MAX_ROUNDS - 1].folds++;
	EXPECT_EQ(-EINVAL, validate_schedule(self->s));
}

TEST_F(full, validate_refuses_a_round_of_sends_beyond_the_array_without_looking)
{
	struct coll_round *last = &self->s->round[COLL_MAX_ROUNDS - 1];

	/* The round before has all of them; the last continues beyond the schedule. */
	fill_sends(self->s);
	fill_edges(self->s->fold, COLL_SEND);
	last[-1].sends = COLL_MAX_EDGES;
	last->send_first = COLL_MAX_EDGES;
	last->sends = 255;
	EXPECT_EQ(-EINVAL, validate_schedule(self->s));
}

TEST_F(full, validate_refuses_a_round_of_folds_beyond_the_array_without_looking)
{
	fill_folds(self->s);
	self->s->round[COLL_MAX_ROUNDS - 1].folds = 255;
	EXPECT_EQ(-EINVAL, validate_schedule(self->s));
}

/* The rounds and their lines */

TEST_F(schedule, validate_refuses_a_gap_between_the_sends_of_rounds)
{
	self->s.round[2].send_first = 3;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_sends_shared_by_two_rounds)
{
	self->s.round[2].send_first = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_gap_between_the_folds_of_rounds)
{
	self->s.round[3].fold_first = 5;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_folds_shared_by_two_rounds)
{
	self->s.round[3].fold_first = 3;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_sends_of_no_round)
{
	self->s.sends = 4;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_folds_of_no_round)
{
	self->s.folds = 6;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_round_with_more_sends_than_there_are)
{
	self->s.round[2].sends = 2;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_round_with_more_folds_than_there_are)
{
	self->s.round[3].folds = 2;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_more_receives_than_messages_folded)
{
	self->s.round[0].recvs = 3;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_fewer_receives_than_messages_folded)
{
	self->s.round[3].recvs = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_to_a_host_outside_the_group)
{
	self->s.send[1].host = 4;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_to_self)
{
	self->s.send[1].host = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_two_sends_to_one_host_in_a_round)
{
	self->s.send[1].host = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_of_a_register_that_does_not_exist)
{
	self->s.send[1].reg = 2;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_edge_that_does_not_send)
{
	self->s.send[1].action = COLL_PLACE;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_of_no_blocks)
{
	self->s.send[1].blocks = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_of_blocks_that_do_not_exist)
{
	self->s.send[1].first_block = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_send_of_blocks_that_wrap_around)
{
	self->s.send[1].first_block = 0xffff;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_of_a_host_outside_the_group)
{
	self->s.fold[4].host = 4;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_two_messages_of_one_host_in_a_round)
{
	self->s.fold[2].host = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_self_twice_for_one_register)
{
	self->s.fold[2].host = 1;
	self->s.round[0].recvs = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_into_a_register_that_does_not_exist)
{
	self->s.fold[4].reg = 2;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_into_a_register_not_placed)
{
	self->s.fold[4].action = COLL_FOLD_RIGHT;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_register_placed_twice_in_a_round)
{
	self->s.fold[2].action = COLL_PLACE;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_entry_that_sends)
{
	self->s.fold[1].action = COLL_SEND;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_entry_of_unknown_action)
{
	self->s.fold[1].action = COLL_FOLD_RIGHT + 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_of_no_blocks)
{
	self->s.fold[1].blocks = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_a_fold_of_blocks_that_do_not_exist)
{
	self->s.fold[1].first_block = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(schedule, validate_refuses_several_blocks_unless_in_parts)
{
	self->s.blocks = 8;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

/* ---- schedules of parts ---- */

/*
 * Host 1 of 3 with 8 blocks: swaps halves with host 0, then quarters with host 2, then receives
 * what it has sent.
 */
FIXTURE(parts)
{
	struct coll_schedule s;
};

FIXTURE_SETUP(parts)
{
	struct coll_schedule *s = &self->s;

	ASSERT_EQ(0, coll_schedule_start_parts(s, 3, 1, 8));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_send_blocks(s, 0, 0, 4));
	ASSERT_EQ(0, coll_schedule_fold_blocks(s, 0, 4, 4, COLL_FOLD_LEFT));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_send_blocks(s, 2, 6, 2));
	ASSERT_EQ(0, coll_schedule_fold_blocks(s, 2, 4, 2, COLL_FOLD_RIGHT));
	ASSERT_EQ(0, coll_schedule_round(s));
	ASSERT_EQ(0, coll_schedule_fold_blocks(s, 0, 0, 4, COLL_PLACE));
	ASSERT_EQ(0, coll_schedule_fold_blocks(s, 2, 6, 2, COLL_PLACE));
}

FIXTURE_TEARDOWN(parts)
{
}

TEST_F(parts, validate_allows_what_changes_where_it_was_sent)
{
	EXPECT_EQ(0, validate_schedule(&self->s));
}

TEST_F(parts, need_one_value_and_a_buffer_for_each_message)
{
	struct coll_room room = {};

	coll_schedule_room(&self->s, &room);
	EXPECT_EQ(2, room.messages);
	EXPECT_EQ(1, room.values);
	EXPECT_EQ(4, room.early);
	EXPECT_EQ(0, coll_schedule_last_value(&self->s));
}

TEST_F(parts, refuse_to_fold_with_what_was_sent)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 1, 3, 1, COLL_FOLD_RIGHT));
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 0, 3, 1, COLL_FOLD_RIGHT));
	EXPECT_EQ(0, coll_schedule_fold_blocks(&self->s, 0, 4, 1, COLL_FOLD_RIGHT));
}

TEST_F(parts, refuse_to_place_where_another_host_was_sent_something)
{
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 2, 3, 1, COLL_PLACE));
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 0, 5, 2, COLL_PLACE));
	EXPECT_EQ(0, coll_schedule_fold_blocks(&self->s, 0, 3, 3, COLL_PLACE));
}

TEST_F(parts, refuse_to_place_in_the_round_that_sends)
{
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	ASSERT_EQ(0, coll_schedule_send_blocks(&self->s, 2, 4, 1));
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 2, 4, 1, COLL_PLACE));
	EXPECT_EQ(0, coll_schedule_fold_blocks(&self->s, 2, 5, 1, COLL_PLACE));
}

TEST_F(parts, refuse_two_messages_of_one_host_in_a_round)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 0, 5, 1, COLL_PLACE));
}

TEST_F(parts, refuse_blocks_that_do_not_exist)
{
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 7, 2));
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 8, 1));
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 4, 0));
	EXPECT_EQ(0, coll_schedule_send_blocks(&self->s, 0, 6, 2));
}

TEST_F(parts, validate_refuses_self_in_the_fold_list)
{
	self->s.fold[0].host = 1;
	self->s.round[0].recvs = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(parts, validate_refuses_a_vector_without_blocks)
{
	self->s.blocks = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(parts, validate_refuses_an_action_for_other_forms)
{
	self->s.fold[0].action = COLL_PREFIX;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
	self->s.fold[0].action = COLL_SEND;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

/* ---- place-only schedules ---- */

/* Host 3 of 5 has its own block, and receives two rounds: blocks 4, 0, 1, and 2. */
FIXTURE(places)
{
	struct coll_schedule s;
};

FIXTURE_SETUP(places)
{
	ASSERT_EQ(0, coll_schedule_start_places(&self->s, 5, 3));
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	ASSERT_EQ(0, coll_schedule_send_blocks(&self->s, 0, 3, 1));
	ASSERT_EQ(0, coll_schedule_fold_blocks(&self->s, 4, 4, 3, COLL_PLACE));
	ASSERT_EQ(0, coll_schedule_round(&self->s));
	ASSERT_EQ(0, coll_schedule_fold_blocks(&self->s, 2, 2, 1, COLL_PLACE));
}

FIXTURE_TEARDOWN(places)
{
}

TEST_F(places, validate_allows_ranges_that_wrap_around)
{
	EXPECT_EQ(0, validate_schedule(&self->s));
}

TEST_F(places, need_one_value_and_no_early_buffer)
{
	struct coll_room room = {};

	coll_schedule_room(&self->s, &room);
	EXPECT_EQ(1, room.messages);
	EXPECT_EQ(1, room.values);
	EXPECT_EQ(0, room.early);
}

TEST_F(places, refuse_a_block_that_another_round_has_received)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 1, 1, 1, COLL_PLACE));
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 1, 3, 3, COLL_PLACE));
	EXPECT_EQ(0, coll_schedule_fold_blocks(&self->s, 1, 3, 1, COLL_PLACE));
}

TEST_F(places, refuse_two_messages_of_one_host_in_a_round)
{
	EXPECT_EQ(-EINVAL, coll_schedule_fold_blocks(&self->s, 2, 3, 1, COLL_PLACE));
}

TEST_F(places, refuse_blocks_that_do_not_exist)
{
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 5, 1));
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 0, 6));
	EXPECT_EQ(-EINVAL, coll_schedule_send_blocks(&self->s, 0, 0, 0));
}

TEST_F(places, validate_refuses_what_is_not_placed)
{
	self->s.fold[0].action = COLL_FOLD_RIGHT;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(places, validate_refuses_self_in_the_fold_list)
{
	self->s.fold[1].host = 3;
	self->s.round[1].recvs = 0;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

TEST_F(places, validate_refuses_blocks_of_its_own)
{
	self->s.blocks = 1;
	EXPECT_EQ(-EINVAL, validate_schedule(&self->s));
}

/* With ASan and UBSan: no bytes make validate, or find after it, look outside. */
TEST_F(schedule, validate_survives_any_bytes)
{
	u64 random = seed_start();
	u64 i, allowed = 0;
	u32 round;

	for (i = 0; i < 200000 * seed_soak(); i++) {
		struct coll_schedule s = self->s;
		u8 *bytes = (u8 *)&s;
		u64 x = seed_next(&random);

		/*
		 * Anywhere, and in the head and the first rounds, where it has the most
		 * effect
		 */
		bytes[(x >> 8 & 0xffff) % sizeof(s)] ^= x;
		x >>= 32;
		bytes[(x >> 8 & 0xffff) % offsetof(struct coll_schedule, round[4])] ^= x;
		s.form = x % 4;
		if (validate_schedule(&s))
			continue;
		allowed++;
		for (round = 0; round < 256; round++)
			ASSERT_GT(s.folds, coll_schedule_find(&s, round, 3));
	}
	EXPECT_LT(0, allowed);
}

/* Finding */

TEST_F(schedule, each_message_is_found_in_its_round)
{
	EXPECT_EQ(1, coll_schedule_find(&self->s, 0, 0));
	EXPECT_EQ(2, coll_schedule_find(&self->s, 0, 2));
	EXPECT_EQ(4, coll_schedule_find(&self->s, 3, 3));
}

TEST_F(schedule, a_message_of_another_round_is_not_found)
{
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 3, 0));
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 0, 3));
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 1, 0));
}

TEST_F(schedule, a_message_of_a_round_that_does_not_exist_is_not_found)
{
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 4, 3));
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 255, 3));
}

TEST_F(schedule, a_message_of_a_host_outside_the_group_is_not_found)
{
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 0, 4));
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 0, 0xffffffff));
}

TEST_F(schedule, self_is_not_a_message)
{
	EXPECT_EQ(-ENOENT, coll_schedule_find(&self->s, 0, 1));
}

TEST_HARNESS_MAIN
