// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers on the wire and in the interface, which must never change. Each is repeated here,
 * so that a change by mistake fails. A new line of a list needs a new line here.
 */
#include "../harness.h"

#include "wire.h"

struct number {
	const char	*name;
	u32		seen;
	u32		promised;
};

#define NUMBER(prefix, identifier, promised)	{ #identifier, prefix##identifier, promised }

static const struct number operations[] = {
	NUMBER(COLLSOCK_, BARRIER, 1),
	NUMBER(COLLSOCK_, ALLREDUCE, 2),
	NUMBER(COLLSOCK_, REDUCE, 3),
	NUMBER(COLLSOCK_, BROADCAST, 4),
	NUMBER(COLLSOCK_, ALLGATHER, 5),
	NUMBER(COLLSOCK_, GATHER, 6),
	NUMBER(COLLSOCK_, SCATTER, 7),
	NUMBER(COLLSOCK_, REDUCE_SCATTER_BLOCK, 8),
	NUMBER(COLLSOCK_, SCAN, 9),
	NUMBER(COLLSOCK_, EXSCAN, 10),
};

static const struct number types[] = {
	NUMBER(COLLSOCK_, NONE, 0),
	NUMBER(COLLSOCK_, INT64, 1),
	NUMBER(COLLSOCK_, UINT64, 2),
	NUMBER(COLLSOCK_, DOUBLE, 3),
	NUMBER(COLLSOCK_, INT8, 4),
	NUMBER(COLLSOCK_, INT16, 5),
	NUMBER(COLLSOCK_, INT32, 6),
	NUMBER(COLLSOCK_, UINT8, 7),
	NUMBER(COLLSOCK_, UINT16, 8),
	NUMBER(COLLSOCK_, UINT32, 9),
	NUMBER(COLLSOCK_, FLOAT, 10),
	NUMBER(COLLSOCK_, FLOAT_INT, 11),
	NUMBER(COLLSOCK_, DOUBLE_INT, 12),
	NUMBER(COLLSOCK_, INT64_INT, 13),
	NUMBER(COLLSOCK_, INT32_INT, 14),
	NUMBER(COLLSOCK_, INT16_INT, 15),
	NUMBER(COLLSOCK_, BYTE, 16),
	NUMBER(COLLSOCK_, EXACT, 17),
	NUMBER(COLLSOCK_, FLOAT16, 18),
	NUMBER(COLLSOCK_, BFLOAT16, 19),
};

static const struct number operators[] = {
	NUMBER(COLLSOCK_, NOP, 0),
	NUMBER(COLLSOCK_, SUM, 1),
	NUMBER(COLLSOCK_, MIN, 2),
	NUMBER(COLLSOCK_, MAX, 3),
	NUMBER(COLLSOCK_, PRODUCT, 4),
	NUMBER(COLLSOCK_, LOGICAL_AND, 5),
	NUMBER(COLLSOCK_, LOGICAL_OR, 6),
	NUMBER(COLLSOCK_, LOGICAL_XOR, 7),
	NUMBER(COLLSOCK_, BITWISE_AND, 8),
	NUMBER(COLLSOCK_, BITWISE_OR, 9),
	NUMBER(COLLSOCK_, BITWISE_XOR, 10),
	NUMBER(COLLSOCK_, MINLOC, 11),
	NUMBER(COLLSOCK_, MAXLOC, 12),
};

static const struct number algorithms[] = {
	NUMBER(COLLSOCK_, DISSEMINATION, 1),
	NUMBER(COLLSOCK_, EXCHANGE, 2),
	NUMBER(COLLSOCK_, BINOMIAL, 3),
	NUMBER(COLLSOCK_, KARY, 4),
	NUMBER(COLLSOCK_, FLAT, 5),
	NUMBER(COLLSOCK_, MCS, 6),
	NUMBER(COLLSOCK_, HILLIS_STEELE, 7),
	NUMBER(COLLSOCK_, HALVING, 8),
};

static const struct number macs[] = {
	NUMBER(COLLSOCK_, MAC_SIPHASH, 1),
	NUMBER(COLLSOCK_, MAC_NH_SIPHASH, 2),
};

static const struct number packets[] = {
	NUMBER(COLL_PACKET_, MESSAGE, 1),
	NUMBER(COLL_PACKET_, ACK, 2),
	NUMBER(COLL_PACKET_, GOODBYE, 3),
	NUMBER(COLL_PACKET_, PROBE, 4),
	NUMBER(COLL_PACKET_, ANSWER, 5),
	NUMBER(COLL_PACKET_, MULTICAST, 6),
};

static const struct number reasons[] = {
	NUMBER(COLL_REASON_, LEFT, 0),
	NUMBER(COLL_REASON_, SILENT, 1),
	NUMBER(COLL_REASON_, DISAGREES, 2),
	NUMBER(COLL_REASON_, RESTARTED, 3),
	NUMBER(COLL_REASON_, ENDED, 4),
	NUMBER(COLL_REASON_, VERSION, 5),
	NUMBER(COLL_REASON_, REFUSED, 6),
};

