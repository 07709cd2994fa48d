// SPDX-License-Identifier: GPL-2.0
/*
 * What a member that means harm, and a stranger who repeats what members have sent, cannot do
 * to a host.
 */
#include "failure_fixture.h"

/* Three numbers of which each is lower than the one before, and the last not than the first */
static const u64 circle[] = { 0, 0 - BIT_ULL(62), 0 - BIT_ULL(63) };

/* The numbers of packets that a member makes up: none has come before. */
static u64 next_number;

static enum coll_refusal receive(struct unit_network *n, u32 from, u32 to, struct coll_body *body)
{
	static u8 packet[COLL_WIRE_MAX];

	body->number = ++next_number;
	coll_wire_write(packet, &unit_peer(n, from, to)->conn.tx, body);
	return coll_group_receive(unit_group(n, to), from, packet, coll_wire_bytes(body), false,
				  n->world.now);
}

/* Host 0 tells host 2 that host 1 is silent. */
static void limit_to(struct __test_metadata *_metadata, struct unit_network *n, u64 limit)
{
	struct coll_body body = {
		.type			= COLL_PACKET_GOODBYE,
		.operation		= limit,
		.done			= limit,
		.credit			= limit,
		.signature.root		= 1,
		.signature.count	= COLL_REASON_SILENT,
	};

	EXPECT_EQ(COLL_ACCEPTED, receive(n, 0, 2, &body));
	unit_run(n, 200 * NSEC_PER_USEC);
}

FIXTURE_VARIANT(net_of)
{
	u32 hosts;
};

TEST_F(net, a_limit_never_goes_up_again)
{
	u32 i;

	begin(_metadata, &self->n, 4);
	next_number = 1000;
	for (i = 0; i < ARRAY_SIZE(circle); i++) {
		limit_to(_metadata, &self->n, circle[i]);
		EXPECT_TRUE(coll_group_ended(unit_group(&self->n, 2), 0));
	}
	EXPECT_EQ(2, unit_group(&self->n, 2)->stats.invalid);
}
