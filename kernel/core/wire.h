/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The packet: layout, encoding, validation, authentication. Pure; any context.
 *
 *   prefix (32) | body (32) | operands (8) | acknowledgment (16) | payload | MAC (8)
 *
 * The payload of a lone acknowledgment may be a position (24).
 *
 * All fields are big-endian; the payload is in the byte order of the group.
 * The MAC is SipHash-2-4 over all that precedes it, under a key derived from the group's
 * key and nonce; in long packets over the header and over hashes of the rest (nh.h), unless
 * the group wants it otherwise. Operands and acknowledgment are there if they are flagged;
 * a barrier has none of them.
 *
 * The prefix names both ends of a connection. It is the same in all packets of one
 * direction of a connection, so each side caches it, with the state of the MAC after it, in
 * a struct coll_wire_side.
 *
 * These are the same in every version of the format: the version itself, the two hosts,
 * the tag, and the MAC in the last 8 bytes, which is computed from the bytes and their
 * number alone. So a host can find out that a packet is of another version, and that its
 * sender is a member (coll_wire_authentic_any()).
 */
#ifndef COLL_CORE_WIRE_H
#define COLL_CORE_WIRE_H

#include "base.h"
#include "nh.h"

#define COLL_WIRE_VERSION	2
#define COLL_WIRE_PREFIX	32
#define COLL_WIRE_HEADER	64	/* prefix and body */
#define COLL_WIRE_OPERANDS	8
#define COLL_WIRE_ACK		16
#define COLL_WIRE_MAC		8
#define COLL_WIRE_PROBE		8	/* payload of a probe */
#define COLL_WIRE_ANSWER	40	/* payload of an answer */
#define COLL_WIRE_POSITION	24	/* payload of an acknowledgment, if it has one */
#define COLL_WIRE_MIN		(COLL_WIRE_HEADER + COLL_WIRE_MAC)
#define COLL_WIRE_MAX \
	(COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + COLLSOCK_MAX_SEGMENT)
static_assert(COLLSOCK_PACKET_HEADERS + COLLSOCK_MAX_SEGMENT == COLL_WIRE_MAX);

/*
 * If more bytes than these precede the MAC, those after the header are hashed first. Fewer
 * would be more work with a hash than without.
 */
#define COLL_WIRE_UNHASHED	(COLL_WIRE_HEADER + 16)

/* From this length on a payload is hashed while it is copied. */
#define COLL_WIRE_LONG		64

/* LINE(identifier, number, name). Lines are only ever appended. */
#define COLL_PACKET_LIST(LINE)							\
	LINE(MESSAGE,	1,	"message") /* along one edge of a schedule */		\
	LINE(ACK,	2,	"acknowledgment") /* alone, with credit */	\
	LINE(GOODBYE,	3,	"goodbye") /* operations beyond one cannot complete */ \
	LINE(PROBE,	4,	"probe") /* is the other side alive? */			\
	LINE(ANSWER,	5,	"answer") /* to a probe */				\
	LINE(MULTICAST,	6,	"multicast") /* a message for all, ahead of those along a tree */

#define COLL_PACKET_NUMBER(identifier, number, name)	COLL_PACKET_##identifier = number,
enum coll_packet_type { COLL_PACKET_LIST(COLL_PACKET_NUMBER) };

/*
 * Flags. Those in the lower byte show what follows the body, in the order of the bits: a
 * packet with an unknown one cannot be read. Those in the upper byte are remarks: unknown
 * ones are ignored. Only a lone acknowledgment has a position.
 */
#define COLL_FLAG_OPERANDS	0x0001
#define COLL_FLAG_ACK		0x0002
#define COLL_FLAG_POSITION	0x0004
#define COLL_FLAG_ACK_NOW	0x0100
#define COLL_FLAG_COPIED	0x0200	/* the latest message for all came by multicast */
#define COLL_FLAG_COPIED_BELOW	0x0400	/* so it did at a host of the sender's subtree */
#define COLL_FLAGS_COPIED	(COLL_FLAG_COPIED | COLL_FLAG_COPIED_BELOW)
#define COLL_FLAGS_FOLLOWS	0x00ff
#define COLL_FLAGS_READABLE	(COLL_FLAG_OPERANDS | COLL_FLAG_ACK)

/*
 * The index of the receiving host in a packet for all. No host of a group with multicast has it.
 * One of a larger group may; a packet for all belongs to no connection of it.
 */
#define COLL_WIRE_ALL		0xffff
static_assert(COLLSOCK_MAX_MULTICAST_HOSTS < COLL_WIRE_ALL);

