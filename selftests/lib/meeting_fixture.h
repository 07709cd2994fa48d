/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that meet over real sockets of this machine, and a relay between them that sees, and
 * may alter, each byte.
 */
#ifndef MEETING_FIXTURE_H
#define MEETING_FIXTURE_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness.h"
#include "meeting.h"
#include "meeting_keys.h"

#define MOST_RANKS	8
#define BLOCK		48
#define PATIENCE_MS	120000	/* of meetings that are to succeed */

static const __u8 the_secret[COLLSOCK_KEY_BYTES] = "0123456789abcde";

/**
 * struct outcome - what a rank found out
 * @err: of opening and of exchanges; -EINPROGRESS until it is known
 * @text: the reason
 * @reports: lines that were reported
 * @key: of the group
 * @all: what the last exchange returned
 * @leaks: files that were not closed, or that would be open after exec
 */
struct outcome {
	int	err;
	char	text[MEETING_TEXT];
	char	reports[8192];
	__u8	key[COLLSOCK_KEY_BYTES];
	__u8	all[MOST_RANKS * BLOCK];
	int	leaks;
};

/**
 * struct rank - a process
 * @pid: its pid
 * @outcome: shared with it
 * @options: of its meeting
 * @exchanges: how many
 * @bytes: of each
 * @stops_after: it stops after this number of exchanges, until it is killed; -1: never
 */
struct rank {
	pid_t			pid;
	struct outcome		*outcome;
	struct meeting_options	options;
	unsigned int		exchanges;
	size_t			bytes;
	int			stops_after;
};

/* A child ends with the test, however that ends. */
static pid_t fork_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* ---- ports ---- */

static int open_listener(__u16 *port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(*port) };
	socklen_t bytes = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)) || listen(fd, 128) ||
	    getsockname(fd, (struct sockaddr *)&in, &bytes)) {
		close(fd);
		return -1;
	}
	*port = ntohs(in.sin_port);
	return fd;
}

/* Not one of those that the kernel gives to connections */
static __u16 free_port(void)
{
	__u16 port, random;
	int fd;

	do {
		meeting_keys_draw(&random, sizeof(random));
		port = 10000 + random % 20000;
		fd = open_listener(&port);
	} while (fd < 0);
	close(fd);
	return port;
}

/* A process that listens on the port, and accepts nothing */
static inline pid_t hold_port(__u16 port)
{
	int listener = open_listener(&port);
	pid_t pid = fork_child();

	if (!pid)
		while (1)
			pause();
	close(listener);
	return pid;
}

/* A connection to the port, once somebody listens there */
static inline int open_connection(__u16 port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	while (1) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (!connect(fd, (struct sockaddr *)&in, sizeof(in)))
			return fd;
		close(fd);
		usleep(1000);
	}
}

/* ---- ranks ---- */

/* Files above standard error that are open, or of these those that stay open after exec */
static int count_files(bool after_exec)
{
	int fd, flags, count = 0;

	for (fd = 3; fd < 1024; fd++) {
		flags = fcntl(fd, F_GETFD);
		count += flags >= 0 && !(after_exec && flags & FD_CLOEXEC);
	}
	return count;
}

static void note(void *ctx, const char *line)
{
	struct outcome *o = ctx;
	size_t used = strlen(o->reports);

	snprintf(o->reports + used, sizeof(o->reports) - used, "%s\n", line);
}

/* What rank contributes to an exchange */
static void fill_block(__u8 *block, __u32 rank, unsigned int exchange)
{
	snprintf((char *)block, BLOCK, "block %u of rank %u", exchange, rank);
}

static int rank_exchange(struct rank *r, struct meeting *meeting)
{
	__u8 mine[BLOCK] = "";
	unsigned int i;
	int err = 0;

	for (i = 0; i < r->exchanges && !err; i++) {
		if ((int)i == r->stops_after)
			pause();
		fill_block(mine, r->options.rank, i);
		memset(r->outcome->all, 0, sizeof(r->outcome->all));
		err = meeting_exchange(meeting, mine, r->outcome->all, r->bytes);
	}
	if (err)
		strcpy(r->outcome->text, meeting_text(meeting));
	return err;
}

static void rank_main(struct rank *r)
{
	struct outcome *o = r->outcome;
	int before = count_files(false), stay = count_files(true), err;
	struct meeting *meeting;

	r->options.report = note;
	r->options.ctx = o;
	err = meeting_open(&meeting, &r->options, o->text, sizeof(o->text));
	if (!err) {
		meeting_group_key(meeting, o->key);
		o->leaks = count_files(true) - stay;
		err = rank_exchange(r, meeting);
		meeting_close(meeting);
	}
	o->leaks += count_files(false) - before;
	o->err = err;
	exit(0);
}