#define NAME_OF(identifier, ...)	#identifier,

static bool has_name(const struct number *numbers, u32 count, const char *name)
{
	while (count--)
		if (!strcmp(numbers[count].name, name))
			return true;
	return false;
}

static void check_numbers(struct __test_metadata *_metadata, const struct number *numbers,
			  u32 count, const char *list, const char *const *names, u32 lines)
{
	u32 i;

	for (i = 0; i < lines; i++) {
		EXPECT_TRUE(has_name(numbers, count, names[i]))
			TH_LOG("%s has %s, and this test does not", list, names[i]);
	}
	EXPECT_EQ(lines, count)
		TH_LOG("lines of %s, and of its numbers in this test", list);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(numbers[i].promised, numbers[i].seen)
			TH_LOG("%s", numbers[i].name);
	}
}

#define EXPECT_NUMBERS(LIST, numbers) ({					\
	static const char *const names[] = { LIST(NAME_OF) };		\
	check_numbers(_metadata, numbers, ARRAY_SIZE(numbers), #LIST, names,	\
		      ARRAY_SIZE(names));						\
})

TEST(numbers_of_operations_types_operators_algorithms_and_macs_never_change)
{
	EXPECT_NUMBERS(COLLSOCK_OPERATION_LIST, operations);
	EXPECT_NUMBERS(COLLSOCK_TYPE_LIST, types);
	EXPECT_NUMBERS(COLLSOCK_OPERATOR_LIST, operators);
	EXPECT_NUMBERS(COLLSOCK_ALGORITHM_LIST, algorithms);
	EXPECT_EQ(0, COLLSOCK_AUTO);
	EXPECT_NUMBERS(COLLSOCK_MAC_LIST, macs);
	EXPECT_EQ(0, COLLSOCK_MAC_DEFAULT);
}

TEST(numbers_of_packet_types_flags_and_reasons_never_change)
{
	EXPECT_NUMBERS(COLL_PACKET_LIST, packets);
	EXPECT_NUMBERS(COLL_REASON_LIST, reasons);
	EXPECT_EQ(7, COLL_REASONS);
	EXPECT_EQ(0x0001, COLL_FLAG_OPERANDS);
	EXPECT_EQ(0x0002, COLL_FLAG_ACK);
	EXPECT_EQ(0x0004, COLL_FLAG_POSITION);
	EXPECT_EQ(0x0100, COLL_FLAG_ACK_NOW);
	EXPECT_EQ(0x0200, COLL_FLAG_COPIED);
	EXPECT_EQ(0x0400, COLL_FLAG_COPIED_BELOW);
	EXPECT_EQ(2, COLL_WIRE_VERSION);
}

/* ---- the bytes of every packet type ---- */

static const struct coll_prefix prefix = {
	.tag = 0x0102030405060708, .descriptor = 0x11121314, .incarnation = 0x21222324,
	.known = 0x31323334, .source = 0x4142, .destination = 0x5152,
};

/* The prefix of all. */
#define PREFIX								\
	2, 0, 0, 0, 0x41, 0x42, 0x51, 0x52,				\
	1, 2, 3, 4, 5, 6, 7, 8,						\
	0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,			\
	0x31, 0x32, 0x33, 0x34, 0, 0, 0, 0

#define CODE	8

static u64 code_of(const u8 *at)
{
	__be64 code;

	memcpy(&code, at, sizeof(code));
	return be64_to_cpu(code);
}

static void expect_packet(struct __test_metadata *_metadata, const struct coll_body *body,
			  const u8 *expected, u32 bytes)
{
	static const struct coll_mac mac = {
		.key = { { 1, 2 } }, .algorithm = COLLSOCK_MAC_SIPHASH,
	};
	u8 packet[COLL_WIRE_MAX] __aligned(8);
	struct coll_wire_side side;
	u32 i;

	coll_wire_side_set(&side, &prefix, &mac);
	coll_wire_write(packet, &side, body);
	ASSERT_EQ(bytes, coll_wire_bytes(body));
	for (i = 0; i < bytes - CODE; i++) {
		EXPECT_EQ(expected[i], packet[i])
			TH_LOG("byte %u", i);
	}
	EXPECT_EQ(siphash(packet, bytes - CODE, &mac.key),
		  code_of(packet + bytes - CODE));
}

#define EXPECT_PACKET(body, ...) ({					\
	static const u8 expected[] = { PREFIX, __VA_ARGS__ };		\
	expect_packet(_metadata, &(body), expected, sizeof(expected) + CODE);	\
})

