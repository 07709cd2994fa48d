// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "meeting_server.h"

#define LISTEN_AGAIN_MS	200	/* while no port is free */
#define FILES_LEFT	64	/* for the program */
#define NAMED_RANKS	6	/* in a list */

/* A file for each rank, for pending ones, and for the program */
static int server_check_files(struct meeting_self *self)
{
	__u64 files = (__u64)self->options.ranks + MEETING_PENDING + FILES_LEFT;
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur >= files)
		return 0;
	return meeting_self_fail(self, -EMFILE,
				 "rank 0 needs %llu open files for %u ranks, and may have %llu: ulimit -n %llu",
				 (unsigned long long)files, self->options.ranks,
				 (unsigned long long)most.rlim_cur, (unsigned long long)files);
}

int meeting_server_init(struct meeting_server *server, struct meeting_self *self)
{
	__u32 ranks = self->options.ranks, rank;
	int err;

	memset(server, 0, sizeof(*server));
	server->self = self;
	err = meeting_listener_init(&server->listener, self);
	if (err)
		return meeting_self_fail(self, err, "no random numbers: %s", strerror(-err));
	server->attendant = calloc(ranks, sizeof(*server->attendant));
	for (rank = 0; server->attendant && rank < ranks; rank++)
		server->attendant[rank].link.fd = -1;
	server->polls = calloc(ranks + MEETING_LISTENER_POLLS, sizeof(*server->polls));
	if (!server->attendant || !server->polls)
		return meeting_self_fail(self, -ENOMEM, "no memory for %u ranks", ranks);
	server->present = 1;
	return server_check_files(self);
}

void meeting_server_free(struct meeting_server *server)
{
	__u32 rank;

	meeting_listener_close(&server->listener);
	if (server->attendant)
		for (rank = 0; rank < server->self->options.ranks; rank++)
			meeting_link_close(&server->attendant[rank].link);
	free(server->attendant);
	free(server->polls);
}

/* ---- who is missing ---- */

static bool server_is_missing(const struct meeting_server *server, __u32 rank, bool was_here)
{
	const struct meeting_attendant *a = &server->attendant[rank];

	return rank && a->link.fd < 0 && !!*a->peer == was_here;
}

/* "rank 3", "ranks 3, 5", "ranks 3, 5, 6, 7, 8, 9 and 12 more"; returns how many. */
static __u32 server_list(const struct meeting_server *server, bool was_here, char *text,
			 size_t bytes)
{
	__u32 rank, count = 0, first = 0;
	char list[9 * NAMED_RANKS + 1] = "";

	for (rank = 1; rank < server->self->options.ranks; rank++) {
		if (!server_is_missing(server, rank, was_here))
			continue;
		if (!count++)
			first = rank;
		if (count > NAMED_RANKS)
			continue;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
			 count > 1 ? ", " : "", rank);
	}
	if (count == 1)
		snprintf(text, bytes, "rank %u", first);
	else if (count <= NAMED_RANKS)
		snprintf(text, bytes, "ranks %s", list);
	else
		snprintf(text, bytes, "ranks %s and %u more", list, count - NAMED_RANKS);
	return count;
}

/* List the ranks that the meeting waits for. @text has MEETING_TEXT bytes. */
static void server_name_missing(const struct meeting_server *server, char *text)
{
	char never[80], left[80];
	__u32 nevers = server_list(server, false, never, sizeof(never));
	__u32 lefts = server_list(server, true, left, sizeof(left));

	snprintf(text, MEETING_TEXT, "waiting for %s%s%s%s%s%s",
		 nevers ? never : "", nevers ? ": never connected to " : "",
		 nevers ? server->self->rendezvous.text : "", nevers && lefts ? "; and for " : "",
		 lefts ? left : "", lefts ? ": connected, and left" : "");
}

/* ---- failure ---- */

/* Tell all, without waiting. A message that is only half sent ends with the link. */
static void server_tell_all(struct meeting_server *server, enum meeting_kind kind, __u32 about)
{
	__u32 rank;

	for (rank = 1; rank < server->self->options.ranks; rank++) {
		struct meeting_link *link = &server->attendant[rank].link;

		if (link->fd < 0)
			continue;
		if (meeting_io_done(&link->out.io)) {
			meeting_link_tell(link, kind, about);
			meeting_link_send(link);
		}
		meeting_link_close(link);
	}
}

