/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A peer: one connection to another host of a group. It comes into being when
 * the first message is sent to or received from that host; there is no
 * handshake and no state "open". It numbers packets, sends messages again and
 * acknowledges (ack.h); when to send again follows from the round-trip time (rtt.h).
 * It knows no operation: a message points to the head that it shares with the others
 * of its operation, from which packets are written and where it is counted.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PEER_H
#define COLL_CORE_PEER_H

#include "state.h"

/* The connection begins, or begins again. */
void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now);

/* The prefix of what is said to an incarnation of the other side, 0 for any. */
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation);

/* The other side has lost its former state: it is a new one from now on. */
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now);

/* Send a packet that is neither a message nor a goodbye, with what every packet tells. */
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body);

/* Send a packet of any direction to the other side. */
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    struct coll_body *body);

/* Give a message to the peer: it leaves now, or when there is credit. */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now);

/* The message needs no further transmission. @sample: it was received. */
void coll_peer_forget(struct coll_message *m, bool sample, u64 now);

/* Credit or acknowledgments came: send what may leave now. */
void coll_peer_push(struct coll_peer *peer, u64 now);

/*
 * A packet of the other side has a prefix that was not used before. False if it
 * is of another incarnation: that changes nothing.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, u64 now);

/* Is the packet of another incarnation, and for this one of ours? */
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix);

/*
 * Read what every packet tells: acknowledgment, "done", credit. False if it came before,
 * or is too old to tell.
 */
bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message is stored: it may be acknowledged from now on. */
void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message came again: the acknowledgment must have been lost. */
void coll_peer_repeat(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message cannot be stored now: answer with the credit. */
void coll_peer_refuse(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* Let the other side know that we are here, or what we have received. */
void coll_peer_send_ack(struct coll_peer *peer, u64 now);

/* The event is over: send the acknowledgment that is due with it. */
static inline void coll_peer_flush(struct coll_peer *peer, u64 now)
{
	if (unlikely(peer->ack.now))
		coll_peer_send_ack(peer, now);
}

/* The peer is due: send again, acknowledge. */
void coll_peer_expire(struct coll_peer *peer, u64 now);

/* Is the other side there, and messages do not get through to it? */
bool coll_peer_blocked(struct coll_peer *peer);

/* If nothing is due, and nothing was said for long enough, the connection is idle. */
void coll_peer_check_idle(struct coll_peer *peer, u64 now);

/* Tell the other side what cannot complete (coll_failure_state.goodbye), unless it knows. */
void coll_peer_say_goodbye(struct coll_peer *peer, u64 now);

/* Nothing that is under way with this host needs to arrive any more. */
void coll_peer_drop_all(struct coll_peer *peer, u64 now);

/* Is a message of an operation under way to the other side? */
bool coll_peer_owes_messages(const struct coll_peer *peer);

/* Nothing is owed to the other side. */
static inline bool coll_peer_settled(const struct coll_peer *peer)
{
	return list_empty(&peer->send.sent) && list_empty(&peer->send.held);
}

#endif
