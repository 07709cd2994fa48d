// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ahead.h"
#include "deadline.h"
#include "work.h"

/* Has the other side reported that it has the message? */
static bool ahead_is_settled(const struct coll_peer *peer, const struct coll_message *m)
{
	return !coll_after(m->head->number, peer->send.done) ||
	       coll_position_has(&coll_peer_ahead(peer)->has, m->head->number, m->round,
				 m->segment);
}

/*
 * When to send the message after all: not at the same time as other hosts, which may have lost the
 * same packet
 */
static u64 ahead_due(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 mix = (peer->group->incarnation ^ peer->host * 0x9e3779b1U ^ (u32)m->head->number) *
		  0x85ebca6bU;

	return m->first_ns + peer->rtt.rto_ns + (u64)(peer->rtt.rto_ns / 1024) * (mix >> 24);
}

static void ahead_add(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	struct coll_ahead *a = coll_peer_ahead(peer);

	m->peer = peer;
	m->first = 0;
	m->tries = COLL_AHEAD;
	m->first_ns = now;
	m->head->unacked++;
	peer->send.ahead++;
	list_add_tail(&m->link, &a->messages);
	coll_deadline_peer(peer, ahead_due(peer, m));
}

/*
 * Is the message to carry the epoch, which the other side may not have? Not every message carries
 * it, since a packet with another prefix costs the other side more. A message that does not name
 * the other side's incarnation never does, since its epoch would not count.
 */
static bool ahead_tells(struct coll_peer *peer, u32 epoch)
{
	struct coll_ahead *a = coll_peer_ahead(peer);

	if (!epoch || !peer->conn.incarnation || a->receives)
		return false;
	if (a->told != epoch) {
		a->told = epoch;
		a->tells = 0;
	}
	if (a->tells < COLL_AHEAD_TELLS + COLL_AHEAD_TELL_EVERY)
		a->tells++;
	else
		a->tells = COLL_AHEAD_TELLS;
	return a->tells <= COLL_AHEAD_TELLS;
}

static void ahead_send_now(struct coll_peer *peer, struct coll_message *m, u32 epoch, u64 now)
{
	bool tells = ahead_tells(peer, epoch);

	if (tells)
		coll_peer_set_epoch(peer, epoch);
	coll_peer_send(peer, m, now);
	if (tells)
		coll_peer_set_epoch(peer, 0);
}

/*
 * Settle the acknowledgment of the other side's message up the tree, if this message shows that it
 * has arrived: then no other acknowledgment is needed.
 */
static void ahead_settle_ack(struct coll_peer *peer, const struct coll_message_head *head)
{
	const struct coll_peer_ack *ack = &peer->ack;

	if (head->carries_done && !head->several && ack->owed && !ack->explicit && !ack->now &&
	    ack->operation == head->number)
		coll_ack_settle(peer, head->number, peer->group->window.completed);
}

/**
 * coll_ahead_asks() - is a message that multicast carries to be acknowledged at once?
 * @peer: its destination
 * @m: the message, with its head set
 *
 * The rule is that of coll_congestion_asks() for a message that is sent: the last message that the
 * window allows asks, and the one at half of the window.
 */
bool coll_ahead_asks(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 flying = peer->send.unacked + peer->send.ahead + 1;

	return m->head->several &&
	       (flying == peer->congestion.limit || flying == (peer->congestion.limit + 1) / 2);
}

/**
 * coll_ahead_send() - send a message of a downward phase
 * @peer: destination
 * @m: the message, with its head, position and payload set
 * @copied: multicast has carried it to this host, or from it
 * @epoch: of the source; 0 if it is not known here
 * @now: time in ns
 *
 * A host that did not get it by multicast sends it at once, so that the repair of one loss does
 * not wait for a time-out at each level of the tree.
 */
void coll_ahead_send(struct coll_peer *peer, struct coll_message *m, bool copied, u32 epoch,
		     u64 now)
{
	struct coll_ahead *a = coll_peer_ahead(peer);

	ahead_settle_ack(peer, m->head);
	if (ahead_is_settled(peer, m))
		return;
	if (copied && a->receives && coll_peer_may_send(peer, m, peer->send.ahead))
		ahead_add(peer, m, now);
	else
		ahead_send_now(peer, m, epoch, now);
}

