// SPDX-License-Identifier: GPL-2.0
/*
 * packets FILE: write packets of all types into a pcap file, some of them retransmitted and
 * some damaged, and print how the core reads each: "formed" and its fields as named by
 * tshark, separated by tabs, or the counter of what it refuses ("malformed",
 * "other_version", "unknown_type") and the fields that are in the same place there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "seed.h"
#include "wire.h"

#define PACKETS		600
#define LINKTYPE_IPV4	228
#define PORT		7607
#define HEADERS		28	/* of IPv4 and UDP */
/* Number of bytes that can be appended to the largest packet */
#define ROOM		(COLL_WIRE_MAX + 16)

static u64 state;

static void put(FILE *file, const void *data, size_t bytes)
{
	if (fwrite(data, bytes, 1, file) != 1) {
		perror("packets");
		exit(1);
	}
}

static void put_file_head(FILE *file)
{
	static const u32 head[6] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, LINKTYPE_IPV4 };

	put(file, head, sizeof(head));
}

static void put_packet(FILE *file, u32 number, const u8 *packet, u32 bytes)
{
	u32 record[4] = { number, 0, HEADERS + bytes, HEADERS + bytes };
	u8 head[HEADERS] = {
		[0] = 0x45, [2] = (HEADERS + bytes) >> 8, [3] = HEADERS + bytes, [6] = 0x40,
		[8] = 64, [9] = 17, [12] = 10, [13] = 1, [15] = 1, [16] = 10, [17] = 1, [19] = 2,
		[20] = PORT >> 8, [21] = PORT & 255, [22] = PORT >> 8, [23] = PORT & 255,
		[24] = (8 + bytes) >> 8, [25] = 8 + bytes,
	};

	put(file, record, sizeof(record));
	put(file, head, sizeof(head));
	put(file, packet, bytes);
}

static void any_prefix(struct coll_prefix *p)
{
	*p = (struct coll_prefix) {
		.tag		= seed_next(&state),
		.descriptor	= seed_next(&state),
		.incarnation	= seed_next(&state) | 1,
		.known		= seed_next(&state) % 2 ? seed_next(&state) : 0,
		.source		= seed_next(&state),
		.destination	= seed_next(&state),
	};
}

/* Near the operation, mostly, but also too far for a distance. */
static u64 any_distance(u64 r)
{
	return r % 4 ? (s64)(s16)(r >> 8) : (s64)r >> 40;
}

static void any_body(struct coll_body *b, const u8 *payload)
{
	static const u32 bytes[] = { [COLL_PACKET_PROBE] = COLL_WIRE_PROBE,
				     [COLL_PACKET_ANSWER] = COLL_WIRE_ANSWER };
	u64 r = seed_next(&state);

	*b = (struct coll_body) {
		.type		= COLL_PACKET_MESSAGE + r % COLL_PACKET_MULTICAST,
		.number		= seed_next(&state) >> (r & 64 ? 0 : 40) | 1,
		.ce		= seed_next(&state),
		.operation	= r & 128 ? ~0ULL : seed_next(&state),
		.round		= seed_next(&state),
		.segment	= seed_next(&state),
		.ack_now	= r & 2048,
		.acknowledges	= r & 256,
		.payload	= payload,
		.signature	= {
			.operation	= (r >> 16) % 5,
			.type		= (r >> 24) % 16,
			.operator	= (r >> 32) % 13,
			.algorithm	= (r >> 40) % 7 | (r >> 48 & 0xff) << 8,
		},
	};
	b->done = b->operation + any_distance(seed_next(&state));
	b->credit = b->operation + any_distance(seed_next(&state));
	b->payload_bytes = b->type < ARRAY_SIZE(bytes) ? bytes[b->type] : 0;
	b->flags = seed_next(&state) & COLL_FLAGS_COPIED;
	b->acknowledges &= b->type != COLL_PACKET_MULTICAST;
	if (b->type == COLL_PACKET_ACK && b->acknowledges && r & 512) {
		b->flags |= COLL_FLAG_POSITION;
		b->payload_bytes = COLL_WIRE_POSITION;
	}
	if ((b->type == COLL_PACKET_MESSAGE || b->type == COLL_PACKET_MULTICAST) && r & 512)
		b->payload_bytes = seed_next(&state) % (COLLSOCK_MAX_SEGMENT + 1);
	if (r & 1024) {
		b->signature.count = seed_next(&state) % 5;
		b->signature.root = seed_next(&state);
	}
	if (b->acknowledges) {
		b->ack_number = seed_next(&state);
		b->ack_bits = seed_next(&state);
	}
}