TEST(the_bytes_of_a_message_are_what_they_were)
{
	static const u8 payload[3] = { 0xa1, 0xa2, 0xa3 };
	const struct coll_body body = {
		.type = COLL_PACKET_MESSAGE, .number = 0x0807060504030201, .ce = 0x77,
		.operation = 0x6162636465666768, .done = 0x6162636465666768 - 2,
		.credit = 0x6162636465666768 + 0x0105, .segment = 0x7172, .round = 9,
		.signature = { .operation = COLLSOCK_REDUCE, .type = COLLSOCK_FLOAT,
			       .operator = COLLSOCK_PRODUCT, .algorithm = COLLSOCK_KARY,
			       .degree = 5, .count = 0x81828384, .root = 0x91929394 },
		.ack_now = true, .acknowledges = true, .ack_number = 0xb1b2b3b4b5b6b7b8,
		.ack_bits = 0xc1c2c3c4c5c6c7c8, .payload = payload, .payload_bytes = 3,
	};

	EXPECT_PACKET(body,
		      1, 0x77, 1, 3, 0xff, 0xfe, 1, 5, 8, 7, 6, 5, 4, 3, 2, 1,
		      0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
		      0x71, 0x72, 9, 3, 10, 4, 4, 5,
		      0x81, 0x82, 0x83, 0x84, 0x91, 0x92, 0x93, 0x94,
		      0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
		      0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xa1, 0xa2, 0xa3);
}

TEST(the_bytes_of_an_acknowledgment_are_what_they_were)
{
	const struct coll_body body = {
		.type = COLL_PACKET_ACK, .number = 2, .operation = 5, .done = 5, .credit = 12,
		.acknowledges = true, .ack_number = 7, .ack_bits = 3,
	};

	EXPECT_PACKET(body,
		      2, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5,
		      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3);
}

TEST(the_bytes_of_an_acknowledgment_of_a_position_are_what_they_were)
{
	static const struct coll_position position = {
		.operation = 0xd1d2d3d4d5d6d7d8, .bits = 0xe1e2e3e4e5e6e7e8, .first = 0xf1f2,
		.round = 6,
	};
	u8 payload[COLL_WIRE_POSITION];
	const struct coll_body body = {
		.type = COLL_PACKET_ACK, .number = 2, .operation = 5, .done = 5, .credit = 12,
		.acknowledges = true, .ack_number = 7, .ack_bits = 3,
		.flags = COLL_FLAG_POSITION | COLL_FLAG_COPIED, .payload = payload,
		.payload_bytes = sizeof(payload),
	};

	coll_wire_write_position(payload, &position);
	EXPECT_PACKET(body,
		      2, 0, 2, 6, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5,
		      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3,
		      0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xf1, 0xf2, 6, 0, 0, 0, 0, 0,
		      0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8);
}

TEST(the_bytes_of_a_packet_by_multicast_are_what_they_were)
{
	const struct coll_body body = {
		.type = COLL_PACKET_MULTICAST, .number = 2, .operation = 5, .done = 4,
		.credit = ~0ULL, .segment = 3,
		.signature = { .operation = COLLSOCK_BARRIER, .algorithm = COLLSOCK_KARY,
			       .degree = 8 },
	};

	EXPECT_PACKET(body,
		      6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfa, 0, 0, 0, 0, 0, 0, 0, 2,
		      0, 0, 0, 0, 0, 0, 0, 5, 0, 3, 0, 1, 0, 0, 4, 8);
}

TEST(the_bytes_of_a_goodbye_are_what_they_were)
{
	const struct coll_body body = {
		.type = COLL_PACKET_GOODBYE, .number = 2, .operation = 5, .done = 4, .credit = 5,
		.signature = { .count = COLL_REASON_SILENT, .root = 6 },
	};

	EXPECT_PACKET(body,
		      3, 0, 0, 1, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
		      0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6);
}

TEST(the_bytes_of_a_probe_are_what_they_were)
{
	u8 payload[COLL_WIRE_PROBE];
	const struct coll_body body = {
		.type = COLL_PACKET_PROBE, .number = 2, .operation = 5, .done = 5, .credit = 5,
		.signature = { .operation = COLLSOCK_BARRIER, .algorithm = COLLSOCK_DISSEMINATION },
		.payload = payload, .payload_bytes = sizeof(payload),
	};

	coll_wire_write_nonce(payload, 0x0102030405060708);
	EXPECT_PACKET(body,
		      4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5,
		      0, 0, 0, 1, 0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8);
}

TEST(the_bytes_of_an_answer_are_what_they_were)
{
	const struct coll_answer answer = {
		.nonce = 9,
		.wait = { .host = 1, .rank = 2, .operation = 0x0102030405060708,
			  .waited_ms = 4, .age_ms = 5, .hops = 6 },
	};
	u8 payload[COLL_WIRE_ANSWER];
	const struct coll_body body = {
		.type = COLL_PACKET_ANSWER, .number = 2, .operation = 5, .done = 5, .credit = 5,
		.payload = payload, .payload_bytes = sizeof(payload),
	};

	coll_wire_write_answer(payload, &answer);
	EXPECT_PACKET(body,
		      5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5,
		      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2,
		      1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 0);
}

TEST_HARNESS_MAIN