static void rank_init(struct rank *r, const char *rendezvous, __u32 rank, __u32 ranks)
{
	*r = (struct rank){
		.options = {
			.rendezvous = rendezvous, .rank = rank, .ranks = ranks,
			.timeout_ms = PATIENCE_MS, .exchange_ms = PATIENCE_MS,
		},
		.exchanges = 2, .bytes = BLOCK, .stops_after = -1,
	};
	memcpy(r->options.secret, the_secret, sizeof(the_secret));
	r->outcome = mmap(NULL, sizeof(*r->outcome), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static inline void rank_start(struct rank *r)
{
	memset(r->outcome, 0, sizeof(*r->outcome));
	r->outcome->err = -EINPROGRESS;
	r->pid = fork_child();
	if (!r->pid)
		rank_main(r);
}

static int rank_end(struct rank *r)
{
	int status;

	waitpid(r->pid, &status, 0);
	return status;
}

/* Wait until a rank has reported a line with these words, or has ended. */
static inline bool await_report(struct rank *r, const char *words)
{
	int status = 0;

	while (!strstr(r->outcome->reports, words)) {
		if (waitpid(r->pid, &status, WNOHANG))
			return !!strstr(r->outcome->reports, words);
		usleep(1000);
	}
	return true;
}

static bool blocks_are_right(const struct rank *r)
{
	__u8 right[BLOCK] = "";
	__u32 rank;

	for (rank = 0; rank < r->options.ranks; rank++) {
		fill_block(right, rank, r->exchanges - 1);
		if (memcmp(right, r->outcome->all + rank * BLOCK, BLOCK))
			return false;
	}
	return true;
}

static inline void expect_says(struct __test_metadata *_metadata, const char *text,
			       const char *words)
{
	EXPECT_NE(NULL, strstr(text, words)) TH_LOG("\"%s\" lacks \"%s\"", text, words);
}

/* The rank met the others, and received their blocks. */
static inline void expect_met(struct __test_metadata *_metadata, struct rank *r)
{
	EXPECT_EQ(0, rank_end(r)) TH_LOG("status of rank %u", r->options.rank);
	EXPECT_EQ(0, r->outcome->err)
		TH_LOG("rank %u: %s", r->options.rank, r->outcome->text);
	EXPECT_TRUE(blocks_are_right(r)) TH_LOG("blocks of rank %u", r->options.rank);
	EXPECT_EQ(0, r->outcome->leaks) TH_LOG("files of rank %u", r->options.rank);
}

/* The rank ended with this error, and its reason has these words. */
static inline void expect_failed(struct __test_metadata *_metadata, struct rank *r, int error,
				 const char *words)
{
	EXPECT_EQ(0, rank_end(r)) TH_LOG("status of rank %u", r->options.rank);
	EXPECT_EQ(error, r->outcome->err)
		TH_LOG("rank %u: %s", r->options.rank, r->outcome->text);
	expect_says(_metadata, r->outcome->text, words);
	EXPECT_EQ(0, r->outcome->leaks) TH_LOG("files of rank %u", r->options.rank);
}

/* ---- a relay ---- */

#define RELAY_BYTES 4096

/**
 * struct relay - a process between a client and the server, which serves one connection at a time
 * @port: where it listens
 * @pid: its pid
 * @loses_end: the server does not learn that a client has ended its connection
 * @seen: shared with it: what went to the server (0) and what came from it (1)
 */
struct relay {
	__u16	port;
	pid_t	pid;
	bool	loses_end;
	struct {
		size_t	bytes;
		__u8	data[RELAY_BYTES];
	} *seen;
};

/* Pass on what came; the byte at @flip of this direction is altered. False at the end. */
static bool relay_pass(struct relay *r, int from, int to, int direction, long flip)
{
	__u8 data[256];
	ssize_t bytes = read(from, data, sizeof(data));
	size_t at = r->seen[direction].bytes;

	if (bytes <= 0)
		return false;
	if (at + bytes <= RELAY_BYTES)
		memcpy(r->seen[direction].data + at, data, bytes);
	if (flip >= (long)at && flip < (long)(at + bytes))
		data[flip - at] ^= 0x10;
	r->seen[direction].bytes += bytes;
	return send(to, data, bytes, MSG_NOSIGNAL) == bytes;
}

static void relay_serve(struct relay *r, int client, int server, int direction, long flip)
{
	struct pollfd polled[] = { { client, POLLIN, 0 }, { server, POLLIN, 0 } };
	bool open = true;

	while (open && poll(polled, 2, -1) > 0) {
		if (polled[0].revents)
			open = relay_pass(r, client, server, 0, direction ? -1 : flip);
		if (open && polled[1].revents)
			open = relay_pass(r, server, client, 1, direction ? flip : -1);
	}
	close(client);
	if (!r->loses_end)
		close(server);
}

/* Relay to @server; alter the byte at @flip of direction @direction, unless it is negative. */
static inline void relay_start(struct relay *r, __u16 server, int direction, long flip)
{
	int listener;

	r->port = 0;
	listener = open_listener(&r->port);
	r->seen = mmap(NULL, 2 * sizeof(*r->seen), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	r->pid = fork_child();
	while (!r->pid) {
		int client = accept(listener, NULL, NULL);

		relay_serve(r, client, open_connection(server), direction, flip);
	}
	close(listener);
}

static inline void relay_end(struct relay *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	munmap(r->seen, 2 * sizeof(*r->seen));
}

#endif