/*
 * Packet numbers count from 1 and never begin again. A time-wait entry, which has not kept
 * the count of its group, sends this bit and the number of the packet that it answers.
 */
#define COLL_NUMBER_TIMEWAIT	BIT_ULL(63)

/*
 * Why operations beyond the last one cannot complete: LINE(identifier, number, name,
 * errno). Lines are only ever appended.
 */
#define COLL_REASON_LIST(LINE)							\
	LINE(LEFT,	0,	"left",		ECONNRESET)			\
	LINE(SILENT,	1,	"silent",	ETIMEDOUT)			\
	LINE(DISAGREES,	2,	"disagrees",	EPROTO)				\
	LINE(RESTARTED,	3,	"restarted",	ECONNRESET)			\
	LINE(ENDED,	4,	"ended",	ECANCELED) /* by order of the operator */	\
	LINE(VERSION,	5,	"version",	EPROTO) /* of the packet format */	\
	LINE(REFUSED,	6,	"refused",	EPERM) /* by filters of the host itself */

#define COLL_REASON_NUMBER(identifier, number, name, error) COLL_REASON_##identifier = number,
enum coll_reason { COLL_REASON_LIST(COLL_REASON_NUMBER) COLL_REASONS };

/**
 * struct coll_signature - what the ranks must agree on about an operation
 * @operation: enum collsock_operation
 * @type: enum collsock_type
 * @operator: enum collsock_operator
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @degree: of the algorithm; 0 if it has none
 * @reserved: 0
 * @count: elements
 * @root: rank
 *
 * There is no padding: signatures are compared as a whole. The packet has the first five
 * bytes as they are.
 */
struct coll_signature {
	u8	operation;
	u8	type;
	u8	operator;
	u8	algorithm;
	u8	degree;
	u8	reserved[3];
	u32	count;
	u32	root;
};

/**
 * struct coll_prefix - both ends of a connection
 * @tag: names the group
 * @descriptor: hash of the descriptor
 * @incarnation: of the sender, never 0
 * @known: incarnation of the receiver as the sender knows it, 0 if never heard from
 * @epoch: 0, or of a message of a downward phase, or one by multicast, that of the source
 * @source: index of the sending host
 * @destination: index of the receiving host
 */
struct coll_prefix {
	u64	tag;
	u32	descriptor;
	u32	incarnation;
	u32	known;
	u32	epoch;
	u16	source;
	u16	destination;
};

/**
 * struct coll_position - segments of an operation that came along the edge of its downward phase
 * @operation: number of the operation
 * @bits: bit i: segment @first + 1 + i has come
 * @first: the first segment that has not
 * @round: round of that edge
 */
struct coll_position {
	u64	operation;
	u64	bits;
	u16	first;
	u8	round;
};

/**
 * struct coll_body - contents of a packet
 * @number: of the packet: 1, 2, ... of an incarnation to a host; by multicast, to all
 * @operation: number of the operation; of a goodbye, the last one in which the sender takes
 *	part (coll_group_last()); of a lone acknowledgment, any
 * @done: operations up to this one are complete at the sender and at all hosts whose "done"
 *	it has folded in @operation
 * @credit: highest operation that the sender can store; the sender has finished all that
 *	are a window or more before it, with its messages acknowledged
 * @signature: of the operation; of a goodbye, @signature.root is the rank to blame and
 *	@signature.count the reason, enum coll_reason
 * @segment: segment of the payload
 * @type: enum coll_packet_type
 * @round: round of the schedule
 * @ce: how many packets of the other side were marked "congestion experienced", mod 256
 * @ack_now: it wants to be acknowledged at once
 * @flags: COLL_FLAGS_COPIED; COLL_FLAG_POSITION: the payload of an acknowledgment is a position
 * @acknowledges: an acknowledgment is present:
 * @ack_number: highest packet number of a message of the receiver that was accepted
 * @ack_bits: bit i: a message in @ack_number - i was
 * @payload: first byte of the payload
 * @payload_bytes: length of the payload
 * @rest: of a packet to be written: how many of these are in a second piece, and
 * @gap: how many bytes are between both
 */
struct coll_body {
	u64			number;
	u64			operation;
	u64			done;
	u64			credit;
	struct coll_signature	signature;
	u16			segment;
	u8			type;
	u8			round;
	u8			ce;
	bool			ack_now;
	bool			acknowledges;
	u16			flags;
	u64			ack_number;
	u64			ack_bits;
	const u8		*payload;
	u32			payload_bytes;
	u16			rest;
	u16			gap;
};