/* The ends fit the type. */
static void fit_prefix(struct coll_prefix *p, u8 type)
{
	if (type == COLL_PACKET_MULTICAST) {
		p->epoch = seed_next(&state) | 1;
		p->known = 0;
		p->destination = COLL_WIRE_ALL;
	} else if (type == COLL_PACKET_MESSAGE && seed_next(&state) % 2) {
		p->epoch = seed_next(&state);
	}
}

/* Apply one kind of damage, at a varying place. Returns the new length. */
static u32 damage(u8 *packet, u32 bytes, u32 kind)
{
	u64 r = seed_next(&state);

	switch (kind % 13) {
	case 0:
		return 1 + r % bytes;
	case 1:
		return min_t(u32, bytes + 1 + r % 16, ROOM);
	case 2:
		packet[0] = r;			/* version */
		return r >> 8 & 1 ? bytes : 1 + (r >> 16) % bytes;
	case 3:
		packet[0] = 0;
		break;
	case 4:
		packet[1 + r % 3] ^= 1;		/* reserved */
		break;
	case 5:
		memset(packet + 20, 0, 4);	/* incarnation */
		break;
	case 6:
		packet[28 + r % 4] ^= 1;	/* epoch */
		break;
	case 7:
		packet[COLL_WIRE_PREFIX] = r % 9;	/* type */
		break;
	case 8:
		packet[34] = r >> 8;		/* flags: remarks */
		packet[35] = r % 16;		/* flags: what follows */
		break;
	case 9:
		memset(packet + 40, 0, 8);	/* number of the packet */
		break;
	case 10:
		packet[COLL_WIRE_PREFIX] = 0;
		break;
	case 11:
		memset(packet + 6, 0, 2);	/* destination, also of a packet for all */
		break;
	default:
		packet[r % COLL_WIRE_HEADER] ^= 1 << (r >> 16) % 8;
	}
	return bytes;
}

/* ---- what the core reads ---- */

static u32 wire_flags(const u8 *packet)
{
	return packet[COLL_WIRE_PREFIX + 2] << 8 | packet[COLL_WIRE_PREFIX + 3];
}

/* The number that a distance tells, or none. */
static void tell_distance(const u8 *distance, u64 number)
{
	static const u8 not_told[2] = { 0x7f, 0xff };

	if (memcmp(distance, not_told, sizeof(not_told)))
		printf("\t%llu", number);
	else
		putchar('\t');
}

static void tell_operands(const u8 *packet, const struct coll_body *b)
{
	bool there = wire_flags(packet) & COLL_FLAG_OPERANDS;

	if (b->type == COLL_PACKET_GOODBYE)
		printf("\t\t\t%u\t%u", b->signature.count, b->signature.root);
	else if (there)
		printf("\t%u\t%u\t\t", b->signature.count, b->signature.root);
	else
		printf("\t\t\t\t");
}

static void tell_position(const struct coll_body *b)
{
	struct coll_position p;

	if (!(b->flags & COLL_FLAG_POSITION)) {
		printf("\t\t\t\t");
		return;
	}
	coll_wire_read_position(b->payload, &p);
	printf("\t%llu\t%u\t%u\t0x%016llx", p.operation, p.first, p.round, p.bits);
}

static void tell_payload(const struct coll_body *b)
{
	struct coll_answer answer;
	u32 i;

	putchar('\t');
	if (b->type == COLL_PACKET_MESSAGE || b->type == COLL_PACKET_MULTICAST)
		for (i = 0; i < b->payload_bytes; i++)
			printf("%02x", b->payload[i]);
	if (b->type == COLL_PACKET_ANSWER) {
		coll_wire_read_answer(b->payload, &answer);
		printf("\t%llu\t%u\t%u\t%llu\t%u\t%u\t%u", answer.nonce, answer.wait.host,
		       answer.wait.rank, answer.wait.operation, answer.wait.waited_ms,
		       answer.wait.age_ms, answer.wait.hops);
	} else if (b->type == COLL_PACKET_PROBE) {
		printf("\t%llu\t\t\t\t\t\t", coll_wire_read_nonce(b->payload));
	} else {
		printf("\t\t\t\t\t\t\t");
	}
}

