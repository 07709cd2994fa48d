// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ack.h"
#include "deadline.h"
#include "env.h"
#include "liveness.h"
#include "peer.h"
#include "rtt.h"

/**
 * coll_peer_prefix() - the prefix of what is said to the other side
 * @peer: the other side
 * @incarnation: of it; 0 if it is unknown
 */
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation)
{
	const struct coll_group *g = peer->group;

	return (struct coll_prefix) {
		.tag		= g->secret.tag,
		.descriptor	= g->descriptor,
		.incarnation	= g->incarnation,
		.known		= incarnation,
		.source		= g->self,
		.destination	= peer->host,
	};
}

static void peer_know(struct coll_peer *peer, u32 incarnation)
{
	struct coll_prefix prefix = coll_peer_prefix(peer, incarnation);

	peer->conn.incarnation = incarnation;
	coll_wire_side_set(&peer->conn.tx, &prefix, &peer->group->secret.mac);
}

/**
 * coll_peer_open() - a connection to @host begins
 * @peer: zeroed, or idle and released
 * @g: its group
 * @host: the other side
 * @now: time in ns
 *
 * What is known of the other side, and the numbers of packets, live as long as the group,
 * not as the connection.
 */
void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now)
{
	peer->due_ns = COLL_NEVER;
	peer->live.idle_at_ns = now + g->timing.idle;
	if (peer->conn.idle) {
		peer->conn.idle = false;
		return;
	}
	INIT_LIST_HEAD(&peer->send.sent);
	INIT_LIST_HEAD(&peer->send.held);
	peer->group = g;
	peer->host = host;
	/* All hosts begin with the same window, so none has to tell. */
	peer->send.credit = g->credit.common;
	peer->send.done = g->credit.acknowledged;
	peer->watch.probed_operation = COLL_NOTHING_DONE;
	peer->rtt.rto_ns = g->timing.rto_initial;
	peer_know(peer, 0);
}

/**
 * coll_peer_succeed() - the other side is a new one from now on
 * @peer: the other side
 * @prefix: of the new one, which has proved that it lives
 * @now: time in ns
 */
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now)
{
	peer_know(peer, prefix->incarnation);
	/* It numbers from the beginning. */
	peer->recv.accepted = 0;
	peer->recv.bits = 0;
	peer->recv.packets = (struct coll_replay) { };
	peer->live.heard_ns = now;
	peer->conn.knows_us = true;
	peer->send.credit = peer->group->window.size - 1;
	peer->send.done = COLL_NOTHING_DONE;
	peer->send.told = false;
	peer->recv.gone = false;
	peer->conn.dead = false;
	memset(&peer->conn.rx, 0, sizeof(peer->conn.rx));
}

static void peer_body(const struct coll_peer *peer, struct coll_body *body)
{
	body->done = peer->group->window.completed;
	body->credit = coll_group_credit(peer->group);
}

static inline void peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
			     struct coll_body *body)
{
	struct coll_packet *packet;
	u8 *start;

	body->number = ++peer->send.number;
	start = coll_env_packet(peer->group, coll_wire_bytes(body), &packet);
	if (unlikely(!start)) {
		peer->group->stats.memory_short++;
		coll_env_drop(peer->group, peer->group->self, peer->host, body,
			      COLL_DROP_MEMORY_SHORT);
		return;
	}
	coll_wire_write(start, side, body);
	coll_env_transmit(peer, packet);
}

/**
 * coll_peer_emit() - send a packet
 * @peer: to whom
 * @side: the direction, usually the peer's
 * @body: what it says, but for the number of the packet
 */
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    struct coll_body *body)
{
	peer_emit(peer, side, body);
}

/**
 * coll_peer_speak() - send a packet that needs no acknowledgment
 * @peer: to whom
 * @body: all but what every packet tells
 */
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body)
{
	peer_body(peer, body);
	if (peer->ack.owed)
		coll_ack_attach(peer, body);
	coll_peer_emit(peer, &peer->conn.tx, body);
}

static void peer_count_repeat(struct coll_peer *peer, const struct coll_message *m, u64 now)
{
	peer->group->stats.retransmits++;
	peer->retransmits++;
	coll_env_send_again(m);
	/* A host that was never heard is asked by sending again. */
	if (!peer->conn.incarnation)
		coll_liveness_asked(peer, now);
}

