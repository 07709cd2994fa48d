// SPDX-License-Identifier: GPL-2.0
/* Ranks meet over TCP, and know who is missing. */
#include <endian.h>

#include "layout_check.h"
#include "meeting_fixture.h"
#include "meeting_rendezvous.h"
#include "meeting_wire.h"

FIXTURE(meeting)
{
	char		rendezvous[32];
	struct rank	rank[MOST_RANKS];
};

FIXTURE_SETUP(meeting)
{
	__u32 rank;

	snprintf(self->rendezvous, sizeof(self->rendezvous), "127.0.0.1:%u", free_port());
	for (rank = 0; rank < MOST_RANKS; rank++)
		rank_init(&self->rank[rank], self->rendezvous, rank, 2);
}

FIXTURE_TEARDOWN(meeting)
{
}

static void set_ranks(struct rank *rank, __u32 ranks)
{
	__u32 i;

	for (i = 0; i < ranks; i++)
		rank[i].options.ranks = ranks;
}

TEST_F(meeting, all_ranks_receive_all_blocks_and_one_key)
{
	int i;

	set_ranks(self->rank, MOST_RANKS);
	/* Rank 0 last: the others wait for it. */
	for (i = MOST_RANKS - 1; i >= 0; i--)
		rank_start(&self->rank[i]);
	for (i = 0; i < MOST_RANKS; i++) {
		expect_met(_metadata, &self->rank[i]);
		EXPECT_EQ(0, memcmp(self->rank[0].outcome->key, self->rank[i].outcome->key,
				    COLLSOCK_KEY_BYTES)) TH_LOG("key of rank %d", i);
	}
}

TEST_F(meeting, each_has_another_key)
{
	__u8 first[COLLSOCK_KEY_BYTES];
	int i, run;

	for (run = 0; run < 2; run++) {
		for (i = 0; i < 2; i++)
			rank_start(&self->rank[i]);
		for (i = 0; i < 2; i++)
			expect_met(_metadata, &self->rank[i]);
		if (!run)
			memcpy(first, self->rank[0].outcome->key, sizeof(first));
	}
	EXPECT_NE(0, memcmp(first, self->rank[0].outcome->key, sizeof(first)));
	EXPECT_NE(0, memcmp(the_secret, self->rank[0].outcome->key, sizeof(first)));
}

