// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "meeting_link.h"

void meeting_link_open(struct meeting_link *link, int fd, const __u8 out[MEETING_BYTES],
		       const __u8 in[MEETING_BYTES])
{
	memset(link, 0, sizeof(*link));
	link->fd = fd;
	memcpy(link->out.key, out, MEETING_BYTES);
	memcpy(link->in.key, in, MEETING_BYTES);
	meeting_link_expect(link, NULL, 0);
}

void meeting_link_close(struct meeting_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	explicit_bzero(link, sizeof(*link));
	link->fd = -1;
}

void meeting_link_post(struct meeting_link *link, enum meeting_kind kind, __u32 rank,
		       const void *data, size_t bytes, const __u8 digest[MEETING_BYTES])
{
	struct meeting_direction *out = &link->out;

	out->head = (struct meeting_head){ htobe32(kind), htobe32(rank), htobe64(bytes) };
	meeting_keys_mac(out->mac, out->key, out->number++, &out->head, digest);
	meeting_io_clear(&out->io);
	meeting_io_add(&out->io, &out->head, sizeof(out->head));
	meeting_io_add(&out->io, data, bytes);
	meeting_io_add(&out->io, out->mac, sizeof(out->mac));
}

void meeting_link_tell(struct meeting_link *link, enum meeting_kind kind, __u32 rank)
{
	__u8 digest[MEETING_BYTES];

	meeting_keys_digest(digest, "", 0);
	meeting_link_post(link, kind, rank, NULL, 0, digest);
}

int meeting_link_send(struct meeting_link *link)
{
	return meeting_io_send(&link->out.io, link->fd);
}

void meeting_link_expect(struct meeting_link *link, void *payload, size_t bytes)
{
	struct meeting_direction *in = &link->in;

	in->payload = payload;
	in->bytes = bytes;
	in->has_head = false;
	meeting_io_clear(&in->io);
	meeting_io_add(&in->io, &in->head, sizeof(in->head));
}

/* The head is not authenticated yet: only the two expected lengths are accepted. */
static int link_receive_body(struct meeting_direction *in)
{
	__u64 bytes = be64toh(in->head.bytes);

	if (bytes && bytes != in->bytes)
		return -EMSGSIZE;
	in->bytes = bytes;
	in->has_head = true;
	meeting_io_clear(&in->io);
	meeting_io_add(&in->io, in->payload, bytes);
	meeting_io_add(&in->io, in->mac, sizeof(in->mac));
	return 0;
}

static int link_check(struct meeting_direction *in)
{
	__u8 digest[MEETING_BYTES], mac[MEETING_BYTES];

	meeting_keys_digest(digest, in->bytes ? in->payload : "", in->bytes);
	meeting_keys_mac(mac, in->key, in->number, &in->head, digest);
	if (!meeting_keys_equal(mac, in->mac)) {
		if (in->bytes)
			explicit_bzero(in->payload, in->bytes);
		return -EBADMSG;
	}
	in->number++;
	return 0;
}

int meeting_link_receive(struct meeting_link *link)
{
	struct meeting_direction *in = &link->in;
	int err;

	if (!in->has_head) {
		err = meeting_io_receive(&in->io, link->fd);
		if (!err)
			err = link_receive_body(in);
		if (err)
			return err;
	}
	err = meeting_io_receive(&in->io, link->fd);
	return err ? err : link_check(in);
}

unsigned int meeting_link_kind(const struct meeting_link *link)
{
	return be32toh(link->in.head.kind);
}

__u32 meeting_link_rank(const struct meeting_link *link)
{
	return be32toh(link->in.head.rank);
}

size_t meeting_link_bytes(const struct meeting_link *link)
{
	return link->in.bytes;
}
