// SPDX-License-Identifier: GPL-2.0
/* The packet: what is written is read back, and malformed packets are refused. */
#include "../harness.h"
#include "mac.h"
#include "seed.h"
#include "stack.h"
#include "wire.h"

#define PACKETS	100000

struct unit_wire {
	u64			random;
	struct coll_secret	secret;
	struct coll_prefix	prefix;
	struct coll_wire_side	side;
	struct coll_body	body;
	u8			payload[COLLSOCK_MAX_SEGMENT];
	u8			packet[COLL_WIRE_MAX] __aligned(8);
	u32			bytes;
};

/* Write any valid packet. */
static void write_any(struct unit_wire *u)
{
	static const u8 key[16] = "sixteen byte key";
	struct coll_prefix *p = &u->prefix;
	struct coll_body *b = &u->body;
	u64 r = seed_next(&u->random);

	coll_wire_derive(&u->secret, key, r, seed_next(&u->random),
			 r & 128 ? COLLSOCK_MAC_SIPHASH : COLLSOCK_MAC_NH_SIPHASH);
	p->tag = u->secret.tag;
	p->descriptor = seed_next(&u->random);
	p->incarnation = seed_next(&u->random) | 1;
	p->known = r & 1 ? 0 : seed_next(&u->random);
	p->source = seed_next(&u->random);
	p->destination = seed_next(&u->random);
	coll_wire_side_set(&u->side, p, &u->secret.mac);

	memset(b, 0, sizeof(*b));
	b->type = COLL_PACKET_MESSAGE + r / 2 % 3;
	b->number = seed_next(&u->random) | 1;
	b->operation = seed_next(&u->random);
	b->done = b->operation + (s16)seed_next(&u->random) / 2;
	b->credit = b->operation + (s16)seed_next(&u->random) / 2;
	b->ce = r >> 48;
	b->ack_now = r & 64;
	b->signature.operation = (u8)(r >> 8);
	b->signature.type = r >> 16;
	b->signature.operator = r >> 24;
	b->signature.algorithm = r >> 32;
	b->signature.degree = r >> 40;
	if (r & 8) {
		b->signature.count = seed_next(&u->random);
		b->signature.root = seed_next(&u->random);
	}
	b->segment = seed_next(&u->random);
	b->round = seed_next(&u->random);
	b->acknowledges = r & 16;
	if (b->acknowledges) {
		b->ack_number = seed_next(&u->random);
		b->ack_bits = seed_next(&u->random);
	}
	if (b->type == COLL_PACKET_MESSAGE)
		b->payload_bytes = seed_next(&u->random) % (r & 32 ? 40 : sizeof(u->payload));
	b->payload = u->payload;
	u->payload[r % sizeof(u->payload)] = r >> 40;
	u->bytes = coll_wire_bytes(b);
	coll_wire_write(u->packet, &u->side, b);
}

TEST(what_is_written_is_read)
{
	static struct unit_wire u;
	struct coll_prefix prefix;
	struct coll_body body;
	u32 i;

	u.random = seed_start();
	for (i = 0; i < PACKETS; i++) {
		write_any(&u);
		ASSERT_LE(u.bytes, COLL_WIRE_MAX);
		ASSERT_TRUE(coll_wire_formed(u.packet, u.bytes));
		memset(&prefix, 0, sizeof(prefix));
		memset(&body, 0, sizeof(body));
		coll_wire_read_prefix(u.packet, &prefix);
		coll_wire_read_body(u.packet, u.bytes, &body);
		ASSERT_EQ(0, memcmp(&prefix, &u.prefix, sizeof(prefix)));
		ASSERT_EQ(u.body.payload_bytes, body.payload_bytes);
		ASSERT_EQ(0, memcmp(body.payload, u.payload, body.payload_bytes));
		body.payload = u.body.payload;
		ASSERT_EQ(0, memcmp(&body, &u.body, sizeof(body)));
		ASSERT_TRUE(coll_wire_same_side(u.packet, &u.side));
		ASSERT_TRUE(coll_wire_authentic(u.packet, u.bytes, &u.side));
		ASSERT_TRUE(coll_wire_authentic_any(u.packet, u.bytes, &u.secret.mac));
	}
}

