// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "meeting_clock.h"
#include "meeting_listener.h"

#define PENDING_MS	5000	/* for a hello and a proof */
#define UNDISTURBED_MS	50	/* before a connection may have to make room, unless there are */
#define MANY		(MEETING_PENDING / 4)	/* of its address */
#define ACCEPTS		16	/* before those that are pending are served again */
#define AGAIN_MS	100	/* until a file may be free */

int meeting_listener_init(struct meeting_listener *listener, struct meeting_self *self)
{
	unsigned int i;

	memset(listener, 0, sizeof(*listener));
	listener->self = self;
	listener->fd = -1;
	for (i = 0; i < MEETING_PENDING; i++)
		listener->pending[i].fd = -1;
	return meeting_keys_draw(listener->salt, sizeof(listener->salt));
}

int meeting_listener_open(struct meeting_listener *listener)
{
	int fd = meeting_rendezvous_listen(&listener->self->rendezvous);

	if (fd < 0)
		return fd;
	listener->fd = fd;
	return 0;
}

void meeting_listener_close(struct meeting_listener *listener)
{
	unsigned int i;

	for (i = 0; i < MEETING_PENDING; i++)
		meeting_pending_end(&listener->pending[i]);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}

/* ---- slots ---- */

static struct meeting_pending *listener_find_slot(struct meeting_listener *listener)
{
	unsigned int i;

	for (i = 0; i < MEETING_PENDING; i++)
		if (listener->pending[i].fd < 0)
			return &listener->pending[i];
	return NULL;
}

/**
 * struct listener_crowd - how many connections have what one of them has
 * @origin: its origin
 * @address: its address
 */
struct listener_crowd {
	unsigned int	origin;
	unsigned int	address;
};

static struct listener_crowd listener_count(const struct meeting_listener *listener,
					    const struct meeting_pending *pending)
{
	struct listener_crowd crowd = { };
	unsigned int i;

	for (i = 0; i < MEETING_PENDING; i++) {
		const struct meeting_pending *other = &listener->pending[i];

		if (other->fd < 0)
			continue;
		crowd.origin += !memcmp(other->origin, pending->origin, sizeof(other->origin));
		crowd.address += !memcmp(other->address, pending->address,
					 sizeof(other->address));
	}
	return crowd;
}

/* More than 0 if @one is to make room before @other, less than 0 if after it */
static int crowd_compare(const struct listener_crowd *one, const struct listener_crowd *other)
{
	if (one->origin != other->origin)
		return one->origin > other->origin ? 1 : -1;
	return (int)one->address - (int)other->address;
}

/*
 * Find the oldest connection of the address that has most connections in the origin that has most;
 * all slots are taken. @since_ms: out: from when on it may have to make room
 */
static struct meeting_pending *listener_find_longest(struct meeting_listener *listener,
						     __u64 *since_ms)
{
	struct meeting_pending *pending, *found = NULL;
	struct listener_crowd crowd, most = { };
	unsigned int i;
	int order;

	for (i = 0; i < MEETING_PENDING; i++) {
		pending = &listener->pending[i];
		crowd = listener_count(listener, pending);
		order = crowd_compare(&crowd, &most);
		if (order < 0 || (!order && pending->since_ms >= found->since_ms))
			continue;
		found = pending;
		most = crowd;
	}
	*since_ms = most.address < MANY ? found->since_ms + UNDISTURBED_MS : 0;
	return found;
}

/*
 * Find a slot for another connection. A connection in it has to end first. NULL if there is none
 * yet
 */
static struct meeting_pending *listener_find_room(struct meeting_listener *listener)
{
	struct meeting_pending *pending = listener_find_slot(listener);
	__u64 since_ms;

	if (pending)
		return pending;
	pending = listener_find_longest(listener, &since_ms);
	return meeting_clock_left(since_ms) ? NULL : pending;
}

/* ---- connections ---- */

