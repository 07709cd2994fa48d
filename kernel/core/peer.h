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

#include "ack.h"
#include "congestion.h"
#include "held.h"
#include "state.h"

void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now);
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation);
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now);
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body);
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    struct coll_body *body);

/* Packets to the other side name this epoch from now on. */
void coll_peer_set_epoch(struct coll_peer *peer, u32 epoch);

/* Give a message to the peer: it leaves now, or when there is credit. */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now);
bool coll_peer_may_send(struct coll_peer *peer, const struct coll_message *m, u32 more);
void coll_peer_forget(struct coll_message *m, bool sample, u64 now);
void coll_peer_push(struct coll_peer *peer, u64 now);
void coll_peer_catch_up(struct coll_peer *peer, u64 now);

/*
 * A packet of the other side has a prefix that was not used before. False if it
 * is of another incarnation: that changes nothing.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, const struct coll_body *body, u64 now);
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix);
bool coll_peer_may_be_new(const struct coll_peer *peer, const struct coll_prefix *prefix,
			  u64 number);
void coll_peer_send_again(struct coll_peer *peer, bool notice, u64 now);

void coll_peer_drop_repeated(struct coll_peer *peer, const struct coll_body *body,
			     enum coll_freshness freshness);
void coll_peer_hear_ack(struct coll_peer *peer, const struct coll_body *body, u64 now);
void coll_peer_forget_through(struct coll_peer *peer, u64 done, u64 now);
void coll_peer_send_forced(struct coll_peer *peer, u64 before, u64 now);

/* The "done" that a message carries */
static inline u64 coll_peer_done(struct coll_group *g, const struct coll_message_head *head,
				 u64 now)
{
	struct coll_credit *credit = &g->credit;

	if (!head->carries_done)
		return g->window.completed;
	if (!coll_before(head->done, credit->cover_done)) {
		credit->cover_done = head->done;
		credit->cover_ns = now;
	}
	return head->done;
}

/* "Done" has advanced. Without messages in flight there is nothing to forget. */
static inline void coll_peer_hear_done(struct coll_peer *peer, u64 done, u64 now)
{
	peer->send.done = done;
	peer->live.heard_ns = now;
	if (!list_empty(&peer->send.sent))
		coll_peer_forget_through(peer, done, now);
}

static inline void coll_peer_hear_credit(struct coll_peer *peer, u64 credit, u64 now)
{
	u64 before = peer->send.credit;

	peer->send.credit = credit;
	if (unlikely(peer->send.forced))
		coll_peer_send_forced(peer, before, now);
	if (unlikely(!list_empty(&peer->send.held)))
		coll_peer_push(peer, now);
}

/**
 * coll_peer_hear() - process what every packet carries
 * @peer: its sender
 * @body: authenticated
 * @now: time in ns
 *
 * "Done", credit and acknowledgment are used only if the packet names this incarnation of
 * ours.
 *
 * Return: false if the packet came before, or is too old to tell: it changes nothing.
 */
static inline bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	enum coll_freshness freshness = coll_replay_check(&peer->recv.packets, body->number);

	if (unlikely(freshness != COLL_FRESH)) {
		coll_peer_drop_repeated(peer, body, freshness);
		return false;
	}
	if (likely(peer->conn.knows_us)) {
		if (unlikely(body->ce != peer->congestion.ce))
			coll_congestion_marked(peer, body->ce);
		if (body->acknowledges)
			coll_peer_hear_ack(peer, body, now);
		if (coll_after(body->done, peer->send.done))
			coll_peer_hear_done(peer, body->done, now);
		if (coll_after(body->credit, peer->send.credit))
			coll_peer_hear_credit(peer, body->credit, now);
	}
	return true;
}

/**
 * coll_peer_accept() - a message is stored and may be acknowledged
 * @peer: its sender
 * @body: the message
 * @now: time in ns
 *
 * The first packet of a connection is acknowledged at once, since the other side has not
 * heard from this host yet; a goodbye, since nothing follows it; and a message that asks for
 * it, since its sender may be waiting. Other acknowledgments wait for a packet to be
 * piggybacked on, until half a window is owed.
 */
static inline void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	coll_ack_mark(peer, body->number);
	peer->live.heard_ns = now;
	peer->ack.messages++;
	if (!peer->ack.owed || coll_after(body->operation, peer->ack.operation))
		peer->ack.operation = body->operation;
	if (unlikely(!peer->conn.knows_us || body->type == COLL_PACKET_GOODBYE))
		coll_ack_owe_now(peer, now);
	else if (!peer->ack.owed)
		coll_ack_owe(peer, now + peer->group->timing.ack_delay);
	peer->ack.now |= body->ack_now;
	if (peer->ack.messages >= peer->group->peers.ack_every) {
		peer->ack.messages = 0;
		peer->ack.now |= !coll_ack_expected(peer);
	}
}

void coll_peer_acknowledge_again(struct coll_peer *peer, const struct coll_body *body, u64 now);
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

/* Are no messages in flight, held, or carried by multicast and not acknowledged? */
static inline bool coll_peer_settled(const struct coll_peer *peer)
{
	return list_empty(&peer->send.sent) && list_empty(&peer->send.held) && !peer->send.ahead;
}

#endif
