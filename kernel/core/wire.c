// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "wire.h"

/*
 * As it stands in the packet: every field at a multiple of its size, but a
 * packet may begin at any multiple of two bytes.
 */
struct coll_wire_header {
	__be32	version;	/* one byte, and three that are 0 */
	__be16	source;
	__be16	destination;
	__be64	tag;
	__be32	descriptor;
	__be32	incarnation;
	__be32	known;
	__be32	connection;
	/* here the body begins */
	u8	type;
	u8	round;
	__be16	segment;
	__be32	seq;
	__be32	done;
	__be32	credit;
	__be32	operation;
	u8	kind;
	u8	data_type;
	u8	op;
	u8	algorithm;
} __packed __aligned(2);

struct coll_wire_operands {
	__be32	count;
	__be32	root;
} __packed __aligned(2);

struct coll_wire_ack {
	__be32	connection;
	__be32	seq;
	__be64	bits;
} __packed __aligned(2);

static_assert(offsetof(struct coll_wire_header, source) == COLL_WIRE_AT_SOURCE);
static_assert(offsetof(struct coll_wire_header, destination) == COLL_WIRE_AT_DESTINATION);
static_assert(offsetof(struct coll_wire_header, tag) == COLL_WIRE_AT_TAG);
static_assert(offsetof(struct coll_wire_header, type) == COLL_WIRE_PREFIX);
static_assert(sizeof(struct coll_wire_header) == COLL_WIRE_HEADER);
static_assert(sizeof(struct coll_wire_operands) == COLL_WIRE_OPERANDS);
static_assert(sizeof(struct coll_wire_ack) == COLL_WIRE_ACK);

/* ---- the MAC ---- */

/* Labels keep the three derived values apart. */
enum { LABEL_TAG = 1, LABEL_MAC_LOW, LABEL_MAC_HIGH };

static u64 wire_derive_one(const siphash_key_t *key, u64 id, u64 nonce, u64 label)
{
	__be64 words[3] = { cpu_to_be64(id), cpu_to_be64(nonce), cpu_to_be64(label) };

	return siphash(words, sizeof(words), key);
}

/**
 * coll_wire_derive() - the secrets of one instance of a group
 * @secret: out
 * @key: shared by the members; may be zero
 * @id: number of the group
 * @nonce: fresh for each instance, so that packets of an earlier one fail
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

/* SipHash works on little-endian words. */
static inline u64 wire_word(const u8 *at)
{
	__le64 word;

	memcpy(&word, at, sizeof(word));
	return le64_to_cpu(word);
}

static inline void wire_mac_round(u64 v[4])
{
	SIPHASH_PERMUTATION(v[0], v[1], v[2], v[3]);
}

static inline void wire_mac_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	wire_mac_round(v);
	wire_mac_round(v);
	v[0] ^= word;
}

/*
 * SipHash-2-4 of a whole packet but its MAC, begun by @side (Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", §2). The kernel's siphash()
 * cannot go on from a state; its permutation can.
 */