/* What "done" and credit become that are @distance from the operation. */
static void expect_told(struct __test_metadata *_metadata, u64 operation, s64 distance,
			u64 expected)
{
	struct unit_wire u = { .random = 1 };
	struct coll_body body;

	write_any(&u);
	u.body.operation = operation;
	u.body.done = operation + distance;
	u.body.credit = operation + distance;
	coll_wire_write(u.packet, &u.side, &u.body);
	coll_wire_read_body(u.packet, u.bytes, &body);
	EXPECT_EQ(expected, body.done);
	EXPECT_EQ(expected, body.credit);
}

TEST(what_is_done_is_told_whatever_the_numbers_are_and_never_too_much)
{
	static const u64 operations[] = { 0, 1, S16_MAX, 1 << 16, 1U << 31, ~0U, 1ULL << 32,
					  1ULL << 62 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		const u64 op = operations[i];

		expect_told(_metadata, op, 0, op);
		expect_told(_metadata, op, -1, op - 1);
		expect_told(_metadata, op, 1, op + 1);
		expect_told(_metadata, op, S16_MAX - 1, op + S16_MAX - 1);
		expect_told(_metadata, op, S16_MAX, op + S16_MAX - 1);
		expect_told(_metadata, op, 1ULL << 40, op + S16_MAX - 1);
		expect_told(_metadata, op, S16_MIN, op + S16_MIN);
		expect_told(_metadata, op, S16_MIN - 1, ~0ULL);
		expect_told(_metadata, op, -(1LL << 40), ~0ULL);
	}
}

TEST(the_mac_is_what_its_description_says)
{
	static struct unit_wire u;
	__be64 code;
	u32 i;

	u.random = seed_start();
	for (i = 0; i < PACKETS; i++) {
		write_any(&u);
		memcpy(&code, u.packet + u.bytes - COLL_WIRE_MAC, sizeof(code));
		ASSERT_EQ(mac_of(u.packet, u.bytes, &u.secret.mac), code) {
			TH_LOG("%u bytes", u.bytes);
		}
	}
}

TEST(no_changed_bit_is_authentic_under_the_direction_or_its_own_prefix)
{
	static struct unit_wire u;
	struct coll_wire_side own;
	struct coll_prefix prefix;
	u32 i, bit;

	u.random = seed_start();
	for (i = 0; i < PACKETS; i++) {
		write_any(&u);
		bit = seed_next(&u.random) % (u.bytes * 8);
		u.packet[bit / 8] ^= 1 << bit % 8;
		ASSERT_FALSE(coll_wire_same_side(u.packet, &u.side) &&
			     coll_wire_authentic(u.packet, u.bytes, &u.side));
		if (!coll_wire_formed(u.packet, u.bytes))
			continue;
		coll_wire_read_prefix(u.packet, &prefix);
		coll_wire_side_set(&own, &prefix, &u.secret.mac);
		ASSERT_FALSE(coll_wire_authentic(u.packet, u.bytes, &own)) {
			TH_LOG("bit %u of %u bytes", bit, u.bytes);
		}
	}
}

TEST(a_direction_never_heard_from_matches_no_packet)
{
	static struct coll_wire_side silent;
	static struct unit_wire u;
	u32 i;

	u.random = seed_start();
	for (i = 0; i < PACKETS; i++) {
		write_any(&u);
		ASSERT_FALSE(coll_wire_same_side(u.packet, &silent));
	}
}

static u8 *barrier_packet(struct unit_wire *u)
{
	u->random = 1;
	do {
		write_any(u);
	} while (u->body.type != COLL_PACKET_MESSAGE || u->body.acknowledges ||
		 u->body.signature.count || u->body.payload_bytes);
	return u->packet;
}

#define REFUSED(at, value, why) ({ \
	barrier_packet(&u)[at] = value; \
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG(why); \
})