static void peer_transmit(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	const struct coll_message_head *head = m->head;
	struct coll_credit *credit = &peer->group->credit;
	struct coll_body body = {
		.type		= head->type,
		.operation	= head->number,
		.signature	= head->signature,
		.segment	= m->segment,
		.round		= m->round,
		.payload	= m->payload,
		.payload_bytes	= m->bytes,
	};

	peer_body(peer, &body);
	if (head->carries_done) {
		body.done = head->done;
		if (!coll_before(body.done, credit->cover_done)) {
			credit->cover_done = body.done;
			credit->cover_ns = now;
		}
	}
	if (peer->ack.owed)
		coll_ack_attach(peer, &body);

	if (unlikely(m->tries))
		peer_count_repeat(peer, m, now);
	else
		peer->group->stats.messages_sent++;
	if (likely(m->tries < COLL_MAX_TRIES))
		m->tries++;
	m->sent_ns = now;
	peer_emit(peer, &peer->conn.tx, &body);
	m->latest = body.number;
	coll_deadline_peer(peer, now + coll_rtt_timeout(peer, m));
}

static bool peer_is_operation(const struct coll_message *m)
{
	return m->head->type == COLL_PACKET_MESSAGE;
}

/* Is there no room at the other side, as far as we know? */
static bool peer_beyond_credit(const struct coll_peer *peer, const struct coll_message *m)
{
	return peer_is_operation(m) && coll_after(m->head->number, peer->send.credit) &&
	       coll_after(m->head->number, peer->group->credit.common);
}

static inline void peer_transmit_first(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	list_add_tail(&m->link, &peer->send.sent);
	peer->send.unacked++;
	m->tries = 0;
	m->answered = peer->watch.answered;
	m->first_ns = now;
	peer_transmit(peer, m, now);
	m->first = m->latest;
}

/* As many messages are under way as an acknowledgment has bits. */
static bool peer_window_full(const struct coll_peer *peer)
{
	return peer->send.unacked >= COLL_PEER_WINDOW;
}

static bool peer_may_send(const struct coll_peer *peer, const struct coll_message *m)
{
	return !peer_beyond_credit(peer, m) && !peer_window_full(peer);
}

/**
 * coll_peer_send() - give a message to the peer
 * @peer: to whom
 * @m: the message; its head, round and payload are set
 * @now: time in ns
 *
 * It leaves at once, or, when the other side has no room, as soon as it has.
 */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	m->peer = peer;
	m->head->unacked++;
	if (likely(peer_may_send(peer, m))) {
		peer_transmit_first(peer, m, now);
		return;
	}
	peer->group->stats.no_credit++;
	peer->group->peers.held++;
	m->first = 0;
	list_add_tail(&m->link, &peer->send.held);
	coll_deadline_peer(peer, now + peer->rtt.rto_ns);
}

/* Take a message that was held, and send it. */
static void peer_release(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	list_del(&m->link);
	peer->group->peers.held--;
	peer_transmit_first(peer, m, now);
}

/**
 * coll_peer_push() - credit or acknowledgments came: send what may leave now
 * @peer: to whom
 * @now: time in ns
 *
 * Of a large payload more than a thousand may be held: a full window ends the search.
 */
void coll_peer_push(struct coll_peer *peer, u64 now)
{
	struct coll_message *m, *next;

	list_for_each_entry_safe(m, next, &peer->send.held, link) {
		if (peer_window_full(peer))
			break;
		if (!peer_beyond_credit(peer, m))
			peer_release(peer, m, now);
	}
}

/**
 * coll_peer_forget() - a message needs no further transmission
 * @m: any; nothing happens if it is not under way
 * @sample: it has been received
 * @now: time in ns
 */
void coll_peer_forget(struct coll_message *m, bool sample, u64 now)
{
	struct coll_peer *peer = m->peer;
	bool full;

	if (!peer)
		return;
	/* This makes room in the window, not credit: what waits for the window may leave. */
	full = unlikely(!list_empty(&peer->send.held)) && m->first && peer_window_full(peer);
	if (sample)
		coll_rtt_received(peer, m, now);
	if (likely(m->first))
		peer->send.unacked--;
	else
		peer->group->peers.held--;
	list_del(&m->link);
	m->peer = NULL;
	m->head->unacked--;
	if (unlikely(full) && !peer->group->failure.terminal && !peer->conn.dead)
		coll_peer_push(peer, now);
}

