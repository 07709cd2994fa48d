// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "wire.h"

/*
 * Layout of a packet: every field is at a multiple of its size, but the packet may begin at
 * any multiple of two bytes.
 */
struct coll_wire_header {
	__be32	version;	/* one byte, and three that are 0 */
	__be16	source;
	__be16	destination;
	__be64	tag;
	__be32	descriptor;
	__be32	incarnation;
	__be32	known;
	__be32	epoch;	/* of multicast; 0 */
	/* start of the body */
	u8	type;
	u8	ce;
	__be16	flags;
	__be16	done;	/* distance to the operation, see wire_distance() */
	__be16	credit;
	__be64	number;
	__be64	operation;
	__be16	segment;
	u8	round;
	u8	signature[5];	/* as in struct coll_signature: operation, type, ... */
} __packed __aligned(2);

struct coll_wire_operands {
	__be32	count;
	__be32	root;
} __packed __aligned(2);

struct coll_wire_ack {
	__be64	number;
	__be64	bits;
} __packed __aligned(2);

static_assert(offsetof(struct coll_wire_header, source) == COLL_WIRE_AT_SOURCE);
static_assert(offsetof(struct coll_wire_header, destination) == COLL_WIRE_AT_DESTINATION);
static_assert(offsetof(struct coll_wire_header, tag) == COLL_WIRE_AT_TAG);
static_assert(offsetof(struct coll_wire_header, type) == COLL_WIRE_PREFIX);
static_assert(sizeof(struct coll_wire_header) == COLL_WIRE_HEADER);
static_assert(offsetof(struct coll_signature, degree) == 4);
static_assert(sizeof(struct coll_wire_operands) == COLL_WIRE_OPERANDS);
static_assert(sizeof(struct coll_wire_ack) == COLL_WIRE_ACK);

/* ---- the MAC ---- */

/* Distinct labels make the three derived values independent. */
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
 * @nonce: fresh for each instance, so that packets of earlier ones are not authentic
 * @algorithm: of the MAC: enum collsock_mac, not the default
 *
 * The result does not depend on the byte order of the host. Context: any.
 */
