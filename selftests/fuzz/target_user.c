// SPDX-License-Identifier: GPL-2.0
/*
 * What comes to ranks in user space: two of one group, on sockets of this machine, at times that
 * the input sets. It makes them post, receive and end, and sends to their descriptors and ports
 * what it wants: also packets with a valid MAC, and from another socket. Or it is a request to
 * JOIN. Memory must not be corrupted, a completion received that nobody has posted for, nor an
 * event go on indefinitely; and all that a member has is freed when it is over.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../libcollsock/src/user.h"
#include "../../libcollsock/src/user_thread.h"
#include "../unit/mac.h"
#include "fuzz.h"
#include "user_events.h"

#define RANKS		2
#define MAX_EVENTS	200
#define MAX_BYTES	2048	/* of what is sent at once */
#define LONGEST_NS	(3000ULL * NSEC_PER_SEC)	/* what is left is over by then */
#define STORM_STEPS	20000
#define FIRST_INCARNATION 1001

/**
 * struct pair - the ranks
 * @in: what is left of the input
 * @member: the ranks
 * @address: those of both
 * @stranger: a socket that is neither's
 * @sent: messages that were sent to the descriptor of each
 * @received: completions that came from it, but for one of the group's failure
 * @told: that has come
 */
struct pair {
	struct fuzz_input	in;
	struct user_member	*member[RANKS];
	struct collsock_member	address[RANKS];
	int			stranger;
	u32			sent[RANKS];
	u32			received[RANKS];
	bool			told[RANKS];
};

/* ---- in place of the host and the library's thread ---- */

/* 0: the host's */
static u64 now_ns;
static u32 randoms;

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
	if (!now_ns || which != CLOCK_MONOTONIC)
		return __real_clock_gettime(which, t);
	t->tv_sec = now_ns / NSEC_PER_SEC;
	t->tv_nsec = now_ns % NSEC_PER_SEC;
	return 0;
}

/* Incarnations */
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned int flags)
{
	u32 value = FIRST_INCARNATION + randoms++;

	FUZZ_EQUAL(bytes, sizeof(value), "random bytes");
	memcpy(to, &value, sizeof(value));
	return bytes;
}

int user_thread_drive(struct user_member *m)
{
	return 0;
}

void user_thread_take_back(struct user_member *m)
{
}

void user_thread_mind(struct user_member *m)
{
}

/* ---- joining ---- */

/* A socket of this host, with a port that is free */
static int bind_any(struct collsock_member *address)
{
	const struct collsock_member any = { .family = AF_INET, .address = { 127, 0, 0, 1 } };
	union user_address a;
	socklen_t bytes = user_address_of(&a, &any);
	int fd = user_udp_bind(&a, bytes);

	FUZZ_EXPECT(fd >= 0 && !getsockname(fd, &a.any, &bytes), "%d", errno);
	*address = any;
	address->port = ntohs(a.ipv4.sin_port);
	return fd;
}

static void open_member(struct pair *p, u32 i)
{
	FUZZ_EQUAL(user_member_new(&p->member[i], true), 0, "error");
}

/* Where a request has the address of the first host, it may well be that of the socket. */
static void join_as_told(struct pair *p)
{
	u32 bytes = fuzz_left(&p->in);
	u8 *request = fuzz_exact(p->in.at, bytes);
	int fd = bind_any(&p->address[0]);

	open_member(p, 0);
	if (bytes >= sizeof(struct collsock_join) + sizeof(p->address[0]))
		memcpy(request + sizeof(struct collsock_join), &p->address[0],
		       sizeof(p->address[0]));
	if (!user_join(p->member[0], request, bytes, fd))
		FUZZ_EQUAL(user_join(p->member[0], request, bytes, -1), -EISCONN, "joining twice");
	free(request);
	p->in.at = p->in.end;
}

static void join_both(struct pair *p)
{
	struct {
		struct collsock_join	join;
		struct collsock_member	members[RANKS];
		u32			host_of_rank[RANKS];
	} __packed r = {
		.join = { .size = sizeof(r.join), .id = 1, .nonce = 2, .key = { 3 },
			  .hosts = RANKS, .ranks = RANKS, .max_bytes = 64, .segment_bytes = 96,
			  .max_result_bytes = 1024 },
		.host_of_rank = { 0, 1 },
	};
	int fd[RANKS];
	u32 i;

	r.join.window = 1 + fuzz_below(&p->in, 4);
	for (i = 0; i < RANKS; i++)
		fd[i] = bind_any(&p->address[i]);
	memcpy(r.members, p->address, sizeof(r.members));
	for (i = 0; i < RANKS; i++) {
		open_member(p, i);
		r.join.rank = i;
		FUZZ_EQUAL(user_join(p->member[i], &r, sizeof(r), fd[i]), 0, "error");
	}
}

