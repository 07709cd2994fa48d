/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of what a member that means harm cannot do: packets that it makes up. */
#ifndef UNIT_HOSTILE_FIXTURE_H
#define UNIT_HOSTILE_FIXTURE_H

#include "failure_fixture.h"

/* Of packets that a member makes up; none has come before. */
static u64 next_number;

/* Host @from sends host @to a packet over their connection. */
static inline void receive(struct __test_metadata *_metadata, struct unit_network *n, u32 from,
			   u32 to, struct coll_body *body)
{
	static u8 packet[256];

	body->number = ++next_number;
	coll_wire_write(packet, &unit_peer(n, from, to)->conn.tx, body);
	EXPECT_EQ(COLL_ACCEPTED, coll_group_receive(unit_group(n, to), from, packet,
						    coll_wire_bytes(body), false, n->world.now));
}

static inline void begin_attack(struct __test_metadata *_metadata, struct unit_network *n,
				u32 hosts)
{
	next_number = 1 << 20;
	begin(_metadata, n, hosts);
}

/* Host 1 sends host 0 a packet with this prefix, whose epoch is 0. */
static inline enum coll_refusal receive_with(struct unit_network *n,
					     const struct coll_prefix *prefix,
					     struct coll_body *body)
{
	struct coll_wire_side side;
	u8 packet[256];

	body->number = ++next_number;
	coll_wire_side_set(&side, prefix, &unit_group(n, 1)->secret.mac);
	coll_wire_write(packet, &side, body);
	return coll_group_receive(unit_group(n, 0), 1, packet, coll_wire_bytes(body), false,
				  n->world.now);
}

static inline struct coll_prefix prefix_to_0(const struct unit_network *n)
{
	return coll_peer_prefix(unit_peer(n, 1, 0), unit_group(n, 0)->incarnation);
}

/* A message about a barrier of the group that begin() makes */
static inline struct coll_body barrier_body(u64 operation, u8 round)
{
	return (struct coll_body) {
		.type			= COLL_PACKET_MESSAGE,
		.operation		= operation,
		.done			= 2,
		.credit			= 2,
		.round			= round,
		.signature.operation	= COLLSOCK_BARRIER,
		.signature.algorithm	= COLLSOCK_DISSEMINATION,
		.signature.degree	= 2,
	};
}

#endif
