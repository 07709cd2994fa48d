// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "meeting_clock.h"
#include "meeting_pending.h"
#include "meeting_rendezvous.h"

#define NETWORK_BYTES 8	/* of an IPv6 address */

static void pending_set_origin(struct meeting_pending *pending, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *in6 = (const void *)from;
	const struct sockaddr_in *in = (const void *)from;
	size_t bytes = sizeof(pending->origin);

	if (from->ss_family == AF_INET) {
		memcpy(pending->address, &in->sin_addr, sizeof(in->sin_addr));
	} else {
		memcpy(pending->address, &in6->sin6_addr, sizeof(in6->sin6_addr));
		if (!IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
			bytes = NETWORK_BYTES;
	}
	memcpy(pending->origin, pending->address, bytes);
}

void meeting_pending_begin(struct meeting_pending *pending, int fd,
			   const struct sockaddr_storage *from)
{
	memset(pending, 0, sizeof(*pending));
	pending->fd = fd;
	pending->since_ms = meeting_clock_ms();
	pending_set_origin(pending, from);
	meeting_rendezvous_name(from, pending->peer, sizeof(pending->peer));
	meeting_io_add(&pending->io, &pending->transcript.hello, sizeof(pending->transcript.hello));
}

void meeting_pending_end(struct meeting_pending *pending)
{
	if (pending->fd >= 0)
		close(pending->fd);
	explicit_bzero(pending, sizeof(*pending));
	pending->fd = -1;
}

short meeting_pending_events(const struct meeting_pending *pending)
{
	return pending->stage == MEETING_ANSWER ? POLLOUT : POLLIN;
}

/* Answer a hello. A proof is sent only for this version: it is not known how others derive it. */
static int pending_answer(struct meeting_pending *pending, const __u8 secret[COLLSOCK_KEY_BYTES],
			  const __u8 salt[MEETING_BYTES])
{
	struct meeting_transcript *t = &pending->transcript;
	int err = meeting_keys_draw(t->answer.challenge, MEETING_BYTES);

	if (err)
		return err;
	if (memcmp(t->hello.magic, MEETING_MAGIC, sizeof(t->hello.magic)))
		return -EBADMSG;
	memcpy(t->answer.magic, MEETING_MAGIC, sizeof(t->answer.magic));
	t->answer.version = htobe32(MEETING_VERSION);
	memcpy(t->answer.salt, salt, MEETING_BYTES);
	meeting_io_clear(&pending->io);
	meeting_io_add(&pending->io, &t->answer, sizeof(t->answer));
	if (t->hello.version == t->answer.version) {
		meeting_keys_derive(&pending->keys, secret, t);
		meeting_io_add(&pending->io, pending->keys.server_proof, MEETING_BYTES);
	}
	pending->stage = MEETING_ANSWER;
	return 0;
}

static int pending_await_proof(struct meeting_pending *pending)
{
	if (pending->transcript.hello.version != htobe32(MEETING_VERSION))
		return -EPROTONOSUPPORT;
	meeting_io_clear(&pending->io);
	meeting_io_add(&pending->io, pending->proof, sizeof(pending->proof));
	pending->stage = MEETING_PROOF;
	return 0;
}

static int pending_check(struct meeting_pending *pending)
{
	if (!meeting_keys_equal(pending->proof, pending->keys.client_proof))
		return -EKEYREJECTED;
	pending->stage = MEETING_PROVED;
	return 0;
}

static int pending_finish_stage(struct meeting_pending *pending,
				const __u8 secret[COLLSOCK_KEY_BYTES],
				const __u8 salt[MEETING_BYTES])
{
	switch (pending->stage) {
	case MEETING_HELLO:
		return pending_answer(pending, secret, salt);
	case MEETING_ANSWER:
		return pending_await_proof(pending);
	default:
		return pending_check(pending);
	}
}

int meeting_pending_serve(struct meeting_pending *pending, const __u8 secret[COLLSOCK_KEY_BYTES],
			  const __u8 salt[MEETING_BYTES])
{
	int err = 0;

	while (!err && pending->stage != MEETING_PROVED) {
		err = pending->stage == MEETING_ANSWER ?
		      meeting_io_send(&pending->io, pending->fd) :
		      meeting_io_receive(&pending->io, pending->fd);
		if (!err)
			err = pending_finish_stage(pending, secret, salt);
	}
	return err;
}