/* Accept a connection into a slot. Returns false if there was none, or no file for it. */
static bool listener_accept(struct meeting_listener *listener, struct meeting_pending *pending)
{
	struct sockaddr_storage from;
	socklen_t bytes = sizeof(from);
	int fd;

	memset(&from, 0, sizeof(from));
	fd = accept4(listener->fd, (struct sockaddr *)&from, &bytes,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			listener->again_ms = meeting_clock_ms() + AGAIN_MS;
		return false;
	}
	meeting_pending_end(pending);
	meeting_pending_begin(pending, fd, &from);
	return true;
}

static void listener_report(struct meeting_listener *listener,
			    const struct meeting_pending *pending, int error)
{
	const struct meeting_hello *hello = &pending->transcript.hello;

	if (error == -EBADMSG)
		meeting_self_mention(listener->self,
				     "%s is not of a meeting of collsock, and was refused",
				     pending->peer);
	else if (error == -EPROTONOSUPPORT)
		meeting_self_mention(listener->self,
				     "%s was refused: it has version %u of the meeting, and this is version %u; install the same libcollsock on all hosts",
				     pending->peer, be32toh(hello->version), MEETING_VERSION);
	else if (error == -EKEYREJECTED)
		meeting_self_mention(listener->self,
				     "%s, as rank %u, was refused: its secret differs from this one: copy the key file of rank 0 to all hosts; or it is of another job: name this one (COLLSOCK_JOB)",
				     pending->peer, be32toh(hello->rank));
}

static void listener_serve_pending(struct meeting_listener *listener,
				   struct meeting_pending *pending,
				   void (*proved)(void *ctx, struct meeting_pending *pending),
				   void *ctx)
{
	int err = meeting_pending_serve(pending, listener->self->options.secret, listener->salt);

	if (err == -EAGAIN)
		return;
	if (err)
		listener_report(listener, pending, err);
	else
		proved(ctx, pending);
	meeting_pending_end(pending);
}

/* ---- all of them ---- */

/* When another connection can be accepted: now (0), or later */
static __u64 listener_next_accept(struct meeting_listener *listener)
{
	__u64 since_ms;

	if (meeting_clock_left(listener->again_ms))
		return listener->again_ms;
	if (listener_find_slot(listener))
		return 0;
	listener_find_longest(listener, &since_ms);
	return since_ms;
}

int meeting_listener_poll(struct meeting_listener *listener, struct pollfd *polls)
{
	__u64 accept = listener_next_accept(listener);
	int left, least = meeting_clock_left(accept);
	unsigned int i;

	polls[MEETING_PENDING] = (struct pollfd){ least ? -1 : listener->fd, POLLIN, 0 };
	if (!least)
		least = INT_MAX;
	for (i = 0; i < MEETING_PENDING; i++) {
		const struct meeting_pending *pending = &listener->pending[i];

		polls[i] = (struct pollfd){ pending->fd, meeting_pending_events(pending), 0 };
		left = INT_MAX;
		if (pending->fd >= 0)
			left = meeting_clock_left(pending->since_ms + PENDING_MS);
		if (left < least)
			least = left;
	}
	return least;
}

void meeting_listener_serve(struct meeting_listener *listener, const struct pollfd *polls,
			    void (*proved)(void *ctx, struct meeting_pending *pending), void *ctx)
{
	struct meeting_pending *slot;
	unsigned int i;

	for (i = 0; i < MEETING_PENDING; i++) {
		struct meeting_pending *pending = &listener->pending[i];

		if (pending->fd < 0)
			continue;
		/* Even if it is still sending */
		if (!meeting_clock_left(pending->since_ms + PENDING_MS))
			meeting_pending_end(pending);
		else if (polls[i].revents)
			listener_serve_pending(listener, pending, proved, ctx);
	}
	if (!polls[MEETING_PENDING].revents)
		return;
	for (i = 0; i < ACCEPTS; i++) {
		slot = listener_find_room(listener);
		if (!slot || !listener_accept(listener, slot))
			return;
	}
}
