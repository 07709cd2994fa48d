// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meeting_client.h"
#include "meeting_clock.h"

#define TRY_MS		5000	/* from connecting to being welcome */
#define PAUSE_MS	50	/* after the first try; then up to */
#define MOST_PAUSE_MS	1000

/* Results of a try */
enum { AGAIN = 1, OTHER_PORT };

/**
 * struct client_try - a connection that is not proved yet
 * @fd: its socket
 * @end_ms: when to give up
 * @transcript: hello and answer
 * @keys: derived from it
 * @proof: the server's
 * @io: what is left of a step
 */
struct client_try {
	int				fd;
	__u64				end_ms;
	struct meeting_transcript	transcript;
	struct meeting_keys		keys;
	__u8				proof[MEETING_BYTES];
	struct meeting_io		io;
};

int meeting_client_init(struct meeting_client *client, struct meeting_self *self)
{
	int err;

	memset(client, 0, sizeof(*client));
	client->self = self;
	client->link.fd = -1;
	err = meeting_keys_draw(client->process, sizeof(client->process));
	return err ? meeting_self_fail(self, err, "no random numbers: %s", strerror(-err)) : 0;
}

void meeting_client_free(struct meeting_client *client)
{
	meeting_link_close(&client->link);
}

/* ---- why it has to try again ---- */

[[gnu::format(printf, 2, 3)]]
static int client_fails(struct meeting_client *client, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(client->problem, sizeof(client->problem), format, arguments);
	va_end(arguments);
	return AGAIN;
}

static int client_fails_with(struct meeting_client *client, int err)
{
	if (err > 0)
		return client_fails(client, "%s", gai_strerror(-err));
	/* An earlier problem explains more than the end of the meeting's time. */
	if (err == -ETIMEDOUT && *client->problem)
		return AGAIN;
	if (err == -ETIMEDOUT)
		return client_fails(client, "no answer");
	return client_fails(client, "%s", strerror(-err));
}

static int client_distrusts(struct meeting_client *client)
{
	struct meeting_self *self = client->self;

	if (!client->distrusts)
		meeting_self_report(self,
				    "rank %u: what answers at %s has another secret: copy the key file of rank 0 to all hosts; or it is another job's: name this one (COLLSOCK_JOB)",
				    self->options.rank, self->rendezvous.text);
	client->distrusts = true;
	return client_fails(client, "what answers there has another secret");
}

static void client_report_late(struct meeting_client *client)
{
	struct meeting_self *self = client->self;

	if (!meeting_self_is_late(self))
		return;
	if (client->link.fd < 0)
		meeting_self_report(self, "rank %u: waiting for rank 0 at %s: %s",
				    self->options.rank, self->rendezvous.text,
				    *client->problem ? client->problem : "no answer yet");
	else
		meeting_self_report(self,
				    "rank %u: connected to rank 0 at %s, which waits for other ranks",
				    self->options.rank, self->rendezvous.text);
}

/* ---- one try ---- */

/* Wait for the socket until @end, or until the meeting ends: 0, or -ETIMEDOUT. */
static int client_poll(struct meeting_client *client, int fd, short events, __u64 end)
{
	struct pollfd polled = { fd, events, 0 };
	int left = meeting_self_left_ms(client->self), own = meeting_clock_left(end);

	if (!own || meeting_self_has_ended(client->self))
		return -ETIMEDOUT;
	poll(&polled, 1, own < left ? own : left);
	client_report_late(client);
	return 0;
}

static int client_run(struct meeting_client *client, struct client_try *try, short events)
{
	int err, late;

	do {
		err = events == POLLOUT ? meeting_io_send(&try->io, try->fd) :
					  meeting_io_receive(&try->io, try->fd);
		if (err != -EAGAIN)
			return err;
		late = client_poll(client, try->fd, events, try->end_ms);
	} while (!late);
	return late;
}

static int client_send(struct meeting_client *client, struct client_try *try, const void *data,
		       size_t bytes)
{
	meeting_io_clear(&try->io);
	meeting_io_add(&try->io, data, bytes);
	return client_run(client, try, POLLOUT);
}

static int client_receive(struct meeting_client *client, struct client_try *try, void *data,
			  size_t bytes)
{
	meeting_io_clear(&try->io);
	meeting_io_add(&try->io, data, bytes);
	return client_run(client, try, POLLIN);
}

static int client_check_answer(struct meeting_client *client, const struct meeting_answer *answer)
{
	if (memcmp(answer->magic, MEETING_MAGIC, sizeof(answer->magic)))
		return client_fails(client, "what answers there is not of collsock");
	if (answer->version != htobe32(MEETING_VERSION))
		return client_fails(client,
				    "rank 0 has version %u of the meeting, and this is version %u; install the same libcollsock on all hosts",
				    be32toh(answer->version), MEETING_VERSION);
	return 0;
}

