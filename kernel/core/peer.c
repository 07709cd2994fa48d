// SPDX-License-Identifier: GPL-2.0
#include "env.h"
#include "group.h"
#include "peer.h"
#include "watch.h"

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
		.connection	= peer->connection,
		.source		= g->self,
		.destination	= peer->host,
	};
}

static void peer_know(struct coll_peer *peer, u32 incarnation)
{
	struct coll_prefix prefix = coll_peer_prefix(peer, incarnation);

	peer->incarnation = incarnation;
	coll_wire_side_set(&peer->tx, &prefix, &peer->group->secret.mac);
}

/* What is sent from now on belongs to another connection. */
static void peer_renumber(struct coll_peer *peer)
{
	peer->connection++;
	peer->next_seq = 1;
	peer->backed_off_seq = 0;
}

/**
 * coll_peer_open() - a connection to @host begins
 * @peer: zeroed, or put back when it had nothing to say
 * @g: its group
 * @host: the other side
 * @now: time in ns
 *
 * What is known of the other side lives as long as the group, not as the
 * connection. Its acknowledgments name the connection, so old ones are ignored.
 */
void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now)
{
	peer->due_ns = COLL_NEVER;
	peer->quiet_ns = now + g->timing.idle;
	if (peer->idle) {
		peer->idle = false;
		peer_renumber(peer);
		peer_know(peer, peer->incarnation);
		return;
	}
	INIT_LIST_HEAD(&peer->sent);
	INIT_LIST_HEAD(&peer->held);
	peer->group = g;
	peer->host = host;
	peer->connection = 1;
	peer->next_seq = 1;
	/* All hosts begin with the same window: no word is needed for it. */
	peer->credit = g->common_credit;
	peer->done = g->acknowledged;
	peer->probed_operation = COLL_NOTHING_DONE;
	peer->rto_ns = g->timing.rto_initial;
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
	/* It numbers from the beginning, and so do we. */
	peer_renumber(peer);
	peer_know(peer, prefix->incarnation);
	peer->their_connection = prefix->connection;
	peer->recv_seq = 0;
	peer->recv_bits = 0;
	peer->heard_ns = now;
	peer->knows_us = true;
	peer->credit = peer->group->window - 1;
	peer->done = COLL_NOTHING_DONE;
	peer->told = false;
	peer->gone = false;
	peer->dead = false;
	memset(&peer->rx, 0, sizeof(peer->rx));
}

static void peer_body(const struct coll_peer *peer, struct coll_body *body)
{
	body->done = peer->group->completed;
	body->credit = coll_group_credit(peer->group);
}

/* Does "done" tell the other side that the message was received? */
static bool peer_ack_covered(const struct coll_peer *peer, u32 done)
{
	return !peer->ack_explicit && !coll_after(peer->ack_operation, done);
}

/*
 * While all-to-all operations follow each other each carries "done" for the one
 * before, which reaches the other side through others. A host may be two operations
 * ahead of what we have told: one that we run, one that we have not posted.
 */
static bool peer_ack_expected(const struct coll_peer *peer)
{
	return peer_ack_covered(peer, peer->group->cover_done + 2);
}

static void peer_ack_settled(struct coll_peer *peer)
{
	peer->ack_messages = 0;
	peer->ack_owed = false;
	peer->ack_now = false;
	peer->ack_explicit = false;
}

/* Attach the acknowledgment that is owed, unless the packet implies it. */
static void peer_attach_ack(struct coll_peer *peer, struct coll_body *body)
{
	if (!peer_ack_covered(peer, body->done)) {
		body->acknowledges = true;
		body->ack_connection = peer->their_connection;
		body->ack_seq = peer->recv_seq;
		body->ack_bits = peer->recv_bits;
	}
	peer_ack_settled(peer);
}

static inline void peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
			     const struct coll_body *body)
{
	struct coll_packet *packet;
	u8 *start;

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
 * @body: what it says
 */
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    const struct coll_body *body)
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
	if (peer->ack_owed)
		peer_attach_ack(peer, body);
	coll_peer_emit(peer, &peer->tx, body);
}

/* How long to wait for an acknowledgment after so many transmissions. */
static u64 peer_timeout(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct coll_timing *t = &peer->group->timing;
	u64 ceiling = peer->incarnation ? t->rto_ceiling : t->rto_unheard;

	if (likely(m->tries <= 1))
		return peer->rto_ns;
	return min((u64)peer->rto_ns << min_t(u32, m->tries - 1, 16),
		   max_t(u64, ceiling, peer->rto_ns));
}

