// SPDX-License-Identifier: GPL-2.0
/* Records from other ranks: any bytes may arrive, and all ranks blame the same rank. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../../libcollsock/src/joining_plan.h"
#include "../../libcollsock/src/joining_proof.h"
#include "../harness.h"
#include "fake_kernel.h"
#include "layout_check.h"

#define RANKS 4
#define RUNS 200000

static void fill(struct joining_record *r, const struct collsock_options *o, __u32 rank, int error)
{
	static const struct collsock_devices none;

	joining_record_fill(r, o, &none, rank, RANKS, error);
}

FIXTURE(records)
{
	struct collsock_options	options;
	struct joining_record	of[RANKS];
	char			detail[JOINING_DETAIL_BYTES];
};

FIXTURE_SETUP(records)
{
	__u32 i;

	fake.addresses[0] = "eth0=10.1.0.1/24";
	ASSERT_EQ(0, joining_options_complete(&self->options, NULL));
	joining_options_find_port(&self->options);
	for (i = 0; i < RANKS; i++) {
		fill(&self->of[i], &self->options, i, 0);
		self->of[i].host.identity[0] = i;
		self->of[i].host.address[0].bytes[3] = 1 + i;
	}
}

FIXTURE_TEARDOWN(records)
{
}

#define CHECK() joining_record_check(self->of, &self->options, RANKS, self->detail)

/* That this is found out, whose it is, and what is said */
#define EXPECT_BLAMED(wanted_error, wanted_rank, wanted_words) ({ \
	const char *words = wanted_words; \
	struct joining_outcome o = CHECK(); \
	EXPECT_EQ(wanted_error, o.error); \
	EXPECT_EQ(wanted_rank, o.rank); \
	EXPECT_NE(NULL, strstr(self->detail, words)) { \
		TH_LOG("\"%s\" without \"%s\"", self->detail, words); \
	} \
})

TEST_F(records, of_ranks_that_agree_are_fine)
{
	EXPECT_EQ(0, CHECK().error);
	EXPECT_STREQ("", self->detail);
}

TEST_F(records, each_rank_draws_its_part_of_the_nonce)
{
	struct joining_record again;
	__u32 i;

	for (i = 0; i < RANKS; i++) {
		fill(&again, &self->options, i, 0);
		EXPECT_NE(0, again.fresh);
		EXPECT_NE(again.fresh, self->of[i].fresh);
	}
}

TEST_F(records, rank_0_alone_draws_what_is_secret)
{
	static const __u8 none[COLLSOCK_KEY_BYTES];
	struct joining_record again;

	fill(&again, &self->options, 0, 0);
	EXPECT_NE(again.id, self->of[0].id);
	EXPECT_NE(0, memcmp(again.key, self->of[0].key, sizeof(again.key)));
	EXPECT_EQ(0, memcmp(none, self->of[1].key, sizeof(none)));
}

TEST_F(records, a_key_of_the_options_is_in_no_record)
{
	struct joining_record *r = &self->of[0];
	__u32 i, seen = 0;

	memset(self->options.key, 0xa7, sizeof(self->options.key));
	fill(r, &self->options, 0, 0);
	for (i = 0; i + sizeof(self->options.key) <= sizeof(*r); i++)
		seen += !memcmp((__u8 *)r + i, self->options.key, sizeof(self->options.key));
	EXPECT_EQ(0, seen);
	EXPECT_EQ(1, r->terms.keyed);
}

TEST_F(records, a_group_with_a_name_has_the_same_number_each_time)
{
	struct joining_record again;

	strcpy(self->options.name, "training");
	fill(&self->of[0], &self->options, 0, 0);
	fill(&again, &self->options, 0, 0);
	EXPECT_EQ(again.id, self->of[0].id);
	EXPECT_NE(again.fresh, self->of[0].fresh);
	strcpy(self->options.name, "checkpoint");
	fill(&again, &self->options, 0, 0);
	EXPECT_NE(again.id, self->of[0].id);
}