/**
 * struct coll_wait - where a chain of waits ends, as far as known
 * @host: the host that all wait for, or COLL_NOBODY
 * @rank: a rank there that has not posted, COLLSOCK_NO_RANK if that host has not reported
 * @operation: in which operation
 * @waited_ms: for how long, at the time of the report
 * @age_ms: age of the report
 * @hops: number of hosts that relayed it; 0 from the host itself or one that waits for it
 */
struct coll_wait {
	u32	host;
	u32	rank;
	u64	operation;
	u32	waited_ms;
	u32	age_ms;
	u32	hops;
};

/**
 * struct coll_answer - payload of an answer; that of a probe is the nonce alone
 * @nonce: of the probe
 * @wait: the host that the answering host ultimately waits for
 */
struct coll_answer {
	u64			nonce;
	struct coll_wait	wait;
};

#define COLL_NOBODY	(~0U)

/* ---- layout ---- */

/* Offsets of the fields by which a packet's group is found */
#define COLL_WIRE_AT_SOURCE		4
#define COLL_WIRE_AT_DESTINATION	6
#define COLL_WIRE_AT_TAG		8

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
	__be32	epoch;	/* of multicast, or 0 */
	/* start of the body */
	u8	type;
	u8	ce;
	__be16	flags;
	__be16	done;	/* distance to the operation, see coll_wire_distance() */
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

struct coll_wire_position {
	__be64	operation;
	__be16	first;
	u8	round;
	u8	reserved[5];	/* 0 */
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
static_assert(sizeof(struct coll_wire_position) == COLL_WIRE_POSITION);

/* ---- the MAC ---- */

/**
 * struct coll_mac - what the MACs of a group are computed with
 * @key: of SipHash
 * @algorithm: enum collsock_mac, not the default
 * @nh: key of NH, if the algorithm has it
 */
struct coll_mac {
	siphash_key_t	key;
	u64		algorithm;
	u64		nh[COLL_NH_WORDS];
};

/**
 * struct coll_secret - derived from the group's key, id and nonce
 * @tag: names the group on the wire without revealing its id
 * @mac: of its packets
 */
struct coll_secret {
	u64		tag;
	struct coll_mac	mac;
};

/**
 * struct coll_wire_side - one direction of a connection
 * @prefix: as in every packet
 * @mac: state of the MAC after it
 * @group_mac: of the group
 */
struct coll_wire_side {
	u64			prefix[COLL_WIRE_PREFIX / 8];
	u64			mac[4];
	const struct coll_mac	*group_mac;
};

/* What was wrong with a packet; only endpoint.h uses the last three. */
enum coll_refusal {
	COLL_ACCEPTED,
	COLL_FORGED,
	COLL_WRONG_DESCRIPTOR,
	COLL_UNKNOWN_GROUP,
	COLL_WRONG_SOURCE,
	COLL_TOO_LONG,
};

/* ---- the secrets and the MAC ---- */

void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce, u8 algorithm);
void coll_wire_side_set(struct coll_wire_side *side, const struct coll_prefix *prefix,
			const struct coll_mac *mac);
void coll_wire_seal(u8 *packet, u32 bytes, const struct coll_wire_side *side);
bool coll_wire_authentic(const u8 *packet, u32 bytes, const struct coll_wire_side *side);

/* The same for a packet of any version and direction. */
bool coll_wire_authentic_any(const u8 *packet, u32 bytes, const struct coll_mac *mac);

/* ---- distances ---- */

/* Too far from the operation to be sent */
#define COLL_WIRE_NOT_TOLD	S16_MAX

s64 coll_wire_nearest(s64 distance);

static inline __be16 coll_wire_distance(u64 to, u64 from)
{
	s64 distance = to - from;

	/* S16_MIN to COLL_WIRE_NOT_TOLD - 1 */
	if (unlikely((u64)distance - S16_MIN >= U16_MAX))
		distance = coll_wire_nearest(distance);
	return cpu_to_be16((u16)distance);
}

/* ~0, the one before the first operation, if the distance was not sent */
static inline u64 coll_wire_from_distance(__be16 distance, u64 from)
{
	s16 value = be16_to_cpu(distance);

	return likely(value != COLL_WIRE_NOT_TOLD) ? from + value : ~0ULL;
}

/* ---- writing ---- */

static inline bool coll_body_has_operands(const struct coll_body *body)
{
	return body->signature.count | body->signature.root;
}

/* Length of a packet with these contents, MAC included */
static inline u32 coll_wire_bytes(const struct coll_body *body)
{
	return COLL_WIRE_MIN + (coll_body_has_operands(body) ? COLL_WIRE_OPERANDS : 0) +
	       (body->acknowledges ? COLL_WIRE_ACK : 0) + body->payload_bytes;
}