/* ---- events ---- */

static u32 one_of(struct pair *p)
{
	return fuzz_below(&p->in, RANKS);
}

/* Bytes to the program's end of the descriptor, which the member reads */
static void send_message(struct pair *p, u32 i, const void *data, u32 bytes)
{
	if (send(p->member[i]->pipe.outer, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		p->sent[i]++;
	user_member_attend(p->member[i]);
}

static void send_any(struct pair *p)
{
	u8 data[MAX_BYTES] = {};
	u32 i = one_of(p), bytes = fuzz_byte(&p->in) * (fuzz_byte(&p->in) & 7);

	fuzz_copy(&p->in, data, bytes);
	send_message(p, i, data, bytes);
}

static void post(struct pair *p)
{
	struct {
		struct collsock_post	post;
		u64			values[8];
	} message = {
		.post = { .size = sizeof(message.post), .operation = COLLSOCK_BARRIER,
			  .cookie = fuzz_near(&p->in, 1) },
		.values = { 1, 2, 3 },
	};
	u32 i = one_of(p), count = fuzz_below(&p->in, ARRAY_SIZE(message.values) + 1);

	if (count) {
		message.post.operation = COLLSOCK_ALLREDUCE;
		message.post.type = COLLSOCK_UINT64;
		message.post.op = COLLSOCK_SUM;
		message.post.count = count;
	}
	send_message(p, i, &message, sizeof(message.post) + count * sizeof(u64));
}

static void send_packet(struct pair *p, u32 i, bool strange, const u8 *data, u32 bytes)
{
	union user_address to;
	socklen_t to_bytes = user_address_of(&to, &p->address[i]);
	int fd = strange ? p->stranger : p->member[!i]->udp.fd;

	if (fd >= 0)
		sendto(fd, data, bytes, MSG_DONTWAIT, &to.any, to_bytes);
}

/* Of the other rank's incarnation, or another one's: the rest, but for the MAC, is the input's. */
static u32 seal(struct pair *p, u32 i, u8 *data, u32 bytes)
{
	const struct coll_group *g = &p->member[i]->group;
	const struct coll_prefix prefix = {
		.tag = g->secret.tag, .descriptor = g->descriptor, .source = !i, .destination = i,
		.incarnation = FIRST_INCARNATION + !i + (fuzz_byte(&p->in) & 1),
		.known = fuzz_byte(&p->in) & 1 ? g->incarnation : 0,
	};
	struct coll_wire_side side;

	bytes = max_t(u32, bytes, COLL_WIRE_MIN);
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	memcpy(data, side.prefix, COLL_WIRE_PREFIX);
	coll_wire_seal(data, bytes, &side);
	return bytes;
}

static void send_any_packet(struct pair *p, bool sealed)
{
	u8 data[MAX_BYTES] __aligned(8) = {};
	u32 i = one_of(p), bytes = fuzz_byte(&p->in);
	bool strange = fuzz_byte(&p->in) & 1;

	fuzz_copy(&p->in, data + (sealed ? COLL_WIRE_PREFIX : 0), bytes);
	/* Only a group has a key. */
	if (sealed && p->member[i]->group.secret.tag)
		bytes = seal(p, i, data, COLL_WIRE_PREFIX + bytes + COLL_WIRE_MAC);
	send_packet(p, i, strange, data, bytes);
}

/* As a thread of the program that has slept until a packet came */
static void arrive(struct user_member *m)
{
	struct pollfd packets = { .fd = m->udp.fd, .events = POLLIN };
	int bytes;

	if (m->udp.fd < 0 || poll(&packets, 1, 0) <= 0)
		return;
	bytes = user_udp_sleep(&m->udp);
	if (bytes >= 0)
		user_member_arrive(m, bytes);
}

static u32 drive(struct pair *p, u32 i)
{
	struct user_member *m = p->member[i];
	u32 before = m->net.packets;

	user_member_progress(m);
	user_member_attend(m);
	return m->net.packets - before;
}

/* Both do what is due, and receive, until nothing is under way at this time. */
static void settle(struct pair *p)
{
	u32 steps = 0, packets;

	do {
		packets = drive(p, 0) + drive(p, 1);
		FUZZ_EXPECT(++steps < STORM_STEPS, "%u packets in the last step", packets);
	} while (packets);
}

/* One that is over is of no use to the library's thread, which frees it. */
static u64 due_of(struct user_member *m)
{
	return m->state == USER_OVER ? COLL_NEVER : user_member_due(m);
}

static void pass_time(struct pair *p, u64 span)
{
	u64 end = now_ns + span, due;
	u32 steps = 0;

	for (;;) {
		settle(p);
		due = min(due_of(p->member[0]), due_of(p->member[1]));
		if (due > end)
			break;
		now_ns = max(now_ns + 1, due);
		FUZZ_EXPECT(++steps < STORM_STEPS, "due %llu, end %llu", due, end);
	}
	now_ns = end;
	settle(p);
}

static void note(struct pair *p, u32 i, const struct collsock_completion *c)
{
	if (c->cookie == COLLSOCK_COOKIE_GROUP && c->failed_rank != COLLSOCK_NO_RANK) {
		FUZZ_EXPECT(!p->told[i], "rank %u is told of a failure once more", i);
		p->told[i] = true;
		return;
	}
	p->received[i]++;
	FUZZ_EXPECT(p->received[i] <= p->sent[i], "rank %u: %u completions of %u messages", i,
		    p->received[i], p->sent[i]);
}

/* How a completion is received */
enum { BY_DESCRIPTOR, OLDEST, BY_COOKIE, WAYS };

/* Returns whether there was one. */
static bool receive(struct pair *p, u32 i, u32 how, u64 cookie)
{
	struct {
		struct collsock_completion	completion;
		u8				result[1024];
	} got = { .completion = { .size = 0 } };
	const struct user_pipe_room room = { &got.completion, got.result, sizeof(got.result) };
	struct user_member *m = p->member[i];
	ssize_t bytes;
	bool found;

	if (m->state != USER_JOINED)
		return false;
	if (how == BY_DESCRIPTOR) {
		bytes = recv(m->pipe.outer, &got, sizeof(got), MSG_DONTWAIT);
		found = bytes > 0;
		if (found)
			FUZZ_EQUAL(bytes, sizeof(got.completion) + got.completion.bytes, "length");
	} else if (how == OLDEST) {
		found = !user_pipe_pull(&m->pipe, &room);
	} else {
		found = !user_pipe_find(&m->pipe, cookie, &room);
	}
	if (found)
		note(p, i, &got.completion);
	user_member_begin(m);
	user_member_settle(m);
	return found;
}

static void receive_one(struct pair *p)
{
	u32 i = one_of(p), how = fuzz_below(&p->in, WAYS);

	receive(p, i, how, how == BY_COOKIE ? fuzz_near(&p->in, 1) : 0);
}

static void run_event(struct pair *p)
{
	switch (fuzz_below(&p->in, USER_EVENTS)) {
	case USER_EVENT_POST:
		post(p);
		break;
	case USER_EVENT_MESSAGE:
		send_any(p);
		break;
	case USER_EVENT_PACKET:
		send_any_packet(p, false);
		break;
	case USER_EVENT_SEALED:
		send_any_packet(p, true);
		break;
	case USER_EVENT_ARRIVE:
		arrive(p->member[one_of(p)]);
		break;
	case USER_EVENT_TIME:
		pass_time(p, 1000ULL << fuzz_below(&p->in, 24));
		break;
	case USER_EVENT_RECEIVE:
		receive_one(p);
		break;
	case USER_EVENT_SHUTDOWN:
		shutdown(p->member[one_of(p)]->pipe.outer, SHUT_WR);
		break;
	case USER_EVENT_CLOSE:
		user_member_abandon(p->member[one_of(p)], USER_CLOSE_LINGER_MS);
		break;
	}
}

/* ---- the end ---- */

static void end_both(struct pair *p)
{
	u32 i;

	for (i = 0; i < RANKS; i++) {
		while (receive(p, i, OLDEST, 0))
			;
		user_member_abandon(p->member[i], USER_EXIT_LINGER_MS);
	}
	pass_time(p, LONGEST_NS);
	for (i = 0; i < RANKS; i++) {
		FUZZ_EQUAL(p->member[i]->state, USER_OVER, "state at the end");
		close(p->member[i]->pipe.outer);
		user_member_free(p->member[i]);
	}
	close(p->stranger);
}

int fuzz_target(const u8 *data, size_t bytes)
{
	struct collsock_member unused;
	struct pair p = { .in = { data, data + bytes } };
	u32 events = 0;

	now_ns = NSEC_PER_SEC;
	randoms = 0;
	p.stranger = bind_any(&unused);
	if (fuzz_byte(&p.in) & USER_JOINS) {
		join_as_told(&p);
		open_member(&p, 1);
	} else {
		join_both(&p);
	}
	while (fuzz_left(&p.in) && ++events < MAX_EVENTS)
		run_event(&p);
	end_both(&p);
	now_ns = 0;
	return 0;
}