TEST_F(records, a_rank_that_cannot_join_says_why)
{
	fill(&self->of[2], &self->options, 2, -ENFILE);
	self->of[3].error = -ENOMEM;
	EXPECT_BLAMED(-ENFILE, 2, "");
	EXPECT_STREQ("", self->detail);
}

TEST_F(records, a_rank_whose_program_cannot_be_started_says_so)
{
	fill(&self->of[2], &self->options, 2, -ENOENT);
	self->of[2].no_program = 1;
	EXPECT_BLAMED(-ENOENT, 2,
		      "rank 2: its program cannot be started: No such file or directory");
}

/* They are not printed as they are: they come from another rank. */
TEST_F(records, a_rank_without_a_port_says_of_which)
{
	struct joining_record *r = &self->of[2];

	fill(r, &self->options, 2, -EACCES);
	strcpy(r->ports, "80-81");
	EXPECT_BLAMED(-EACCES, 2, "rank 2: cannot use UDP ports 80-81 (COLLSOCK_USER_PORTS)");
	memset(r->ports, '\033', sizeof(r->ports));
	EXPECT_BLAMED(-EACCES, 2, "rank 2: cannot use UDP ports ??????????????????????? (");
	r->error = -EADDRNOTAVAIL;
	EXPECT_BLAMED(-EADDRNOTAVAIL, 2, "");
	EXPECT_STREQ("", self->detail);
}

TEST_F(records, a_rank_without_a_usable_address_says_so)
{
	fake.addresses[0] = NULL;
	fill(&self->of[1], &self->options, 1, 0);
	EXPECT_BLAMED(-EADDRNOTAVAIL, 1, "");
}

/* ---- what ranks exchange: a change of any of this needs another version ---- */

TEST_F(records, version_of_what_ranks_exchange)
{
	EXPECT_EQ(0xc0110106, self->of[0].version);
}

TEST(structures_are_those_of_the_version)
{
	static const struct layout exchanged[] = {
		SIZE(struct joining_record, 512),
		FIELD(struct joining_record, version, 0),
		FIELD(struct joining_record, rank, 4),
		FIELD(struct joining_record, ranks, 8),
		FIELD(struct joining_record, error, 12),
		FIELD(struct joining_record, id, 16),
		FIELD(struct joining_record, fresh, 24),
		FIELD(struct joining_record, key, 32),
		FIELD(struct joining_record, terms, 48),
		FIELD(struct joining_record, host, 184),
		FIELD(struct joining_record, ports, 480),
		FIELD(struct joining_record, reserved, 504),
		FIELD(struct joining_record, no_program, 511),
		SIZE(struct joining_terms, 136),
		FIELD(struct joining_terms, name, 0),
		FIELD(struct joining_terms, network, 32),
		FIELD(struct joining_terms, multicast, 48),
		FIELD(struct joining_terms, algorithm, 64),
		FIELD(struct joining_terms, features, 80),
		FIELD(struct joining_terms, algorithms, 88),
		FIELD(struct joining_terms, degrees, 96),
		FIELD(struct joining_terms, liveness_ms, 104),
		FIELD(struct joining_terms, max_bytes, 108),
		FIELD(struct joining_terms, max_result_bytes, 112),
		FIELD(struct joining_terms, family, 116),
		FIELD(struct joining_terms, port, 118),
		FIELD(struct joining_terms, window, 120),
		FIELD(struct joining_terms, segment_bytes, 122),
		FIELD(struct joining_terms, prefix, 124),
		FIELD(struct joining_terms, bearer, 125),
		FIELD(struct joining_terms, degree, 126),
		FIELD(struct joining_terms, mac, 127),
		FIELD(struct joining_terms, keyed, 128),
		FIELD(struct joining_terms, reserved, 129),
		SIZE(struct joining_host, 296),
		FIELD(struct joining_host, identity, 0),
		FIELD(struct joining_host, addresses, 32),
		FIELD(struct joining_host, port, 36),
		FIELD(struct joining_host, address, 40),
		SIZE(struct joining_address, 32),
		FIELD(struct joining_address, family, 0),
		FIELD(struct joining_address, prefix, 2),
		FIELD(struct joining_address, device, 4),
		FIELD(struct joining_address, mac, 8),
		FIELD(struct joining_address, reach, 14),
		FIELD(struct joining_address, open, 15),
		FIELD(struct joining_address, bytes, 16),
	};

	layout_check(_metadata, exchanged, ARRAY_SIZE(exchanged));
}