TEST(unknown_fields_are_refused)
{
	static struct unit_wire u;

	barrier_packet(&u);
	EXPECT_EQ(COLL_WIRE_MIN, u.bytes);
	EXPECT_TRUE(coll_wire_formed(u.packet, u.bytes));
	REFUSED(0, 0, "version 0");
	REFUSED(0, 1, "version 1");
	REFUSED(0, 3, "version 3");
	REFUSED(1, 1, "reserved");
	REFUSED(2, 0x80, "reserved");
	REFUSED(3, 7, "reserved");
	REFUSED(COLL_WIRE_PREFIX, 0, "type 0");
	REFUSED(COLL_WIRE_PREFIX, 4, "a probe without a nonce");
	REFUSED(COLL_WIRE_PREFIX, 6, "multicast to one host");
	REFUSED(COLL_WIRE_PREFIX, 7, "type 7");
	REFUSED(35, 0x04, "a message with a position");
	REFUSED(35, 0x08, "something unknown follows");
	REFUSED(35, 0x80, "something unknown follows");
	REFUSED(35, 0x01, "operands flagged and not there");
	REFUSED(35, 0x02, "acknowledgment flagged and not there");
	memset(barrier_packet(&u) + 20, 0, 4);
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("incarnation 0");
	memset(barrier_packet(&u) + 40, 0, 8);
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("packet 0");
	barrier_packet(&u)[28] = 1;
	EXPECT_TRUE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("a message with an epoch");
}

static bool multicast_formed(struct unit_wire *u, u32 epoch, u32 known, u32 destination, u8 flags)
{
	struct coll_wire_header *w = (struct coll_wire_header *)barrier_packet(u);

	w->type = COLL_PACKET_MULTICAST;
	w->epoch = cpu_to_be32(epoch);
	w->known = cpu_to_be32(known);
	w->destination = cpu_to_be16(destination);
	w->flags = cpu_to_be16(flags);
	return coll_wire_formed(u->packet, u->bytes + (flags ? COLL_WIRE_ACK : 0));
}

TEST(what_is_sent_to_all_names_no_receiver_and_acknowledges_nothing)
{
	static struct unit_wire u;

	EXPECT_TRUE(multicast_formed(&u, 1, 0, COLL_WIRE_ALL, 0));
	EXPECT_TRUE(coll_wire_is_multicast(u.packet));
	EXPECT_FALSE(multicast_formed(&u, 0, 0, COLL_WIRE_ALL, 0));
	EXPECT_FALSE(multicast_formed(&u, 1, 1, COLL_WIRE_ALL, 0));
	EXPECT_FALSE(multicast_formed(&u, 1, 0, 5, 0));
	EXPECT_FALSE(multicast_formed(&u, 1, 0, COLL_WIRE_ALL, COLL_FLAG_ACK));
	EXPECT_TRUE(multicast_formed(&u, 1, 0, COLL_WIRE_ALL, COLL_FLAG_OPERANDS));
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("operands flagged and not there");
}

static const struct coll_position position = {
	.operation = 0x1112131415161718, .bits = 5, .first = 0x2122, .round = 9,
};

static u8 *position_packet(struct unit_wire *u)
{
	u8 payload[COLL_WIRE_POSITION];
	const struct coll_body body = {
		.type = COLL_PACKET_ACK, .number = 1, .operation = 3, .acknowledges = true,
		.flags = COLL_FLAG_POSITION, .payload = payload, .payload_bytes = sizeof(payload),
	};

	barrier_packet(u);
	coll_wire_write_position(payload, &position);
	u->bytes = coll_wire_bytes(&body);
	coll_wire_write(u->packet, &u->side, &body);
	return u->packet;
}