void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce, u8 algorithm)
{
	__le64 half[2];
	siphash_key_t k;

	memset(secret, 0, sizeof(*secret));
	memcpy(half, key, sizeof(half));
	k.key[0] = le64_to_cpu(half[0]);
	k.key[1] = le64_to_cpu(half[1]);
	secret->tag = wire_derive_one(&k, id, nonce, LABEL_TAG);
	secret->mac.key.key[0] = wire_derive_one(&k, id, nonce, LABEL_MAC_LOW);
	secret->mac.key.key[1] = wire_derive_one(&k, id, nonce, LABEL_MAC_HIGH);
	secret->mac.algorithm = algorithm;
	if (algorithm == COLLSOCK_MAC_NH_SIPHASH)
		coll_nh_derive(secret->mac.nh, &secret->mac.key);
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

static void wire_mac_begin(u64 v[4], const siphash_key_t *key)
{
	v[0] = SIPHASH_CONST_0 ^ key->key[0];
	v[1] = SIPHASH_CONST_1 ^ key->key[1];
	v[2] = SIPHASH_CONST_2 ^ key->key[0];
	v[3] = SIPHASH_CONST_3 ^ key->key[1];
}

static __always_inline __be64 wire_mac_finish(u64 v[4], u64 last)
{
	wire_mac_word(v, last);
	v[2] ^= 0xff;
	wire_mac_round(v);
	wire_mac_round(v);
	wire_mac_round(v);
	wire_mac_round(v);
	return cpu_to_be64(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/*
 * SipHash-2-4 of a whole packet but its MAC, of which @v is the state after the first @at bytes
 * (Aumasson and Bernstein, "SipHash: a fast short-input PRF", §2). The kernel's siphash()
 * cannot go on from a state; its permutation can.
 */
static __always_inline __be64 wire_mac_end(u64 v[4], const u8 *packet, u32 bytes, u32 at)
{
	const u8 *end = packet + bytes - COLL_WIRE_MAC, *byte = packet + at;
	u64 last = (u64)(bytes - COLL_WIRE_MAC) << 56;
	u32 shift = 0;

	for (; byte + 8 <= end; byte += 8)
		wire_mac_word(v, wire_word(byte));
	for (; byte < end; byte++, shift += 8)
		last |= (u64)*byte << shift;
	return wire_mac_finish(v, last);
}

/*
 * SipHash-2-4 of the header, of which @v is the state, of the NH of each block of the rest, and
 * of the length in 4 bytes. All of that is longer than COLL_WIRE_UNHASHED, so it is not what
 * wire_mac_end() hashes of a shorter packet. The packet number makes each header unique, so
 * a forger must find a collision with one packet, not with any of all.
 */
static __be64 wire_mac_end_nh(u64 v[4], const u8 *packet, u32 bytes, const u64 *nh)
{
	u32 end = bytes - COLL_WIRE_MAC, at, step;
	u64 hashed = COLL_WIRE_HEADER + sizeof(end);
	struct coll_nh_hash hash;

	for (at = COLL_WIRE_HEADER; at < end; at += step) {
		step = min_t(u32, end - at, COLL_NH_BLOCK);
		hash = coll_nh(nh, packet + at, step);
		wire_mac_word(v, hash.low);
		wire_mac_word(v, hash.high);
		hashed += sizeof(hash);
	}
	return wire_mac_finish(v, hashed << 56 | end);
}

static inline bool wire_is_short(u32 bytes)
{
	return bytes <= COLL_WIRE_UNHASHED + COLL_WIRE_MAC;
}

/* The MAC of a packet of any length and version, of which @state knows the first @at bytes. */
static noinline __be64 wire_mac_any(const u8 *packet, u32 bytes, const struct coll_mac *mac,
				    const u64 state[4], u32 at)
{
	u64 v[4] = { state[0], state[1], state[2], state[3] };

	if (wire_is_short(bytes) || mac->algorithm != COLLSOCK_MAC_NH_SIPHASH)
		return wire_mac_end(v, packet, bytes, at);
	for (; at < COLL_WIRE_HEADER; at += 8)
		wire_mac_word(v, wire_word(packet + at));
	return wire_mac_end_nh(v, packet, bytes, mac->nh);
}

/* The MAC of a packet of this direction. Every packet has a body: it needs no loop. */
static __be64 wire_mac(const u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	u64 v[4] = { side->mac[0], side->mac[1], side->mac[2], side->mac[3] };

	if (unlikely(!wire_is_short(bytes)))
		return wire_mac_any(packet, bytes, side->group_mac, side->mac, COLL_WIRE_PREFIX);
	wire_mac_word(v, wire_word(packet + COLL_WIRE_PREFIX));
	wire_mac_word(v, wire_word(packet + COLL_WIRE_PREFIX + 8));
	wire_mac_word(v, wire_word(packet + COLL_WIRE_PREFIX + 16));
	wire_mac_word(v, wire_word(packet + COLL_WIRE_PREFIX + 24));
	return wire_mac_end(v, packet, bytes, COLL_WIRE_PREFIX + 32);
}

/**
 * coll_wire_side_set() - prepare one direction of a connection
 * @side: out
 * @prefix: the prefix of its packets
 * @mac: of the group; must outlive @side
 */
void coll_wire_side_set(struct coll_wire_side *side, const struct coll_prefix *prefix,
			const struct coll_mac *mac)
{
	struct coll_wire_header w = {
		.version	= cpu_to_be32(COLL_WIRE_VERSION << 24),
		.source		= cpu_to_be16(prefix->source),
		.destination	= cpu_to_be16(prefix->destination),
		.tag		= cpu_to_be64(prefix->tag),
		.descriptor	= cpu_to_be32(prefix->descriptor),
		.incarnation	= cpu_to_be32(prefix->incarnation),
		.known		= cpu_to_be32(prefix->known),
	};
	u32 i;

	memcpy(side->prefix, &w, COLL_WIRE_PREFIX);
	side->group_mac = mac;
	wire_mac_begin(side->mac, &mac->key);
	for (i = 0; i < COLL_WIRE_PREFIX; i += 8)
		wire_mac_word(side->mac, wire_word((const u8 *)side->prefix + i));
}

/**
 * coll_wire_same_side() - does a packet belong to this direction?
 * @packet: well-formed
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
 * @packet: well-formed, and of this direction
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
 * coll_wire_authentic_any() - is the MAC of a packet of any version right?
 * @packet: coll_wire_other_version(), or formed
 * @bytes: its length
 * @mac: of the group
 */
bool coll_wire_authentic_any(const u8 *packet, u32 bytes, const struct coll_mac *mac)
{
	__be64 code;
	u64 state[4];

	wire_mac_begin(state, &mac->key);
	memcpy(&code, packet + bytes - COLL_WIRE_MAC, sizeof(code));
	return code == wire_mac_any(packet, bytes, mac, state, 0);
}

/* ---- distances ---- */

/* Too far from the operation to be told. */
#define WIRE_NOT_TOLD	S16_MAX

/*
 * "Done" and credit are never far from the operation that a packet is about: a window or
 * two. A host that must tell more than fits tells less, which is never wrong.
 */
static noinline s64 wire_nearest(s64 distance)
{
	return distance < S16_MIN ? WIRE_NOT_TOLD : WIRE_NOT_TOLD - 1;
}

static inline __be16 wire_distance(u64 to, u64 from)
{
	s64 distance = to - from;

	/* S16_MIN to WIRE_NOT_TOLD - 1 */
	if (unlikely((u64)distance - S16_MIN >= U16_MAX))
		distance = wire_nearest(distance);
	return cpu_to_be16((u16)distance);
}

/* One before the first operation says nothing. */
static inline u64 wire_from_distance(__be16 distance, u64 from)
{
	s16 value = be16_to_cpu(distance);

	return likely(value != WIRE_NOT_TOLD) ? from + value : ~0ULL;
}

/* ---- writing ---- */

/**
 * coll_wire_write() - write a packet
 * @packet: coll_wire_bytes() long
 * @side: its direction
 * @body: its contents
 */
void coll_wire_write(u8 *packet, const struct coll_wire_side *side,
		     const struct coll_body *body)
{
	struct coll_wire_header *w = (struct coll_wire_header *)packet;
	u8 *end = packet + COLL_WIRE_HEADER;
	__be64 code;
	u16 flags = body->ack_now ? COLL_FLAG_ACK_NOW : 0;

	memcpy(packet, side->prefix, COLL_WIRE_PREFIX);
	w->type = body->type;
	w->ce = body->ce;
	w->done = wire_distance(body->done, body->operation);
	w->credit = wire_distance(body->credit, body->operation);
	w->number = cpu_to_be64(body->number);
	w->operation = cpu_to_be64(body->operation);
	w->segment = cpu_to_be16(body->segment);
	w->round = body->round;
	memcpy(w->signature, &body->signature, sizeof(w->signature));
	if (coll_body_has_operands(body)) {
		struct coll_wire_operands *o = (struct coll_wire_operands *)end;

		flags |= COLL_FLAG_OPERANDS;
		o->count = cpu_to_be32(body->signature.count);
		o->root = cpu_to_be32(body->signature.root);
		end += COLL_WIRE_OPERANDS;
	}
	if (body->acknowledges) {
		struct coll_wire_ack *a = (struct coll_wire_ack *)end;

		flags |= COLL_FLAG_ACK;
		a->number = cpu_to_be64(body->ack_number);
		a->bits = cpu_to_be64(body->ack_bits);
		end += COLL_WIRE_ACK;
	}
	w->flags = cpu_to_be16(flags);
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
 * @nonce: to be returned by the answer
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
 * @answer: its contents
 */
void coll_wire_write_answer(u8 payload[COLL_WIRE_ANSWER], const struct coll_answer *answer)
{
	const struct coll_wait *wait = &answer->wait;
	__be32 values[8] = {
		cpu_to_be32(wait->host),
		cpu_to_be32(wait->rank),
		cpu_to_be32(upper_32_bits(wait->operation)),
		cpu_to_be32(lower_32_bits(wait->operation)),
		cpu_to_be32(wait->waited_ms),
		cpu_to_be32(wait->age_ms),
		cpu_to_be32(wait->hops),
		0,
	};

	coll_wire_write_nonce(payload, answer->nonce);
	memcpy(payload + COLL_WIRE_PROBE, values, sizeof(values));
}

/**
 * coll_wire_read_answer() - read the payload of an answer
 * @payload: of the packet
 * @answer: out
 */
void coll_wire_read_answer(const u8 *payload, struct coll_answer *answer)
{
	struct coll_wait *wait = &answer->wait;
	__be32 values[8];

	memcpy(values, payload + COLL_WIRE_PROBE, sizeof(values));
	answer->nonce = coll_wire_read_nonce(payload);
	wait->host = be32_to_cpu(values[0]);
	wait->rank = be32_to_cpu(values[1]);
	wait->operation = (u64)be32_to_cpu(values[2]) << 32 | be32_to_cpu(values[3]);
	wait->waited_ms = be32_to_cpu(values[4]);
	wait->age_ms = be32_to_cpu(values[5]);
	wait->hops = be32_to_cpu(values[6]);
}

/* ---- reading ---- */

/**
 * coll_wire_formed() - is this a well-formed packet?
 * @packet: received bytes; the first COLL_WIRE_FORM, or all if it is shorter, are readable
 * @bytes: its length
 */
bool coll_wire_formed(const u8 *packet, u32 bytes)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u32 least = COLL_WIRE_MIN;
	u16 flags;

	if (bytes < COLL_WIRE_MIN || bytes > COLL_WIRE_MAX)
		return false;
	if (w->version != cpu_to_be32(COLL_WIRE_VERSION << 24) || w->epoch)
		return false;
	flags = be16_to_cpu(w->flags);
	if (flags & COLL_FLAGS_FOLLOWS & ~COLL_FLAGS_READABLE)
		return false;
	if (flags & COLL_FLAG_OPERANDS)
		least += COLL_WIRE_OPERANDS;
	if (flags & COLL_FLAG_ACK)
		least += COLL_WIRE_ACK;
	if (!w->incarnation || !w->number)
		return false;
	switch (w->type) {
	case COLL_PACKET_MESSAGE:
		return bytes >= least;
	case COLL_PACKET_ACK:
	case COLL_PACKET_GOODBYE:
		return bytes == least;
	case COLL_PACKET_PROBE:
		return bytes == least + COLL_WIRE_PROBE;
	case COLL_PACKET_ANSWER:
		return bytes == least + COLL_WIRE_ANSWER;
	default:
		return false;
	}
}

/**
 * coll_wire_other_version() - is this a packet of another version of the format?
 * @packet: what came; all @bytes of it readable
 * @bytes: its length
 *
 * Every version has the tag and the two hosts in the same place, and the MAC at the end.
 */
bool coll_wire_other_version(const u8 *packet, u32 bytes)
{
	return bytes >= COLL_WIRE_AT_TAG + 8 + COLL_WIRE_MAC && bytes <= COLL_WIRE_MAX &&
	       packet[0] && packet[0] != COLL_WIRE_VERSION;
}

/**
 * coll_wire_unknown() - does a packet of this version have a type or a part that is not known?
 * @packet: what came; all @bytes of it readable; not formed
 * @bytes: its length
 *
 * Later modules may send what JOIN's features do not promise.
 */
bool coll_wire_unknown(const u8 *packet, u32 bytes)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;

	if (bytes < COLL_WIRE_MIN || w->version != cpu_to_be32(COLL_WIRE_VERSION << 24))
		return false;
	return w->type > COLL_PACKET_ANSWER ||
	       (be16_to_cpu(w->flags) & COLL_FLAGS_FOLLOWS & ~COLL_FLAGS_READABLE);
}

/**
 * coll_wire_read_prefix() - read both ends of the connection
 * @packet: well-formed
 * @prefix: out
 */
void coll_wire_read_prefix(const u8 *packet, struct coll_prefix *prefix)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;

	prefix->tag = be64_to_cpu(w->tag);
	prefix->descriptor = be32_to_cpu(w->descriptor);
	prefix->incarnation = be32_to_cpu(w->incarnation);
	prefix->known = be32_to_cpu(w->known);
	prefix->source = be16_to_cpu(w->source);
	prefix->destination = be16_to_cpu(w->destination);
}

/**
 * coll_wire_read_body() - read the contents of a packet
 * @packet: well-formed
 * @bytes: its length
 * @body: out; its payload points into @packet
 */
void coll_wire_read_body(const u8 *packet, u32 bytes, struct coll_body *body)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u16 flags = be16_to_cpu(w->flags);
	u32 head = COLL_WIRE_HEADER;

	body->type = w->type;
	body->ce = w->ce;
	body->ack_now = flags & COLL_FLAG_ACK_NOW;
	body->acknowledges = flags & COLL_FLAG_ACK;
	body->number = be64_to_cpu(w->number);
	body->operation = be64_to_cpu(w->operation);
	body->done = wire_from_distance(w->done, body->operation);
	body->credit = wire_from_distance(w->credit, body->operation);
	body->segment = be16_to_cpu(w->segment);
	body->round = w->round;
	memset(&body->signature, 0, sizeof(body->signature));
	memcpy(&body->signature, w->signature, sizeof(w->signature));
	if (flags & COLL_FLAG_OPERANDS) {
		const struct coll_wire_operands *o;

		o = (const struct coll_wire_operands *)(packet + head);
		body->signature.count = be32_to_cpu(o->count);
		body->signature.root = be32_to_cpu(o->root);
		head += COLL_WIRE_OPERANDS;
	}
	if (body->acknowledges) {
		const struct coll_wire_ack *a = (const struct coll_wire_ack *)(packet + head);

		body->ack_number = be64_to_cpu(a->number);
		body->ack_bits = be64_to_cpu(a->bits);
		head += COLL_WIRE_ACK;
	}
	body->payload = packet + head;
	body->payload_bytes = bytes - head - COLL_WIRE_MAC;
}