static void peer_transmit(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	struct coll_group *g = peer->group;
	struct coll_body body = {
		.type	= m->op ? COLL_PACKET_MESSAGE : COLL_PACKET_GOODBYE,
		.seq	= m->seq,
	};

	peer_body(peer, &body);
	if (m->op) {
		body.operation = m->op->number;
		body.signature = m->op->signature;
		body.segment = m->segment;
		body.round = m->round;
		body.payload = m->payload;
		body.payload_bytes = m->bytes;
		if (m->op->schedule->all_to_all) {
			body.done = m->op->done;
			if (!coll_before(body.done, g->cover_done)) {
				g->cover_done = body.done;
				g->cover_ns = now;
			}
		}
	} else {
		body.operation = coll_group_last(g);
		coll_group_blame(g, &body.signature);
	}
	if (peer->ack_owed)
		peer_attach_ack(peer, &body);

	if (unlikely(m->tries)) {
		g->stats.retransmits++;
		peer->retransmits++;
		coll_env_send_again(m);
		if (!peer->incarnation)
			coll_watch_asked(peer, now);
	} else {
		g->stats.messages_sent++;
	}
	if (likely(m->tries < COLL_MAX_TRIES))
		m->tries++;
	m->sent_ns = now;
	peer_emit(peer, &peer->tx, &body);
	coll_group_schedule(g, peer, now + peer_timeout(peer, m));
}

/* Is there no room at the other side, as far as we know? */
static bool peer_beyond_credit(const struct coll_peer *peer, const struct coll_message *m)
{
	return m->op && coll_after(m->op->number, peer->credit) &&
	       coll_after(m->op->number, peer->group->common_credit);
}

static inline void peer_transmit_first(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	list_add_tail(&m->link, &peer->sent);
	m->seq = peer->next_seq++;
	/* 0 is no sequence number: it marks what was not sent yet. */
	if (unlikely(!m->seq))
		m->seq = peer->next_seq++;
	m->tries = 0;
	m->answered = peer->answered;
	m->first_ns = now;
	peer_transmit(peer, m, now);
}

/* As many messages are under way as an acknowledgment has bits. */
static bool peer_window_full(const struct coll_peer *peer)
{
	const struct coll_message *oldest;

	if (list_empty(&peer->sent))
		return false;
	oldest = list_first_entry(&peer->sent, struct coll_message, link);
	return peer->next_seq - oldest->seq >= COLL_PEER_WINDOW;
}

static bool peer_may_send(const struct coll_peer *peer, const struct coll_message *m)
{
	return !peer_beyond_credit(peer, m) && !peer_window_full(peer);
}

/**
 * coll_peer_send() - give a message to the peer
 * @peer: to whom
 * @m: the message; its peer, op, round and payload are set
 * @now: time in ns
 *
 * It leaves at once, or, when the other side has no room, as soon as it has.
 */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	if (likely(peer_may_send(peer, m))) {
		peer_transmit_first(peer, m, now);
		return;
	}
	peer->group->stats.no_credit++;
	peer->group->held++;
	m->seq = 0;
	list_add_tail(&m->link, &peer->held);
	coll_group_schedule(peer->group, peer, now + peer->rto_ns);
}

/* Take a message that was held, and send it. */
static void peer_release(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	list_del(&m->link);
	peer->group->held--;
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

	list_for_each_entry_safe(m, next, &peer->held, link) {
		if (peer_window_full(peer))
			break;
		if (!peer_beyond_credit(peer, m))
			peer_release(peer, m, now);
	}
}

/* Of so many messages one is a sample of the round-trip time. */
#define SAMPLE_EVERY	8

/* Jacobson's estimator (RFC 6298), in ns; samples obey Karn's rule. */
static void peer_sample(struct coll_peer *peer, u64 rtt_ns)
{
	const struct coll_timing *t = &peer->group->timing;
	u32 rtt = (u32)min_t(u64, rtt_ns, NSEC_PER_SEC), off;
	u64 rto;

	peer->unsampled = 0;
	if (!peer->srtt_ns) {
		peer->srtt_ns = rtt;
		peer->rttvar_ns = rtt / 2;
	} else {
		off = rtt > peer->srtt_ns ? rtt - peer->srtt_ns : peer->srtt_ns - rtt;
		peer->rttvar_ns += off / 4 - peer->rttvar_ns / 4;
		peer->srtt_ns += rtt / 8 - peer->srtt_ns / 8;
	}
	rto = (u64)peer->srtt_ns + 4ULL * peer->rttvar_ns + t->ack_delay + COLL_DEADLINE_GRAIN;
	peer->rto_ns = (u32)clamp(rto, t->rto_floor, t->rto_ceiling);
}

