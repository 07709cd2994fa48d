// SPDX-License-Identifier: GPL-2.0
/*
 * A bearer other than UDP: the world's own. The bearer determines what a member is, the
 * largest packet and the sender of a packet; the core relies on it.
 */
#include "../harness.h"
#include "network.h"
#include "../sim/world_bearer.h"

#define HOSTS	4
#define MINUTE	(60 * NSEC_PER_SEC)

FIXTURE(bearer)
{
	struct unit_network network;
	struct collsock_member members[HOSTS];
	u32 host_of_rank[HOSTS];
};

FIXTURE_SETUP(bearer)
{
	u32 i;

	unit_network_init(&self->network, HOSTS, 5);
	self->network.join.segment_bytes = 480;
	for (i = 0; i < HOSTS; i++) {
		world_bearer_member(&self->members[i], i);
		self->host_of_rank[i] = i;
	}
	ASSERT_EQ(0, coll_descriptor_normalise(&self->network.join));
}

FIXTURE_TEARDOWN(bearer)
{
	unit_network_free(&self->network);
}

#define CHECK() \
	coll_descriptor_check(&self->network.join, self->members, self->host_of_rank)

/* ---- members ---- */

TEST_F(bearer, members_without_ports_are_valid_and_unchanged)
{
	struct collsock_member before[HOSTS];

	memcpy(before, self->members, sizeof(before));
	EXPECT_EQ(0, CHECK());
	EXPECT_EQ(0, memcmp(before, self->members, sizeof(before)));
}

#define REFUSED(change) ({ \
	struct collsock_member before[HOSTS]; \
	memcpy(before, self->members, sizeof(before)); \
	change; \
	EXPECT_EQ(-EINVAL, CHECK()) TH_LOG(#change); \
	memcpy(self->members, before, sizeof(before)); \
})

TEST_F(bearer, members_that_are_invalid_for_the_bearer_are_refused)
{
	REFUSED(self->members[1].port = COLLSOCK_PORT);
	REFUSED(memset(self->members[1].address, 0, 16));
	REFUSED(self->members[1].address[4] = 1);
	REFUSED(self->members[1].family = 2);
	REFUSED(self->members[0].family = WORLD_FAMILY + 1);
}

TEST_F(bearer, the_bearer_decides_which_addresses_are_equal)
{
	self->members[2].scope_id = 3;
	EXPECT_EQ(0, CHECK());
	world_bearer_member(&self->members[0], 2);
	self->network.join.rank = 2;
	EXPECT_EQ(-EINVAL, CHECK());
	self->members[0].scope_id = 7;
	EXPECT_EQ(-EINVAL, CHECK());
}

TEST_F(bearer, segments_that_the_bearer_does_not_carry_are_refused)
{
	struct collsock_join *j = &self->network.join;

	j->max_result_bytes = COLLSOCK_DEFAULT_SEGMENT;
	j->segment_bytes = COLLSOCK_DEFAULT_SEGMENT;
	EXPECT_EQ(-EMSGSIZE, CHECK());
	j->segment_bytes = 480;
	EXPECT_EQ(0, CHECK());
	/* The segment is no longer than any vector. */
	j->segment_bytes = COLLSOCK_DEFAULT_SEGMENT;
	j->max_result_bytes = 480;
	EXPECT_EQ(0, CHECK());
}

/* ---- a group ---- */

/* Members are on the machines in reverse order, so that only their addresses identify them. */
static int join_all(struct unit_network *n, struct collsock_member *members)
{
	u32 machines[HOSTS], i;
	int err;

	for (i = 0; i < HOSTS; i++) {
		machines[i] = HOSTS - 1 - i;
		world_bearer_member(&members[i], machines[i]);
	}
	err = world_group_init(&n->world, &n->group, &n->join, NULL, machines);
	n->group.member = members;
	n->made = true;
	return err ? err : unit_join_all(n, NULL);
}

static u32 tapped, too_long, without_header;

static bool tap_lengths(struct unit_network *n, struct world_packet *p)
{
	tapped++;
	without_header += p->header_bytes != WORLD_HEADER_BYTES;
	too_long += p->bytes > WORLD_PACKET_BYTES;
	return false;
}

