// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

/*
 * As it stands in the packet: every field at a multiple of its size, but a
 * packet may begin at any multiple of four bytes.
 */
struct coll_wire_header {
	u8	version;
	u8	type;
	u8	flags;
	u8	round;
	__be16	source;
	__be16	destination;
	__be64	tag;
	__be32	descriptor;
	__be32	incarnation;
	__be32	known;
	__be32	connection;
	__be32	seq;
	__be32	done;
	__be32	credit;
	__be32	operation;
	u8	kind;
	u8	data_type;
	u8	op;
	u8	schedule;
	__be32	count;
	__be32	root;
	__be16	segment;
	__be16	reserved;
} __packed __aligned(4);

struct coll_wire_ack {
	__be32	connection;
	__be32	seq;
	__be64	bits;
} __packed __aligned(4);

static_assert(sizeof(struct coll_wire_header) == COLL_WIRE_HEADER);
static_assert(sizeof(struct coll_wire_ack) == COLL_WIRE_ACK);

/* Labels keep the three derived values apart. */
enum { LABEL_TAG = 1, LABEL_MAC_LOW, LABEL_MAC_HIGH };

static u64 wire_derive_one(const siphash_key_t *key, u64 id, u64 nonce, u64 label)
{
	__be64 words[3] = { cpu_to_be64(id), cpu_to_be64(nonce), cpu_to_be64(label) };

	return siphash(words, sizeof(words), key);
}

/**
 * coll_wire_derive() - the secrets of one formation of a group
 * @secret: out
 * @key: shared by the members; may be zero
 * @id: number of the group
 * @nonce: fresh for each formation, so that packets of an earlier one fail
 *
 * Equal on hosts of either byte order. Context: any.
 */
void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce)
{
	__le64 half[2];
	siphash_key_t k;

	memcpy(half, key, sizeof(half));
	k.key[0] = le64_to_cpu(half[0]);
	k.key[1] = le64_to_cpu(half[1]);
	secret->tag = wire_derive_one(&k, id, nonce, LABEL_TAG);
	secret->mac.key[0] = wire_derive_one(&k, id, nonce, LABEL_MAC_LOW);
	secret->mac.key[1] = wire_derive_one(&k, id, nonce, LABEL_MAC_HIGH);
}

/**
 * coll_wire_bytes() - length of a packet
 * @h: payload_bytes and acknowledges are read
 *
 * Return: bytes, MAC included.
 */
u32 coll_wire_bytes(const struct coll_header *h)
{
	return COLL_WIRE_HEADER + (h->acknowledges ? COLL_WIRE_ACK : 0) +
	       h->payload_bytes + COLL_WIRE_MAC;
}

/**
 * coll_wire_encode() - write header and acknowledgement
 * @packet: coll_wire_bytes() long
 * @h: what to write
 *
 * Return: where the payload belongs. coll_wire_seal() comes after it.
 */
u8 *coll_wire_encode(u8 *packet, const struct coll_header *h)
{
	struct coll_wire_header *w = (struct coll_wire_header *)packet;
	struct coll_wire_ack *a = (struct coll_wire_ack *)(w + 1);

	w->version = COLL_WIRE_VERSION;
	w->type = h->type;
	w->flags = h->acknowledges ? COLL_FLAG_ACK : 0;
	w->round = h->round;
	w->source = cpu_to_be16(h->source);
	w->destination = cpu_to_be16(h->destination);
	w->tag = cpu_to_be64(h->tag);
	w->descriptor = cpu_to_be32(h->descriptor);
	w->incarnation = cpu_to_be32(h->incarnation);
	w->known = cpu_to_be32(h->known);
	w->connection = cpu_to_be32(h->connection);
	w->seq = cpu_to_be32(h->seq);
	w->done = cpu_to_be32(h->done);
	w->credit = cpu_to_be32(h->credit);
	w->operation = cpu_to_be32(h->operation);
	w->kind = h->signature.operation;
	w->data_type = h->signature.type;
	w->op = h->signature.op;
	w->schedule = h->signature.schedule;
	w->count = cpu_to_be32(h->signature.count);
	w->root = cpu_to_be32(h->signature.root);
	w->segment = cpu_to_be16(h->segment);
	w->reserved = 0;
	if (!h->acknowledges)
		return (u8 *)a;
	a->connection = cpu_to_be32(h->ack_connection);
	a->seq = cpu_to_be32(h->ack_seq);
	a->bits = cpu_to_be64(h->ack_bits);
	return (u8 *)(a + 1);
}