/*
 * A message that was sent again is no sample. When the way has become longer than the
 * time-out all are, and none would ever be: so the time-out stays as it was for this one
 * until there is a sample, which is the first then (RFC 6298, 5.5 to 5.7). A few
 * transmissions that are lost, once the time is known, say nothing about it.
 */
static noinline void peer_back_off(struct coll_peer *peer, const struct coll_message *m)
{
	if (peer->srtt_ns && m->tries == 2 && ++peer->unsampled < SAMPLE_EVERY)
		return;
	/* Others that were under way with it were late for the same reason. */
	if (!peer->srtt_ns && peer->backed_off_seq - m->seq - 1 < COLL_PEER_WINDOW)
		return;
	peer->rto_ns = (u32)peer_timeout(peer, m);
	peer->srtt_ns = 0;
	peer->backed_off_seq = peer->next_seq;
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
	/* What waits for credit does not leave for that; what waits for the window may. */
	full = unlikely(!list_empty(&peer->held)) && m->seq && peer_window_full(peer);
	if (sample && unlikely(m->tries > 1))
		peer_back_off(peer, m);
	else if (sample && m->tries == 1 && (!peer->srtt_ns || m->seq % SAMPLE_EVERY == 0))
		peer_sample(peer, now - m->sent_ns);
	if (!m->seq)
		peer->group->held--;
	list_del(&m->link);
	m->peer = NULL;
	if (m->op)
		m->op->unacked--;
	if (unlikely(full) && !peer->group->failed && !peer->dead)
		coll_peer_push(peer, now);
}

static noinline void peer_hear_ack(struct coll_peer *peer, const struct coll_body *body,
				   u64 now)
{
	struct coll_message *m, *next;

	if (body->ack_connection != peer->connection)
		return;
	list_for_each_entry_safe(m, next, &peer->sent, link) {
		u32 back = body->ack_seq - m->seq;

		/* A negative distance ends the list, which is in order of seq. */
		if ((s32)back < 0)
			break;
		if (back < COLL_PEER_WINDOW && body->ack_bits >> back & 1) {
			coll_peer_forget(m, true, now);
			peer->heard_ns = now;
		}
	}
}

static noinline void peer_forget_through(struct coll_peer *peer, u32 done, u64 now)
{
	struct coll_message *m, *next;

	list_for_each_entry_safe(m, next, &peer->sent, link)
		if (m->op && !coll_after(m->op->number, done))
			coll_peer_forget(m, true, now);
}

/* The other side has done something. A host that is only sent to has nothing to forget. */
static inline void peer_hear_done(struct coll_peer *peer, u32 done, u64 now)
{
	peer->done = done;
	peer->heard_ns = now;
	if (!list_empty(&peer->sent))
		peer_forget_through(peer, done, now);
}

/* What was sent beyond the credit of @before has its turn. */
static noinline void peer_send_forced(struct coll_peer *peer, u32 before, u64 now)
{
	struct coll_message *m;

	peer->forced = false;
	list_for_each_entry(m, &peer->sent, link)
		if (m->op && coll_after(m->op->number, before))
			peer_transmit(peer, m, now);
}

static inline void peer_hear_credit(struct coll_peer *peer, u32 credit, u64 now)
{
	u32 before = peer->credit;

	peer->credit = credit;
	if (unlikely(peer->forced))
		peer_send_forced(peer, before, now);
	if (unlikely(!list_empty(&peer->held)))
		coll_peer_push(peer, now);
}

/*
 * The other side speaks for the first time. If it does not know us, what was
 * sent before it existed is lost; what was sent just now has crossed its packet.
 */
static void peer_send_again(struct coll_peer *peer, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->sent, link) {
		if (now - m->sent_ns < peer->group->timing.ack_delay)
			continue;
		m->tries = 1;
		peer_transmit(peer, m, now);
	}
}

