/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The packet: layout, encoding, validation, authentication. Pure; any context.
 *
 *   prefix (32) | body (24) | operands (8) | acknowledgment (16) | payload | MAC (8)
 *
 * All fields are big-endian; the payload is in the byte order of the group.
 * The MAC is SipHash-2-4 over all that precedes it, under a key derived
 * from the group's key and nonce. What is not understood is not a packet:
 * unknown versions, types, flags, non-zero reserved bytes are refused. Operands
 * and acknowledgment are there if they are flagged; a barrier has none of them.
 *
 * The prefix names both ends of a connection. It is the same in all packets of one
 * direction of a connection, so each side keeps it, and what the MAC makes of
 * it, in a struct coll_wire_side, and spends no time on it again.
 */
#ifndef COLL_CORE_WIRE_H
#define COLL_CORE_WIRE_H

#include "base.h"

#define COLL_WIRE_VERSION	1
#define COLL_WIRE_PREFIX	32
#define COLL_WIRE_HEADER	56	/* prefix and body */
#define COLL_WIRE_OPERANDS	8
#define COLL_WIRE_ACK		16
#define COLL_WIRE_MAC		8
#define COLL_WIRE_PROBE		8	/* payload of a probe */
#define COLL_WIRE_ANSWER	32	/* payload of an answer */
#define COLL_WIRE_MIN		(COLL_WIRE_HEADER + COLL_WIRE_MAC)
#define COLL_WIRE_MAX \
	(COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + COLLSOCK_MAX_SEGMENT)

/* LINE(identifier, number, name); lines are appended, none is changed. */
#define COLL_PACKET_LIST(LINE)							\
	LINE(MESSAGE,	1,	"message") /* one edge of a schedule */		\
	LINE(ACK,	2,	"acknowledgment") /* and credit, alone */	\
	LINE(GOODBYE,	3,	"goodbye") /* operations beyond one cannot complete */ \
	LINE(PROBE,	4,	"probe") /* are you there? */			\
	LINE(ANSWER,	5,	"answer") /* yes */

#define COLL_PACKET_NUMBER(identifier, number, name)	COLL_PACKET_##identifier = number,
enum coll_packet_type { COLL_PACKET_LIST(COLL_PACKET_NUMBER) };

/* Flags beside the type: what follows the body. */
#define COLL_FLAG_ACK		0x80
#define COLL_FLAG_OPERANDS	0x40
#define COLL_FLAGS		(COLL_FLAG_ACK | COLL_FLAG_OPERANDS)

/*
 * Why operations beyond the last one cannot complete: LINE(identifier, number, name, errno).
 * Lines are appended, none is changed.
 */
#define COLL_REASON_LIST(LINE)							\
	LINE(LEFT,	0,	"left",		ECONNRESET)			\
	LINE(SILENT,	1,	"silent",	ETIMEDOUT)			\
	LINE(DISAGREES,	2,	"disagrees",	EPROTO)				\
	LINE(RESTARTED,	3,	"restarted",	ECONNRESET)			\
	LINE(ENDED,	4,	"ended",	ECANCELED) /* by order */

#define COLL_REASON_NUMBER(identifier, number, name, error) COLL_REASON_##identifier = number,
enum coll_reason { COLL_REASON_LIST(COLL_REASON_NUMBER) COLL_REASONS };

/**
 * struct coll_signature - what the ranks must agree on about an operation
 * @operation: enum collsock_operation
 * @type: enum collsock_type
 * @op: enum collsock_operator
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @count: elements
 * @root: rank
 */
struct coll_signature {
	u8	operation;
	u8	type;
	u8	op;
	u8	algorithm;
	u32	count;
	u32	root;
};

/**
 * struct coll_prefix - both ends of a connection
 * @tag: names the group
 * @descriptor: hash of the descriptor
 * @incarnation: of the sender, never 0
 * @known: incarnation of the receiver as the sender knows it, 0 if never heard
 * @connection: of the sender
 * @source: index of the sending host
 * @destination: index of the receiving host
 */
struct coll_prefix {
	u64	tag;
	u32	descriptor;
	u32	incarnation;
	u32	known;
	u32	connection;
	u16	source;
	u16	destination;
};

/**
 * struct coll_body - what it says
 * @seq: of the message or goodbye; 0 in a lone acknowledgment
 * @done: operations through this one are complete at the sender and at all
 *	whose "done" it has folded in @operation
 * @credit: highest operation that the sender can store; all that are a window or
 *	more before it are over for the sender, and its messages acknowledged
 * @operation: number of the operation; of a goodbye, the last one posted
 * @signature: of the operation; of a goodbye, @signature.root is the rank that is
 *	to blame and @signature.count the reason, enum coll_reason
 * @segment: segment of the payload
 * @type: enum coll_packet_type
 * @round: round of the schedule
 * @acknowledges: an acknowledgment is there:
 * @ack_connection: connection of the receiver that it acknowledges
 * @ack_seq: highest sequence number received on it
 * @ack_bits: bit i: @ack_seq - i was received
 * @payload: its first byte
 * @payload_bytes: its length
 */