TEST(a_position_is_read_as_it_was_written_and_only_acknowledgments_have_one)
{
	static struct unit_wire u;
	struct coll_position read;
	struct coll_body body;

	position_packet(&u);
	ASSERT_TRUE(coll_wire_formed(u.packet, u.bytes));
	coll_wire_read_body(u.packet, u.bytes, &body);
	ASSERT_TRUE(body.flags & COLL_FLAG_POSITION);
	coll_wire_read_position(body.payload, &read);
	EXPECT_EQ(position.operation, read.operation);
	EXPECT_EQ(position.bits, read.bits);
	EXPECT_EQ(position.first, read.first);
	EXPECT_EQ(position.round, read.round);
	u.packet[COLL_WIRE_PREFIX] = COLL_PACKET_MESSAGE;
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes));
	u.packet[COLL_WIRE_PREFIX] = COLL_PACKET_ACK;
	u.packet[35] = COLL_FLAG_POSITION;
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes));
}

TEST(a_packet_with_a_position_is_checked_as_one_without)
{
	static struct unit_wire u;

	position_packet(&u);
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes - 1)) TH_LOG("a byte less");
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes + 1)) TH_LOG("a byte more");
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes + 8)) TH_LOG("a word more");
	memset(position_packet(&u) + 20, 0, 4);
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("incarnation 0");
	memset(position_packet(&u) + 40, 0, 8);
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("packet 0");
	position_packet(&u)[28] = 1;
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("with an epoch");
	position_packet(&u)[35] |= COLL_FLAG_OPERANDS;
	EXPECT_FALSE(coll_wire_formed(u.packet, u.bytes)) TH_LOG("operands that are not there");
	EXPECT_TRUE(coll_wire_formed(u.packet, u.bytes + COLL_WIRE_OPERANDS));
}

TEST(remarks_that_are_not_known_are_ignored)
{
	static struct unit_wire u;

	barrier_packet(&u)[34] |= 0xfe;
	EXPECT_TRUE(coll_wire_formed(u.packet, u.bytes));
}

TEST(types_and_parts_that_are_not_known_and_other_versions_are_told_apart)
{
	static struct unit_wire u;

	EXPECT_FALSE(coll_wire_unknown(barrier_packet(&u), u.bytes));
	EXPECT_FALSE(coll_wire_other_version(u.packet, u.bytes));
	barrier_packet(&u)[COLL_WIRE_PREFIX] = 7;
	EXPECT_TRUE(coll_wire_unknown(u.packet, u.bytes));
	barrier_packet(&u)[35] = 0x08;
	EXPECT_TRUE(coll_wire_unknown(u.packet, u.bytes));
	EXPECT_FALSE(coll_wire_unknown(u.packet, COLL_WIRE_MIN - 1));
	barrier_packet(&u)[COLL_WIRE_PREFIX] = 0;
	EXPECT_FALSE(coll_wire_unknown(u.packet, u.bytes));
	barrier_packet(&u)[0] = 1;
	EXPECT_TRUE(coll_wire_other_version(u.packet, u.bytes));
	EXPECT_TRUE(coll_wire_other_version(u.packet, 24));
	EXPECT_FALSE(coll_wire_other_version(u.packet, 23)) TH_LOG("too short for a MAC");
	EXPECT_TRUE(coll_wire_other_version(u.packet, COLL_WIRE_MAX));
	EXPECT_FALSE(coll_wire_other_version(u.packet, COLL_WIRE_MAX + 1)) TH_LOG("too long");
	EXPECT_FALSE(coll_wire_unknown(u.packet, u.bytes));
	barrier_packet(&u)[0] = 0;
	EXPECT_FALSE(coll_wire_other_version(u.packet, u.bytes)) TH_LOG("version 0");
}

/* Of a packet that is too short nothing is read beyond its end. */
TEST(an_impossible_length_is_refused)
{
	static struct unit_wire u;
	u8 *beginning;
	u32 bytes;

	barrier_packet(&u);
	for (bytes = 0; bytes < COLL_WIRE_MIN; bytes++) {
		beginning = malloc(bytes);
		memcpy(beginning, u.packet, bytes);
		EXPECT_FALSE(coll_wire_formed(beginning, bytes));
		free(beginning);
	}
	EXPECT_TRUE(coll_wire_formed(u.packet, COLL_WIRE_MAX));
	EXPECT_FALSE(coll_wire_formed(u.packet, COLL_WIRE_MAX + 1));
}