/**
 * coll_peer_meet() - the other side speaks with a new prefix
 * @peer: who it is
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
	if (!peer->incarnation) {
		peer_know(peer, prefix->incarnation);
		peer->their_connection = prefix->connection;
		peer->heard_ns = now;
		if (!prefix->known)
			peer_send_again(peer, now);
	}
	if (prefix->incarnation != peer->incarnation ||
	    coll_before(prefix->connection, peer->their_connection))
		return false;
	if (prefix->connection != peer->their_connection) {
		peer->their_connection = prefix->connection;
		peer->recv_seq = 0;
		peer->recv_bits = 0;
		peer->heard_ns = now;
	}
	peer->knows_us = prefix->known;
	peer->rx = *side;
	return true;
}

/**
 * coll_peer_changed() - is it another incarnation, that speaks to us?
 * @peer: who it says it is
 * @prefix: authenticated; coll_peer_meet() has refused it
 */
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix)
{
	return prefix->incarnation != peer->incarnation &&
	       (!prefix->known || prefix->known == peer->group->incarnation);
}

/**
 * coll_peer_hear() - read what every packet tells
 * @peer: who sent it
 * @body: authenticated
 * @now: time in ns
 *
 * "Done", credit and acknowledgment count only if they speak to this
 * incarnation of ours.
 *
 * Return: true if a message with this sequence number was accepted before. For
 * those too old for the bitmap nobody knows: false.
 */
bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	u32 back;

	if (likely(peer->knows_us)) {
		if (body->acknowledges)
			peer_hear_ack(peer, body, now);
		if (coll_after(body->done, peer->done))
			peer_hear_done(peer, body->done, now);
		if (coll_after(body->credit, peer->credit))
			peer_hear_credit(peer, body->credit, now);
	}
	back = peer->recv_seq - body->seq;
	return back < COLL_PEER_WINDOW && peer->recv_bits >> back & 1;
}

/* False if that number was received before, or perhaps was. */
static bool peer_mark(struct coll_peer *peer, u32 seq)
{
	u32 ahead = seq - peer->recv_seq, back = peer->recv_seq - seq;

	if ((s32)ahead > 0) {
		peer->recv_bits = ahead < COLL_PEER_WINDOW ? peer->recv_bits << ahead : 0;
		peer->recv_bits |= 1;
		peer->recv_seq = seq;
		return true;
	}
	if (back >= COLL_PEER_WINDOW || peer->recv_bits >> back & 1)
		return false;
	peer->recv_bits |= 1ULL << back;
	return true;
}

/* An acknowledgment is owed; it may leave alone at @at. */
static void peer_owe_ack(struct coll_peer *peer, u64 at)
{
	if (peer->ack_owed)
		at = min(at, peer->ack_due_ns);
	peer->ack_owed = true;
	peer->ack_due_ns = at;
	coll_group_schedule(peer->group, peer, at);
}

/*
 * Owe it at once, yet send at most one lone acknowledgment in each delay: a
 * flood of repetitions does not become a flood of answers.
 */
static void peer_owe_ack_now(struct coll_peer *peer, u64 now)
{
	u64 earliest = peer->lone_ack_ns + peer->group->timing.ack_delay;

	peer->ack_explicit = true;
	if (!peer->lone_ack_ns || now >= earliest)
		peer->ack_now = true;
	peer_owe_ack(peer, peer->ack_now ? now + peer->group->timing.ack_delay : earliest);
}

/**
 * coll_peer_accept() - a message is stored and may be acknowledged
 * @peer: who sent it
 * @body: the message
 * @now: time in ns
 *
 * The first packet of a connection is acknowledged at once, for the other side
 * does not know yet that anybody listens; so is a goodbye, which nothing
 * follows. All else waits for a packet to travel with, until there is much of it.
 */
void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	if (likely(peer_mark(peer, body->seq))) {
		peer->heard_ns = now;
		peer->ack_messages++;
	}
	if (!peer->ack_owed || coll_after(body->operation, peer->ack_operation))
		peer->ack_operation = body->operation;
	if (unlikely(!peer->knows_us || body->type == COLL_PACKET_GOODBYE))
		peer_owe_ack_now(peer, now);
	else if (!peer->ack_owed)
		peer_owe_ack(peer, now + peer->group->timing.ack_delay);
	if (peer->ack_messages >= peer->group->ack_every) {
		peer->ack_messages = 0;
		peer->ack_now |= !peer_ack_expected(peer);
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
	peer_owe_ack_now(peer, now);
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
	if (!peer->refused) {
		peer->refused = true;
		g->refusals++;
	}
	peer_owe_ack_now(peer, now);
}

/**
 * coll_peer_send_ack() - let the other side know that we are here, or what we received
 * @peer: to whom
 * @now: time in ns
 */
void coll_peer_send_ack(struct coll_peer *peer, u64 now)
{
	struct coll_body body = { .type = COLL_PACKET_ACK };

	peer->ack_explicit = true;
	peer->ack_owed = true;
	peer->lone_ack_ns = now;
	peer->group->stats.lone_acks++;
	coll_peer_speak(peer, &body);
}