static void tell_ends(const u8 *packet)
{
	printf("\t%u\t%u\t%u\t0x%016llx", packet[0], coll_wire_source(packet),
	       coll_wire_destination(packet), coll_wire_tag(packet));
}

static void tell_prefix(const u8 *packet)
{
	struct coll_prefix p;

	coll_wire_read_prefix(packet, &p);
	tell_ends(packet);
	printf("\t0x%08x\t0x%08x\t0x%08x\t%u", p.descriptor, p.incarnation, p.known, p.epoch);
}

static void tell_flags(const u8 *packet)
{
	u32 flags = wire_flags(packet);

	printf("\t0x%04x\t%u\t%u\t%u\t%u\t%u\t%u", flags, !!(flags & COLL_FLAG_OPERANDS),
	       !!(flags & COLL_FLAG_ACK), !!(flags & COLL_FLAG_POSITION),
	       !!(flags & COLL_FLAG_ACK_NOW), !!(flags & COLL_FLAG_COPIED),
	       !!(flags & COLL_FLAG_COPIED_BELOW));
}

static void tell_body(const u8 *packet, u32 bytes)
{
	const struct coll_signature *sig;
	struct coll_body b;

	coll_wire_read_body(packet, bytes, &b);
	sig = &b.signature;
	printf("\t%u\t%llu\t%llu", b.ce, b.number, b.operation);
	tell_distance(packet + 36, b.done);
	tell_distance(packet + 38, b.credit);
	printf("\t%u\t%u\t%u\t%u\t%u\t%u\t%u", b.segment, b.round, sig->operation,
	       sig->type, sig->operator, sig->algorithm, sig->degree);
	tell_operands(packet, &b);
	if (b.acknowledges)
		printf("\t%llu\t0x%016llx", b.ack_number, b.ack_bits);
	else
		printf("\t\t");
	tell_position(&b);
	tell_payload(&b);
}

static void tell_mac(const u8 *packet, u32 bytes)
{
	u32 i;

	printf("\t0x");
	for (i = bytes - COLL_WIRE_MAC; i < bytes; i++)
		printf("%02x", packet[i]);
}

static void tell(const u8 *packet, u32 bytes)
{
	if (coll_wire_formed(packet, bytes)) {
		printf("formed");
		tell_prefix(packet);
		printf("\t%u", packet[COLL_WIRE_PREFIX]);
		tell_flags(packet);
		tell_body(packet, bytes);
	} else if (coll_wire_other_version(packet, bytes)) {
		printf("other_version");
		tell_ends(packet);
	} else if (bytes <= COLL_WIRE_MAX && coll_wire_unknown(packet, bytes)) {
		printf("unknown_type");
		tell_prefix(packet);
		printf("\t%u", packet[COLL_WIRE_PREFIX]);
		tell_flags(packet);
	} else {
		puts("malformed");
		return;
	}
	tell_mac(packet, bytes);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static u8 packet[ROOM] __aligned(8), payload[COLLSOCK_MAX_SEGMENT];
	static struct coll_secret secret;
	struct coll_wire_side side;
	struct coll_prefix prefix;
	struct coll_body body;
	FILE *file;
	u32 i, bytes;

	file = argc == 2 ? fopen(argv[1], "w") : NULL;
	if (!file) {
		fputs("usage: packets FILE\n", stderr);
		return 2;
	}
	state = seed_start();
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = seed_next(&state);
	coll_wire_derive(&secret, payload, 1, 2, COLLSOCK_MAC_NH_SIPHASH);
	put_file_head(file);
	for (i = 0; i < PACKETS; i++) {
		if (i % 4 == 3) {
			body.number++;		/* sent again */
			body.done++;
		} else {
			any_prefix(&prefix);
			any_body(&body, payload);
			fit_prefix(&prefix, body.type);
		}
		coll_wire_side_set(&side, &prefix, &secret.mac);
		coll_wire_write(packet, &side, &body);
		bytes = coll_wire_bytes(&body);
		if (i % 3 == 2)
			bytes = damage(packet, bytes, i / 3);
		put_packet(file, i, packet, bytes);
		tell(packet, bytes);
	}
	return fclose(file) ? 1 : 0;
}