static int server_fail(struct meeting_server *server, enum meeting_kind kind, __u32 about,
		       int error)
{
	server->error = error;
	server_tell_all(server, kind, about);
	return error;
}

static int server_time_out(struct meeting_server *server)
{
	char missing[MEETING_TEXT];
	__u32 rank;

	server_name_missing(server, missing);
	for (rank = 1; rank < server->self->options.ranks; rank++)
		if (server->attendant[rank].link.fd < 0)
			break;
	return server_fail(server, MEETING_TIMED_OUT, rank,
			   meeting_self_fail(server->self, -ETIMEDOUT, "gave up %s", missing));
}

/* ---- gathering ---- */

/* The attempt that replaces this one has come: let it have the port. */
static void server_note_newer(struct meeting_server *server, const struct meeting_pending *pending)
{
	struct meeting_self *self = server->self;

	server->error = meeting_self_fail(self, -ESTALE,
					  "this is attempt %u of the job, and %s is of attempt %u, which replaces it",
					  self->options.attempt, pending->peer,
					  be32toh(pending->transcript.hello.attempt));
}

/* Does another process have the rank? The same process comes again if its connection has ended. */
static bool server_has_other(const struct meeting_server *server, __u32 rank,
			     const struct meeting_hello *hello)
{
	const struct meeting_attendant *a = &server->attendant[rank];

	return a->link.fd >= 0 && memcmp(a->process, hello->process, sizeof(a->process));
}

static enum meeting_kind server_judge(const struct meeting_server *server,
				      const struct meeting_hello *hello)
{
	const struct meeting_options *o = &server->self->options;
	__u32 rank = be32toh(hello->rank);

	if (memcmp(hello->job, server->self->job, sizeof(hello->job)))
		return MEETING_OTHER_JOB;
	if (be32toh(hello->attempt) < o->attempt)
		return MEETING_STALE;
	if (be32toh(hello->attempt) > o->attempt)
		return MEETING_NEWER;
	if (be32toh(hello->ranks) != o->ranks || rank >= o->ranks)
		return MEETING_RANKS_DIFFER;
	return !rank || server_has_other(server, rank, hello) ? MEETING_DUPLICATE :
								MEETING_WELCOME;
}

static void server_report_refusal(struct meeting_server *server, enum meeting_kind kind,
				  const struct meeting_pending *pending)
{
	const struct meeting_hello *hello = &pending->transcript.hello;
	const struct meeting_options *o = &server->self->options;
	__u32 rank = be32toh(hello->rank);

	if (kind == MEETING_DUPLICATE)
		meeting_self_mention(server->self,
				     "a second rank %u, at %s, was refused: the first is %s%s; give each process its own rank",
				     rank, pending->peer, rank ? "at " : "this process",
				     server->attendant[rank].peer);
	else if (kind == MEETING_RANKS_DIFFER)
		meeting_self_mention(server->self,
				     "%s was refused: it is rank %u of %u ranks, and this meeting is of %u",
				     pending->peer, rank, be32toh(hello->ranks), o->ranks);
	else if (kind == MEETING_STALE)
		meeting_self_mention(server->self,
				     "%s, rank %u of attempt %u, was refused: this is attempt %u",
				     pending->peer, rank, be32toh(hello->attempt), o->attempt);
	else if (kind == MEETING_NEWER)
		server_note_newer(server, pending);
}

static void server_part(struct meeting_server *server, struct meeting_attendant *a)
{
	if (a->link.fd < 0)
		return;
	meeting_link_close(&a->link);
	server->present--;
}