/* Write the header, which every packet has; returns the end of it. */
static __always_inline u8 *coll_wire_write_header(u8 *packet, const struct coll_wire_side *side,
						  const struct coll_body *body, u16 flags)
{
	struct coll_wire_header *w = (struct coll_wire_header *)packet;

	memcpy(packet, side->prefix, COLL_WIRE_PREFIX);
	w->type = body->type;
	w->ce = body->ce;
	w->flags = cpu_to_be16(flags);
	w->done = coll_wire_distance(body->done, body->operation);
	w->credit = coll_wire_distance(body->credit, body->operation);
	w->number = cpu_to_be64(body->number);
	w->operation = cpu_to_be64(body->operation);
	w->segment = cpu_to_be16(body->segment);
	w->round = body->round;
	memcpy(w->signature, &body->signature, sizeof(u32));
	w->signature[4] = body->signature.degree;
	return packet + COLL_WIRE_HEADER;
}

static inline u8 *coll_wire_write_operands(u8 *at, const struct coll_signature *sig)
{
	struct coll_wire_operands *o = (struct coll_wire_operands *)at;

	o->count = cpu_to_be32(sig->count);
	o->root = cpu_to_be32(sig->root);
	return at + COLL_WIRE_OPERANDS;
}

static inline u8 *coll_wire_write_ack(u8 *at, const struct coll_body *body)
{
	struct coll_wire_ack *a = (struct coll_wire_ack *)at;

	a->number = cpu_to_be64(body->ack_number);
	a->bits = cpu_to_be64(body->ack_bits);
	return at + COLL_WIRE_ACK;
}

/* Write the payload, which may be in two pieces; returns the end of it. */
static __always_inline u8 *coll_wire_write_payload(u8 *at, const struct coll_body *body)
{
	u32 bytes = body->payload_bytes - body->rest;

	memcpy(at, body->payload, bytes);
	if (unlikely(body->rest))
		memcpy(at + bytes, body->payload + bytes + body->gap, body->rest);
	return at + body->payload_bytes;
}

void coll_wire_finish_long(u8 *packet, u8 *end, const struct coll_wire_side *side,
			   const struct coll_body *body);

/* Write the payload and the MAC of a packet that is written up to @end. */
static __always_inline void coll_wire_finish(u8 *packet, u8 *end,
					     const struct coll_wire_side *side,
					     const struct coll_body *body)
{
	if (unlikely(body->payload_bytes >= COLL_WIRE_LONG)) {
		coll_wire_finish_long(packet, end, side, body);
		return;
	}
	if (body->payload_bytes)
		end = coll_wire_write_payload(end, body);
	coll_wire_seal(packet, end - packet + COLL_WIRE_MAC, side);
}

/**
 * coll_wire_write() - write a packet
 * @packet: coll_wire_bytes() long
 * @side: its direction
 * @body: its contents
 */
static __always_inline void coll_wire_write(u8 *packet, const struct coll_wire_side *side,
					    const struct coll_body *body)
{
	bool operands = coll_body_has_operands(body);
	u8 *end;

	end = coll_wire_write_header(packet, side, body,
				     body->flags | (body->ack_now ? COLL_FLAG_ACK_NOW : 0) |
				     (operands ? COLL_FLAG_OPERANDS : 0) |
				     (body->acknowledges ? COLL_FLAG_ACK : 0));
	if (operands)
		end = coll_wire_write_operands(end, &body->signature);
	if (body->acknowledges)
		end = coll_wire_write_ack(end, body);
	coll_wire_finish(packet, end, side, body);
}

void coll_wire_write_nonce(u8 payload[COLL_WIRE_PROBE], u64 nonce);
void coll_wire_write_answer(u8 payload[COLL_WIRE_ANSWER], const struct coll_answer *answer);
void coll_wire_write_position(u8 payload[COLL_WIRE_POSITION],
			      const struct coll_position *position);

/* ---- reading ---- */

/*
 * coll_wire_formed() comes first and checks the form alone, in the first COLL_WIRE_FORM
 * bytes. Then the fields may be read, but must not be trusted before
 * coll_wire_authentic().
 */

/*
 * Bytes of a packet besides payload and MAC, at most: those that coll_wire_formed() and
 * coll_wire_read_body() read.
 */
#define COLL_WIRE_FORM	(COLL_WIRE_HEADER + COLL_WIRE_OPERANDS + COLL_WIRE_ACK)