/* Is the acknowledgment still needed? If so, has its time come? */
static bool peer_ack_due(struct coll_peer *peer, u64 now)
{
	const struct coll_group *g = peer->group;

	if (!peer->ack_owed)
		return false;
	if (peer_ack_covered(peer, g->acknowledged)) {
		peer_ack_settled(peer);
		return false;
	}
	if (peer_ack_expected(peer))
		peer->ack_due_ns = max(peer->ack_due_ns,
				       g->cover_ns + g->timing.ack_delay);
	return peer->ack_due_ns <= now;
}

/* A host that perhaps never joins is told of a failure for a while only. */
static bool peer_gives_up(struct coll_peer *peer, const struct coll_message *m, u64 now)
{
	if (m->op || peer->incarnation || !coll_group_broken(peer->group) ||
	    now - m->first_ns <= peer->group->timing.liveness)
		return false;
	peer->told = false;
	return true;
}

/* A message was sent so often, and the other side has answered so many probes meanwhile. */
#define BLOCKED_TRIES	64
#define BLOCKED_ANSWERS	40

/*
 * The other side is there, and what it needs does not get through to it: packets above a
 * size are lost on the way, perhaps. Without credit nothing is stored, so that is no sign.
 */
static bool peer_blocked(struct coll_peer *peer)
{
	struct coll_message *m;

	if (likely(list_empty(&peer->sent)) || !peer->incarnation)
		return false;
	m = list_first_entry(&peer->sent, struct coll_message, link);
	if (!m->op || coll_after(m->op->number, peer->credit)) {
		m->answered = peer->answered;
		return false;
	}
	return m->tries >= BLOCKED_TRIES && peer->answered - m->answered >= BLOCKED_ANSWERS;
}

/* Send again what is due; to a host never heard only the oldest message. */
static void peer_retransmit(struct coll_peer *peer, u64 now)
{
	struct coll_group *g = peer->group;
	struct coll_message *m;

	list_for_each_entry(m, &peer->sent, link) {
		u64 due = m->sent_ns + peer_timeout(peer, m);

		if (peer_gives_up(peer, m, now)) {
			coll_peer_forget(m, false, now);
			/* What stands behind it has its turn. */
			if (!list_empty(&peer->sent))
				coll_group_schedule(g, peer, now + peer->rto_ns);
			break;
		}
		if (due <= now)
			peer_transmit(peer, m, now);
		else
			coll_group_schedule(g, peer, due);
		if (!peer->incarnation)
			break;
	}
	/* Without credit the oldest goes nevertheless: the answer brings some. */
	if (list_empty(&peer->sent) && !list_empty(&peer->held)) {
		m = list_first_entry(&peer->held, struct coll_message, link);
		peer->forced |= peer_beyond_credit(peer, m);
		peer_release(peer, m, now);
	}
}

/* Nothing else is due: if nothing is said for long enough, the peer rests. */
static void peer_check_idle(struct coll_peer *peer, u64 now)
{
	u32 mark = peer->next_seq + peer->recv_seq + peer->probes;

	if (peer->due_ns != COLL_NEVER)
		return;
	if (mark == peer->quiet_mark && peer->quiet_ns <= now && !peer->refused) {
		peer->idle = true;
		return;
	}
	if (mark != peer->quiet_mark || peer->quiet_ns <= now)
		peer->quiet_ns = now + peer->group->timing.idle;
	peer->quiet_mark = mark;
	coll_group_schedule(peer->group, peer, peer->quiet_ns);
}

/**
 * coll_peer_expire() - the peer is due
 * @peer: its due_ns has been cleared
 * @now: time in ns
 *
 * Deadlines are lower bounds: what was acknowledged since is not due any more.
 *
 * Return: false if the other side has been silent too long.
 */
bool coll_peer_expire(struct coll_peer *peer, u64 now)
{
	if (coll_watch_silent(peer, now))
		return false;
	/* It answers, so it is told, too. */
	if (unlikely(peer_blocked(peer)))
		coll_group_break(peer->group, COLL_REASON_SILENT,
				 coll_group_rank(peer->group, peer->host), now);
	peer_retransmit(peer, now);
	if (peer_ack_due(peer, now))
		coll_peer_send_ack(peer, now);
	else if (peer->ack_owed)
		coll_group_schedule(peer->group, peer, peer->ack_due_ns);
	coll_watch_ask(peer, now);
	peer_check_idle(peer, now);
	return true;
}
