/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The packet: layout, encoding, validation, authentication. Pure; any context.
 *
 *   prefix (32) | body (32) | operands (8) | acknowledgment (16) | payload | MAC (8)
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
 * number alone. So a host can tell that another one speaks
 * another version, and that this one is a member (coll_wire_authentic_any()).
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
#define COLL_WIRE_MIN		(COLL_WIRE_HEADER + COLL_WIRE_MAC)
#define COLL_WIRE_MAX \
	(COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK + COLLSOCK_MAX_SEGMENT)

/*
 * If more bytes than these precede the MAC, those behind the header are hashed first. Fewer
 * would be more work with a hash than without.
 */
#define COLL_WIRE_UNHASHED	(COLL_WIRE_HEADER + 16)

/* LINE(identifier, number, name). Lines are only ever appended. */
#define COLL_PACKET_LIST(LINE)							\
	LINE(MESSAGE,	1,	"message") /* along one edge of a schedule */		\
	LINE(ACK,	2,	"acknowledgment") /* alone, with credit */	\
	LINE(GOODBYE,	3,	"goodbye") /* operations beyond one cannot complete */ \
	LINE(PROBE,	4,	"probe") /* is the other side alive? */			\
	LINE(ANSWER,	5,	"answer") /* to a probe */

#define COLL_PACKET_NUMBER(identifier, number, name)	COLL_PACKET_##identifier = number,
enum coll_packet_type { COLL_PACKET_LIST(COLL_PACKET_NUMBER) };

/*
 * Flags. Those in the lower byte say what follows the body, in the order of the bits. A
 * packet with one that is not known cannot be read. Those in the upper byte are remarks,
 * and one that is not known is ignored. Reserved are 0x0004, the acknowledgment of a
 * position, and 0x0200, a remark about multicast (Documentation/protocol.md).
 */
#define COLL_FLAG_OPERANDS	0x0001
#define COLL_FLAG_ACK		0x0002
#define COLL_FLAG_ACK_NOW	0x0100
#define COLL_FLAGS_FOLLOWS	0x00ff
#define COLL_FLAGS_READABLE	(COLL_FLAG_OPERANDS | COLL_FLAG_ACK)

/*
 * Packet numbers count from 1 and never begin again. A time-wait entry does not know how
 * far its group counted: this bit, and the number of the packet that it answers.
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
 * @op: enum collsock_operator
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @degree: of the algorithm; 0, since none has one
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
	u8	op;
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
 * @source: index of the sending host
 * @destination: index of the receiving host
 */
struct coll_prefix {
	u64	tag;
	u32	descriptor;
	u32	incarnation;
	u32	known;
	u16	source;
	u16	destination;
};

/**
 * struct coll_body - contents of a packet
 * @number: of the packet: 1, 2, ... of an incarnation to a host
 * @operation: number of the operation; of a goodbye, the last one posted; of a lone
 *	acknowledgment, any
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
 * @acknowledges: an acknowledgment is present:
 * @ack_number: highest packet number of a message of the receiver that was accepted
 * @ack_bits: bit i: a message in @ack_number - i was
 * @payload: first byte of the payload
 * @payload_bytes: length of the payload
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
	u64			ack_number;
	u64			ack_bits;
	const u8		*payload;
	u32			payload_bytes;
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

void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce, u8 algorithm);

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

void coll_wire_side_set(struct coll_wire_side *side, const struct coll_prefix *prefix,
			const struct coll_mac *mac);
void coll_wire_write_nonce(u8 payload[COLL_WIRE_PROBE], u64 nonce);
u64 coll_wire_read_nonce(const u8 *payload);
void coll_wire_write_answer(u8 payload[COLL_WIRE_ANSWER], const struct coll_answer *answer);
void coll_wire_read_answer(const u8 *payload, struct coll_answer *answer);
void coll_wire_write(u8 *packet, const struct coll_wire_side *side,
		     const struct coll_body *body);

/*
 * Reading: coll_wire_formed() comes first and checks the form alone, in the first
 * COLL_WIRE_FORM bytes. Then the fields may be read, but must not be trusted before
 * coll_wire_authentic().
 */
bool coll_wire_formed(const u8 *packet, u32 bytes);

/*
 * How much of a packet there is at most that is no payload and no MAC: what
 * coll_wire_formed() and coll_wire_read_body() read.
 */
#define COLL_WIRE_FORM	(COLL_WIRE_HEADER + COLL_WIRE_OPERANDS + COLL_WIRE_ACK)

/* Of what is not formed: is it a packet of another version, or of a later module? */
bool coll_wire_other_version(const u8 *packet, u32 bytes);
bool coll_wire_unknown(const u8 *packet, u32 bytes);

/* Offsets of the fields by which a packet's group is found */
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
bool coll_wire_same_side(const u8 *packet, const struct coll_wire_side *side);
bool coll_wire_authentic(const u8 *packet, u32 bytes, const struct coll_wire_side *side);

/* The same of a packet of any version and direction. */
bool coll_wire_authentic_any(const u8 *packet, u32 bytes, const struct coll_mac *mac);

#endif
