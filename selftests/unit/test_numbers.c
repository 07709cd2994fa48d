// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers on the wire and in the interface, which must never change. Each is repeated here,
 * so that a change by mistake fails. A new line of a list needs a new line here.
 */
#include "kselftest_harness.h"

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
	NUMBER(COLLSOCK_, PAIRWISE_EXCHANGE, 2),
	NUMBER(COLLSOCK_, BINOMIAL, 3),
	NUMBER(COLLSOCK_, KARY, 4),
};

static const struct number packets[] = {
	NUMBER(COLL_PACKET_, MESSAGE, 1),
	NUMBER(COLL_PACKET_, ACK, 2),
	NUMBER(COLL_PACKET_, GOODBYE, 3),
	NUMBER(COLL_PACKET_, PROBE, 4),
	NUMBER(COLL_PACKET_, ANSWER, 5),
};

static const struct number reasons[] = {
	NUMBER(COLL_REASON_, LEFT, 0),
	NUMBER(COLL_REASON_, SILENT, 1),
	NUMBER(COLL_REASON_, DISAGREES, 2),
	NUMBER(COLL_REASON_, RESTARTED, 3),
	NUMBER(COLL_REASON_, ENDED, 4),
};

#define ONE(...) + 1
#define LINES(LIST)	(0 LIST(ONE))

static void check_numbers(struct __test_metadata *_metadata, const struct number *numbers,
			  u32 count, u32 lines)
{
	u32 i;

	EXPECT_EQ(lines, count);
	for (i = 0; i < count; i++) {
		EXPECT_EQ(numbers[i].promised, numbers[i].seen)
			TH_LOG("%s", numbers[i].name);
	}
}

#define EXPECT_NUMBERS(LIST, numbers) \
	check_numbers(_metadata, numbers, ARRAY_SIZE(numbers), LINES(LIST))

TEST(numbers_of_operations_types_operators_and_algorithms_never_change)
{
	EXPECT_NUMBERS(COLLSOCK_OPERATION_LIST, operations);
	EXPECT_NUMBERS(COLLSOCK_TYPE_LIST, types);
	EXPECT_NUMBERS(COLLSOCK_OPERATOR_LIST, operators);
	EXPECT_NUMBERS(COLLSOCK_ALGORITHM_LIST, algorithms);
	EXPECT_EQ(0, COLLSOCK_AUTO);
}

TEST(numbers_of_packet_types_flags_and_reasons_never_change)
{
	EXPECT_NUMBERS(COLL_PACKET_LIST, packets);
	EXPECT_NUMBERS(COLL_REASON_LIST, reasons);
	EXPECT_EQ(5, COLL_REASONS);
	EXPECT_EQ(0x80, COLL_FLAG_ACK);
	EXPECT_EQ(0x40, COLL_FLAG_OPERANDS);
	EXPECT_EQ(1, COLL_WIRE_VERSION);
}

/* Their offsets: the last eight bytes before operands, acknowledgment and payload */
TEST(a_packet_carries_these_numbers)
{
	static const siphash_key_t key = { { 1, 2 } };
	struct coll_prefix prefix = { .incarnation = 1 };
	struct coll_body body = {
		.type = COLL_PACKET_MESSAGE, .round = 9, .acknowledges = true,
		.signature = { .operation = COLLSOCK_REDUCE, .type = COLLSOCK_FLOAT,
			       .op = COLLSOCK_PRODUCT, .algorithm = COLLSOCK_KARY, .count = 1 },
	};
	u8 packet[COLL_WIRE_MAX] __aligned(8);
	struct coll_wire_side side;

	coll_wire_side_set(&side, &prefix, &key);
	coll_wire_write(packet, &side, &body);
	EXPECT_EQ(0x80 | 0x40 | 1, packet[32]);
	EXPECT_EQ(9, packet[33]);
	EXPECT_EQ(3, packet[52]);
	EXPECT_EQ(10, packet[53]);
	EXPECT_EQ(4, packet[54]);
	EXPECT_EQ(4, packet[55]);
}

TEST_HARNESS_MAIN