/*
 * Exchange proofs of the secret. Returns 0 if the server has proved that it knows the secret. The
 * proof of this side goes to any server, so that one with another secret can report that as well;
 * it does not reveal the secret.
 */
static int client_prove(struct meeting_client *client, struct client_try *try)
{
	struct meeting_transcript *t = &try->transcript;
	int err;

	meeting_self_hello(client->self, &t->hello);
	memcpy(t->hello.process, client->process, sizeof(t->hello.process));
	err = meeting_keys_draw(t->hello.challenge, sizeof(t->hello.challenge));
	if (!err)
		err = client_send(client, try, &t->hello, sizeof(t->hello));
	if (!err && meeting_rendezvous_is_self(try->fd))
		err = -ECONNREFUSED;
	if (!err)
		err = client_receive(client, try, &t->answer, sizeof(t->answer));
	if (err)
		return client_fails_with(client, err);
	err = client_check_answer(client, &t->answer);
	if (err)
		return err;
	meeting_keys_derive(&try->keys, client->self->options.secret, t);
	err = client_receive(client, try, try->proof, sizeof(try->proof));
	if (!err)
		err = client_send(client, try, try->keys.client_proof, MEETING_BYTES);
	if (err)
		return client_fails_with(client, err);
	if (!meeting_keys_equal(try->proof, try->keys.server_proof))
		return client_distrusts(client);
	return 0;
}

/* The refusal can be believed, as the server knows the secret. */
static int client_is_refused(struct meeting_client *client, unsigned int kind)
{
	struct meeting_self *self = client->self;
	const struct meeting_options *o = &self->options;

	switch (kind) {
	case MEETING_OTHER_JOB:
		client_fails(client, "this is the meeting of another job");
		return OTHER_PORT;
	case MEETING_NEWER:
		return client_fails(client, "rank 0 there is of an earlier attempt");
	case MEETING_STALE:
		return meeting_self_fail(self, -ESTALE,
					 "rank %u is of attempt %u of the job, which rank 0 at %s has replaced by a later one",
					 o->rank, o->attempt, self->rendezvous.text);
	case MEETING_RANKS_DIFFER:
		return meeting_self_fail(self, -EPROTO,
					 "rank %u counts %u ranks, and rank 0 at %s counts %u; start all with the same number",
					 o->rank, o->ranks, self->rendezvous.text,
					 meeting_link_rank(&client->link));
	case MEETING_DUPLICATE:
		return meeting_self_fail(self, -EEXIST,
					 "rank %u: another process is this rank at %s already; give each process its own rank",
					 o->rank, self->rendezvous.text);
	default:
		return client_fails(client, "rank 0 sends something that is not understood");
	}
}

/* Wait for a message, at most until @end: 0, or as meeting_link_receive(), or -ETIMEDOUT. */
static int client_await(struct meeting_client *client, __u64 end)
{
	struct meeting_link *link = &client->link;
	int err = meeting_link_receive(link), late = 0;

	while (err == -EAGAIN && !late) {
		late = client_poll(client, link->fd, POLLIN, end);
		err = meeting_link_receive(link);
	}
	return err == -EAGAIN ? late : err;
}

/* Wait to be welcome, over a link that is open. It stays open if this returns 0. */
static int client_be_welcome(struct meeting_client *client, __u64 end)
{
	int err = client_await(client, end);
	unsigned int kind = meeting_link_kind(&client->link);

	if (err)
		return client_fails_with(client, err);
	return kind == MEETING_WELCOME ? 0 : client_is_refused(client, kind);
}

static int client_try(struct meeting_client *client)
{
	struct client_try try = { .end_ms = meeting_clock_ms() + TRY_MS };
	int err = meeting_rendezvous_connect(&client->self->rendezvous, client->tries++, &try.fd);

	if (err)
		return client_fails_with(client, err);
	err = client_prove(client, &try);
	if (err) {
		close(try.fd);
	} else {
		memcpy(client->salt, try.transcript.answer.salt, sizeof(client->salt));
		meeting_link_open(&client->link, try.fd, try.keys.from_client,
				  try.keys.from_server);
		err = client_be_welcome(client, try.end_ms);
	}
	explicit_bzero(&try, sizeof(try));
	return err;
}

/* ---- until all are here ---- */

