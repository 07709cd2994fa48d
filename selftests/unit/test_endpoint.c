// SPDX-License-Identifier: GPL-2.0
/* The rules of a host outside the life of a group: what requests agree on, early packets. */
#include "kselftest_harness.h"
#include "descriptor.h"
#include "endpoint.h"

#define HOSTS	3
#define RANKS	5
#define TAG	7

FIXTURE(endpoint)
{
	struct collsock_join join;
	struct collsock_member members[HOSTS];
	u32 host_of_rank[RANKS];
};

FIXTURE_SETUP(endpoint)
{
	u32 i;

	memset(self, 0, sizeof(*self));
	self->join = (struct collsock_join) {
		.size = sizeof(self->join), .id = 1, .nonce = 2, .key = { 9 },
		.hosts = HOSTS, .ranks = RANKS, .rank = 1,
	};
	for (i = 0; i < HOSTS; i++) {
		self->members[i].family = 2;
		self->members[i].address[0] = 10;
		self->members[i].address[3] = 1 + i;
	}
	for (i = 0; i < RANKS; i++)
		self->host_of_rank[i] = i % HOSTS;
	ASSERT_EQ(0, coll_descriptor_normalise(&self->join));
	ASSERT_EQ(0, coll_descriptor_check(&self->join, self->members, self->host_of_rank));
}

FIXTURE_TEARDOWN(endpoint)
{
}

static void identify(const FIXTURE_DATA(endpoint) *e, struct coll_request *request,
		     struct coll_identity *id)
{
	*request = (struct coll_request) { &e->join, e->members, e->host_of_rank };
	memset(id, 0xaa, sizeof(*id));
	coll_endpoint_identify(request, id);
}

static bool agree(const FIXTURE_DATA(endpoint) *a, const FIXTURE_DATA(endpoint) *b)
{
	struct coll_identity a_id, b_id;
	struct coll_request x, y;

	identify(a, &x, &a_id);
	identify(b, &y, &b_id);
	return coll_endpoint_agrees(&x, &a_id.secret, &y, &b_id.secret);
}

#define AGREES(change, agrees) ({ \
	typeof(*self) before = *self; \
	change; \
	EXPECT_EQ(agrees, agree(self, &before)) TH_LOG(#change); \
	EXPECT_EQ(agrees, agree(&before, self)) TH_LOG(#change " of the first"); \
	*self = before; \
})

TEST_F(endpoint, the_ranks_of_a_host_agree_on_all_but_their_own_number)
{
	u32 i;

	AGREES(, true);
	AGREES(self->join.rank = 4, true);
	AGREES(self->join.id++, false);
	AGREES(self->join.nonce++, false);
	AGREES(self->join.window--, false);
	AGREES(self->join.max_bytes--, false);
	AGREES(self->join.segment_bytes -= COLLSOCK_SEGMENT_QUANTUM, false);
	AGREES(self->join.liveness_ms = 500, false);
	AGREES(self->join.features = 1, false);
	AGREES(self->join.algorithms = BIT_ULL(COLLSOCK_BINOMIAL), false);
	AGREES(self->join.fanout = 2, false);
	AGREES((self->join.hosts--, self->join.ranks = 2), false);
	AGREES(self->join.ranks--, false);
	for (i = 0; i < sizeof(self->join.key); i++)
		AGREES(self->join.key[i] ^= 0x80, false);
	for (i = 0; i < COLLSOCK_MAX_OPERATIONS; i++)
		AGREES(self->join.algorithm[i]++, false);
}

TEST_F(endpoint, the_ranks_of_a_host_agree_on_every_host_and_rank)
{
	u32 i;

	for (i = 0; i < HOSTS; i++) {
		AGREES(self->members[i].address[3] ^= 0x80, false);
		AGREES(self->members[i].port++, false);
		/* It is the same on one host. */
		AGREES(self->members[i].scope_id++, false);
	}
	for (i = 1; i < RANKS; i++)
		AGREES(self->host_of_rank[i] = 0, i % HOSTS == 0);
}

/* A request need not have its key any more: what follows from it is compared. */
TEST_F(endpoint, the_key_may_be_gone)
{
	struct coll_identity id;
	struct coll_request request, kept;
	struct collsock_join without = self->join;

	identify(self, &request, &id);
	memset(without.key, 0, sizeof(without.key));
	kept = request;
	kept.join = &without;
	EXPECT_TRUE(coll_endpoint_agrees(&request, &id.secret, &kept, &id.secret));
	EXPECT_TRUE(coll_endpoint_agrees(&kept, &id.secret, &request, &id.secret));
}

/* ---- early packets ---- */

#define TAKE(host) ({ \
	bool _taken = false; \
	u32 _i; \
	for (_i = 0; !_taken && _i < COLL_EARLY_PACKETS; _i++) \
		_taken = coll_endpoint_take_early(&table, _i, &id, self->members, HOSTS, host); \
	_taken; \
})

TEST_F(endpoint, an_early_packet_is_taken_once_and_only_if_it_came_from_the_member_it_names)
{
	static struct coll_early_packets table;
	struct coll_identity id = { .secret.tag = TAG, .self = 1 };
	struct collsock_member other = self->members[2];
	u32 host = 99;

	coll_endpoint_note_early(&table, TAG, 2, &self->members[2], 1);
	EXPECT_TRUE(TAKE(&host));
	EXPECT_EQ(2, host);
	EXPECT_FALSE(TAKE(&host));

	coll_endpoint_note_early(&table, TAG + 1, 2, &self->members[2], 1);
	EXPECT_FALSE(TAKE(&host));
	coll_endpoint_note_early(&table, TAG, 2, &self->members[0], 1);
	EXPECT_FALSE(TAKE(&host));
	other.port++;
	coll_endpoint_note_early(&table, TAG, 2, &other, 1);
	EXPECT_FALSE(TAKE(&host));
	/* Itself, and hosts that the group does not have */
	coll_endpoint_note_early(&table, TAG, 1, &self->members[1], 1);
	EXPECT_FALSE(TAKE(&host));
	coll_endpoint_note_early(&table, TAG, HOSTS, &self->members[2], 1);
	EXPECT_FALSE(TAKE(&host));
	coll_endpoint_note_early(&table, TAG, 0xffff, &self->members[2], 1);
	EXPECT_FALSE(TAKE(&host));
}

TEST_HARNESS_MAIN