TEST(numbers_are_those_of_the_version)
{
	EXPECT_EQ(0, COLLSOCK_BEARER_UDP);
	EXPECT_EQ(1, COLLSOCK_BEARER_ETHERNET);
	EXPECT_EQ(2, COLLSOCK_BEARER_AUTO);
	EXPECT_EQ(0, JOINING_REACH_NETWORK);
	EXPECT_EQ(1, JOINING_REACH_BRIDGE);
	EXPECT_EQ(2, JOINING_REACH_UNPLUGGED);
	EXPECT_EQ(3, JOINING_REACH_HOST);
}

/* Computed by SipHash-2-4 in Python */
TEST(nonce_and_proofs_are_those_of_the_version)
{
	__u8 ascending[40];
	unsigned int i;

	for (i = 0; i < sizeof(ascending); i++)
		ascending[i] = i;
	EXPECT_EQ(0x0e3ea96b5304a7d0, joining_nonce(ascending, ascending, sizeof(ascending)));
	EXPECT_EQ(0x35c7691b8d53091b, joining_proof(ascending, 0x1234, 7));
	EXPECT_EQ(0x23cc00654f0e2970, joining_proof(ascending, 0x1234, COLLSOCK_NO_RANK));
}

/* ---- ranks that disagree ---- */

TEST_F(records, another_version_is_blamed)
{
	self->of[3].version ^= 1;
	EXPECT_BLAMED(-EPROTO, 3, "rank 3 has another version of the library");
}

TEST_F(records, another_number_of_ranks_is_blamed)
{
	self->of[2].ranks = RANKS + 1;
	EXPECT_BLAMED(-EPROTO, 2, "rank 2 was told that there are 5 ranks, and rank 0 4");
}

TEST_F(records, two_ranks_of_one_number_are_blamed)
{
	self->of[1].rank = 0;
	EXPECT_BLAMED(-EPROTO, 1, "rank 1 was told that it is rank 0");
}

/* Each option that all must have alike; @change is made in rank 2's. */
#define EXPECT_TERM(change, words) ({ \
	struct collsock_options others = self->options; \
	others.change; \
	fill(&self->of[2], &others, 2, 0); \
	EXPECT_BLAMED(-EPROTO, 2, words); \
})

TEST_F(records, a_rank_with_other_options_is_blamed_and_the_option_named)
{
	EXPECT_TERM(max_bytes = 8192, "rank 2 has max_bytes 8192 in its options, and rank 0 4096");
	EXPECT_TERM(max_result_bytes = 1, "rank 2 has max_result_bytes 1");
	EXPECT_TERM(window = 9, "rank 2 has window 9 in its options, and rank 0 0");
	EXPECT_TERM(segment_bytes = 48, "rank 2 has segment_bytes 48");
	EXPECT_TERM(liveness_ms = 500, "rank 2 has liveness_ms 500");
	EXPECT_TERM(features = 1ULL << 40, "rank 2 has features 1099511627776");
	EXPECT_TERM(algorithms = 2, "rank 2 has algorithms 2");
	EXPECT_TERM(degrees = 4, "rank 2 has degrees 4");
	EXPECT_TERM(multicast[0] = 239, "rank 2 has another multicast in its options than rank 0");
	EXPECT_TERM(algorithm[1] = 3, "rank 2 has another algorithm in its options than rank 0");
	EXPECT_TERM(degree = 8, "rank 2 has degree 8");
	EXPECT_TERM(mac = 2, "rank 2 has mac 2");
	EXPECT_TERM(port = 7700, "rank 2 has port 7700 in its options, and rank 0 7607");
	EXPECT_TERM(family = AF_INET, "rank 2 has family 2 in its options, and rank 0 0");
	EXPECT_TERM(prefix = 16, "rank 2 has prefix 16 in its options, and rank 0 0");
	EXPECT_TERM(network[0] = 10; others.family = AF_INET,
		    "rank 2 has another network in its options than rank 0");
	EXPECT_TERM(name[0] = 'x', "rank 2 has another name in its options than rank 0");
	EXPECT_TERM(key[0] = 1, "rank 2 has a key in its options, and rank 0 none");
}