/* Report the failure that the server has sent, and return its error. */
static int client_is_told(struct meeting_client *client)
{
	struct meeting_self *self = client->self;
	__u32 rank = meeting_link_rank(&client->link);

	switch (meeting_link_kind(&client->link)) {
	case MEETING_LEFT:
		return meeting_self_fail(self, -ECONNRESET, "rank %u has left the meeting at %s",
					 rank, self->rendezvous.text);
	case MEETING_TIMED_OUT:
		return meeting_self_fail(self, -ETIMEDOUT,
					 "rank 0 at %s gave up waiting for rank %u",
					 self->rendezvous.text, rank);
	case MEETING_SIZES_DIFFER:
		return meeting_self_fail(self, -EPROTO,
					 "rank %u exchanges something else; start the same program on all ranks",
					 rank);
	case MEETING_NEWER:
		return meeting_self_fail(self, -ESTALE,
					 "a later attempt of the job has replaced this one, attempt %u",
					 self->options.attempt);
	default:
		return meeting_self_fail(self, -EPROTO,
					 "rank 0 at %s sends something that is not understood",
					 self->rendezvous.text);
	}
}

/* If rank 0 is gone before all were here, it may come again. */
static int client_await_start(struct meeting_client *client)
{
	int err;

	meeting_link_expect(&client->link, NULL, 0);
	err = client_await(client, client->self->end_ms);
	if (err == -ETIMEDOUT)
		return meeting_self_fail(client->self, err,
					 "connected to rank 0 at %s, which still waits for other ranks: its output names them",
					 client->self->rendezvous.text);
	if (err)
		return client_fails_with(client, err);
	return meeting_link_kind(&client->link) == MEETING_START ? 0 : client_is_told(client);
}

/* Pause before the next try: longer after each round of ports, and not the same for all ranks. */
static void client_pause(struct meeting_client *client)
{
	unsigned int round = client->tries / client->self->rendezvous.ports, pause = MOST_PAUSE_MS;
	int left = meeting_self_left_ms(client->self);
	__u16 random = 0;

	if (round < 5)
		pause = PAUSE_MS << round;
	if (pause > MOST_PAUSE_MS)
		pause = MOST_PAUSE_MS;
	meeting_keys_draw(&random, sizeof(random));
	pause = pause / 2 + random % (pause / 2);
	poll(NULL, 0, left < (int)pause ? left : (int)pause);
}

int meeting_client_attend(struct meeting_client *client)
{
	struct meeting_self *self = client->self;
	int err;

	while (1) {
		err = client_try(client);
		if (!err)
			err = client_await_start(client);
		if (err <= 0)
			return err;
		meeting_link_close(&client->link);
		client_report_late(client);
		if (meeting_self_has_ended(self))
			return meeting_self_fail(self, -ETIMEDOUT,
						 "rank %u gave up waiting for rank 0 at %s: %s; is it running there, and this TCP port open?",
						 self->options.rank, self->rendezvous.text,
						 client->problem);
		if (err == AGAIN || client->tries % self->rendezvous.ports == 0)
			client_pause(client);
	}
}

/* ---- exchange ---- */

static int client_is_alone(struct meeting_client *client, int err)
{
	struct meeting_self *self = client->self;

	if (err == -EBADMSG)
		return meeting_self_fail(self, err,
					 "a message of rank 0, at %s, was altered in transit",
					 self->rendezvous.text);
	if (err == -EMSGSIZE)
		return meeting_self_fail(self, -EPROTO,
					 "rank 0 exchanges something else; start the same program on all ranks");
	if (err == -ETIMEDOUT)
		return meeting_self_fail(self, err, "rank 0, at %s, does not answer",
					 self->rendezvous.text);
	return meeting_self_fail(self, err, "rank 0, at %s, has left: %s", self->rendezvous.text,
				 strerror(-err));
}

static int client_send_block(struct meeting_client *client, const void *mine, size_t bytes)
{
	struct meeting_link *link = &client->link;
	__u8 digest[MEETING_BYTES];
	int err, late = 0;

	meeting_keys_digest(digest, mine, bytes);
	meeting_link_post(link, MEETING_DATA, client->self->options.rank, mine, bytes, digest);
	err = meeting_link_send(link);
	while (err == -EAGAIN && !late) {
		late = client_poll(client, link->fd, POLLOUT, client->self->end_ms);
		err = meeting_link_send(link);
	}
	return err == -EAGAIN ? late : err;
}

int meeting_client_exchange(struct meeting_client *client, const void *mine, void *all,
			    size_t bytes)
{
	size_t total = bytes * client->self->options.ranks;
	struct meeting_link *link = &client->link;
	int err, unsent;

	if (link->fd < 0)
		return -ENOTCONN;
	meeting_link_expect(link, all, total);
	unsent = client_send_block(client, mine, bytes);
	/* A server that has failed may have sent the reason before it left. */
	err = unsent == -ETIMEDOUT ? unsent : client_await(client, client->self->end_ms);
	if (err)
		err = client_is_alone(client, err);
	else if (meeting_link_kind(link) != MEETING_DATA || meeting_link_bytes(link) != total)
		err = client_is_told(client);
	if (err)
		meeting_link_close(link);
	return err;
}