/**
 * coll_ahead_expire() - send what was not acknowledged in time
 * @peer: destination
 * @now: time in ns
 *
 * Until the other side reports again that multicast reaches it, later messages are sent at once.
 */
void coll_ahead_expire(struct coll_peer *peer, u64 now)
{
	struct coll_ahead *a = coll_peer_ahead(peer);
	struct coll_message *m, *next;
	u32 checks = peer->send.ahead;

	list_for_each_entry_safe(m, next, &a->messages, link) {
		u64 due = ahead_due(peer, m);

		if (ahead_is_settled(peer, m)) {
			coll_peer_forget(m, false, now);
			continue;
		}
		if (due > now || coll_work_over(peer->group)) {
			coll_deadline_peer(peer, max(due, now));
			continue;
		}
		if (a->receives && m->head->several)
			coll_congestion_copy_lost(peer);
		a->receives = false;
		peer->group->stats.copies_repaired++;
		coll_work_do(peer->group, m->bytes * COLL_WORK_PACKET_BYTE);
		coll_peer_forget(m, false, now);
		coll_peer_send(peer, m, now);
	}
	/* Count the checks last, so that each event sends something, however little it may do. */
	coll_work_do(peer->group, checks * COLL_WORK_CHECK);
}

/**
 * coll_ahead_hear() - process a packet's report about multicast
 * @peer: its sender; coll_peer_hear() has processed the rest
 * @body: a message or an acknowledgment
 *
 * Acknowledgments count only if the packet names our incarnation.
 */
void coll_ahead_hear(struct coll_peer *peer, const struct coll_body *body)
{
	struct coll_ahead *a = coll_peer_ahead(peer);
	u32 before = peer->send.ahead;
	struct coll_message *m, *next;

	a->receives = body->flags & COLL_FLAG_COPIED;
	if (!peer->conn.knows_us)
		return;
	if (body->flags & COLL_FLAG_POSITION)
		coll_wire_read_position(body->payload, &a->has);
	list_for_each_entry_safe(m, next, &a->messages, link)
		if (ahead_is_settled(peer, m))
			coll_peer_forget(m, false, 0);
	if (before != peer->send.ahead && 2 * before >= peer->congestion.limit && !peer->send.lost)
		coll_congestion_acknowledged(peer, before - peer->send.ahead);
}

/* An acknowledgment is owed, as in coll_peer_accept(). */
static void ahead_owe(struct coll_peer *peer, u64 operation, bool ask, u64 now)
{
	struct coll_peer_ack *ack = &peer->ack;

	if (!ack->owed || coll_after(operation, ack->operation))
		ack->operation = operation;
	if (!ack->owed)
		coll_ack_owe(peer, now + peer->group->timing.ack_delay);
	if (++ack->messages >= peer->group->peers.ack_every) {
		ack->messages = 0;
		ack->now |= !coll_ack_expected(peer);
	}
	ack->now |= ask;
}

/* Does it replace the position of another operation, for which an acknowledgment is still owed? */
static bool ahead_displaces(const struct coll_peer *peer, u64 operation)
{
	u64 copied = coll_peer_ahead(peer)->got.operation;

	return peer->ack.copies && copied != operation &&
	       coll_after(copied, peer->group->window.completed);
}

/**
 * coll_ahead_remember() - note that the parent's message is stored
 * @peer: the parent
 * @operation: number of the operation
 * @round: round of the edge
 * @segment: which one
 * @now: time in ns
 */
void coll_ahead_remember(struct coll_peer *peer, u64 operation, u8 round, u16 segment, u64 now)
{
	if (ahead_displaces(peer, operation))
		coll_peer_send_ack(peer, now);
	coll_position_mark(&coll_peer_ahead(peer)->got, operation, round, segment);
}

/**
 * coll_ahead_accept() - the parent's message came by multicast
 * @peer: the parent
 * @operation: number of the operation
 * @round: round of the edge
 * @segment: which one; it is stored
 * @ask: the source asks for an acknowledgment at once
 * @now: time in ns
 *
 * An acknowledgment is owed to the parent, as for a message of its own.
 */
void coll_ahead_accept(struct coll_peer *peer, u64 operation, u8 round, u16 segment, bool ask,
		       u64 now)
{
	coll_ahead_remember(peer, operation, round, segment, now);
	peer->ack.copies = true;
	ahead_owe(peer, operation, ask, now);
}
