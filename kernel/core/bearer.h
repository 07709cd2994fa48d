/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A bearer carries the packets of a group from host to host: UDP is one. It interprets the
 * addresses of members, which are opaque bytes to the core.
 *
 * The address family of a group's members selects the bearer. The platform has the table of
 * bearers (coll_env_bearer() in env.h) and moves their packets; the core needs only the
 * following. These functions are pure, and none is called per packet.
 */
#ifndef COLL_CORE_BEARER_H
#define COLL_CORE_BEARER_H

#include "base.h"

/**
 * struct coll_bearer - what the core needs of a bearer
 * @packet_bytes: largest packet that it carries, without its own headers
 * @carries: does it carry packets between members of this family?
 * @member_complete: fill in the defaults of a member; false if the member is not valid
 * @member_same: do two complete members have the same address?
 * @address_bytes: length of the significant part of a member's address; the rest is 0
 * @multicast_reaches: is a multicast address one at which both of two members of one family
 *	receive? NULL if the bearer has no multicast
 */
struct coll_bearer {
	u32	packet_bytes;
	bool	(*carries)(u16 family);
	bool	(*member_complete)(struct collsock_member *m);
	bool	(*member_same)(const struct collsock_member *a, const struct collsock_member *b);
	u32	(*address_bytes)(const struct collsock_member *m);
	bool	(*multicast_reaches)(const struct collsock_member *a,
				     const struct collsock_member *b, const u8 address[16]);
};

#endif