/* It is not pending any more: its socket becomes that of a link, which may not move in memory. */
static void server_accept_proved(void *ctx, struct meeting_pending *pending)
{
	const struct meeting_hello *hello = &pending->transcript.hello;
	struct meeting_server *server = ctx;
	enum meeting_kind kind = server_judge(server, hello);
	struct meeting_link refused, *link = &refused;
	struct meeting_attendant *a = NULL;

	if (kind == MEETING_WELCOME) {
		a = &server->attendant[be32toh(hello->rank)];
		server_part(server, a);
		link = &a->link;
	}
	meeting_link_open(link, pending->fd, pending->keys.from_server, pending->keys.from_client);
	pending->fd = -1;
	meeting_link_tell(link, kind, server->self->options.ranks);
	meeting_link_send(link);
	if (a) {
		memcpy(a->peer, pending->peer, sizeof(a->peer));
		memcpy(a->process, hello->process, sizeof(a->process));
		server->present++;
	} else {
		meeting_link_close(link);
		server_report_refusal(server, kind, pending);
	}
}

/* Until all are here, the others send nothing: if one can be read, its connection has ended. */
static void server_watch(struct meeting_server *server, struct meeting_attendant *a,
			 const struct pollfd *polled)
{
	int err = -EAGAIN;

	if (polled->revents & POLLOUT)
		err = meeting_link_send(&a->link);
	if ((!err || err == -EAGAIN) && polled->revents & ~POLLOUT)
		err = meeting_link_receive(&a->link) == -EAGAIN ? -EAGAIN : -ECONNRESET;
	if (err && err != -EAGAIN)
		server_part(server, a);
}

static void server_await_ranks(struct meeting_server *server)
{
	int left = meeting_self_left_ms(server->self), listener_left;
	__u32 ranks = server->self->options.ranks, rank;

	for (rank = 0; rank < ranks; rank++) {
		const struct meeting_link *link = &server->attendant[rank].link;

		server->polls[rank] = (struct pollfd){
			link->fd, meeting_io_done(&link->out.io) ? POLLIN : POLLIN | POLLOUT, 0
		};
	}
	listener_left = meeting_listener_poll(&server->listener, server->polls + ranks);
	if (server->listener.fd < 0)
		listener_left = LISTEN_AGAIN_MS;
	if (listener_left < left)
		left = listener_left;
	poll(server->polls, ranks + MEETING_LISTENER_POLLS, left);
	/* Ranks that have left make room for themselves coming again. */
	for (rank = 0; rank < ranks; rank++)
		if (server->polls[rank].revents)
			server_watch(server, &server->attendant[rank], &server->polls[rank]);
	meeting_listener_serve(&server->listener, server->polls + ranks, server_accept_proved,
			       server);
}

static int server_fail_to_listen(struct meeting_self *self, int err)
{
	const char *advice = err == -EACCES ? ": ports below 1024 need root" : "";

	if (self->rendezvous.ranged && self->options.ports)
		return meeting_self_fail(self, err,
					 "cannot listen on %s (COLLSOCK_MEETING_PORTS is %s): %s%s",
					 self->rendezvous.text, self->options.ports,
					 strerror(-err), advice);
	return meeting_self_fail(self, err, "cannot listen on %s: %s%s", self->rendezvous.text,
				 strerror(-err), advice);
}

/* A port that is in use may become free, such as that of the attempt before. */
static int server_listen(struct meeting_server *server)
{
	struct meeting_self *self = server->self;
	int err;

	if (server->listener.fd >= 0)
		return 0;
	err = meeting_listener_open(&server->listener);
	if (!err || (err == -EADDRINUSE && !meeting_self_has_ended(self)))
		return 0;
	return server_fail_to_listen(self, err);
}

static void server_report_late(struct meeting_server *server)
{
	char missing[MEETING_TEXT];

	if (!meeting_self_is_late(server->self))
		return;
	if (server->listener.fd < 0)
		snprintf(missing, sizeof(missing), "waiting for %s, which another program uses",
			 server->self->rendezvous.text);
	else
		server_name_missing(server, missing);
	meeting_self_report(server->self, "%s", missing);
}

int meeting_server_gather(struct meeting_server *server)
{
	struct meeting_self *self = server->self;
	__u32 rank;

	while (server->present < self->options.ranks) {
		server->error = server_listen(server);
		if (server->error)
			return server->error;
		server_await_ranks(server);
		if (server->error)
			return server_fail(server, MEETING_NEWER, 0, server->error);
		if (server->present == self->options.ranks)
			break;
		if (meeting_self_has_ended(self) && server->listener.fd >= 0)
			return server_time_out(server);
		server_report_late(server);
	}
	meeting_listener_close(&server->listener);
	for (rank = 1; rank < self->options.ranks; rank++)
		server->attendant[rank].starts = true;
	return 0;
}

