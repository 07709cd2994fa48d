/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Acknowledgments of one connection: which sequence numbers were received (struct
 * coll_peer_recv_state), and whether an acknowledgment of them is owed (struct
 * coll_peer_ack). It is piggybacked on the next packet, or omitted if that packet's "done"
 * implies it; otherwise it is sent alone when it is due. Nothing is sent here.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_ACK_H
#define COLL_CORE_ACK_H

#include "deadline.h"
#include "state.h"

/* Does this "done" imply that the other side's messages were received? */
static inline bool coll_ack_covered(const struct coll_peer *peer, u32 done)
{
	return !peer->ack.explicit && !coll_after(peer->ack.operation, done);
}

/*
 * In a sequence of all-to-all operations each carries "done" for the one before, which
 * reaches the other side through other hosts. A host may be two operations ahead of what we
 * have sent: one that we run, one that we have not posted.
 */
static inline bool coll_ack_expected(const struct coll_peer *peer)
{
	return coll_ack_covered(peer, peer->group->credit.cover_done + 2);
}

/* No acknowledgment is owed any more. */
static inline void coll_ack_settle(struct coll_peer *peer)
{
	peer->ack.messages = 0;
	peer->ack.owed = false;
	peer->ack.now = false;
	peer->ack.explicit = false;
}

/* Attach the acknowledgment that is owed, unless the packet implies it. */
static inline void coll_ack_attach(struct coll_peer *peer, struct coll_body *body)
{
	if (!coll_ack_covered(peer, body->done)) {
		body->acknowledges = true;
		body->ack_connection = peer->conn.their_number;
		body->ack_seq = peer->recv.seq;
		body->ack_bits = peer->recv.bits;
	}
	coll_ack_settle(peer);
}

/* Note a received sequence number. False if it is a duplicate, or too old to decide. */
static inline bool coll_ack_mark(struct coll_peer *peer, u32 seq)
{
	u32 ahead = seq - peer->recv.seq, back = peer->recv.seq - seq;

	if ((s32)ahead > 0) {
		peer->recv.bits = ahead < COLL_PEER_WINDOW ? peer->recv.bits << ahead : 0;
		peer->recv.bits |= 1;
		peer->recv.seq = seq;
		return true;
	}
	if (back >= COLL_PEER_WINDOW || peer->recv.bits >> back & 1)
		return false;
	peer->recv.bits |= 1ULL << back;
	return true;
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