static __be64 wire_mac(const u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	u64 v[4] = { side->mac[0], side->mac[1], side->mac[2], side->mac[3] };
	u32 at = COLL_WIRE_PREFIX, end = bytes - COLL_WIRE_MAC;
	u64 last = (u64)end << 56;
	u32 shift = 0;

	for (; at + 8 <= end; at += 8)
		wire_mac_word(v, wire_word(packet + at));
	for (; at < end; at++, shift += 8)
		last |= (u64)packet[at] << shift;
	wire_mac_word(v, last);
	v[2] ^= 0xff;
	wire_mac_round(v);
	wire_mac_round(v);
	wire_mac_round(v);
	wire_mac_round(v);
	return cpu_to_be64(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/**
 * coll_wire_side_set() - learn one direction of a connection
 * @side: out
 * @prefix: what its packets begin with
 * @mac: key
 */
void coll_wire_side_set(struct coll_wire_side *side, const struct coll_prefix *prefix,
			const siphash_key_t *mac)
{
	struct coll_wire_header w = {
		.version	= cpu_to_be32(COLL_WIRE_VERSION << 24),
		.source		= cpu_to_be16(prefix->source),
		.destination	= cpu_to_be16(prefix->destination),
		.tag		= cpu_to_be64(prefix->tag),
		.descriptor	= cpu_to_be32(prefix->descriptor),
		.incarnation	= cpu_to_be32(prefix->incarnation),
		.known		= cpu_to_be32(prefix->known),
		.connection	= cpu_to_be32(prefix->connection),
	};
	u32 i;

	memcpy(side->prefix, &w, COLL_WIRE_PREFIX);
	side->mac[0] = SIPHASH_CONST_0 ^ mac->key[0];
	side->mac[1] = SIPHASH_CONST_1 ^ mac->key[1];
	side->mac[2] = SIPHASH_CONST_2 ^ mac->key[0];
	side->mac[3] = SIPHASH_CONST_3 ^ mac->key[1];
	for (i = 0; i < COLL_WIRE_PREFIX; i += 8)
		wire_mac_word(side->mac, wire_word((const u8 *)side->prefix + i));
}

/**
 * coll_wire_same_side() - does a packet belong to this direction?
 * @packet: formed
 * @side: the direction; all zero matches nothing
 */
bool coll_wire_same_side(const u8 *packet, const struct coll_wire_side *side)
{
	u64 word[COLL_WIRE_PREFIX / 8];

	memcpy(word, packet, sizeof(word));
	return !((word[0] ^ side->prefix[0]) | (word[1] ^ side->prefix[1]) |
		 (word[2] ^ side->prefix[2]) | (word[3] ^ side->prefix[3]));
}

/**
 * coll_wire_authentic() - is the MAC of the packet right?
 * @packet: formed, and of this direction
 * @bytes: its length
 * @side: the direction
 */
bool coll_wire_authentic(const u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	__be64 code;

	memcpy(&code, packet + bytes - COLL_WIRE_MAC, sizeof(code));
	return code == wire_mac(packet, bytes, side);
}

/**
 * coll_wire_authentic_alone() - is the MAC right, whatever direction the packet belongs to?
 * @packet: formed
 * @bytes: its length
 * @mac: key
 *
 * Needs nothing but the key, which never changes.
 */
bool coll_wire_authentic_alone(const u8 *packet, u32 bytes, const siphash_key_t *mac)
{
	struct coll_wire_side side;
	struct coll_prefix prefix;

	coll_wire_read_prefix(packet, &prefix);
	coll_wire_side_set(&side, &prefix, mac);
	return coll_wire_authentic(packet, bytes, &side);
}

/* ---- writing ---- */

/**
 * coll_wire_write() - write a packet
 * @packet: coll_wire_bytes() long
 * @side: the direction that it belongs to
 * @body: what it says
 */
void coll_wire_write(u8 *packet, const struct coll_wire_side *side,
		     const struct coll_body *body)
{
	struct coll_wire_header *w = (struct coll_wire_header *)packet;
	u8 *end = packet + COLL_WIRE_HEADER;
	__be64 code;

	memcpy(packet, side->prefix, COLL_WIRE_PREFIX);
	w->type = body->type;
	w->round = body->round;
	w->segment = cpu_to_be16(body->segment);
	w->seq = cpu_to_be32(body->seq);
	w->done = cpu_to_be32(body->done);
	w->credit = cpu_to_be32(body->credit);
	w->operation = cpu_to_be32(body->operation);
	w->kind = body->signature.operation;
	w->data_type = body->signature.type;
	w->op = body->signature.op;
	w->algorithm = body->signature.algorithm;
	if (coll_body_has_operands(body)) {
		struct coll_wire_operands *o = (struct coll_wire_operands *)end;

		w->type |= COLL_FLAG_OPERANDS;
		o->count = cpu_to_be32(body->signature.count);
		o->root = cpu_to_be32(body->signature.root);
		end += COLL_WIRE_OPERANDS;
	}
	if (body->acknowledges) {
		struct coll_wire_ack *a = (struct coll_wire_ack *)end;

		w->type |= COLL_FLAG_ACK;
		a->connection = cpu_to_be32(body->ack_connection);
		a->seq = cpu_to_be32(body->ack_seq);
		a->bits = cpu_to_be64(body->ack_bits);
		end += COLL_WIRE_ACK;
	}
	if (body->payload_bytes) {
		memcpy(end, body->payload, body->payload_bytes);
		end += body->payload_bytes;
	}
	code = wire_mac(packet, end - packet + COLL_WIRE_MAC, side);
	memcpy(end, &code, sizeof(code));
}

/* ---- probes and answers ---- */

/**
 * coll_wire_write_nonce() - payload of a probe
 * @payload: out
 * @nonce: what the answer is to return
 */
void coll_wire_write_nonce(u8 payload[COLL_WIRE_PROBE], u64 nonce)
{
	__be64 value = cpu_to_be64(nonce);

	memcpy(payload, &value, sizeof(value));
}

/**
 * coll_wire_read_nonce() - the nonce of a probe or an answer
 * @payload: of the packet
 */
u64 coll_wire_read_nonce(const u8 *payload)
{
	__be64 value;

	memcpy(&value, payload, sizeof(value));
	return be64_to_cpu(value);
}

/**
 * coll_wire_write_answer() - payload of an answer
 * @payload: out
 * @answer: what it says
 */
void coll_wire_write_answer(u8 payload[COLL_WIRE_ANSWER], const struct coll_answer *answer)
{
	const struct coll_wait *wait = &answer->wait;
	__be32 values[6] = {
		cpu_to_be32(wait->host),
		cpu_to_be32(wait->rank),
		cpu_to_be32(wait->operation),
		cpu_to_be32(wait->waited_ms),
		cpu_to_be32(wait->age_ms),
		cpu_to_be32(wait->hops),
	};

	coll_wire_write_nonce(payload, answer->nonce);
	memcpy(payload + COLL_WIRE_PROBE, values, sizeof(values));
}

/**
 * coll_wire_read_answer() - what does an answer say?
 * @payload: of the packet
 * @answer: out
 */
void coll_wire_read_answer(const u8 *payload, struct coll_answer *answer)
{
	struct coll_wait *wait = &answer->wait;
	__be32 values[6];

	memcpy(values, payload + COLL_WIRE_PROBE, sizeof(values));
	answer->nonce = coll_wire_read_nonce(payload);
	wait->host = be32_to_cpu(values[0]);
	wait->rank = be32_to_cpu(values[1]);
	wait->operation = be32_to_cpu(values[2]);
	wait->waited_ms = be32_to_cpu(values[3]);
	wait->age_ms = be32_to_cpu(values[4]);
	wait->hops = be32_to_cpu(values[5]);
}

/* ---- reading ---- */

/**
 * coll_wire_formed() - is this a packet of ours, by its form?
 * @packet: what came; COLL_WIRE_FORM bytes of it readable, if it has so many
 * @bytes: its length
 */
bool coll_wire_formed(const u8 *packet, u32 bytes)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u32 least = COLL_WIRE_MIN;

	if (bytes < COLL_WIRE_MIN || bytes > COLL_WIRE_MAX)
		return false;
	if (w->version != cpu_to_be32(COLL_WIRE_VERSION << 24))
		return false;
	if (w->type & COLL_FLAG_OPERANDS)
		least += COLL_WIRE_OPERANDS;
	if (w->type & COLL_FLAG_ACK)
		least += COLL_WIRE_ACK;
	if (!w->incarnation)
		return false;
	switch (w->type & ~COLL_FLAGS) {
	case COLL_PACKET_MESSAGE:
		return bytes >= least;
	case COLL_PACKET_ACK:
	case COLL_PACKET_GOODBYE:
		return bytes == least;
	case COLL_PACKET_PROBE:
		return bytes == least + COLL_WIRE_PROBE && !w->seq;
	case COLL_PACKET_ANSWER:
		return bytes == least + COLL_WIRE_ANSWER && !w->seq;
	default:
		return false;
	}
}

/**
 * coll_wire_read_prefix() - read both ends of the connection
 * @packet: formed
 * @prefix: out
 */
void coll_wire_read_prefix(const u8 *packet, struct coll_prefix *prefix)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;

	prefix->tag = be64_to_cpu(w->tag);
	prefix->descriptor = be32_to_cpu(w->descriptor);
	prefix->incarnation = be32_to_cpu(w->incarnation);
	prefix->known = be32_to_cpu(w->known);
	prefix->connection = be32_to_cpu(w->connection);
	prefix->source = be16_to_cpu(w->source);
	prefix->destination = be16_to_cpu(w->destination);
}

