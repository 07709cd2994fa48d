// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "meeting_clock.h"
#include "meeting_door.h"

#define GUEST_MS	5000	/* for a hello and a proof */
#define UNDISTURBED_MS	50	/* before a guest may have to make room */
#define AGAIN_MS	100	/* until a file may be free */

int meeting_door_init(struct meeting_door *door, struct meeting_self *self)
{
	unsigned int i;

	memset(door, 0, sizeof(*door));
	door->self = self;
	door->listener = -1;
	for (i = 0; i < MEETING_GUESTS; i++)
		door->guest[i].fd = -1;
	return meeting_keys_draw(door->salt, sizeof(door->salt));
}

int meeting_door_open(struct meeting_door *door)
{
	int fd = meeting_place_listen(&door->self->place);

	if (fd < 0)
		return fd;
	door->listener = fd;
	return 0;
}

void meeting_door_close(struct meeting_door *door)
{
	unsigned int i;

	for (i = 0; i < MEETING_GUESTS; i++)
		meeting_guest_end(&door->guest[i]);
	if (door->listener >= 0)
		close(door->listener);
	door->listener = -1;
}

/* ---- places ---- */

static struct meeting_guest *door_find_place(struct meeting_door *door)
{
	unsigned int i;

	for (i = 0; i < MEETING_GUESTS; i++)
		if (door->guest[i].fd < 0)
			return &door->guest[i];
	return NULL;
}

static unsigned int door_count_origin(const struct meeting_door *door,
				      const struct meeting_guest *guest)
{
	unsigned int i, count = 0;

	for (i = 0; i < MEETING_GUESTS; i++)
		count += door->guest[i].fd >= 0 &&
			 !memcmp(door->guest[i].origin, guest->origin, sizeof(guest->origin));
	return count;
}

/* Of the guests of the origin that has most, the one that is here longest; all places are taken. */
static struct meeting_guest *door_find_longest(struct meeting_door *door)
{
	struct meeting_guest *guest, *found = NULL;
	unsigned int i, count, most = 0;

	for (i = 0; i < MEETING_GUESTS; i++) {
		guest = &door->guest[i];
		count = door_count_origin(door, guest);
		if (count < most || (count == most && guest->since_ms >= found->since_ms))
			continue;
		found = guest;
		most = count;
	}
	return found;
}

/* A place for another guest, which may have to be made; NULL if there is none yet. */
static struct meeting_guest *door_make_place(struct meeting_door *door)
{
	struct meeting_guest *guest = door_find_place(door);

	if (guest)
		return guest;
	guest = door_find_longest(door);
	if (meeting_clock_left(guest->since_ms + UNDISTURBED_MS))
		return NULL;
	meeting_guest_end(guest);
	return guest;
}

/* ---- guests ---- */

static void door_accept(struct meeting_door *door, struct meeting_guest *guest)
{
	struct sockaddr_storage from;
	socklen_t bytes = sizeof(from);
	int fd;

	memset(&from, 0, sizeof(from));
	fd = accept4(door->listener, (struct sockaddr *)&from, &bytes,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		meeting_guest_begin(guest, fd, &from);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		door->again_ms = meeting_clock_ms() + AGAIN_MS;
}

static void door_report(struct meeting_door *door, const struct meeting_guest *guest, int error)
{
	const struct meeting_hello *hello = &guest->transcript.hello;

	if (error == -EBADMSG)
		meeting_self_mention(door->self,
				     "%s is not of a meeting of collsock, and was refused",
				     guest->peer);
	else if (error == -EPROTONOSUPPORT)
		meeting_self_mention(door->self,
				     "%s was refused: it has version %u of the meeting, and this is version %u; install the same libcollsock on all hosts",
				     guest->peer, be32toh(hello->version), MEETING_VERSION);
	else if (error == -EKEYREJECTED)
		meeting_self_mention(door->self,
				     "%s, as rank %u, was refused: its secret differs from this one; copy the key file of rank 0 to all hosts",
				     guest->peer, be32toh(hello->rank));
}

static void door_serve_guest(struct meeting_door *door, struct meeting_guest *guest,
			     void (*proved)(void *ctx, struct meeting_guest *guest), void *ctx)
{
	int err = meeting_guest_serve(guest, door->self->options.secret, door->salt);

	if (err == -EAGAIN)
		return;
	if (err)
		door_report(door, guest, err);
	else
		proved(ctx, guest);
	meeting_guest_end(guest);
}

/* ---- all of them ---- */

/* When another can be accepted: now (0), or later */
static __u64 door_next_accept(struct meeting_door *door)
{
	if (meeting_clock_left(door->again_ms))
		return door->again_ms;
	return door_find_place(door) ? 0 : door_find_longest(door)->since_ms + UNDISTURBED_MS;
}

int meeting_door_poll(struct meeting_door *door, struct pollfd *polls)
{
	__u64 accept = door_next_accept(door);
	int left, least = meeting_clock_left(accept);
	unsigned int i;

	polls[MEETING_GUESTS] = (struct pollfd){ least ? -1 : door->listener, POLLIN, 0 };
	if (!least)
		least = INT_MAX;
	for (i = 0; i < MEETING_GUESTS; i++) {
		const struct meeting_guest *guest = &door->guest[i];

		polls[i] = (struct pollfd){ guest->fd, meeting_guest_events(guest), 0 };
		left = guest->fd < 0 ? INT_MAX : meeting_clock_left(guest->since_ms + GUEST_MS);
		if (left < least)
			least = left;
	}
	return least;
}

void meeting_door_serve(struct meeting_door *door, const struct pollfd *polls,
			void (*proved)(void *ctx, struct meeting_guest *guest), void *ctx)
{
	struct meeting_guest *place;
	unsigned int i;

	for (i = 0; i < MEETING_GUESTS; i++) {
		struct meeting_guest *guest = &door->guest[i];

		if (guest->fd < 0)
			continue;
		/* However much it still sends */
		if (!meeting_clock_left(guest->since_ms + GUEST_MS))
			meeting_guest_end(guest);
		else if (polls[i].revents)
			door_serve_guest(door, guest, proved, ctx);
	}
	if (!polls[MEETING_GUESTS].revents)
		return;
	place = door_make_place(door);
	if (place)
		door_accept(door, place);
}
