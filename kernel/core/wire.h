/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packet: layout, encoding, validation, authentication. No state.
 *
 *   header (64) | acknowledgement (16, if flagged) | payload | MAC (8)
 *
 * All fields are big-endian; the payload is in the byte order of the group.
 * The MAC is SipHash-2-4 over all that stands before it, under a key derived
 * from the group's key and nonce. What is not understood is not a packet:
 * unknown versions, types, flags, non-zero reserved bytes are refused.
 */
#ifndef COLL_CORE_WIRE_H
#define COLL_CORE_WIRE_H

#include "base.h"

#define COLL_WIRE_VERSION	1
#define COLL_WIRE_HEADER	64
#define COLL_WIRE_ACK		16
#define COLL_WIRE_MAC		8
#define COLL_WIRE_MIN		(COLL_WIRE_HEADER + COLL_WIRE_MAC)
#define COLL_WIRE_MAX \
	(COLL_WIRE_HEADER + COLL_WIRE_ACK + COLLSOCK_MAX_SEGMENT + COLL_WIRE_MAC)

enum coll_packet_type {
	COLL_PACKET_MESSAGE = 1,	/* one edge of a schedule */
	COLL_PACKET_ACK = 2,		/* acknowledgement and credit alone */
	COLL_PACKET_GOODBYE = 3,	/* a rank has left */
};

#define COLL_FLAG_ACK	0x01		/* an acknowledgement follows the header */

/**
 * struct coll_signature - what the ranks must agree on about an operation
 * @operation: enum collsock_operation
 * @type: enum collsock_type
 * @op: enum collsock_operator
 * @schedule: id of the schedule within the group
 * @count: elements
 * @root: rank
 */
struct coll_signature {
	u8	operation;
	u8	type;
	u8	op;
	u8	schedule;
	u32	count;
	u32	root;
};

/**
 * struct coll_header - a packet, decoded
 * @tag: names the group
 * @descriptor: hash of the descriptor
 * @incarnation: of the sender, never 0
 * @known: incarnation of the receiver as the sender knows it, 0 if never heard.
 *	@done and @credit for the receiver and the acknowledgement speak to it
 * @connection: of the sender
 * @seq: of the message or goodbye; 0 in a lone acknowledgement
 * @done: operations through this one are complete at the sender and at all
 *	whose "done" it has folded in @operation
 * @credit: highest operation that the sender can take
 * @operation: number of the operation; of a goodbye, the last one posted
 * @signature: of the operation; of a goodbye, @signature.root is the rank
 * @source: index of the sending host
 * @destination: index of the receiving host
 * @segment: segment of the payload
 * @type: enum coll_packet_type
 * @round: round of the schedule
 * @acknowledges: an acknowledgement is there:
 * @ack_connection: connection of the receiver that it acknowledges
 * @ack_seq: highest sequence number received on it
 * @ack_bits: bit i: @ack_seq - i was received
 * @payload: first byte of the payload (decode only)
 * @payload_bytes: its length
 */
struct coll_header {
	u64			tag;
	u32			descriptor;
	u32			incarnation;
	u32			known;
	u32			connection;
	u32			seq;
	u32			done;
	u32			credit;
	u32			operation;
	struct coll_signature	signature;
	u16			source;
	u16			destination;
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
 * struct coll_secret - what the group's key, id and nonce become
 * @tag: names the group on the wire without giving its id away
 * @mac: key of the MAC
 */
struct coll_secret {
	u64		tag;
	siphash_key_t	mac;
};

void coll_wire_derive(struct coll_secret *secret, const u8 key[16], u64 id,
		      u64 nonce);

/* Bytes of a packet with the header's payload_bytes and acknowledgement. */
u32 coll_wire_bytes(const struct coll_header *h);

/* Write header and acknowledgement; returns where the payload belongs. */
u8 *coll_wire_encode(u8 *packet, const struct coll_header *h);

/* Write the MAC into the last bytes of the packet. */
void coll_wire_seal(u8 *packet, u32 bytes, const siphash_key_t *mac);

/* 0 or -EINVAL. Nothing of @h may be believed before coll_wire_authentic(). */
int coll_wire_decode(const u8 *packet, u32 bytes, struct coll_header *h);

bool coll_wire_authentic(const u8 *packet, u32 bytes, const siphash_key_t *mac);

/* The tag alone, to find the group; @packet has COLL_WIRE_MIN bytes. */
u64 coll_wire_tag(const u8 *packet);

#endif
