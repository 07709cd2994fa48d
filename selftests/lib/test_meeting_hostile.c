// SPDX-License-Identifier: GPL-2.0
/* Who does not know the secret of a meeting neither stops nor deceives it, and learns no key. */
#include <endian.h>

#include "meeting_fixture.h"
#include "meeting_listener.h"
#include "meeting_wire.h"

#define CLIENT_BYTES	(sizeof(struct meeting_hello) + MEETING_BYTES)
#define MESSAGE_BYTES	(sizeof(struct meeting_head) + MEETING_BYTES)
#define STRANGERS	200	/* more than a server has places for */

FIXTURE(hostile)
{
	__u16		port;
	char		rendezvous[32];
	char		relayed[32];
	struct rank	rank[2];
	struct relay	relay;
};

FIXTURE_SETUP(hostile)
{
	__u32 rank;

	self->port = free_port();
	snprintf(self->rendezvous, sizeof(self->rendezvous), "127.0.0.1:%u", self->port);
	for (rank = 0; rank < 2; rank++)
		rank_init(&self->rank[rank], self->rendezvous, rank, 2);
}

FIXTURE_TEARDOWN(hostile)
{
}

static void expect_both_met(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self)
{
	expect_met(_metadata, &self->rank[0]);
	expect_met(_metadata, &self->rank[1]);
}

/* Rank 1 goes through a relay, which alters a byte if @flip is not negative. */
static void start_relayed(FIXTURE_DATA(hostile) * self, int direction, long flip)
{
	rank_start(&self->rank[0]);
	relay_start(&self->relay, self->port, direction, flip);
	snprintf(self->relayed, sizeof(self->relayed), "127.0.0.1:%u", self->relay.port);
	self->rank[1].options.rendezvous = self->relayed;
	rank_start(&self->rank[1]);
}

/* ---- what is on the wire ---- */

static bool relay_has_seen(const struct relay *r, const void *what, size_t bytes)
{
	int direction;

	for (direction = 0; direction < 2; direction++)
		if (memmem(r->seen[direction].data, r->seen[direction].bytes, what, bytes))
			return true;
	return false;
}

/* Is any part of the key on the wire, of as few bytes as are not there by chance? */
static bool relay_has_seen_part(const struct relay *r, const __u8 key[COLLSOCK_KEY_BYTES])
{
	int part;

	for (part = 0; part + 5 <= COLLSOCK_KEY_BYTES; part++)
		if (relay_has_seen(r, key + part, 5))
			return true;
	return false;
}

TEST_F(hostile, no_part_of_a_key_is_on_the_wire)
{
	start_relayed(self, 0, -1);
	expect_both_met(_metadata, self);
	/* The relay sees what is sent in clear. */
	EXPECT_TRUE(relay_has_seen(&self->relay, "block 1 of rank 0", 17));
	EXPECT_TRUE(relay_has_seen(&self->relay, "block 1 of rank 1", 17));
	EXPECT_FALSE(relay_has_seen_part(&self->relay, the_secret));
	EXPECT_FALSE(relay_has_seen_part(&self->relay, self->rank[0].outcome->key));
	relay_end(&self->relay);
}

/*
 * The byte at any position of the first connection is altered. Until the client is welcome it tries
 * again, through the relay that then alters nothing; later they fail. No rank receives anything
 * else than what the others sent.
 */
static bool altered_is_noticed(FIXTURE_DATA(hostile) * self, int direction, long flip, bool *met)
{
	int i;

	start_relayed(self, direction, flip);
	*met = true;
	for (i = 0; i < 2; i++) {
		/* A client that was not welcome would try until the end of its time. */
		if (!*met)
			kill(self->rank[i].pid, SIGKILL);
		rank_end(&self->rank[i]);
		*met = *met && !self->rank[i].outcome->err;
		if (!self->rank[i].outcome->err && !blocks_are_right(&self->rank[i]))
			return false;
	}
	relay_end(&self->relay);
	return true;
}

TEST_F(hostile, what_is_altered_on_the_way_to_rank_0_is_refused)
{
	long flip, bytes = CLIENT_BYTES + 2 * (MESSAGE_BYTES + BLOCK);
	bool met;

	for (flip = 0; flip < bytes; flip += 7) {
		EXPECT_TRUE(altered_is_noticed(self, 0, flip, &met)) TH_LOG("byte %ld", flip);
		EXPECT_EQ(flip < (long)CLIENT_BYTES, met) TH_LOG("byte %ld", flip);
	}
}