TEST_F(meeting, blocks_may_be_longer_than_the_buffers_of_sockets)
{
	static __u8 mine[3 << 20], all[2 * sizeof(mine)];
	struct meeting *meeting;
	char text[MEETING_TEXT];
	pid_t child = fork_child();

	memset(mine, child ? 'p' : 'c', sizeof(mine));
	self->rank[0].options.rank = !child;
	ASSERT_EQ(0, meeting_open(&meeting, &self->rank[0].options, text, sizeof(text)));
	ASSERT_EQ(0, meeting_exchange(meeting, mine, all, sizeof(mine)));
	EXPECT_EQ('p', all[sizeof(mine) - 1]);
	EXPECT_EQ('c', all[sizeof(mine)]);
	EXPECT_EQ('c', all[2 * sizeof(mine) - 1]);
	meeting_close(meeting);
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

TEST_F(meeting, one_rank_needs_nobody)
{
	set_ranks(self->rank, 1);
	rank_start(&self->rank[0]);
	expect_met(_metadata, &self->rank[0]);
}

/* ---- the protocol: a change of any of this needs another MEETING_VERSION ---- */

TEST(version_of_the_protocol)
{
	EXPECT_EQ(1, MEETING_VERSION);
	EXPECT_STREQ("collmeet", MEETING_MAGIC);
}

TEST(kinds_of_messages_are_those_of_the_version)
{
	EXPECT_EQ(1, MEETING_WELCOME);
	EXPECT_EQ(2, MEETING_START);
	EXPECT_EQ(3, MEETING_DATA);
	EXPECT_EQ(16, MEETING_OTHER_JOB);
	EXPECT_EQ(17, MEETING_STALE);
	EXPECT_EQ(18, MEETING_NEWER);
	EXPECT_EQ(19, MEETING_RANKS_DIFFER);
	EXPECT_EQ(20, MEETING_DUPLICATE);
	EXPECT_EQ(32, MEETING_LEFT);
	EXPECT_EQ(33, MEETING_TIMED_OUT);
	EXPECT_EQ(34, MEETING_SIZES_DIFFER);
}

TEST(structures_are_those_of_the_version)
{
	static const struct layout wire[] = {
		SIZE(struct meeting_hello, 88),
		FIELD(struct meeting_hello, magic, 0),
		FIELD(struct meeting_hello, version, 8),
		FIELD(struct meeting_hello, attempt, 12),
		FIELD(struct meeting_hello, ranks, 16),
		FIELD(struct meeting_hello, rank, 20),
		FIELD(struct meeting_hello, job, 24),
		FIELD(struct meeting_hello, process, 56),
		FIELD(struct meeting_hello, challenge, 72),
		SIZE(struct meeting_answer, 80),
		FIELD(struct meeting_answer, magic, 0),
		FIELD(struct meeting_answer, version, 8),
		FIELD(struct meeting_answer, reserved, 12),
		FIELD(struct meeting_answer, challenge, 16),
		FIELD(struct meeting_answer, salt, 48),
		SIZE(struct meeting_transcript, 168),
		FIELD(struct meeting_transcript, hello, 0),
		FIELD(struct meeting_transcript, answer, 88),
		SIZE(struct meeting_head, 16),
		FIELD(struct meeting_head, kind, 0),
		FIELD(struct meeting_head, rank, 4),
		FIELD(struct meeting_head, bytes, 8),
	};

	layout_check(_metadata, wire, ARRAY_SIZE(wire));
}

/* What a meeting of two ranks has on the wire, besides random numbers, proofs and MACs */
static const struct {
	int		direction;	/* 0: to the server, 1: from it */
	unsigned int	at;
	unsigned int	bytes;
	__u8		wanted[48];
} on_the_wire[] = {
	/* A hello: version, attempt, ranks, rank, SHA-256 of "one" */
	{ 0, 0, 8, "collmeet" },
	{ 0, 8, 48, { 0, 0, 0, 1, 1, 2, 3, 4, 0, 0, 0, 2, 0, 0, 0, 1,
		      0x76, 0x92, 0xc3, 0xad, 0x35, 0x40, 0xbb, 0x80,
		      0x3c, 0x02, 0x0b, 0x3a, 0xee, 0x66, 0xcd, 0x88,
		      0x87, 0x12, 0x32, 0x34, 0xea, 0x0c, 0x6e, 0x71,
		      0x43, 0xc0, 0xad, 0xd7, 0x3f, 0xf4, 0x31, 0xed } },
	/* After a proof a block */
	{ 0, 120, 16, { 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, BLOCK } },
	{ 0, 136, 17, "block 0 of rank 1" },
	/* An answer: version, reserved */
	{ 1, 0, 8, "collmeet" },
	{ 1, 8, 8, { 0, 0, 0, 1 } },
	/* After a proof a welcome, the start, all blocks */
	{ 1, 112, 16, { 0, 0, 0, 1, 0, 0, 0, 2 } },
	{ 1, 160, 16, { 0, 0, 0, 2 } },
	{ 1, 208, 16, { 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2 * BLOCK } },
	{ 1, 224, 17, "block 0 of rank 0" },
	{ 1, 224 + BLOCK, 17, "block 0 of rank 1" },
};

TEST_F(meeting, bytes_are_those_of_the_version)
{
	struct relay relay = { };
	char relayed[32];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		self->rank[i].options.attempt = 0x01020304;
		self->rank[i].options.job = "one";
		self->rank[i].exchanges = 1;
	}
	rank_start(&self->rank[0]);
	relay_start(&relay, strtoul(strchr(self->rendezvous, ':') + 1, NULL, 10), 0, -1);
	snprintf(relayed, sizeof(relayed), "127.0.0.1:%u", relay.port);
	self->rank[1].options.rendezvous = relayed;
	rank_start(&self->rank[1]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
	EXPECT_EQ(136 + BLOCK + MEETING_BYTES, relay.seen[0].bytes);
	EXPECT_EQ(224 + 2 * BLOCK + MEETING_BYTES, relay.seen[1].bytes);
	for (i = 0; i < ARRAY_SIZE(on_the_wire); i++) {
		EXPECT_EQ(0, memcmp(on_the_wire[i].wanted,
				    relay.seen[on_the_wire[i].direction].data + on_the_wire[i].at,
				    on_the_wire[i].bytes))
			TH_LOG("entry %u", i);
	}
	relay_end(&relay);
}

/* Computed by Python's hmac */
TEST(proofs_and_keys_are_those_of_the_version)
{
	__u8 ascending[sizeof(struct meeting_transcript)], out[MEETING_BYTES];
	const struct meeting_head head = { htobe32(MEETING_DATA), htobe32(1), htobe64(48) };
	struct meeting_transcript transcript;
	struct meeting_keys keys;
	unsigned int i;

	for (i = 0; i < sizeof(ascending); i++)
		ascending[i] = i;
	memcpy(&transcript, ascending, sizeof(transcript));
	meeting_keys_derive(&keys, the_secret, &transcript);
	EXPECT_EQ(0, memcmp("\x20\x61\xdc\xd6\xd2\xa2\x27\xf6", keys.server_proof, 8));
	EXPECT_EQ(0, memcmp("\x55\x29\x9b\x35\x0b\x98\x25\x92", keys.client_proof, 8));
	EXPECT_EQ(0, memcmp("\x6e\xe5\xde\x8b\x06\x85\xd7\x32", keys.from_server, 8));
	EXPECT_EQ(0, memcmp("\xb2\xf9\x4e\x33\x86\xae\x75\xf0", keys.from_client, 8));
	meeting_keys_group(out, the_secret, ascending + 1, 7, ascending + 33);
	EXPECT_EQ(0, memcmp("\x9a\x57\xd0\xd7\x61\x08\x68\x81", out, 8));
	meeting_keys_digest(keys.client_proof, "abc", 3);
	meeting_keys_mac(out, ascending, 5, &head, keys.client_proof);
	EXPECT_EQ(0, memcmp("\x30\x8c\x2e\xe5\xb1\x26\x44\xf3", out, 8));
}

/* ---- who is missing ---- */

TEST_F(meeting, ranks_that_never_connected_are_named)
{
	char words[96];

	set_ranks(self->rank, 4);
	self->rank[0].options.timeout_ms = 4000;
	rank_start(&self->rank[0]);
	rank_start(&self->rank[2]);
	snprintf(words, sizeof(words), "waiting for ranks 1, 3: never connected to %s",
		 self->rendezvous);
	expect_failed(_metadata, &self->rank[0], -ETIMEDOUT, words);
	expect_says(_metadata, self->rank[0].outcome->reports, words);
	/* The others learn it from rank 0. */
	expect_failed(_metadata, &self->rank[2], -ETIMEDOUT, "gave up waiting for rank 1");
	expect_says(_metadata, self->rank[2].outcome->reports, "rank 2: connected to rank 0");
}

TEST_F(meeting, a_long_list_of_missing_ranks_is_cut)
{
	set_ranks(self->rank, MOST_RANKS);
	self->rank[0].options.timeout_ms = 100;
	rank_start(&self->rank[0]);
	expect_failed(_metadata, &self->rank[0], -ETIMEDOUT,
		      "ranks 1, 2, 3, 4, 5, 6 and 1 more: never");
}

TEST_F(meeting, rank_0_that_is_missing_is_named)
{
	self->rank[1].options.timeout_ms = 2500;
	rank_start(&self->rank[1]);
	expect_failed(_metadata, &self->rank[1], -ETIMEDOUT, "Connection refused");
	expect_says(_metadata, self->rank[1].outcome->text, self->rendezvous);
	expect_says(_metadata, self->rank[1].outcome->reports,
		    "rank 1: waiting for rank 0 at 127.0.0.1:");
}

/* As behind a firewall that drops: no more connections are taken by one that accepts none. */
TEST_F(meeting, a_host_that_does_not_answer_is_said_to)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t bytes = sizeof(address);
	int fd[4], i;

	for (i = 0; i < 4; i++)
		fd[i] = socket(AF_INET, SOCK_STREAM | (i ? SOCK_NONBLOCK : 0), 0);
	ASSERT_EQ(0, bind(fd[0], (struct sockaddr *)&address, bytes));
	ASSERT_EQ(0, listen(fd[0], 0));
	ASSERT_EQ(0, getsockname(fd[0], (struct sockaddr *)&address, &bytes));
	for (i = 1; i < 4; i++)
		connect(fd[i], (struct sockaddr *)&address, bytes);
	snprintf(self->rendezvous, sizeof(self->rendezvous), "127.0.0.1:%u",
		 ntohs(address.sin_port));
	self->rank[1].options.rendezvous = self->rendezvous;
	self->rank[1].options.timeout_ms = 3000;
	rank_start(&self->rank[1]);
	expect_failed(_metadata, &self->rank[1], -ETIMEDOUT, "no answer");
	expect_says(_metadata, self->rank[1].outcome->reports, ": no answer yet");
	for (i = 0; i < 4; i++)
		close(fd[i]);
}

