// SPDX-License-Identifier: GPL-2.0
/*
 * One packet: reading stays within it, reading inverts writing, and it is authentic only by
 * its last eight bytes. The first byte of the input determines where the packet begins in
 * memory, whether it has a valid MAC, and of which algorithm; a time-wait entry answers it.
 */
#include "../unit/mac.h"
#include "fuzz.h"
#include "timewait.h"
#include "wire.h"

#define SEAL	0x80
#define SIPHASH	0x40

/* Of this input */
static const struct coll_mac *mac;

static void choose_mac(u8 first)
{
	static struct coll_mac macs[2];
	u32 i;

	for (i = 0; !macs[1].algorithm && i < 2; i++) {
		macs[i].key = (siphash_key_t) { { 1, 2 } };
		coll_nh_derive(macs[i].nh, &macs[i].key);
		macs[i].algorithm = i ? COLLSOCK_MAC_SIPHASH : COLLSOCK_MAC_NH_SIPHASH;
	}
	mac = &macs[!!(first & SIPHASH)];
}

/* Unknown remarks, and distances that were not told, are not written again. */
static bool is_read_whole(const u8 *packet)
{
	static const u8 not_told[2] = { 0x7f, 0xff };
	const u8 *body = packet + COLL_WIRE_PREFIX;

	return !(body[2] & ~(COLL_FLAG_ACK_NOW >> 8)) && memcmp(body + 4, not_told, 2) &&
	       memcmp(body + 6, not_told, 2);
}

/* Writing what was read gives the same bytes, except for operands that are all zero. */
static void check_written(const u8 *packet, u32 bytes, const struct coll_wire_side *side)
{
	u8 written[COLL_WIRE_MAX];
	struct coll_body body;
	u32 least = bytes;
	__be64 code;

	memset(&body, 0, sizeof(body));
	coll_wire_read_body(packet, bytes, &body);
	FUZZ_EXPECT(body.payload >= packet &&
		    body.payload + body.payload_bytes + COLL_WIRE_MAC == packet + bytes,
		    "payload of %u bytes in a packet of %u", body.payload_bytes, bytes);
	if (packet[COLL_WIRE_PREFIX + 3] & COLL_FLAG_OPERANDS && !body.signature.count &&
	    !body.signature.root)
		least -= COLL_WIRE_OPERANDS;
	FUZZ_EQUAL(coll_wire_bytes(&body), least, "length as written");
	coll_wire_write(written, side, &body);
	if (least != bytes || !is_read_whole(packet))
		return;
	FUZZ_EXPECT(!memcmp(written, packet, bytes - COLL_WIRE_MAC), "written otherwise");
	code = mac_of(packet, bytes, mac);
	FUZZ_EXPECT(!memcmp(written + bytes - COLL_WIRE_MAC, &code, sizeof(code)),
		    "with another MAC");
}

static void check_packet(const u8 *packet, u32 bytes)
{
	struct coll_wire_side side;
	struct coll_prefix prefix;
	__be64 code;
	bool right;

	if (!coll_wire_formed(packet, bytes))
		return;
	coll_wire_read_prefix(packet, &prefix);
	coll_wire_side_set(&side, &prefix, mac);
	FUZZ_EXPECT(coll_wire_same_side(packet, &side), "its prefix is another one's");
	code = mac_of(packet, bytes, mac);
	right = !memcmp(packet + bytes - COLL_WIRE_MAC, &code, sizeof(code));
	FUZZ_EQUAL(coll_wire_authentic(packet, bytes, &side), right, "authentic");
	check_written(packet, bytes, &side);
}

/* A packet that is not formed is of another version, or of a later module, or neither. */
static void check_kind(const u8 *packet, u32 bytes)
{
	bool formed = coll_wire_formed(packet, bytes);
	bool other = coll_wire_other_version(packet, bytes);
	bool unknown = coll_wire_unknown(packet, bytes);
	__be64 code;
	bool right;

	FUZZ_EXPECT(formed + other + unknown <= 1, "formed %d, other version %d, unknown %d",
		    formed, other, unknown);
	if (!formed && !other)
		return;
	code = mac_of(packet, bytes, mac);
	right = !memcmp(packet + bytes - COLL_WIRE_MAC, &code, sizeof(code));
	FUZZ_EQUAL(coll_wire_authentic_any(packet, bytes, mac), right, "authentic");
}

/*
 * At most one answer, only to packets that need one, hardly longer, and never answered
 * itself
 */
static void check_timewait(const u8 *packet, u32 bytes)
{
	struct coll_timewait t = { .secret.mac = *mac, .descriptor = 0x1234, .incarnation = 1001,
				    .last = 5, .completed = 4 };
	u8 *answer = malloc(COLL_TIMEWAIT_ANSWER), *second = malloc(COLL_TIMEWAIT_ANSWER);
	u32 answer_bytes = ~0U, second_bytes = ~0U;
	enum coll_refusal refusal;

	if (!answer || !second)
		abort();
	if (coll_wire_formed(packet, bytes)) {
		refusal = coll_timewait_answer(&t, packet, bytes, answer, &answer_bytes);
		if (refusal != COLL_ACCEPTED)
			FUZZ_EQUAL(answer_bytes, 0, "answer to what is refused");
		FUZZ_EXPECT(answer_bytes <= COLL_TIMEWAIT_ANSWER, "%u bytes", answer_bytes);
		FUZZ_EXPECT(answer_bytes <= bytes + COLL_WIRE_OPERANDS + COLL_WIRE_ACK,
			    "%u bytes to %u", answer_bytes, bytes);
		if (coll_wire_is_multicast(packet))
			FUZZ_EQUAL(answer_bytes, 0, "answer to what is for all");
		if (answer_bytes) {
			check_packet(answer, answer_bytes);
			t.incarnation = 0;
			refusal = coll_timewait_answer(&t, answer, answer_bytes, second,
						       &second_bytes);
			FUZZ_EQUAL(refusal, COLL_ACCEPTED, "refusal of an answer");
			FUZZ_EQUAL(second_bytes, 0, "answer to an answer");
		}
	}
	free(answer);
	free(second);
}

int fuzz_target(const u8 *data, size_t bytes)
{
	u32 offset, length;
	u8 *memory, *packet;
	__be64 code;

	if (!bytes || bytes > COLL_WIRE_MAX + 16)
		return 0;
	choose_mac(*data);
	/* The kernel guarantees a multiple of two. */
	offset = *data & 6;
	length = bytes - 1;
	memory = malloc(offset + length + !length);
	if (!memory)
		abort();
	packet = memory + offset;
	memcpy(packet, data + 1, length);
	if (*data & SEAL && length >= COLL_WIRE_MAC) {
		code = mac_of(packet, length, mac);
		memcpy(packet + length - COLL_WIRE_MAC, &code, sizeof(code));
	}
	check_kind(packet, length);
	check_packet(packet, length);
	check_timewait(packet, length);
	free(memory);
	return 0;
}
