// SPDX-License-Identifier: GPL-2.0
/* The rules of a host outside the lifetime of a group: agreement of requests, early packets */
#include "../harness.h"
#include "descriptor.h"
#include "endpoint.h"

#define HOSTS	3
#define RANKS	5
#define TAG	7

/* The request of a rank */
struct description {
	struct collsock_join join;
	struct collsock_member members[HOSTS];
	u32 host_of_rank[RANKS];
};

FIXTURE(endpoint)
{
	struct description own;
};

FIXTURE_SETUP(endpoint)
{
	u32 i;

	memset(self, 0, sizeof(*self));
	self->own.join = (struct collsock_join) {
		.size = sizeof(self->own.join), .id = 1, .nonce = 2, .key = { 9 },
		.hosts = HOSTS, .ranks = RANKS, .rank = 1,
	};
	for (i = 0; i < HOSTS; i++) {
		self->own.members[i].family = 2;
		self->own.members[i].address[0] = 10;
		self->own.members[i].address[3] = 1 + i;
	}
	for (i = 0; i < RANKS; i++)
		self->own.host_of_rank[i] = i % HOSTS;
	ASSERT_EQ(0, coll_descriptor_normalise(&self->own.join));
	ASSERT_EQ(0, coll_descriptor_check(&self->own.join, self->own.members,
					   self->own.host_of_rank));
}

FIXTURE_TEARDOWN(endpoint)
{
}

static void identify(const struct description *e, struct coll_request *request,
		     struct coll_identity *id)
{
	*request = (struct coll_request) { &e->join, e->members, e->host_of_rank };
	memset(id, 0xaa, sizeof(*id));
	coll_endpoint_identify(request, id);
}

static bool agree(const struct description *a, const struct description *b)
{
	struct coll_identity a_id, b_id;
	struct coll_request x, y;

	identify(a, &x, &a_id);
	identify(b, &y, &b_id);
	return coll_endpoint_agrees(x.join, &a_id.secret, y.join, &b_id.secret) &&
	       coll_endpoint_same_tables(&x, &y);
}

#define AGREES(change, expected) ({ \
	struct description before = self->own; \
	bool both = expected; \
	change; \
	EXPECT_EQ(both, agree(&self->own, &before)) TH_LOG(#change); \
	EXPECT_EQ(both, agree(&before, &self->own)) TH_LOG(#change " of the first"); \
	self->own = before; \
})

TEST_F(endpoint, the_ranks_of_a_host_agree_on_all_but_their_own_number)
{
	u32 i;

	AGREES(, true);
	AGREES(self->own.join.rank = 4, true);
	AGREES(self->own.join.id++, false);
	AGREES(self->own.join.nonce++, false);
	AGREES(self->own.join.window--, false);
	AGREES(self->own.join.max_bytes--, false);
	AGREES(self->own.join.mac = COLLSOCK_MAC_SIPHASH, false);
	AGREES(self->own.join.segment_bytes -= COLLSOCK_SEGMENT_QUANTUM, false);
	AGREES(self->own.join.liveness_ms = 500, false);
	AGREES(self->own.join.features = 1, false);
	AGREES(self->own.join.algorithms = BIT_ULL(COLLSOCK_BINOMIAL), false);
	AGREES(self->own.join.degree = 2, false);
	AGREES((self->own.join.hosts--, self->own.join.ranks = 2), false);
	AGREES(self->own.join.ranks--, false);
	for (i = 0; i < sizeof(self->own.join.key); i++)
		AGREES(self->own.join.key[i] ^= 0x80, false);
	for (i = 0; i < COLLSOCK_MAX_OPERATIONS; i++)
		AGREES(self->own.join.algorithm[i]++, false);
}

TEST_F(endpoint, the_ranks_of_a_host_agree_on_every_host_and_rank)
{
	u32 i;

	for (i = 0; i < HOSTS; i++) {
		AGREES(self->own.members[i].address[3] ^= 0x80, false);
		AGREES(self->own.members[i].port++, false);
		/* It is the same on one host. */
		AGREES(self->own.members[i].scope_id++, false);
	}
	for (i = 1; i < RANKS; i++)
		AGREES(self->own.host_of_rank[i] = 0, i % HOSTS == 0);
}

/* The key of a request may have been erased: derived secrets are compared. */
TEST_F(endpoint, requests_agree_without_their_keys)
{
	struct coll_identity id;
	struct coll_request request, kept;
	struct collsock_join without = self->own.join;

	identify(&self->own, &request, &id);
	memset(without.key, 0, sizeof(without.key));
	kept = request;
	kept.join = &without;
	EXPECT_TRUE(coll_endpoint_agrees(request.join, &id.secret, kept.join, &id.secret));
	EXPECT_TRUE(coll_endpoint_agrees(kept.join, &id.secret, request.join, &id.secret));
}