TEST_F(meeting, a_host_without_an_address_is_named)
{
	self->rank[1].options.rendezvous = "no-such-host.invalid:7607";
	self->rank[1].options.timeout_ms = 100;
	rank_start(&self->rank[1]);
	expect_failed(_metadata, &self->rank[1], -ETIMEDOUT, "no-such-host.invalid:7607: ");
}

TEST_F(meeting, a_rank_that_left_is_named)
{
	set_ranks(self->rank, 3);
	self->rank[0].options.timeout_ms = 8000;
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	/* It is connected when it says so. */
	ASSERT_TRUE(await_report(&self->rank[1], "connected to rank 0"));
	kill(self->rank[1].pid, SIGKILL);
	rank_end(&self->rank[1]);
	expect_failed(_metadata, &self->rank[0], -ETIMEDOUT, "rank 2: never connected to ");
	expect_says(_metadata, self->rank[0].outcome->text, "for rank 1: connected, and left");
}

TEST_F(meeting, a_rank_may_come_again_before_all_are_here)
{
	int i;

	set_ranks(self->rank, 3);
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	ASSERT_TRUE(await_report(&self->rank[1], "connected to rank 0"));
	kill(self->rank[1].pid, SIGKILL);
	rank_end(&self->rank[1]);
	for (i = 1; i < 3; i++)
		rank_start(&self->rank[i]);
	for (i = 0; i < 3; i++)
		expect_met(_metadata, &self->rank[i]);
}