/**
 * coll_wire_read_body() - what does it say?
 * @packet: formed
 * @bytes: its length
 * @body: out; its payload is in @packet
 */
void coll_wire_read_body(const u8 *packet, u32 bytes, struct coll_body *body)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u32 head = COLL_WIRE_HEADER;

	body->type = w->type & ~COLL_FLAGS;
	body->acknowledges = w->type & COLL_FLAG_ACK;
	body->round = w->round;
	body->segment = be16_to_cpu(w->segment);
	body->seq = be32_to_cpu(w->seq);
	body->done = be32_to_cpu(w->done);
	body->credit = be32_to_cpu(w->credit);
	body->operation = be32_to_cpu(w->operation);
	body->signature.operation = w->kind;
	body->signature.type = w->data_type;
	body->signature.op = w->op;
	body->signature.algorithm = w->algorithm;
	body->signature.count = 0;
	body->signature.root = 0;
	if (w->type & COLL_FLAG_OPERANDS) {
		const struct coll_wire_operands *o;

		o = (const struct coll_wire_operands *)(packet + head);
		body->signature.count = be32_to_cpu(o->count);
		body->signature.root = be32_to_cpu(o->root);
		head += COLL_WIRE_OPERANDS;
	}
	if (body->acknowledges) {
		const struct coll_wire_ack *a = (const struct coll_wire_ack *)(packet + head);

		body->ack_connection = be32_to_cpu(a->connection);
		body->ack_seq = be32_to_cpu(a->seq);
		body->ack_bits = be64_to_cpu(a->bits);
		head += COLL_WIRE_ACK;
	}
	body->payload = packet + head;
	body->payload_bytes = bytes - head - COLL_WIRE_MAC;
}