/* Does the acknowledgment name the packet? */
static bool peer_acknowledged(const struct coll_body *body, u64 number)
{
	u64 back = body->ack_number - number;

	return back < COLL_PEER_WINDOW && body->ack_bits >> back & 1;
}

/*
 * Of a message that was sent several times, the first and the latest packet are known: it
 * is acknowledged even if the path is longer than the time-out, and its packet says how
 * long it took.
 */
static noinline void peer_hear_ack(struct coll_peer *peer, const struct coll_body *body,
				   u64 now)
{
	struct coll_message *m, *next;

	list_for_each_entry_safe(m, next, &peer->send.sent, link) {
		/* The list is in the order of first transmissions. */
		if (m->first > body->ack_number)
			break;
		if (peer_acknowledged(body, m->latest))
			coll_rtt_acknowledged(peer, m, now - m->sent_ns);
		else if (peer_acknowledged(body, m->first))
			coll_rtt_acknowledged(peer, m, now - m->first_ns);
		else
			continue;
		coll_peer_forget(m, false, now);
		peer->live.heard_ns = now;
	}
}

static noinline void peer_forget_through(struct coll_peer *peer, u64 done, u64 now)
{
	struct coll_message *m, *next;

	list_for_each_entry_safe(m, next, &peer->send.sent, link)
		if (peer_is_operation(m) && !coll_after(m->head->number, done))
			coll_peer_forget(m, true, now);
}

/* The other side has done something. A host that is only sent to has nothing to forget. */
static inline void peer_hear_done(struct coll_peer *peer, u64 done, u64 now)
{
	peer->send.done = done;
	peer->live.heard_ns = now;
	if (!list_empty(&peer->send.sent))
		peer_forget_through(peer, done, now);
}

/* Send again what was sent beyond the credit of @before. */
static noinline void peer_send_forced(struct coll_peer *peer, u64 before, u64 now)
{
	struct coll_message *m;

	peer->send.forced = false;
	list_for_each_entry(m, &peer->send.sent, link)
		if (peer_is_operation(m) && coll_after(m->head->number, before))
			peer_transmit(peer, m, now);
}

static inline void peer_hear_credit(struct coll_peer *peer, u64 credit, u64 now)
{
	u64 before = peer->send.credit;

	peer->send.credit = credit;
	if (unlikely(peer->send.forced))
		peer_send_forced(peer, before, now);
	if (unlikely(!list_empty(&peer->send.held)))
		coll_peer_push(peer, now);
}

/*
 * The first packet of the other side. If it has not heard this host, what was sent before
 * it existed is lost; what was sent just now has crossed its packet.
 */
static void peer_send_again(struct coll_peer *peer, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link) {
		if (now - m->sent_ns < peer->group->timing.ack_delay)
			continue;
		m->tries = 1;
		peer_transmit(peer, m, now);
	}
}

/**
 * coll_peer_meet() - a packet of the other side has a new prefix
 * @peer: the other side
 * @prefix: authenticated, with the descriptor of the group
 * @side: made from it
 * @now: time in ns
 *
 * Return: false if the packet is to be dropped.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, u64 now)
{
	if (prefix->known && prefix->known != peer->group->incarnation)
		return false;
	if (!peer->conn.incarnation) {
		peer_know(peer, prefix->incarnation);
		peer->live.heard_ns = now;
		if (!prefix->known)
			peer_send_again(peer, now);
	}
	if (prefix->incarnation != peer->conn.incarnation)
		return false;
	peer->conn.knows_us = prefix->known;
	peer->conn.rx = *side;
	return true;
}

/**
 * coll_peer_changed() - is the packet of another incarnation, and for this one of ours?
 * @peer: the other side
 * @prefix: authenticated; coll_peer_meet() has refused it
 */
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix)
{
	return prefix->incarnation != peer->conn.incarnation &&
	       (!prefix->known || prefix->known == peer->group->incarnation);
}

/* The packet came before, or so long ago that nobody can tell. */
static noinline void peer_drop_repeated(struct coll_peer *peer, const struct coll_body *body,
					enum coll_freshness freshness)
{
	struct coll_group *g = peer->group;
	bool repeated = freshness == COLL_REPEATED;

	if (repeated)
		g->stats.duplicates++;
	else
		g->stats.stale++;
	coll_env_drop(g, peer->host, g->self, body,
		      repeated ? COLL_DROP_DUPLICATE : COLL_DROP_STALE);
}

