/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tombstone: what is remembered of a group after its rank has left and all
 * was acknowledged. It answers late packets of the other members, so that a
 * lost acknowledgement does not make a host that closed look dead, and so that
 * a member that had no peer here learns that the rank is gone. It has no peers
 * and sends nothing by itself; an answer is never longer than the question and
 * goes only to authenticated packets.
 */
#ifndef COLL_CORE_TOMBSTONE_H
#define COLL_CORE_TOMBSTONE_H

#include "group.h"

#define COLL_TOMBSTONE_ANSWER	(COLL_WIRE_HEADER + COLL_WIRE_ACK + COLL_WIRE_MAC)

/**
 * struct coll_tombstone - what is remembered
 * @secret: MAC key and tag
 * @descriptor: hash of the descriptor
 * @self: index of this host
 * @incarnation: of this host in the group
 * @last: last operation posted
 * @completed: operations through this one were complete here
 * @rank: the rank that left
 */
struct coll_tombstone {
	struct coll_secret	secret;
	u32			descriptor;
	u32			self;
	u32			incarnation;
	u32			last;
	u32			completed;
	u32			rank;
};

/* What is to be remembered of a quiet group. */
void coll_group_entomb(const struct coll_group *g, struct coll_tombstone *t);

/*
 * Answer the authenticated packet @h: writes into @packet, which has
 * COLL_TOMBSTONE_ANSWER bytes; returns their number, 0 if nothing is to be said.
 */
u32 coll_tombstone_answer(const struct coll_tombstone *t,
			  const struct coll_header *h, u8 *packet);

#endif
