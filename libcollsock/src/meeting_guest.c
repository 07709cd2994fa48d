// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "meeting_clock.h"
#include "meeting_guest.h"
#include "meeting_place.h"

#define NETWORK_BYTES 8	/* of an IPv6 address */

static void guest_set_origin(struct meeting_guest *guest, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *in6 = (const void *)from;
	const struct sockaddr_in *in = (const void *)from;

	if (from->ss_family == AF_INET)
		memcpy(guest->origin, &in->sin_addr, sizeof(in->sin_addr));
	else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		memcpy(guest->origin, &in6->sin6_addr, sizeof(in6->sin6_addr));
	else
		memcpy(guest->origin, &in6->sin6_addr, NETWORK_BYTES);
}

void meeting_guest_begin(struct meeting_guest *guest, int fd,
			 const struct sockaddr_storage *from)
{
	memset(guest, 0, sizeof(*guest));
	guest->fd = fd;
	guest->since_ms = meeting_clock_ms();
	guest_set_origin(guest, from);
	meeting_place_name(from, guest->peer, sizeof(guest->peer));
	meeting_io_add(&guest->io, &guest->transcript.hello, sizeof(guest->transcript.hello));
}

void meeting_guest_end(struct meeting_guest *guest)
{
	if (guest->fd >= 0)
		close(guest->fd);
	explicit_bzero(guest, sizeof(*guest));
	guest->fd = -1;
}

short meeting_guest_events(const struct meeting_guest *guest)
{
	return guest->stage == MEETING_ANSWER ? POLLOUT : POLLIN;
}

/* Only who speaks this version has a proof: what another would derive it from is not known. */
static int guest_answer(struct meeting_guest *guest, const __u8 secret[COLLSOCK_KEY_BYTES],
			const __u8 salt[MEETING_BYTES])
{
	struct meeting_transcript *t = &guest->transcript;
	int err = meeting_keys_draw(t->answer.challenge, MEETING_BYTES);

	if (err)
		return err;
	if (memcmp(t->hello.magic, MEETING_MAGIC, sizeof(t->hello.magic)))
		return -EBADMSG;
	memcpy(t->answer.magic, MEETING_MAGIC, sizeof(t->answer.magic));
	t->answer.version = htobe32(MEETING_VERSION);
	memcpy(t->answer.salt, salt, MEETING_BYTES);
	meeting_io_clear(&guest->io);
	meeting_io_add(&guest->io, &t->answer, sizeof(t->answer));
	if (t->hello.version == t->answer.version) {
		meeting_keys_derive(&guest->keys, secret, t);
		meeting_io_add(&guest->io, guest->keys.server_proof, MEETING_BYTES);
	}
	guest->stage = MEETING_ANSWER;
	return 0;
}

static int guest_await_proof(struct meeting_guest *guest)
{
	if (guest->transcript.hello.version != htobe32(MEETING_VERSION))
		return -EPROTONOSUPPORT;
	meeting_io_clear(&guest->io);
	meeting_io_add(&guest->io, guest->proof, sizeof(guest->proof));
	guest->stage = MEETING_PROOF;
	return 0;
}

static int guest_check(struct meeting_guest *guest)
{
	if (!meeting_keys_equal(guest->proof, guest->keys.client_proof))
		return -EKEYREJECTED;
	guest->stage = MEETING_PROVED;
	return 0;
}

static int guest_finish_stage(struct meeting_guest *guest,
			      const __u8 secret[COLLSOCK_KEY_BYTES],
			      const __u8 salt[MEETING_BYTES])
{
	switch (guest->stage) {
	case MEETING_HELLO:
		return guest_answer(guest, secret, salt);
	case MEETING_ANSWER:
		return guest_await_proof(guest);
	default:
		return guest_check(guest);
	}
}

int meeting_guest_serve(struct meeting_guest *guest, const __u8 secret[COLLSOCK_KEY_BYTES],
			const __u8 salt[MEETING_BYTES])
{
	int err = 0;

	while (!err && guest->stage != MEETING_PROVED) {
		err = guest->stage == MEETING_ANSWER ? meeting_io_send(&guest->io, guest->fd) :
						       meeting_io_receive(&guest->io, guest->fd);
		if (!err)
			err = guest_finish_stage(guest, secret, salt);
	}
	return err;
}