/**
 * coll_peer_hear() - read what every packet tells
 * @peer: who sent it
 * @body: authenticated
 * @now: time in ns
 *
 * "Done", credit and acknowledgment count only if the packet names this incarnation of
 * ours.
 *
 * Return: false if the packet came before, or is too old to tell: it changes nothing.
 */
bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	enum coll_freshness freshness = coll_replay_check(&peer->recv.packets, body->number);

	if (unlikely(freshness != COLL_FRESH)) {
		peer_drop_repeated(peer, body, freshness);
		return false;
	}
	if (likely(peer->conn.knows_us)) {
		if (body->acknowledges)
			peer_hear_ack(peer, body, now);
		if (coll_after(body->done, peer->send.done))
			peer_hear_done(peer, body->done, now);
		if (coll_after(body->credit, peer->send.credit))
			peer_hear_credit(peer, body->credit, now);
	}
	return true;
}

/**
 * coll_peer_accept() - a message is stored and may be acknowledged
 * @peer: who sent it
 * @body: the message
 * @now: time in ns
 *
 * The first packet of a connection is acknowledged at once, since the other side
 * does not know yet that anybody listens; so is a goodbye, which nothing
 * follows. Other acknowledgments wait for a packet to travel with, until half a window
 * is owed.
 */
void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now)
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
	if (peer->ack.messages >= peer->group->peers.ack_every) {
		peer->ack.messages = 0;
		peer->ack.now |= !coll_ack_expected(peer);
	}
}

/**
 * coll_peer_repeat() - a message came again
 * @peer: who sent it
 * @body: the message, or a goodbye
 * @now: time in ns
 */
void coll_peer_repeat(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	struct coll_group *g = peer->group;

	g->stats.duplicates++;
	coll_env_drop(g, peer->host, g->self, body, COLL_DROP_DUPLICATE);
	coll_ack_owe_now(peer, now);
}

/**
 * coll_peer_refuse() - there is no room for a message
 * @peer: who sent it
 * @body: the message
 * @now: time in ns
 *
 * It is neither stored nor acknowledged. The answer carries the credit, and
 * another will follow as soon as there is room.
 */
void coll_peer_refuse(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	struct coll_group *g = peer->group;

	g->stats.beyond_window++;
	coll_env_drop(g, peer->host, g->self, body, COLL_DROP_BEYOND_WINDOW);
	if (!peer->recv.refused) {
		peer->recv.refused = true;
		g->peers.refusals++;
	}
	coll_ack_owe_now(peer, now);
}

/**
 * coll_peer_send_ack() - let the other side know that we are here, or what we received
 * @peer: to whom
 * @now: time in ns
 */
void coll_peer_send_ack(struct coll_peer *peer, u64 now)
{
	struct coll_body body = {
		.type		= COLL_PACKET_ACK,
		.operation	= peer->group->window.completed,
	};

	peer->ack.explicit = true;
	peer->ack.owed = true;
	peer->ack.lone_ns = now;
	peer->group->stats.lone_acks++;
	coll_peer_speak(peer, &body);
}

/* A host that perhaps never joins is told of a failure for a while only. */
static bool peer_gives_up(struct coll_peer *peer, const struct coll_message *m, u64 now)
{
	if (!m->head->expires || peer->conn.incarnation ||
	    now - m->first_ns <= peer->group->timing.liveness)
		return false;
	peer->send.told = false;
	return true;
}

/* Send again what is due; to a host never heard only the oldest message. */
static void peer_retransmit(struct coll_peer *peer, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link) {
		u64 due = m->sent_ns + coll_rtt_timeout(peer, m);

		if (peer_gives_up(peer, m, now)) {
			coll_peer_forget(m, false, now);
			/* The next one follows. */
			if (!list_empty(&peer->send.sent))
				coll_deadline_peer(peer, now + peer->rtt.rto_ns);
			break;
		}
		if (due <= now)
			peer_transmit(peer, m, now);
		else
			coll_deadline_peer(peer, due);
		if (!peer->conn.incarnation)
			break;
	}
	/* Without credit the oldest is sent nevertheless: the answer tells of credit. */
	if (list_empty(&peer->send.sent) && !list_empty(&peer->send.held)) {
		m = list_first_entry(&peer->send.held, struct coll_message, link);
		peer->send.forced |= peer_beyond_credit(peer, m);
		peer_release(peer, m, now);
	}
}