/* Who chooses a key may find one that makes a tag. */
TEST_F(endpoint, requests_with_equal_tags_and_other_keys_do_not_agree)
{
	struct coll_identity id, other;
	struct coll_request request;

	identify(&self->own, &request, &id);
	self->own.join.key[0] ^= 1;
	identify(&self->own, &request, &other);
	other.secret.tag = id.secret.tag;
	EXPECT_FALSE(coll_endpoint_agrees(request.join, &id.secret, request.join, &other.secret));
	EXPECT_FALSE(coll_endpoint_agrees(request.join, &other.secret, request.join, &id.secret));
}

/* ---- early packets ---- */

static bool take(struct coll_early_packets *table, const struct description *own,
		 const struct coll_identity *id, u32 *host)
{
	u32 i;

	for (i = 0; i < COLL_EARLY_PACKETS; i++)
		if (coll_endpoint_take_early(table, i, id, own->members, HOSTS, host))
			return true;
	return false;
}

TEST_F(endpoint, an_early_packet_is_taken_once_if_it_came_from_the_member_it_names)
{
	static struct coll_early_packets table;
	struct coll_identity id = { .secret.tag = TAG, .self = 1 };
	struct collsock_member other = self->own.members[2];
	u32 host = 99;

	coll_endpoint_note_early(&table, TAG, 2, &self->own.members[2], 1);
	EXPECT_TRUE(take(&table, &self->own, &id, &host));
	EXPECT_EQ(2, host);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));

	coll_endpoint_note_early(&table, TAG + 1, 2, &self->own.members[2], 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
	coll_endpoint_note_early(&table, TAG, 2, &self->own.members[0], 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
	other.port++;
	coll_endpoint_note_early(&table, TAG, 2, &other, 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
	/* Itself, and hosts that the group does not have */
	coll_endpoint_note_early(&table, TAG, 1, &self->own.members[1], 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
	coll_endpoint_note_early(&table, TAG, HOSTS, &self->own.members[2], 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
	coll_endpoint_note_early(&table, TAG, 0xffff, &self->own.members[2], 1);
	EXPECT_FALSE(take(&table, &self->own, &id, &host));
}

#define NEIGHBOURS	64

/* A neighbour sends any number of early packets: is that of a member displaced? */
static bool displaced(const siphash_key_t *seed, u8 neighbour, const struct description *own)
{
	static struct coll_early_packets table;
	struct coll_identity id = { .secret.tag = TAG, .self = 1 };
	struct collsock_member from = own->members[2];
	u32 i, host;

	memset(&table, 0, sizeof(table));
	table.seed = *seed;
	coll_endpoint_note_early(&table, TAG, 2, &from, 1);
	from.address[3] = neighbour;
	for (i = 0; i < 10 * COLL_EARLY_PACKETS; i++) {
		from.port++;
		coll_endpoint_note_early(&table, TAG * i, i % HOSTS, &from, i);
	}
	return !take(&table, own, &id, &host);
}

TEST_F(endpoint, early_packets_from_an_address_displace_those_of_few_others)
{
	siphash_key_t seed = { { 0, 0 } };
	u32 i, count = 0;

	for (i = 0; i < NEIGHBOURS; i++)
		count += displaced(&seed, 100 + i, &self->own);
	EXPECT_LE(count, NEIGHBOURS / 8);
}

TEST_F(endpoint, which_others_that_are_depends_on_the_seed)
{
	siphash_key_t seed = { { 0, 0 } };
	u32 i, count = 0;

	for (i = 0; i < NEIGHBOURS; i++) {
		seed.key[0] = i;
		count += displaced(&seed, 100, &self->own);
	}
	EXPECT_GE(count, 1);
	EXPECT_LE(count, NEIGHBOURS / 8);
}

TEST_F(endpoint, several_groups_of_a_host_have_early_packets_at_once)
{
	static struct coll_early_packets table;
	struct coll_identity id = { .self = 1 };
	u32 i, host;

	for (i = 0; i < COLL_EARLY_WAYS; i++)
		coll_endpoint_note_early(&table, TAG + i, 2, &self->own.members[2], i);
	/* Again: it takes no other's place. */
	coll_endpoint_note_early(&table, TAG, 2, &self->own.members[2], i);
	for (i = 0; i < COLL_EARLY_WAYS; i++) {
		id.secret.tag = TAG + i;
		EXPECT_TRUE(take(&table, &self->own, &id, &host)) TH_LOG("group %u", i);
	}
}

/* What follows looks the source up in a table of as many hosts. */
TEST(a_packet_is_from_another_host_of_the_group)
{
	EXPECT_TRUE(coll_endpoint_may_be_from(0, 1, 3));
	EXPECT_TRUE(coll_endpoint_may_be_from(2, 1, 3));
	EXPECT_FALSE(coll_endpoint_may_be_from(3, 1, 3)) TH_LOG("no host");
	EXPECT_FALSE(coll_endpoint_may_be_from(~0U, 1, 3)) TH_LOG("no host");
	EXPECT_FALSE(coll_endpoint_may_be_from(1, 1, 3)) TH_LOG("the host itself");
}

TEST_HARNESS_MAIN