TEST_F(records, options_that_are_each_ranks_own_may_differ)
{
	struct collsock_options others = self->options;

	others.open_flags = COLLSOCK_OPEN_NONBLOCK;
	others.spin_us = 50;
	others.timeout_ms = 1;
	others.name[9] = 'x';	/* behind the end */
	fill(&self->of[2], &others, 2, 0);
	EXPECT_EQ(0, CHECK().error);
	EXPECT_STREQ("", self->detail);
}

/* ---- what no rank sends ---- */

TEST_F(records, nonsense_is_blamed)
{
	struct joining_record good = self->of[2];

	self->of[2].error = 1;
	EXPECT_BLAMED(-EBADMSG, 2, "rank 2 sent what no rank sends");
	self->of[2].error = -4096;
	EXPECT_BLAMED(-EBADMSG, 2, "rank 2 sent what no rank sends");
	self->of[2] = good;
	self->of[2].host.addresses = 1000;
	EXPECT_BLAMED(-EBADMSG, 2, "rank 2 sent what no rank sends");
	self->of[2] = good;
	memset(self->of[2].terms.name, 'x', sizeof(self->of[2].terms.name));
	EXPECT_BLAMED(-EBADMSG, 2, "rank 2 sent what no rank sends");
	self->of[2] = good;
	EXPECT_EQ(0, CHECK().error);
	memset(self->of, 0, sizeof(self->of));
	EXPECT_BLAMED(-EPROTO, 1, "was told that it is rank 0");
}

/* What follows in the record looks like another address. */
TEST_F(records, no_more_addresses_are_read_than_there_is_room_for)
{
	struct joining_record *r = &self->of[2];
	unsigned int i;

	for (i = 1; i < JOINING_MOST_ADDRESSES; i++)
		r->host.address[i] = r->host.address[0];
	r->host.addresses = JOINING_MOST_ADDRESSES;
	EXPECT_EQ(0, CHECK().error);
	/* What follows the addresses has room for another one. */
	ASSERT_EQ(sizeof(*r),
		  offsetof(struct joining_record, ports) + sizeof(r->host.address[0]));
	memcpy((__u8 *)r + offsetof(struct joining_record, ports), &r->host.address[0],
	       sizeof(r->host.address[0]));
	r->host.addresses++;
	EXPECT_BLAMED(-EBADMSG, 2, "rank 2 sent what no rank sends");
}

/* All records are alike, and not this library's. */
TEST_F(records, of_another_version_are_not_understood_even_if_all_have_it)
{
	__u32 i;

	for (i = 0; i < RANKS; i++)
		self->of[i].version += 2;
	EXPECT_BLAMED(-EBADMSG, 0, "rank 0 sent what no rank sends");
}