/**
 * coll_wire_decode() - validate a packet's form and read it
 * @packet: what came; all @bytes of it readable
 * @bytes: its length
 * @h: out
 *
 * Return: 0, or -EINVAL if it is not a packet of ours. The contents are not
 * authenticated by this.
 */
int coll_wire_decode(const u8 *packet, u32 bytes, struct coll_header *h)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	const struct coll_wire_ack *a = (const struct coll_wire_ack *)(w + 1);
	u32 head = COLL_WIRE_HEADER;

	if (bytes < COLL_WIRE_MIN || bytes > COLL_WIRE_MAX)
		return -EINVAL;
	if (w->version != COLL_WIRE_VERSION || w->flags & ~COLL_FLAG_ACK ||
	    w->reserved)
		return -EINVAL;
	h->acknowledges = w->flags & COLL_FLAG_ACK;
	if (h->acknowledges) {
		head += COLL_WIRE_ACK;
		if (bytes < head + COLL_WIRE_MAC)
			return -EINVAL;
		h->ack_connection = be32_to_cpu(a->connection);
		h->ack_seq = be32_to_cpu(a->seq);
		h->ack_bits = be64_to_cpu(a->bits);
	}
	h->payload = packet + head;
	h->payload_bytes = bytes - head - COLL_WIRE_MAC;
	h->type = w->type;
	if (h->type < COLL_PACKET_MESSAGE || h->type > COLL_PACKET_GOODBYE)
		return -EINVAL;
	if (h->type != COLL_PACKET_MESSAGE && h->payload_bytes)
		return -EINVAL;
	h->round = w->round;
	h->source = be16_to_cpu(w->source);
	h->destination = be16_to_cpu(w->destination);
	h->tag = be64_to_cpu(w->tag);
	h->descriptor = be32_to_cpu(w->descriptor);
	h->incarnation = be32_to_cpu(w->incarnation);
	h->known = be32_to_cpu(w->known);
	h->connection = be32_to_cpu(w->connection);
	h->seq = be32_to_cpu(w->seq);
	h->done = be32_to_cpu(w->done);
	h->credit = be32_to_cpu(w->credit);
	h->operation = be32_to_cpu(w->operation);
	h->signature.operation = w->kind;
	h->signature.type = w->data_type;
	h->signature.op = w->op;
	h->signature.schedule = w->schedule;
	h->signature.count = be32_to_cpu(w->count);
	h->signature.root = be32_to_cpu(w->root);
	h->segment = be16_to_cpu(w->segment);
	return h->incarnation ? 0 : -EINVAL;
}

static u64 wire_mac(const u8 *packet, u32 bytes, const siphash_key_t *mac)
{
	return siphash(packet, bytes - COLL_WIRE_MAC, mac);
}

/**
 * coll_wire_seal() - authenticate a packet that is otherwise complete
 * @packet: the packet
 * @bytes: its length, MAC included
 * @mac: key
 */
void coll_wire_seal(u8 *packet, u32 bytes, const siphash_key_t *mac)
{
	__be64 code = cpu_to_be64(wire_mac(packet, bytes, mac));

	memcpy(packet + bytes - COLL_WIRE_MAC, &code, sizeof(code));
}

/**
 * coll_wire_authentic() - was this packet written by one who has the key?
 * @packet: the packet; coll_wire_decode() has accepted it
 * @bytes: its length
 * @mac: key
 */
bool coll_wire_authentic(const u8 *packet, u32 bytes, const siphash_key_t *mac)
{
	__be64 code;

	memcpy(&code, packet + bytes - COLL_WIRE_MAC, sizeof(code));
	return be64_to_cpu(code) == wire_mac(packet, bytes, mac);
}

/**
 * coll_wire_tag() - the group that a packet names
 * @packet: at least COLL_WIRE_MIN bytes
 */
u64 coll_wire_tag(const u8 *packet)
{
	return be64_to_cpu(((const struct coll_wire_header *)packet)->tag);
}