/**
 * coll_peer_check_idle() - if nothing is due, and nothing was said for long enough, it is idle
 * @peer: the connection
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_peer_check_idle(struct coll_peer *peer, u64 now)
{
	u32 mark = (u32)(peer->send.number + peer->recv.packets.highest);
	struct coll_peer_liveness *live = &peer->live;

	if (peer->due_ns != COLL_NEVER)
		return;
	if (mark == live->idle_mark && live->idle_at_ns <= now && !peer->recv.refused) {
		peer->conn.idle = true;
		return;
	}
	if (mark != live->idle_mark || live->idle_at_ns <= now)
		live->idle_at_ns = now + peer->group->timing.idle;
	live->idle_mark = mark;
	coll_deadline_peer(peer, live->idle_at_ns);
}

/* After this number of transmissions, and of probes answered meanwhile. */
#define BLOCKED_TRIES	64
#define BLOCKED_ANSWERS	40

/**
 * coll_peer_blocked() - is the other side there, and messages do not get through to it?
 * @peer: the other side
 *
 * Perhaps packets above some size are lost on the path. Without credit nothing is stored,
 * so repetitions say nothing then.
 *
 * Context: group lock held.
 */
bool coll_peer_blocked(struct coll_peer *peer)
{
	struct coll_message *m;

	if (likely(list_empty(&peer->send.sent)) || !peer->conn.incarnation)
		return false;
	m = list_first_entry(&peer->send.sent, struct coll_message, link);
	if (!peer_is_operation(m) || coll_after(m->head->number, peer->send.credit)) {
		m->answered = peer->watch.answered;
		return false;
	}
	return m->tries >= BLOCKED_TRIES && peer->watch.answered - m->answered >= BLOCKED_ANSWERS;
}

/**
 * coll_peer_expire() - send again, and acknowledge, what is due
 * @peer: its due_ns has been cleared
 * @now: time in ns
 *
 * Deadlines are lower bounds: what was acknowledged since is not due any more.
 *
 * Context: group lock held.
 */
void coll_peer_expire(struct coll_peer *peer, u64 now)
{
	peer_retransmit(peer, now);
	if (coll_ack_due(peer, now))
		coll_peer_send_ack(peer, now);
	else if (peer->ack.owed)
		coll_deadline_peer(peer, peer->ack.due_ns);
}

/* ---- goodbyes ---- */

/**
 * coll_peer_say_goodbye() - tell the other side what cannot complete, unless it knows
 * @peer: to whom
 * @now: time in ns
 *
 * A host that has left must still hear it if it has posted more than we have: those
 * operations wait for us. A goodbye that is under way is replaced by a new one, since it
 * may have been received. Only the host of a rank that left tells this to a host that was
 * never heard; the others answer its packets.
 *
 * Context: group lock held.
 */
void coll_peer_say_goodbye(struct coll_peer *peer, u64 now)
{
	struct coll_peer_goodbye *goodbye = &peer->goodbye;
	struct coll_group *g = peer->group;
	u64 last = g->failure.goodbye.number;

	if (peer->conn.dead || (peer->recv.gone && !coll_after(goodbye->last, last)) ||
	    (peer->send.told && goodbye->told_last == last))
		return;
	if (!peer->conn.incarnation && !g->ranks.leaving && !coll_group_failed(g))
		return;
	peer->send.told = true;
	goodbye->told_last = last;
	coll_peer_forget(&goodbye->message, false, now);
	goodbye->message.head = &g->failure.goodbye;
	coll_peer_send(peer, &goodbye->message, now);
}

/**
 * coll_peer_drop_all() - nothing that is under way with this host needs to arrive any more
 * @peer: the other side
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_peer_drop_all(struct coll_peer *peer, u64 now)
{
	while (!list_empty(&peer->send.sent))
		coll_peer_forget(list_first_entry(&peer->send.sent, struct coll_message, link),
				 false, now);
	while (!list_empty(&peer->send.held))
		coll_peer_forget(list_first_entry(&peer->send.held, struct coll_message, link),
				 false, now);
	peer->send.told = false;
	peer->ack.owed = false;
	peer->ack.now = false;
}

/**
 * coll_peer_owes_messages() - is a message of an operation under way to the other side?
 * @peer: the other side
 *
 * Context: group lock held.
 */
bool coll_peer_owes_messages(const struct coll_peer *peer)
{
	const struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link)
		if (peer_is_operation(m))
			return true;
	return !list_empty(&peer->send.held);
}