/* xorshift: the same bytes each time */
static __u32 draw(void)
{
	static __u32 state = 2463534242U;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/*
 * Damage anything in any record. Whatever is accepted must be a group that can be described: the
 * sanitizers watch, and each host has an address there is.
 */
TEST_F(records, damaged_in_any_way_are_refused_or_harmless)
{
	struct joining_record good[RANKS];
	unsigned int run, culprit, accepted = 0;
	struct joining_plan plan;

	memcpy(good, self->of, sizeof(good));
	for (run = 0; run < RUNS; run++) {
		unsigned int damages = 1 + draw() % 4;

		memcpy(self->of, good, sizeof(good));
		while (damages--)
			((__u8 *)self->of)[draw() % sizeof(good)] =
				draw() % 3 ? draw() : 1 << draw() % 8;
		ASSERT_EQ(0, joining_plan_init(&plan, RANKS));
		/* As in joining_meet(): before they are checked */
		joining_plan_make(&plan, self->of);
		ASSERT_LE(plan.host_count, RANKS);
		if (!CHECK().error &&
		    !joining_plan_choose_addresses(&plan, &self->options, &culprit)) {
			__u32 rank = draw() % RANKS;
			const struct joining_address *a = joining_plan_address(&plan, rank);

			accepted++;
			ASSERT_LE(a->reach, JOINING_REACH_HOST);
			ASSERT_LT(a - plan.hosts[plan.host_of_rank[rank]]->address, 1);
		}
		joining_plan_free(&plan);
	}
	/* What is damaged is often reserved, or random. */
	EXPECT_GT(accepted, RUNS / 100);
	EXPECT_LT(accepted, RUNS * 9 / 10);
}

/* ---- options ---- */

TEST(options_default_to_what_is_documented)
{
	struct collsock_options o, zero = { };

	ASSERT_EQ(0, joining_options_complete(&o, NULL));
	EXPECT_EQ(COLLSOCK_DEFAULT_TIMEOUT_MS, o.timeout_ms);
	EXPECT_EQ(COLLSOCK_DEFAULT_MAX_BYTES, o.max_bytes);
	EXPECT_EQ(0, o.port);
	o.backend = COLLSOCK_BACKEND_USER;
	joining_options_find_port(&o);
	EXPECT_EQ(COLLSOCK_PORT, o.port);
	EXPECT_EQ(0, joining_options_complete(&o, &zero));
	EXPECT_EQ(COLLSOCK_DEFAULT_MAX_BYTES, o.max_bytes);
}

TEST(options_that_make_no_sense_are_refused)
{
	static const struct {
		struct collsock_options	options;
		int			err;
	} bad[] = {
		{ { .size = 0, .max_bytes = 1 }, -EINVAL },
		{ { .size = offsetof(struct collsock_options, backend) - 8 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .backend = 3 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .reserved = 1 }, -EINVAL },
		{ { .size = 1 << 20 }, -E2BIG },
		{ { .size = sizeof(bad[0].options), .bearer = 3 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .family = AF_PACKET }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .prefix = 8 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .network = { 10 } }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .family = AF_INET, .prefix = 33 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .family = AF_INET6, .prefix = 129 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .segment_bytes = 32 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .segment_bytes = 47 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .segment_bytes = 8688 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .spin_us = 10001 }, -EINVAL },
		{ { .size = sizeof(bad[0].options), .timeout_ms = 0x80000000U }, -EINVAL },
		{ { .size = sizeof(bad[0].options),
		    .name = "0123456789abcdef0123456789abcdef" }, -EINVAL },
	};
	struct collsock_options o;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(bad[i].err, joining_options_complete(&o, &bad[i].options)) {
			TH_LOG("options %u", i);
		}
		EXPECT_EQ(COLLSOCK_DEFAULT_MAX_BYTES, o.max_bytes);
	}
}

/* A program built with the first header, which has something else behind it */
TEST(options_of_the_first_version_are_accepted)
{
	struct collsock_options o, first = {
		.size = offsetof(struct collsock_options, backend), .window = 3,
		.backend = 77, .reserved = 77,
	};

	ASSERT_EQ(0, joining_options_complete(&o, &first));
	EXPECT_EQ(3, o.window);
	EXPECT_EQ(COLLSOCK_BACKEND_AUTO, o.backend);
	EXPECT_EQ(sizeof(o), o.size);
	first.window = 0;
	first.size = 0;
	EXPECT_EQ(0, joining_options_complete(&o, &first));
}

/* A program built with a later header: what it does not use does not matter. */
TEST(options_of_a_later_version_are_refused_only_if_they_are_used)
{
	struct {
		struct collsock_options	known;
		__u64			later;
	} options = { .known = { .size = sizeof(options), .window = 3 } };
	struct collsock_options o;
	__u32 failed_rank;

	EXPECT_EQ(0, joining_options_complete(&o, &options.known));
	EXPECT_EQ(3, o.window);
	options.later = 1;
	options.known.failed_rank = &failed_rank;
	EXPECT_EQ(-E2BIG, joining_options_complete(&o, &options.known));
	EXPECT_EQ(0, o.window);
	EXPECT_EQ(&failed_rank, o.failed_rank);
}

TEST_HARNESS_MAIN
