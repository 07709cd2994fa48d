/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Rank 0 at a meeting. It gathers the other ranks, then is in the middle of each exchange. If it
 * fails, it notifies the other ranks, and serves no more exchanges.
 */
#ifndef COLLSOCK_MEETING_SERVER_H
#define COLLSOCK_MEETING_SERVER_H

#include "meeting_listener.h"
#include "meeting_link.h"

/**
 * struct meeting_attendant - another rank
 * @link: its connection; closed if it is not here
 * @peer: its address; empty if it was never here
 * @process: which process it is (struct meeting_hello)
 * @starts: it is to be told that all are here
 * @busy: it has not finished the current step
 */
struct meeting_attendant {
	struct meeting_link	link;
	char			peer[MEETING_PEER];
	__u8			process[MEETING_HALF];
	bool			starts;
	bool			busy;
};

/**
 * struct meeting_server - the server
 * @self: this process
 * @listener: for ranks that come
 * @attendant: of each rank; that of rank 0 is not used
 * @present: number of those that are here
 * @polls: for poll(): of the attendants, then of the listener
 * @error: why it has failed, or 0
 */
struct meeting_server {
	struct meeting_self		*self;
	struct meeting_listener		listener;
	struct meeting_attendant	*attendant;
	__u32				present;
	struct pollfd			*polls;
	int				error;
};

/* Return: 0, or as meeting_self_fail(), like the next two */
int meeting_server_init(struct meeting_server *server, struct meeting_self *self);
int meeting_server_gather(struct meeting_server *server);
int meeting_server_exchange(struct meeting_server *server, const void *mine, void *all,
			    size_t bytes);
void meeting_server_free(struct meeting_server *server);

#endif