struct coll_body {
	u32			seq;
	u32			done;
	u32			credit;
	u32			operation;
	struct coll_signature	signature;
	u16			segment;
	u8			type;
	u8			round;
	bool			acknowledges;
	u32			ack_connection;
	u32			ack_seq;
	u64			ack_bits;
	const u8		*payload;
	u32			payload_bytes;
};

/**
 * struct coll_wait - where a chain of waits ends, as far as is known
 * @host: for whom all wait, or COLL_NOBODY
 * @rank: a rank there that has not posted, COLLSOCK_NO_RANK if that host has not said
 * @operation: in which operation
 * @waited_ms: for how long, when that was said
 * @age_ms: how long ago that was
 * @hops: over how many hosts it was heard; 0 from the host itself or one that waits for it
 */
struct coll_wait {
	u32	host;
	u32	rank;
	u32	operation;
	u32	waited_ms;
	u32	age_ms;
	u32	hops;
};

/**
 * struct coll_answer - payload of an answer; that of a probe is the nonce alone
 * @nonce: of the probe
 * @wait: for whom the answering host waits in the end
 */
struct coll_answer {
	u64			nonce;
	struct coll_wait	wait;
};

#define COLL_NOBODY	(~0U)

/**
 * struct coll_secret - what the group's key, id and nonce become
 * @tag: names the group on the wire without giving its id away
 * @mac: key of the MAC
 */
struct coll_secret {
	u64		tag;
	siphash_key_t	mac;
};

/**
 * struct coll_wire_side - one direction of a connection
 * @prefix: as it is in every packet
 * @mac: state of the MAC behind it
 */
struct coll_wire_side {
	u64	prefix[COLL_WIRE_PREFIX / 8];
	u64	mac[4];
};

void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce);

static inline bool coll_body_has_operands(const struct coll_body *body)
{
	return body->signature.count | body->signature.root;
}

/* Length of a packet that says this, MAC included. */
static inline u32 coll_wire_bytes(const struct coll_body *body)
{
	return COLL_WIRE_MIN + (coll_body_has_operands(body) ? COLL_WIRE_OPERANDS : 0) +
	       (body->acknowledges ? COLL_WIRE_ACK : 0) + body->payload_bytes;
}

/* Learn a direction from its prefix. */
void coll_wire_side_set(struct coll_wire_side *side, const struct coll_prefix *prefix,
			const siphash_key_t *mac);

/* The payloads of probes and answers. */
void coll_wire_write_nonce(u8 payload[COLL_WIRE_PROBE], u64 nonce);
u64 coll_wire_read_nonce(const u8 *payload);
void coll_wire_write_answer(u8 payload[COLL_WIRE_ANSWER], const struct coll_answer *answer);
void coll_wire_read_answer(const u8 *payload, struct coll_answer *answer);

/* Write a complete packet, coll_wire_bytes() long. */
void coll_wire_write(u8 *packet, const struct coll_wire_side *side,
		     const struct coll_body *body);

/*
 * Reading: first coll_wire_formed(), which looks at nothing but the form, that is at the
 * first COLL_WIRE_FORM bytes. Then
 * the fields may be read; nothing of them may be believed before
 * coll_wire_authentic().
 */
bool coll_wire_formed(const u8 *packet, u32 bytes);

/* How much of a packet there is at most that is no data and no MAC. */
#define COLL_WIRE_FORM \
	(COLL_WIRE_HEADER + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + COLL_WIRE_ANSWER)

/* Offsets of the fields by which a packet finds its group. */
#define COLL_WIRE_AT_SOURCE		4
#define COLL_WIRE_AT_DESTINATION	6
#define COLL_WIRE_AT_TAG		8

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

void coll_wire_read_prefix(const u8 *packet, struct coll_prefix *prefix);
void coll_wire_read_body(const u8 *packet, u32 bytes, struct coll_body *body);

/* Does the packet's prefix belong to this direction? */
bool coll_wire_same_side(const u8 *packet, const struct coll_wire_side *side);

/* Is the MAC of the packet right? For a packet of any direction. */
bool coll_wire_authentic_alone(const u8 *packet, u32 bytes, const siphash_key_t *mac);

/* Is the MAC of the packet, which belongs to this direction, right? */
bool coll_wire_authentic(const u8 *packet, u32 bytes, const struct coll_wire_side *side);

#endif