TEST_F(hostile, what_is_altered_on_the_way_from_rank_0_is_refused)
{
	/* Proof, welcome and start, then the blocks of both ranks, twice */
	long blocks = sizeof(struct meeting_answer) + MEETING_BYTES + 2 * MESSAGE_BYTES;
	long bytes = blocks + 2 * (MESSAGE_BYTES + 2 * BLOCK), flip;
	bool met;

	for (flip = 0; flip < bytes; flip += 7) {
		EXPECT_TRUE(altered_is_noticed(self, 1, flip, &met)) TH_LOG("byte %ld", flip);
		/* Once the server has the client's proof, it has begun to exchange. */
		EXPECT_TRUE(met || flip >= (long)sizeof(struct meeting_answer))
			TH_LOG("byte %ld", flip);
		EXPECT_FALSE(met && flip >= blocks) TH_LOG("byte %ld", flip);
	}
}

/* ---- the secret ---- */

TEST_F(hostile, of_two_secrets_both_sides_say_so)
{
	self->rank[1].options.secret[COLLSOCK_KEY_BYTES - 1] ^= 1;
	self->rank[0].options.timeout_ms = 4000;
	self->rank[1].options.timeout_ms = 3000;
	rank_start(&self->rank[0]);
	rank_start(&self->rank[1]);
	expect_failed(_metadata, &self->rank[1], -ETIMEDOUT,
		      "what answers there has another secret");
	expect_failed(_metadata, &self->rank[0], -ETIMEDOUT, "rank 1: never connected");
	expect_says(_metadata, self->rank[1].outcome->reports,
		    "has another secret: copy the key file of rank 0 to all hosts; or it is another job's: name this one (COLLSOCK_JOB)");
	expect_says(_metadata, self->rank[0].outcome->reports,
		    "as rank 1, was refused: its secret differs");
}

