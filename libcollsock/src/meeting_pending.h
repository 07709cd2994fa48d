/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A connection to the server that has not yet proved that it knows the secret: of fixed size, and
 * for a limited time.
 */
#ifndef COLLSOCK_MEETING_PENDING_H
#define COLLSOCK_MEETING_PENDING_H

#include <sys/socket.h>

#include "meeting_io.h"
#include "meeting_keys.h"

#define MEETING_PEER 64		/* an address and a port, as text */

/* What the server waits for */
enum meeting_stage {
	MEETING_HELLO,		/* the hello */
	MEETING_ANSWER,		/* until the answer is sent */
	MEETING_PROOF,		/* the client's proof */
	MEETING_PROVED,		/* nothing */
};

/**
 * struct meeting_pending - the connection
 * @fd: nonblocking
 * @stage: see there
 * @since_ms: when it was accepted
 * @origin: an IPv4 address, or an IPv6 network, as one host may have all of its addresses
 * @address: the address
 * @peer: its address and port, as errors name it
 * @transcript: hello and answer
 * @keys: derived from it
 * @proof: of the client
 * @io: what is left of this stage
 */
struct meeting_pending {
	int				fd;
	enum meeting_stage		stage;
	__u64				since_ms;
	__u8				origin[16];
	__u8				address[16];
	char				peer[MEETING_PEER];
	struct meeting_transcript	transcript;
	struct meeting_keys		keys;
	__u8				proof[MEETING_BYTES];
	struct meeting_io		io;
};

/* The pending owns @fd until meeting_pending_end(), or until its user sets it to -1. */
void meeting_pending_begin(struct meeting_pending *pending, int fd,
			   const struct sockaddr_storage *from);
void meeting_pending_end(struct meeting_pending *pending);

/* What to poll() for */
short meeting_pending_events(const struct meeting_pending *pending);

/**
 * meeting_pending_serve() - continue as far as possible without waiting
 * @pending: the connection
 * @secret: of the meeting
 * @salt: of the meeting
 *
 * Return: 0 once the other side has proved that it knows the secret; -EAGAIN if it has to wait;
 * otherwise it is to be ended: -EBADMSG if it is a stranger, -EPROTONOSUPPORT if it uses another
 * version, -EKEYREJECTED if it has another secret, or another negative errno.
 */
int meeting_pending_serve(struct meeting_pending *pending, const __u8 secret[COLLSOCK_KEY_BYTES],
			  const __u8 salt[MEETING_BYTES]);

#endif
