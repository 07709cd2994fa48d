/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The server's listening socket, and its pending connections: as many as there are slots. When all
 * are taken, a connection of the origin with most of them makes room, and there of the address with
 * most: so a stranger with one address displaces only itself, one with all addresses of a network
 * of IPv6 only that network. This takes a while, as ranks of a host or a network may connect
 * together, but happens at once if that address has a quarter of the slots, so that others need not
 * wait for one that connects very often.
 */
#ifndef COLLSOCK_MEETING_LISTENER_H
#define COLLSOCK_MEETING_LISTENER_H

#include <poll.h>

#include "meeting_pending.h"
#include "meeting_self.h"

#define MEETING_PENDING		64
#define MEETING_LISTENER_POLLS	(MEETING_PENDING + 1)

/**
 * struct meeting_listener - the socket and its pending connections
 * @self: of the server
 * @fd: the socket; -1 if it is not open
 * @again_ms: when to accept again after there was no room for a file
 * @salt: of the meeting
 * @pending: the connections; those without a socket are free slots
 */
struct meeting_listener {
	struct meeting_self	*self;
	int			fd;
	__u64			again_ms;
	__u8			salt[MEETING_BYTES];
	struct meeting_pending	pending[MEETING_PENDING];
};

/* Not listening yet. Return: 0, or a negative errno */
int meeting_listener_init(struct meeting_listener *listener, struct meeting_self *self);

/* Begin to listen. Return: 0, or a negative errno, after which it may be called again */
int meeting_listener_open(struct meeting_listener *listener);
void meeting_listener_close(struct meeting_listener *listener);

/**
 * meeting_listener_poll() - what to wait for
 * @listener: the listener
 * @polls: out: MEETING_LISTENER_POLLS entries
 *
 * Return: in how many milliseconds the listener has something to do at the latest, or INT_MAX.
 */
int meeting_listener_poll(struct meeting_listener *listener, struct pollfd *polls);

/**
 * meeting_listener_serve() - do what can be done without waiting
 * @listener: the listener
 * @polls: of meeting_listener_poll(), after poll()
 * @proved: is called for each connection that has proved that it knows the secret
 * @ctx: its argument
 */
void meeting_listener_serve(struct meeting_listener *listener, const struct pollfd *polls,
			    void (*proved)(void *ctx, struct meeting_pending *pending), void *ctx);

#endif
