// SPDX-License-Identifier: GPL-2.0
#include "world_bearer.h"
#include "world_state.h"

/* Machines are counted from 1 on the wire, as an all-zero address is invalid. */
struct bearer_header {
	u32	from;
	u32	to;
};

static_assert(sizeof(struct bearer_header) == WORLD_HEADER_BYTES, "length of the header");

static u32 bearer_number(const struct collsock_member *m)
{
	u32 number;

	memcpy(&number, m->address, sizeof(number));
	return number;
}

static void bearer_set(struct collsock_member *m, u32 number)
{
	memset(m, 0, sizeof(*m));
	m->family = WORLD_FAMILY;
	memcpy(m->address, &number, sizeof(number));
}

void world_bearer_member(struct collsock_member *m, u32 machine)
{
	bearer_set(m, machine + 1);
}

u32 world_bearer_machine(const struct collsock_member *m)
{
	return bearer_number(m) - 1;
}

void world_bearer_address(struct world_packet *p, const struct collsock_member *self,
			  const struct collsock_member *to)
{
	struct bearer_header header = { bearer_number(self), bearer_number(to) };

	memcpy(p->header, &header, sizeof(header));
	p->header_bytes = sizeof(header);
	p->from = world_bearer_machine(self);
	p->to = world_bearer_machine(to);
}

void world_bearer_ends(const struct world_packet *p, struct collsock_member *from,
		       struct collsock_member *self)
{
	struct bearer_header header;

	memcpy(&header, p->header, sizeof(header));
	bearer_set(from, header.from);
	bearer_set(self, header.to);
}

bool world_bearer_is_from(const struct world_packet *p, const struct collsock_member *m)
{
	struct collsock_member from, self;

	if (p->header_bytes != WORLD_HEADER_BYTES)
		return false;
	world_bearer_ends(p, &from, &self);
	return world_bearer.member_same(&from, m);
}

/* ---- functions for the core ---- */

static bool bearer_carries(u16 family)
{
	return family == WORLD_FAMILY;
}

static u32 bearer_address_bytes(const struct collsock_member *m)
{
	return sizeof(u32);
}

static bool bearer_member_complete(struct collsock_member *m)
{
	static const u8 zero[sizeof(m->address)];
	u32 bytes = bearer_address_bytes(m);

	return bearer_number(m) && !m->port &&
	       !memcmp(m->address + bytes, zero, sizeof(zero) - bytes);
}

/* The interface by which it is reached does not matter. */
static bool bearer_member_same(const struct collsock_member *a, const struct collsock_member *b)
{
	return bearer_number(a) == bearer_number(b);
}

const struct coll_bearer world_bearer = {
	.packet_bytes		= WORLD_PACKET_BYTES,
	.carries		= bearer_carries,
	.member_complete	= bearer_member_complete,
	.member_same		= bearer_member_same,
	.address_bytes		= bearer_address_bytes,
};