TEST_F(meeting, rank_0_may_come_again_before_all_are_here)
{
	int i;

	set_ranks(self->rank, 3);
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	ASSERT_TRUE(await_report(&self->rank[1], "connected to rank 0"));
	kill(self->rank[0].pid, SIGKILL);
	rank_end(&self->rank[0]);
	rank_start(&self->rank[0]);
	rank_start(&self->rank[2]);
	for (i = 0; i < 3; i++)
		expect_met(_metadata, &self->rank[i]);
}

TEST_F(meeting, a_rank_that_ends_in_an_exchange_is_named_by_all)
{
	int i;

	set_ranks(self->rank, 3);
	self->rank[2].exchanges = 1;
	for (i = 0; i < 3; i++)
		rank_start(&self->rank[i]);
	EXPECT_EQ(0, rank_end(&self->rank[2]));
	expect_failed(_metadata, &self->rank[0], -ECONNRESET, "rank 2, at 127.0.0.1:");
	expect_failed(_metadata, &self->rank[1], -ECONNRESET, "rank 2 has left");
}

TEST_F(meeting, rank_0_that_ends_in_an_exchange_is_named)
{
	self->rank[0].exchanges = 1;
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	EXPECT_EQ(0, rank_end(&self->rank[0]));
	expect_failed(_metadata, &self->rank[1], -ECONNRESET, "rank 0, at 127.0.0.1:");
}

TEST_F(meeting, a_rank_with_another_block_is_named_by_all)
{
	int i;

	set_ranks(self->rank, 3);
	self->rank[1].bytes = BLOCK - 1;
	for (i = 0; i < 3; i++)
		rank_start(&self->rank[i]);
	expect_failed(_metadata, &self->rank[0], -EPROTO, "rank 1, at 127.0.0.1:");
	expect_failed(_metadata, &self->rank[1], -EPROTO, "rank 1 exchanges something else");
	expect_failed(_metadata, &self->rank[2], -EPROTO, "rank 1 exchanges something else");
}

/* ---- who is not of the meeting ---- */