/* ---- exchange ---- */

/* Send what is left of messages: the previous one may not have been sent completely. */
static int server_send(struct meeting_attendant *a)
{
	int err = meeting_link_send(&a->link);

	if (err || !a->starts)
		return err;
	a->starts = false;
	meeting_link_tell(&a->link, MEETING_START, 0);
	return meeting_link_send(&a->link);
}

static int server_receive(struct meeting_attendant *a)
{
	int err = server_send(a);

	if (err)
		return err;
	err = meeting_link_receive(&a->link);
	if (err)
		return err;
	return meeting_link_kind(&a->link) == MEETING_DATA &&
	       meeting_link_bytes(&a->link) ? 0 : -EMSGSIZE;
}

static int server_blame(struct meeting_server *server, __u32 rank, int err)
{
	const char *peer = server->attendant[rank].peer;
	struct meeting_self *self = server->self;

	if (err == -EMSGSIZE)
		return server_fail(server, MEETING_SIZES_DIFFER, rank,
				   meeting_self_fail(self, -EPROTO,
						     "rank %u, at %s, exchanges something else; start the same program on all ranks",
						     rank, peer));
	if (err == -ETIMEDOUT)
		return server_fail(server, MEETING_TIMED_OUT, rank,
				   meeting_self_fail(self, err,
						     "rank %u, at %s, does not answer", rank,
						     peer));
	if (err == -EBADMSG)
		return server_fail(server, MEETING_LEFT, rank,
				   meeting_self_fail(self, err,
						     "a message of rank %u, at %s, was altered in transit",
						     rank, peer));
	return server_fail(server, MEETING_LEFT, rank,
			   meeting_self_fail(self, err, "rank %u, at %s, has left: %s", rank, peer,
					     strerror(-err)));
}

/* Poll for attendants that have not finished the step. Returns how many, and one of them. */
static __u32 server_poll_busy(struct meeting_server *server, __u32 *one)
{
	__u32 rank, busy = 0;

	for (rank = 1; rank < server->self->options.ranks; rank++) {
		struct meeting_attendant *a = &server->attendant[rank];

		server->polls[rank] = (struct pollfd){
			a->busy ? a->link.fd : -1,
			meeting_io_done(&a->link.out.io) ? POLLIN : POLLOUT, 0
		};
		if (a->busy && !busy++)
			*one = rank;
	}
	return busy;
}

/* Let each attendant finish a step, which is called again as long as it has to wait. */
static int server_step(struct meeting_server *server, int (*step)(struct meeting_attendant *a))
{
	__u32 ranks = server->self->options.ranks, rank, one = 0;
	int err;

	for (rank = 1; rank < ranks; rank++)
		server->attendant[rank].busy = true;
	do {
		for (rank = 1; rank < ranks; rank++) {
			struct meeting_attendant *a = &server->attendant[rank];

			err = a->busy ? step(a) : -EAGAIN;
			if (!err)
				a->busy = false;
			else if (err != -EAGAIN)
				return server_blame(server, rank, err);
		}
		if (!server_poll_busy(server, &one))
			return 0;
		poll(server->polls + 1, ranks - 1, meeting_self_left_ms(server->self));
	} while (!meeting_self_has_ended(server->self));
	return server_blame(server, one, -ETIMEDOUT);
}

int meeting_server_exchange(struct meeting_server *server, const void *mine, void *all,
			    size_t bytes)
{
	__u32 ranks = server->self->options.ranks, rank;
	__u8 digest[MEETING_BYTES];
	int err;

	if (server->error)
		return server->error;
	memcpy(all, mine, bytes);
	for (rank = 1; rank < ranks; rank++)
		meeting_link_expect(&server->attendant[rank].link, (char *)all + rank * bytes,
				    bytes);
	err = server_step(server, server_receive);
	if (err)
		return err;
	meeting_keys_digest(digest, all, ranks * bytes);
	for (rank = 1; rank < ranks; rank++)
		meeting_link_post(&server->attendant[rank].link, MEETING_DATA, 0, all,
				  ranks * bytes, digest);
	return server_step(server, server_send);
}
