/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Acknowledgments of one connection (struct coll_peer_ack): which messages have been
 * accepted, and whether the other side is owed an acknowledgment of them. It travels with
 * the next packet, unless the packet's "done" implies it; if no packet leaves, it is sent
 * alone when it is due. Nothing is sent here.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_ACK_H
#define COLL_CORE_ACK_H

#include "deadline.h"
#include "state.h"

/* Does this "done" imply that the other side's messages were received? */
static inline bool coll_ack_covered(const struct coll_peer *peer, u64 done)
{
	return !peer->ack.explicit && !coll_after(peer->ack.operation, done);
}

/*
 * In a sequence of synchronising operations each carries "done" for the one before, which
 * reaches the other side through other hosts. A host may be two operations ahead of what we
 * have sent: one that we run, one that we have not posted.
 */
static inline bool coll_ack_expected(const struct coll_peer *peer)
{
	return coll_ack_covered(peer, peer->group->credit.cover_done + 2);
}

/*
 * Settle what is owed, as a packet about @operation with this "done" leaves. Only an acknowledgment
 * of messages that came by multicast stays owed, if they are of a later operation. Within one
 * operation more packets follow.
 */
static inline void coll_ack_settle(struct coll_peer *peer, u64 operation, u64 done)
{
	struct coll_peer_ack *ack = &peer->ack;
	u64 copied = unlikely(ack->copies) ? coll_peer_ahead(peer)->got.operation : operation;
	bool left = copied != operation && coll_after(copied, done);

	ack->messages = 0;
	ack->owed = left;
	ack->now &= left;
	ack->explicit = false;
	if (unlikely(left))
		ack->operation = copied;
}

/* Must a packet with this "done" carry the acknowledgment that is owed? */
static inline bool coll_ack_needed(const struct coll_peer *peer, u64 done)
{
	return peer->ack.owed && !coll_ack_covered(peer, done);
}

/* A packet is sent that carries the acknowledgment that is owed, or implies it. */
static inline void coll_ack_attach(struct coll_peer *peer, struct coll_body *body)
{
	if (body->acknowledges) {
		body->ack_number = peer->ack.accepted;
		body->ack_bits = peer->ack.bits;
	}
	if (peer->ack.owed)
		coll_ack_settle(peer, body->operation, body->done);
}

/* The message in packet @number, which is new, was accepted. */
static inline void coll_ack_mark(struct coll_peer *peer, u64 number)
{
	struct coll_peer_ack *ack = &peer->ack;

	if (likely(number > ack->accepted)) {
		ack->bits = number - ack->accepted < COLL_PEER_WINDOW ?
			    ack->bits << (number - ack->accepted) : 0;
		ack->bits |= 1;
		ack->accepted = number;
	} else if (ack->accepted - number < COLL_PEER_WINDOW) {
		ack->bits |= BIT_ULL(ack->accepted - number);
	}
}

/* An acknowledgment is owed, to be sent alone at @at at the latest. */
static inline void coll_ack_owe(struct coll_peer *peer, u64 at)
{
	if (peer->ack.owed)
		at = min(at, peer->ack.due_ns);
	peer->ack.owed = true;
	peer->ack.due_ns = at;
	coll_deadline_peer(peer, at);
}

void coll_ack_owe_now(struct coll_peer *peer, u64 now);
bool coll_ack_due(struct coll_peer *peer, u64 now);

#endif