/* Is a packet well-formed that has a position? */
bool coll_wire_formed_position(const u8 *packet, u32 bytes);

/* Is a packet with the head of one by multicast well-formed, if it is not too short? */
static inline bool coll_wire_formed_multicast(const struct coll_wire_header *w)
{
	return w->epoch && !w->known && w->destination == cpu_to_be16(COLL_WIRE_ALL) &&
	       !(w->flags & cpu_to_be16(COLL_FLAG_ACK));
}

/**
 * coll_wire_formed() - is this a well-formed packet?
 * @packet: received bytes; the first COLL_WIRE_FORM, or all if it is shorter, are readable
 * @bytes: its length
 */
static inline bool coll_wire_formed(const u8 *packet, u32 bytes)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u32 least = COLL_WIRE_MIN;
	u16 flags;

	if (bytes < COLL_WIRE_MIN || bytes > COLL_WIRE_MAX)
		return false;
	if (w->version != cpu_to_be32(COLL_WIRE_VERSION << 24))
		return false;
	flags = be16_to_cpu(w->flags);
	if (unlikely(flags & COLL_FLAGS_FOLLOWS & ~COLL_FLAGS_READABLE))
		return coll_wire_formed_position(packet, bytes);
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
		return bytes == least && !w->epoch;
	case COLL_PACKET_PROBE:
		return bytes == least + COLL_WIRE_PROBE && !w->epoch;
	case COLL_PACKET_ANSWER:
		return bytes == least + COLL_WIRE_ANSWER && !w->epoch;
	case COLL_PACKET_MULTICAST:
		return bytes >= least && coll_wire_formed_multicast(w);
	default:
		return false;
	}
}

/* Is a packet that is not formed one of another version, or of a later module? */
bool coll_wire_other_version(const u8 *packet, u32 bytes);
bool coll_wire_unknown(const u8 *packet, u32 bytes);

/* Is a well-formed packet for all hosts? */
static inline bool coll_wire_is_multicast(const u8 *packet)
{
	return ((const struct coll_wire_header *)packet)->type == COLL_PACKET_MULTICAST;
}

/* The epoch in a well-formed packet, or in the prefix of a direction */
static inline u32 coll_wire_epoch(const void *packet)
{
	return be32_to_cpu(((const struct coll_wire_header *)packet)->epoch);
}

static inline u16 coll_wire_source(const u8 *packet)
{
	__be16 source;

	memcpy(&source, packet + COLL_WIRE_AT_SOURCE, sizeof(source));
	return be16_to_cpu(source);
}

static inline u16 coll_wire_destination(const u8 *packet)
{
	__be16 destination;

	memcpy(&destination, packet + COLL_WIRE_AT_DESTINATION, sizeof(destination));
	return be16_to_cpu(destination);
}

static inline u64 coll_wire_tag(const u8 *packet)
{
	__be64 tag;

	memcpy(&tag, packet + COLL_WIRE_AT_TAG, sizeof(tag));
	return be64_to_cpu(tag);
}

/**
 * coll_wire_same_side() - does a packet belong to this direction?
 * @packet: well-formed
 * @side: the direction; all zero matches nothing
 */
static inline bool coll_wire_same_side(const u8 *packet, const struct coll_wire_side *side)
{
	return !memcmp(packet, side->prefix, COLL_WIRE_PREFIX);
}

/**
 * coll_wire_read_body() - read the contents of a packet
 * @packet: well-formed
 * @bytes: its length
 * @body: out; its payload points into @packet
 */
static __always_inline void coll_wire_read_body(const u8 *packet, u32 bytes,
						struct coll_body *body)
{
	const struct coll_wire_header *w = (const struct coll_wire_header *)packet;
	u16 flags = be16_to_cpu(w->flags);
	u32 head = COLL_WIRE_HEADER;

	body->type = w->type;
	body->ce = w->ce;
	body->ack_now = flags & COLL_FLAG_ACK_NOW;
	body->flags = flags & (COLL_FLAGS_COPIED | COLL_FLAG_POSITION);
	body->acknowledges = flags & COLL_FLAG_ACK;
	body->number = be64_to_cpu(w->number);
	body->operation = be64_to_cpu(w->operation);
	body->done = coll_wire_from_distance(w->done, body->operation);
	body->credit = coll_wire_from_distance(w->credit, body->operation);
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

void coll_wire_read_prefix(const u8 *packet, struct coll_prefix *prefix);
u64 coll_wire_read_nonce(const u8 *payload);
void coll_wire_read_answer(const u8 *payload, struct coll_answer *answer);
void coll_wire_read_position(const u8 *payload, struct coll_position *position);

#endif
