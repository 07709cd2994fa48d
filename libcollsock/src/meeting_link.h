/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A connection whose two sides have proved that they know the secret. Each message has a MAC, with
 * a key of its direction and the message's number: a message that was altered, repeated, left out
 * or sent back ends the connection.
 */
#ifndef COLLSOCK_MEETING_LINK_H
#define COLLSOCK_MEETING_LINK_H

#include "meeting_io.h"
#include "meeting_keys.h"

/**
 * struct meeting_direction - messages in one direction
 * @key: of their MACs
 * @number: of the message in progress
 * @head: its head
 * @mac: its MAC
 * @payload: its payload
 * @bytes: how long the payload is
 * @has_head: the head was received, so the length of the rest is known
 * @io: what is left of it
 */
struct meeting_direction {
	__u8			key[MEETING_BYTES];
	__u64			number;
	struct meeting_head	head;
	__u8			mac[MEETING_BYTES];
	void			*payload;
	size_t			bytes;
	bool			has_head;
	struct meeting_io	io;
};

/**
 * struct meeting_link - the connection
 * @fd: nonblocking; -1 if it is closed
 * @out: what it sends
 * @in: what it receives
 */
struct meeting_link {
	int			fd;
	struct meeting_direction	out;
	struct meeting_direction	in;
};

/* @out and @in are keys of the two directions. The link owns @fd. */
void meeting_link_open(struct meeting_link *link, int fd, const __u8 out[MEETING_BYTES],
		       const __u8 in[MEETING_BYTES]);
void meeting_link_close(struct meeting_link *link);

/**
 * meeting_link_post() - begin to send a message, after the one before is sent
 * @link: the link
 * @kind: of the message
 * @rank: which it is about
 * @data: the payload, which stays as it is until it is sent
 * @bytes: how long it is
 * @digest: its SHA-256
 */
void meeting_link_post(struct meeting_link *link, enum meeting_kind kind, __u32 rank,
		       const void *data, size_t bytes, const __u8 digest[MEETING_BYTES]);

/* Without a payload */
void meeting_link_tell(struct meeting_link *link, enum meeting_kind kind, __u32 rank);

/* Send the rest. Return: as meeting_io_send() */
int meeting_link_send(struct meeting_link *link);

/* Begin to receive a message. Its payload, if it has one, has @bytes, and goes to @payload. */
void meeting_link_expect(struct meeting_link *link, void *payload, size_t bytes);

/*
 * Receive the rest of a message. Return: 0 if the message is complete and its MAC is right; as
 * meeting_io_receive(); -EMSGSIZE if the message has a payload of another size, -EBADMSG if its MAC
 * is wrong: then the payload is zero.
 */
int meeting_link_receive(struct meeting_link *link);

/* The message received: its kind (0 if none), the rank that it is about, its payload's size */
unsigned int meeting_link_kind(const struct meeting_link *link);
__u32 meeting_link_rank(const struct meeting_link *link);
size_t meeting_link_bytes(const struct meeting_link *link);

#endif