TEST(packets_without_a_payload_of_operations_have_one_length)
{
	static const struct {
		u8	type;
		u32	payload;
	} packets[] = {
		{ COLL_PACKET_ACK, 0 }, { COLL_PACKET_GOODBYE, 0 },
		{ COLL_PACKET_PROBE, COLL_WIRE_PROBE }, { COLL_PACKET_ANSWER, COLL_WIRE_ANSWER },
	};
	static struct unit_wire u;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		const u32 bytes = COLL_WIRE_MIN + packets[i].payload;

		barrier_packet(&u)[COLL_WIRE_PREFIX] = packets[i].type;
		EXPECT_TRUE(coll_wire_formed(u.packet, bytes)) TH_LOG("type %u", packets[i].type);
		EXPECT_FALSE(coll_wire_formed(u.packet, bytes - 1)) TH_LOG("a byte less");
		EXPECT_FALSE(coll_wire_formed(u.packet, bytes + 1)) TH_LOG("a byte more");
		EXPECT_FALSE(coll_wire_formed(u.packet, bytes + 8)) TH_LOG("a word more");
		u.packet[28] = 1;
		EXPECT_FALSE(coll_wire_formed(u.packet, bytes)) TH_LOG("with an epoch");
	}
}

/* Every word of it */
static bool all_differs(const struct coll_secret *a, const struct coll_secret *b)
{
	u32 i;

	for (i = 0; i < COLL_NH_WORDS; i++)
		if (a->mac.nh[i] == b->mac.nh[i])
			return false;
	return a->tag != b->tag && a->mac.key.key[0] != b->mac.key.key[0] &&
	       a->mac.key.key[1] != b->mac.key.key[1];
}

TEST(another_nonce_or_key_makes_other_secrets)
{
	struct coll_secret a, b;
	u8 key[16] = "sixteen byte key";

	coll_wire_derive(&a, key, 7, 1, COLLSOCK_MAC_NH_SIPHASH);
	coll_wire_derive(&b, key, 7, 2, COLLSOCK_MAC_NH_SIPHASH);
	EXPECT_TRUE(all_differs(&a, &b));
	key[15] ^= 1;
	coll_wire_derive(&b, key, 7, 1, COLLSOCK_MAC_NH_SIPHASH);
	EXPECT_TRUE(all_differs(&a, &b));
	EXPECT_TRUE(a.tag != a.mac.key.key[0] && a.mac.key.key[0] != a.mac.key.key[1]);
}

/* ---- what is left of keys ---- */

static const u8 root_key[16] = "sixteen byte key";
static struct coll_secret derived;
static u8 any_packet[COLL_WIRE_MAX];
static u32 any_bytes;

static void derive(void)
{
	coll_wire_derive(&derived, root_key, 7, 1, COLLSOCK_MAC_NH_SIPHASH);
}

TEST(no_key_stays_on_the_stack)
{
	ASSERT_TRUE(unit_stack_run(derive));
	ASSERT_NE(0, derived.tag);
	EXPECT_FALSE(unit_stack_has(root_key, 2));
}

static void authenticate_any(void)
{
	coll_wire_authentic_any(any_packet, any_bytes, &derived.mac);
}

/* Before it has read anything the state is the key, but for constants. */
TEST(no_state_of_the_mac_of_another_version_stays_on_the_stack)
{
	u64 state[4];

	derive();
	state[0] = SIPHASH_CONST_0 ^ derived.mac.key.key[0];
	state[1] = SIPHASH_CONST_1 ^ derived.mac.key.key[1];
	state[2] = SIPHASH_CONST_2 ^ derived.mac.key.key[0];
	state[3] = SIPHASH_CONST_3 ^ derived.mac.key.key[1];
	for (any_bytes = COLL_WIRE_MIN; any_bytes <= COLL_WIRE_MAX; any_bytes += 16) {
		ASSERT_TRUE(unit_stack_run(authenticate_any));
		ASSERT_FALSE(unit_stack_has(state, ARRAY_SIZE(state)));
	}
}

TEST_HARNESS_MAIN