TEST_F(hostile, one_with_another_secret_does_not_stop_the_others)
{
	struct rank stranger;

	rank_init(&stranger, self->rendezvous, 1, 2);
	stranger.options.secret[0] ^= 1;
	stranger.options.timeout_ms = 500;
	rank_start(&self->rank[0]);
	rank_start(&stranger);
	expect_failed(_metadata, &stranger, -ETIMEDOUT, "another secret");
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

/* ---- strangers ---- */

static int send_all(int fd, const void *data, size_t bytes)
{
	return send(fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -1;
}

/* Wait until the other side has ended the connection, whatever it sends before. */
static void await_end(int fd)
{
	__u8 data[256];

	while (recv(fd, data, sizeof(data), 0) > 0)
		;
}

TEST_F(hostile, strangers_are_refused)
{
	static const char http[] =
		"GET / HTTP/1.1\r\nHost: node1\r\nUser-Agent: a scanner of ports\r\n"
		"Accept: */*\r\nConnection: close\r\n\r\n";
	int fd;

	rank_start(&self->rank[0]);
	fd = open_connection(self->port);
	EXPECT_EQ(0, send_all(fd, http, sizeof(http)));
	await_end(fd);
	close(fd);
	EXPECT_TRUE(await_report(&self->rank[0], "is not of a meeting of collsock"));
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

/* Their number of reports is limited, and that of the missing rank is not among them. */
TEST_F(hostile, many_strangers_do_not_hide_who_is_missing)
{
	__u8 garbage[sizeof(struct meeting_hello)] = "garbage";
	int i, fd, lines = 0;
	const char *at;

	rank_start(&self->rank[0]);
	for (i = 0; i < 100; i++) {
		fd = open_connection(self->port);
		send_all(fd, garbage, sizeof(garbage));
		await_end(fd);
		close(fd);
	}
	EXPECT_TRUE(await_report(&self->rank[0], "waiting for rank 1: never connected"));
	for (at = self->rank[0].outcome->reports; (at = strchr(at, '\n')); at++)
		lines++;
	EXPECT_GE(20, lines);
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

/* They stay until the end: silent, slow, half of a hello, half closed. */
TEST_F(hostile, silent_slow_and_half_open_connections_stop_nobody)
{
	struct meeting_hello hello = { .magic = MEETING_MAGIC };
	int fd[STRANGERS], i;

	rank_start(&self->rank[0]);
	for (i = 0; i < STRANGERS; i++) {
		fd[i] = open_connection(self->port);
		if (i % 4 == 1)
			send_all(fd[i], &hello, sizeof(hello) / 2);
		if (i % 4 == 2)
			shutdown(fd[i], SHUT_RD);
		if (i % 4 == 3)
			send_all(fd[i], &hello, 1);
	}
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
	for (i = 0; i < STRANGERS; i++)
		close(fd[i]);
}

/* In a process of its own: fill the server's places again and again, until it is killed. */
static pid_t start_flood(__u16 port, bool complete)
{
	struct meeting_hello hello = { .version = htobe32(MEETING_VERSION) };
	int fd[2 * STRANGERS] = { }, i;
	pid_t pid = fork_child();

	if (pid)
		return pid;
	memcpy(hello.magic, MEETING_MAGIC, sizeof(hello.magic));
	for (i = 0;; i = (i + 1) % (2 * STRANGERS)) {
		if (fd[i])
			close(fd[i]);
		fd[i] = open_connection(port);
		if (complete)
			send_all(fd[i], &hello, sizeof(hello));
	}
}

TEST_F(hostile, floods_of_connections_stop_nobody)
{
	pid_t flood[2];
	int i;

	rank_start(&self->rank[0]);
	for (i = 0; i < 2; i++)
		flood[i] = start_flood(self->port, i);
	EXPECT_TRUE(await_report(&self->rank[0], "waiting for rank 1"));
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
	for (i = 0; i < 2; i++) {
		kill(flood[i], SIGKILL);
		waitpid(flood[i], NULL, 0);
	}
}

TEST_F(hostile, files_that_run_out_stop_nobody)
{
	int fd[STRANGERS], i;

	rank_start(&self->rank[0]);
	fd[0] = open_connection(self->port);
	/* It has begun; now it has fewer files than pending ones that come. */
	ASSERT_EQ(0, prlimit(self->rank[0].pid, RLIMIT_NOFILE,
			     &(struct rlimit){ MEETING_LISTENER_POLLS + 2, 1024 }, NULL));
	for (i = 1; i < STRANGERS; i++)
		fd[i] = open_connection(self->port);
	EXPECT_TRUE(await_report(&self->rank[0], "waiting for rank 1"));
	for (i = 0; i < STRANGERS; i++)
		close(fd[i]);
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

/* ---- what was recorded ---- */

TEST_F(hostile, a_recorded_client_is_not_a_rank)
{
	__u8 recorded[CLIENT_BYTES];
	int fd;

	start_relayed(self, 0, -1);
	expect_both_met(_metadata, self);
	memcpy(recorded, self->relay.seen[0].data, sizeof(recorded));
	relay_end(&self->relay);

	rank_start(&self->rank[0]);
	fd = open_connection(self->port);
	EXPECT_EQ(0, send_all(fd, recorded, sizeof(recorded)));
	await_end(fd);
	close(fd);
	EXPECT_TRUE(await_report(&self->rank[0], "its secret differs"));
	self->rank[1].options.rendezvous = self->rendezvous;
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

/* An impostor, who says this, or else sends back what it receives, until it is killed */
static pid_t start_impostor(__u16 port, const void *says, size_t bytes)
{
	int listener = open_listener(&port), fd;
	pid_t pid = fork_child();
	__u8 data[256];
	ssize_t got;

	while (!pid) {
		fd = accept(listener, NULL, NULL);
		if (says)
			send_all(fd, says, bytes);
		while ((got = recv(fd, data, sizeof(data), 0)) > 0)
			if (!says)
				send_all(fd, data, got);
		close(fd);
	}
	close(listener);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(hostile, a_recorded_server_is_not_rank_0)
{
	__u8 recorded[RELAY_BYTES];
	size_t bytes;
	pid_t impostor;

	start_relayed(self, 0, -1);
	expect_both_met(_metadata, self);
	bytes = self->relay.seen[1].bytes;
	memcpy(recorded, self->relay.seen[1].data, bytes);
	relay_end(&self->relay);

	impostor = start_impostor(self->port, recorded, bytes);
	self->rank[1].options.rendezvous = self->rendezvous;
	rank_start(&self->rank[1]);
	EXPECT_TRUE(await_report(&self->rank[1], "another secret"));
	end_child(impostor);
	rank_start(&self->rank[0]);
	expect_both_met(_metadata, self);
}

TEST_F(hostile, a_server_that_sends_back_what_it_receives_is_not_rank_0)
{
	pid_t impostor = start_impostor(self->port, NULL, 0);

	rank_start(&self->rank[1]);
	EXPECT_TRUE(await_report(&self->rank[1], "waiting for rank 0"));
	end_child(impostor);
	rank_start(&self->rank[0]);
	expect_both_met(_metadata, self);
}

/* ---- other versions ---- */

TEST_F(hostile, another_version_is_told_of_this_one)
{
	struct meeting_hello hello = { .version = htobe32(MEETING_VERSION + 1) };
	struct meeting_answer answer;
	int fd;

	memcpy(hello.magic, MEETING_MAGIC, sizeof(hello.magic));
	rank_start(&self->rank[0]);
	fd = open_connection(self->port);
	EXPECT_EQ(0, send_all(fd, &hello, sizeof(hello)));
	EXPECT_EQ(sizeof(answer), recv(fd, &answer, sizeof(answer), MSG_WAITALL));
	EXPECT_EQ(htobe32(MEETING_VERSION), answer.version);
	await_end(fd);
	close(fd);
	EXPECT_TRUE(await_report(&self->rank[0], "it has version 2 of the meeting"));
	rank_start(&self->rank[1]);
	expect_both_met(_metadata, self);
}

TEST_HARNESS_MAIN
