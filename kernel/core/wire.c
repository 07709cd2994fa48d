// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "wire.h"

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
	memzero_explicit(half, sizeof(half));
	memzero_explicit(&k, sizeof(k));
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
	u32 left = bytes - COLL_WIRE_MAC - at, shift = 0;
	u64 last = (u64)(bytes - COLL_WIRE_MAC) << 56;

	for (packet += at; left >= 8; packet += 8, left -= 8)
		wire_mac_word(v, wire_word(packet));
	for (; unlikely(left); left--, shift += 8)
		last |= (u64)*packet++ << shift;
	return wire_mac_finish(v, last);
}

static inline void wire_mac_hash(u64 v[4], const struct coll_nh_hash *hash)
{
	wire_mac_word(v, hash->low);
	wire_mac_word(v, hash->high);
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
		wire_mac_hash(v, &hash);
		hashed += sizeof(hash);
	}
	return wire_mac_finish(v, hashed << 56 | end);
}

/* Like wire_mac_end_nh(), while the bytes after the first @at are copied from @payload. */
static __be64 wire_mac_copy_nh(u64 v[4], u8 *packet, u32 bytes, const u64 *nh, u32 at,
			       const u8 *payload)
{
	u32 end = bytes - COLL_WIRE_MAC, block, step, there = at - COLL_WIRE_HEADER;
	u64 hashed = COLL_WIRE_HEADER + sizeof(end);
	struct coll_nh_hash hash;

	for (block = COLL_WIRE_HEADER; block < end; block += step) {
		step = min_t(u32, end - block, COLL_NH_BLOCK);
		hash = coll_nh_copy(nh, packet + block, there, payload, step);
		wire_mac_hash(v, &hash);
		hashed += sizeof(hash);
		payload += step - there;
		there = 0;
	}
	return wire_mac_finish(v, hashed << 56 | end);
}

static inline bool wire_is_short(u32 bytes)
{
	return bytes <= COLL_WIRE_UNHASHED + COLL_WIRE_MAC;
}

/* Hash the bytes of the header after the first @at. */
static inline void wire_mac_header(u64 v[4], const u8 *packet, u32 at)
{
	for (; at < COLL_WIRE_HEADER; at += 8)
		wire_mac_word(v, wire_word(packet + at));
}

/* The MAC of a packet of any length and version; @state covers its first @at bytes. */
static noinline __be64 wire_mac_any(const u8 *packet, u32 bytes, const struct coll_mac *mac,
				    const u64 state[4], u32 at)
{
	u64 v[4] = { state[0], state[1], state[2], state[3] };

	if (wire_is_short(bytes) || mac->algorithm != COLLSOCK_MAC_NH_SIPHASH)
		return wire_mac_end(v, packet, bytes, at);
	wire_mac_header(v, packet, at);
	return wire_mac_end_nh(v, packet, bytes, mac->nh);
}

/* The MAC of a packet of this direction. Every packet has a body: it needs no loop. */
static __always_inline __be64 wire_mac(const u8 *packet, u32 bytes,
				       const struct coll_wire_side *side)
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
		.epoch		= cpu_to_be32(prefix->epoch),
	};
	u32 i;

	memcpy(side->prefix, &w, COLL_WIRE_PREFIX);
	side->group_mac = mac;
	wire_mac_begin(side->mac, &mac->key);
	for (i = 0; i < COLL_WIRE_PREFIX; i += 8)
		wire_mac_word(side->mac, wire_word((const u8 *)side->prefix + i));
}

/**
 * coll_wire_seal() - write the MAC of a packet
 * @packet: complete but for it
 * @bytes: its length, MAC included
 * @side: its direction
 */
void coll_wire_seal(u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	__be64 code = wire_mac(packet, bytes, side);

	memcpy(packet + bytes - COLL_WIRE_MAC, &code, sizeof(code));
}

/**
 * coll_wire_finish_long() - write a long payload, and the MAC of its packet
 * @packet: as long as coll_wire_bytes()
 * @end: all that precedes is written
 * @side: its direction
 * @body: its contents; at least COLL_WIRE_LONG bytes of payload
 */