TEST_F(meeting, a_duplicate_rank_is_refused_and_named)
{
	struct rank second = self->rank[1];

	rank_init(&second, self->rendezvous, 1, 3);
	set_ranks(self->rank, 3);
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	ASSERT_TRUE(await_report(&self->rank[1], "connected to rank 0"));
	rank_start(&second);
	expect_failed(_metadata, &second, -EEXIST, "rank 1: another process is this rank");
	ASSERT_TRUE(await_report(&self->rank[0], "a second rank 1, at 127.0.0.1:"));
	rank_start(&self->rank[2]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
	expect_met(_metadata, &self->rank[2]);
}

/* The welcome of rank 1 is altered, so it tries again; rank 0 has not heard that it gave up. */
TEST_F(meeting, a_rank_that_tries_again_is_no_duplicate_of_itself)
{
	__u16 port = strtoul(strchr(self->rendezvous, ':') + 1, NULL, 10);
	struct relay relay = { .loses_end = true };
	char relayed[32];

	set_ranks(self->rank, 3);
	rank_start(&self->rank[0]);
	relay_start(&relay, port, 1, sizeof(struct meeting_answer) + MEETING_BYTES +
				     sizeof(struct meeting_head));
	snprintf(relayed, sizeof(relayed), "127.0.0.1:%u", relay.port);
	self->rank[1].options.rendezvous = relayed;
	rank_start(&self->rank[1]);
	ASSERT_TRUE(await_report(&self->rank[1], "connected to rank 0"));
	rank_start(&self->rank[2]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
	expect_met(_metadata, &self->rank[2]);
	relay_end(&relay);
}

TEST_F(meeting, a_stale_attempt_is_told_so)
{
	struct rank stale;

	rank_init(&stale, self->rendezvous, 1, 2);
	self->rank[0].options.attempt = 3;
	self->rank[1].options.attempt = 3;
	stale.options.attempt = 2;
	rank_start(&self->rank[0]);
	rank_start(&stale);
	expect_failed(_metadata, &stale, -ESTALE, "rank 1 is of attempt 2 of the job");
	rank_start(&self->rank[1]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
	expect_says(_metadata, self->rank[0].outcome->reports,
		    "rank 1 of attempt 2, was refused: this is attempt 3");
}

TEST_F(meeting, an_attempt_that_is_replaced_ends)
{
	struct rank stale;

	rank_init(&stale, self->rendezvous, 0, 2);
	self->rank[0].options.attempt = 1;
	self->rank[1].options.attempt = 1;
	rank_start(&stale);
	rank_start(&self->rank[1]);
	expect_failed(_metadata, &stale, -ESTALE, "this is attempt 0 of the job");
	rank_start(&self->rank[0]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
}

TEST_F(meeting, another_number_of_ranks_is_refused)
{
	struct rank odd;

	rank_init(&odd, self->rendezvous, 1, 3);
	rank_start(&self->rank[0]);
	rank_start(&odd);
	expect_failed(_metadata, &odd, -EPROTO, "rank 1 counts 3 ranks, and rank 0 at 127.0.0.1:");
	expect_says(_metadata, odd.outcome->text, "counts 2");
	rank_start(&self->rank[1]);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
}

TEST_F(meeting, options_that_are_not_valid_are_named)
{
	static const struct {
		const char *rendezvous, *ports, *says;
		__u32 rank;
	} bad[] = {
		{ "node1:0", NULL, "rendezvous \"node1:0\"", 0 },
		{ "node1:65536", NULL, "rendezvous", 1 },
		{ "node1:", NULL, "rendezvous", 0 },
		{ ":7607", NULL, "rendezvous", 0 },
		{ "[::1", NULL, "rendezvous", 1 },
		{ "[::1]7607", NULL, "rendezvous", 0 },
		{ "", NULL, "rendezvous", 0 },
		{ "node1", "70-60", "COLLSOCK_MEETING_PORTS: \"70-60\"", 0 },
		{ "node1", "0-9", "COLLSOCK_MEETING_PORTS", 1 },
		{ "node1", "7607-", "COLLSOCK_MEETING_PORTS", 1 },
		{ "node1", "99999999999999999999-7", "COLLSOCK_MEETING_PORTS", 1 },
		{ "node1", NULL, "rank 2 of 2", 2 },
	};
	char text[MEETING_TEXT];
	struct meeting *meeting;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct meeting_options options = {
			.rendezvous = bad[i].rendezvous, .ports = bad[i].ports,
			.rank = bad[i].rank, .ranks = 2, .timeout_ms = 1,
		};

		EXPECT_EQ(-EINVAL, meeting_open(&meeting, &options, text, sizeof(text)))
			TH_LOG("entry %u", i);
		expect_says(_metadata, text, bad[i].says);
	}
}

/* ---- ports ---- */

TEST(rendezvous_reads_hosts_and_ports)
{
	static const struct {
		const char *text, *host, *shown;
		__u16 port;
	} good[] = {
		{ "node1:7607", "node1", "node1:7607", 7607 },
		{ "10.0.0.1:1", "10.0.0.1", "10.0.0.1:1", 1 },
		{ "[fe80::1%eth0]:65535", "fe80::1%eth0", "[fe80::1%eth0]:65535", 65535 },
		{ "::1", "::1", "[::1]:80", 80 },
		{ "node1", "node1", "node1:80", 80 },
	};
	static const __u8 job[MEETING_BYTES];
	struct meeting_rendezvous rendezvous;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ASSERT_EQ(0, meeting_rendezvous_parse(&rendezvous, good[i].text, "80", job));
		EXPECT_STREQ(good[i].host, rendezvous.host);
		EXPECT_STREQ(good[i].shown, rendezvous.text);
		EXPECT_EQ(good[i].port, rendezvous.port[0]);
		EXPECT_EQ(1, rendezvous.ports);
	}
}

TEST(ports_of_a_job_are_in_the_range)
{
	__u8 job[MEETING_BYTES] = "";
	struct meeting_rendezvous rendezvous;
	unsigned int i, first, seen = 0;

	for (first = 0; first < 256; first++) {
		job[3] = first;
		ASSERT_EQ(0, meeting_rendezvous_parse(&rendezvous, "node1", "65530-65535", job));
		ASSERT_EQ(4, rendezvous.ports);
		for (i = 0; i < rendezvous.ports; i++) {
			EXPECT_LE(65530, rendezvous.port[i]);
			EXPECT_TRUE(!i || rendezvous.port[i] != rendezvous.port[i - 1]);
			seen |= 1 << (rendezvous.port[i] - 65530);
		}
	}
	EXPECT_EQ(0x3f, seen);
}

TEST_F(meeting, jobs_with_the_same_ports_do_not_meet)
{
	struct rank rank[4];
	char ports[16];
	int i, port = free_port() & ~1;

	snprintf(ports, sizeof(ports), "%d-%d", port, port + 1);
	for (i = 0; i < 4; i++) {
		rank_init(&rank[i], "localhost", i & 1, 2);
		rank[i].options.ports = ports;
		rank[i].options.job = i < 2 ? "one" : "other";
	}
	for (i = 3; i >= 0; i--)
		rank_start(&rank[i]);
	for (i = 0; i < 4; i++)
		expect_met(_metadata, &rank[i]);
	EXPECT_EQ(0, memcmp(rank[0].outcome->key, rank[1].outcome->key, COLLSOCK_KEY_BYTES));
	EXPECT_EQ(0, memcmp(rank[2].outcome->key, rank[3].outcome->key, COLLSOCK_KEY_BYTES));
	EXPECT_NE(0, memcmp(rank[0].outcome->key, rank[2].outcome->key, COLLSOCK_KEY_BYTES));
}

TEST_F(meeting, rank_0_waits_for_a_port)
{
	__u16 port = atoi(strchr(self->rendezvous, ':') + 1);
	struct rank hasty;
	pid_t other;

	/* Another program has it already when rank 0 starts. */
	other = hold_port(port);
	rank_init(&hasty, self->rendezvous, 0, 2);
	hasty.options.timeout_ms = 100;
	rank_start(&hasty);
	expect_failed(_metadata, &hasty, -EADDRINUSE, "cannot listen on 127.0.0.1:");
	rank_start(&self->rank[0]);
	EXPECT_TRUE(await_report(&self->rank[0], ", which another program uses"));
	rank_start(&self->rank[1]);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
}

TEST_HARNESS_MAIN
