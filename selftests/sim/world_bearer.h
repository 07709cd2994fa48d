/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The world's own bearer (core/bearer.h), deliberately unlike UDP: its members are machines
 * of the world by number, without ports, and a packet has a short header with both ends. A
 * group uses it if its user has set such members (world_group.member); otherwise hosts are
 * identified by their index alone.
 */
#ifndef SIM_WORLD_BEARER_H
#define SIM_WORLD_BEARER_H

#include "../../kernel/core/bearer.h"

struct world_packet;

/* No family of Linux has this number. */
#define WORLD_FAMILY		250
#define WORLD_HEADER_BYTES	8
#define WORLD_PACKET_BYTES	600

extern const struct coll_bearer world_bearer;

void world_bearer_member(struct collsock_member *m, u32 machine);
u32 world_bearer_machine(const struct collsock_member *m);

/* Write a packet's header; read it; does it say that the packet is from this member? */
void world_bearer_address(struct world_packet *p, const struct collsock_member *self,
			  const struct collsock_member *to);
void world_bearer_ends(const struct world_packet *p, struct collsock_member *from,
		       struct collsock_member *self);
bool world_bearer_is_from(const struct world_packet *p, const struct collsock_member *m);

#endif
