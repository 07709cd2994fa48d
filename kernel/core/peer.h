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

void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now);
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation);
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now);
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body);
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    struct coll_body *body);

/* Give a message to the peer: it leaves now, or when there is credit. */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now);
void coll_peer_forget(struct coll_message *m, bool sample, u64 now);
void coll_peer_push(struct coll_peer *peer, u64 now);
void coll_peer_catch_up(struct coll_peer *peer, u64 now);

/*
 * A packet of the other side has a prefix that was not used before. False if it
 * is of another incarnation: that changes nothing.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, u64 number, u64 now);
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix);
bool coll_peer_may_be_new(const struct coll_peer *peer, const struct coll_prefix *prefix,
			  u64 number);
void coll_peer_send_again(struct coll_peer *peer, u64 now);

/*
 * Read what every packet tells: acknowledgment, "done", credit. False if it came before,
 * or is too old to tell.
 */
bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now);
void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now);
void coll_peer_repeat(struct coll_peer *peer, const struct coll_body *body, u64 now);
void coll_peer_refuse(struct coll_peer *peer, const struct coll_body *body, u64 now);
void coll_peer_send_ack(struct coll_peer *peer, u64 now);

/* At the end of an event: send the acknowledgment that is due with it. */
static inline void coll_peer_flush(struct coll_peer *peer, u64 now)
{
	if (unlikely(peer->ack.now))
		coll_peer_send_ack(peer, now);
}

void coll_peer_expire(struct coll_peer *peer, u64 now);
bool coll_peer_blocked(struct coll_peer *peer);
void coll_peer_say_goodbye(struct coll_peer *peer, u64 now);
void coll_peer_fall_silent(struct coll_peer *peer, u64 now);
bool coll_peer_owes_messages(const struct coll_peer *peer);

/* Are no messages in flight or held? */
static inline bool coll_peer_settled(const struct coll_peer *peer)
{
	return list_empty(&peer->send.sent) && list_empty(&peer->send.held);
}

#endif
