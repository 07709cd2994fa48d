/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A time-wait entry: what is kept of a group after its ranks have left and everything was
 * acknowledged. It answers late packets of the other members, so that a lost acknowledgment
 * does not make a host that closed look dead, and so that a member that had no connection
 * to this host learns that the rank is gone. It has no peers and sends nothing by itself;
 * only authenticated packets are answered, each with one that is 24 bytes longer at most.
 */
#ifndef COLL_CORE_TIMEWAIT_H
#define COLL_CORE_TIMEWAIT_H

#include "group.h"

#define COLL_TIMEWAIT_ANSWER	(COLL_WIRE_MIN + COLL_WIRE_OPERANDS + COLL_WIRE_ACK)

/**
 * struct coll_timewait - a time-wait entry
 * @secret: MAC key and tag
 * @descriptor: hash of the descriptor
 * @self: index of this host
 * @incarnation: of this host in the group
 * @window: of the group
 * @packet_bytes: length of the group's largest packet
 * @last: last operation in which this host took part, as its goodbye says
 * @completed: operations up to this one were complete here
 * @goodbye: reason and rank
 * @until_ns: when it expires
 */
struct coll_timewait {
	struct coll_secret	secret;
	u32			descriptor;
	u32			self;
	u32			incarnation;
	u32			window;
	u32			packet_bytes;
	u64			last;
	u64			completed;
	struct coll_signature	goodbye;
	u64			until_ns;
};

void coll_timewait_set(const struct coll_group *g, struct coll_timewait *t, u64 now);

static inline bool coll_timewait_over(const struct coll_timewait *t, u64 now)
{
	return t->until_ns <= now;
}

enum coll_refusal coll_timewait_answer(const struct coll_timewait *t, const u8 *packet,
				       u32 bytes, u8 *answer, u32 *answer_bytes);

#endif
