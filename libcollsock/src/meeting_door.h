/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The server's listening socket, and its guests: as many as there are places. When all are taken, a
 * guest of the origin that has most of them makes room, so that one stranger displaces only itself.
 */
#ifndef COLLSOCK_MEETING_DOOR_H
#define COLLSOCK_MEETING_DOOR_H

#include <poll.h>

#include "meeting_guest.h"
#include "meeting_self.h"

#define MEETING_GUESTS		64
#define MEETING_DOOR_POLLS	(MEETING_GUESTS + 1)

/**
 * struct meeting_door - the socket and its guests
 * @self: of the server
 * @listener: the socket; -1 if it is not open
 * @again_ms: when to accept again after there was no room for a file
 * @salt: of the meeting
 * @guest: the guests; those without a socket are places that are free
 */
struct meeting_door {
	struct meeting_self	*self;
	int			listener;
	__u64			again_ms;
	__u8			salt[MEETING_BYTES];
	struct meeting_guest	guest[MEETING_GUESTS];
};

/* Not listening yet. Return: 0, or a negative errno */
int meeting_door_init(struct meeting_door *door, struct meeting_self *self);

/* Begin to listen. Return: 0, or a negative errno, after which it may be called again */
int meeting_door_open(struct meeting_door *door);
void meeting_door_close(struct meeting_door *door);

/**
 * meeting_door_poll() - what to wait for
 * @door: the door
 * @polls: out: MEETING_DOOR_POLLS entries
 *
 * Return: in how many milliseconds the door has something to do at the latest, or INT_MAX.
 */
int meeting_door_poll(struct meeting_door *door, struct pollfd *polls);

/**
 * meeting_door_serve() - do what can be done without waiting
 * @door: the door
 * @polls: of meeting_door_poll(), after poll()
 * @proved: is called for each guest that has proved that it knows the secret
 * @ctx: its argument
 */
void meeting_door_serve(struct meeting_door *door, const struct pollfd *polls,
			void (*proved)(void *ctx, struct meeting_guest *guest), void *ctx);

#endif
