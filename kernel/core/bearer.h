/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A bearer carries the packets of a group from host to host: UDP is one. It gives
 * the addresses of members their meaning; to the core a member is bytes.
 *
 * The family of a group's members chooses the bearer. The platform knows them all
 * (coll_env_bearer() in env.h) and moves their packets; this is what the core asks
 * of one. All of it is pure, and none of it is called for a packet.
 */
#ifndef COLL_CORE_BEARER_H
#define COLL_CORE_BEARER_H

#include "base.h"

/**
 * struct coll_bearer - what the core asks of a bearer
 * @packet_bytes: the largest packet that it carries, without its own headers
 * @carries: are members of that family its own?
 * @member_complete: fill in the defaults of a member; false if the member is not valid
 * @member_same: are two complete members one address?
 * @address_bytes: how much of a member's address counts, the rest being 0
 */
struct coll_bearer {
	u32	packet_bytes;
	bool	(*carries)(u16 family);
	bool	(*member_complete)(struct collsock_member *m);
	bool	(*member_same)(const struct collsock_member *a, const struct collsock_member *b);
	u32	(*address_bytes)(const struct collsock_member *m);
};

#endif
