/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A rank other than 0 at a meeting. It tries to connect until it is welcome, or is refused by a
 * server that has proved that it knows the secret: any other answer is only a reason to try again.
 */
#ifndef COLLSOCK_MEETING_CLIENT_H
#define COLLSOCK_MEETING_CLIENT_H

#include "meeting_link.h"
#include "meeting_self.h"

#define MEETING_PROBLEM 256

/**
 * struct meeting_client - the client
 * @self: this process
 * @link: to the server; closed if there is none
 * @process: which process it is (struct meeting_hello)
 * @tries: how often it has tried to connect
 * @salt: the server's
 * @problem: why the last try failed
 * @distrusts: it was reported that the server there has another secret
 */
struct meeting_client {
	struct meeting_self	*self;
	struct meeting_link	link;
	__u8			process[MEETING_HALF];
	unsigned int		tries;
	__u8			salt[MEETING_BYTES];
	char			problem[MEETING_PROBLEM];
	bool			distrusts;
};

/* Return: 0, or as meeting_self_fail() */
int meeting_client_init(struct meeting_client *client, struct meeting_self *self);
void meeting_client_free(struct meeting_client *client);

/* Return: 0 once all ranks are here; or as meeting_self_fail() */
int meeting_client_attend(struct meeting_client *client);

/* Return: 0, or as meeting_self_fail() */
int meeting_client_exchange(struct meeting_client *client, const void *mine, void *all,
			    size_t bytes);

#endif