TEST_F(bearer, a_group_works_over_it)
{
	struct unit_network *n = &self->network;
	u64 values[COLLSOCK_DEFAULT_SEGMENT / 8] = {};
	const u32 count = ARRAY_SIZE(values);
	u32 host, i;

	n->join.max_bytes = sizeof(values);
	tapped = 0;
	too_long = 0;
	without_header = 0;
	n->tap = tap_lengths;
	ASSERT_EQ(0, join_all(n, self->members));
	for (host = 0; host < HOSTS; host++) {
		for (i = 0; i < count; i++)
			values[i] = (u64)i << 8 * host;
		ASSERT_EQ(0, unit_allreduce(n, host, COLLSOCK_UINT64, COLLSOCK_SUM, count, values));
	}
	ASSERT_TRUE(unit_await_all(n, MINUTE));
	for (host = 0; host < HOSTS; host++) {
		EXPECT_EQ(0, n->ranks[host].ops[0].error);
		ASSERT_EQ(sizeof(values), n->ranks[host].ops[0].bytes);
		memcpy(values, n->ranks[host].ops[0].result, sizeof(values));
		for (i = 0; i < count; i++)
			ASSERT_EQ(i * 0x01010101ULL, values[i]);
	}
	EXPECT_LT(0, tapped);
	EXPECT_EQ(0, without_header);
	EXPECT_EQ(0, too_long);
}

/* Packets of member 1 come from the address of member 2. */
static bool tap_source(struct unit_network *n, struct world_packet *p)
{
	struct collsock_member from, self;

	world_bearer_ends(p, &from, &self);
	if (world_bearer_machine(&from) == world_bearer_machine(&n->group.member[1])) {
		world_bearer_address(p, &n->group.member[2], &self);
		tapped++;
	}
	return false;
}

TEST_F(bearer, a_packet_from_the_address_of_another_member_is_not_received)
{
	struct unit_network *n = &self->network;
	u32 host;

	tapped = 0;
	n->tap = tap_source;
	ASSERT_EQ(0, join_all(n, self->members));
	for (host = 0; host < HOSTS; host++)
		ASSERT_EQ(0, unit_barrier(n, host));
	EXPECT_FALSE(unit_await(n, 0, 0, 100 * NSEC_PER_MSEC));
	EXPECT_LT(0, tapped);
	EXPECT_EQ(tapped, n->world.forged);
	EXPECT_EQ(0, unit_group(n, 0)->stats.stale);
	n->tap = NULL;
	EXPECT_TRUE(unit_await_all(n, MINUTE));
}

static struct world_packet *kept;
static u32 answers;

/* Keeps a message of the last host, or counts packets to its machine. */
static bool tap_last(struct unit_network *n, struct world_packet *p)
{
	struct collsock_member from, self;
	struct coll_body body;

	coll_wire_read_body(p->data, p->bytes, &body);
	world_bearer_ends(p, &from, &self);
	if (kept && p->to == world_bearer_machine(&n->group.member[HOSTS - 1]))
		answers += world_bearer.member_same(&self, &n->group.member[HOSTS - 1]);
	if (kept || body.type != COLL_PACKET_MESSAGE ||
	    !world_bearer_is_from(p, &n->group.member[HOSTS - 1]))
		return false;
	kept = world_packet_new(p->bytes);
	memcpy(kept, p, sizeof(*p) + p->bytes);
	return false;
}

TEST_F(bearer, an_answer_from_time_wait_goes_where_the_packet_came_from)
{
	struct unit_network *n = &self->network;
	u32 host;

	kept = NULL;
	n->tap = tap_last;
	ASSERT_EQ(0, join_all(n, self->members));
	for (host = 0; host < HOSTS; host++)
		ASSERT_EQ(0, unit_barrier(n, host));
	ASSERT_TRUE(unit_await_all(n, MINUTE));
	for (host = 0; host < HOSTS; host++)
		unit_leave(n, host);
	unit_run(n, 200 * NSEC_PER_MSEC);
	for (host = 0; host < HOSTS; host++)
		ASSERT_TRUE(unit_timewait(n, host));
	ASSERT_TRUE(kept);
	answers = 0;
	world_inject(&n->world, kept);
	unit_run(n, 10 * NSEC_PER_MSEC);
	EXPECT_EQ(1, answers);
}

TEST_HARNESS_MAIN