void coll_wire_finish_long(u8 *packet, u8 *end, const struct coll_wire_side *side,
			   const struct coll_body *body)
{
	u64 v[4] = { side->mac[0], side->mac[1], side->mac[2], side->mac[3] };
	u32 bytes = end - packet + body->payload_bytes + COLL_WIRE_MAC;
	const struct coll_mac *mac = side->group_mac;
	__be64 code;

	if (unlikely(body->rest || mac->algorithm != COLLSOCK_MAC_NH_SIPHASH)) {
		coll_wire_write_payload(end, body);
		coll_wire_seal(packet, bytes, side);
		return;
	}
	wire_mac_header(v, packet, COLL_WIRE_PREFIX);
	code = wire_mac_copy_nh(v, packet, bytes, mac->nh, end - packet, body->payload);
	memcpy(packet + bytes - COLL_WIRE_MAC, &code, sizeof(code));
}

/**
 * coll_wire_authentic() - is the MAC of the packet right?
 * @packet: well-formed, and of this direction
 * @bytes: its length
 * @side: the direction
 */
bool coll_wire_authentic(const u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	__be64 right = wire_mac(packet, bytes, side), code;

	memcpy(&code, packet + bytes - COLL_WIRE_MAC, sizeof(code));
	return code == right;
}

/**
 * coll_wire_authentic_any() - is the MAC of a packet of any version right?
 * @packet: coll_wire_other_version(), or formed
 * @bytes: its length
 * @mac: of the group
 */
bool coll_wire_authentic_any(const u8 *packet, u32 bytes, const struct coll_mac *mac)
{
	__be64 right, code;
	u64 state[4];

	wire_mac_begin(state, &mac->key);
	right = wire_mac_any(packet, bytes, mac, state, 0);
	memzero_explicit(state, sizeof(state));
	memcpy(&code, packet + bytes - COLL_WIRE_MAC, sizeof(code));
	return code == right;
}

/* ---- distances ---- */

/**
 * coll_wire_nearest() - how a distance that does not fit into 16 bits is sent
 * @distance: from the operation
 *
 * "Done" and credit are never far from the operation that a packet is about: a window or
 * two. If a distance does not fit, a lower one or none is sent, which is never wrong.
 */
s64 coll_wire_nearest(s64 distance)
{
	return distance < S16_MIN ? COLL_WIRE_NOT_TOLD : COLL_WIRE_NOT_TOLD - 1;
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

/* ---- positions ---- */

/**
 * coll_wire_write_position() - payload of an acknowledgment that has a position
 * @payload: out
 * @position: its contents
 */
void coll_wire_write_position(u8 payload[COLL_WIRE_POSITION],
			      const struct coll_position *position)
{
	const struct coll_wire_position w = {
		.operation	= cpu_to_be64(position->operation),
		.first		= cpu_to_be16(position->first),
		.round		= position->round,
		.bits		= cpu_to_be64(position->bits),
	};

	memcpy(payload, &w, sizeof(w));
}

/**
 * coll_wire_read_position() - read the payload of an acknowledgment that has a position
 * @payload: of the packet
 * @position: out
 */
void coll_wire_read_position(const u8 *payload, struct coll_position *position)
{
	struct coll_wire_position w;

	memcpy(&w, payload, sizeof(w));
	position->operation = be64_to_cpu(w.operation);
	position->first = be16_to_cpu(w.first);
	position->round = w.round;
	position->bits = be64_to_cpu(w.bits);
}

/* ---- reading ---- */

/**
 * coll_wire_formed_position() - is a packet well-formed that has a position?
 * @packet: received bytes; the first COLL_WIRE_FORM, or all if it is shorter, are readable
 * @bytes: its length, at least COLL_WIRE_MIN
 *
 * Its payload is that, and it has an acknowledgment.
 */
bool coll_wire_formed_position(const u8 *packet, u32 bytes)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u16 follows = be16_to_cpu(w->flags) & COLL_FLAGS_FOLLOWS;
	u32 exactly = COLL_WIRE_MIN + COLL_WIRE_ACK + COLL_WIRE_POSITION;

	if (follows & COLL_FLAG_OPERANDS)
		exactly += COLL_WIRE_OPERANDS;
	return w->type == COLL_PACKET_ACK && !w->epoch && w->incarnation && w->number &&
	       (follows & ~COLL_FLAG_OPERANDS) == (COLL_FLAG_ACK | COLL_FLAG_POSITION) &&
	       bytes == exactly;
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
	return w->type > COLL_PACKET_MULTICAST ||
	       (be16_to_cpu(w->flags) & COLL_FLAGS_FOLLOWS &
		~(COLL_FLAGS_READABLE | COLL_FLAG_POSITION));
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
	prefix->epoch = be32_to_cpu(w->epoch);
	prefix->source = be16_to_cpu(w->source);
	prefix->destination = be16_to_cpu(w->destination);
}
