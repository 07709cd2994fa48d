// SPDX-License-Identifier: GPL-2.0
#include "env.h"
#include "group.h"
#include "peer.h"

/**
 * coll_peer_init() - a connection to @host begins
 * @peer: zeroed
 * @g: its group
 * @host: the other side
 */
void coll_peer_init(struct coll_peer *peer, struct coll_group *g, u32 host)
{
	coll_heap_node_init(&peer->deadline);
	INIT_LIST_HEAD(&peer->sent);
	INIT_LIST_HEAD(&peer->held);
	peer->group = g;
	peer->host = host;
	peer->connection = 1;
	peer->next_seq = 1;
	/* All hosts begin with the same window: no word is needed for it. */
	peer->credit = g->window - 1;
	peer->done = COLL_NOTHING_DONE;
	peer->rto_ns = g->timing.rto_initial;
}

static void peer_header(const struct coll_peer *peer, struct coll_header *h, u8 type)
{
	const struct coll_group *g = peer->group;

	memset(h, 0, sizeof(*h));
	h->tag = g->secret.tag;
	h->descriptor = g->descriptor;
	h->incarnation = g->incarnation;
	h->known = peer->incarnation;
	h->connection = peer->connection;
	h->done = g->completed;
	h->credit = coll_group_credit(g);
	h->source = g->self;
	h->destination = peer->host;
	h->type = type;
}

/* Does "done" tell the other side that the message was received? */
static bool peer_ack_covered(const struct coll_peer *peer, u32 done)
{
	return !peer->ack_explicit && !coll_after(peer->ack_operation, done);
}

static void peer_ack_settled(struct coll_peer *peer)
{
	peer->ack_owed = false;
	peer->ack_now = false;
	peer->ack_explicit = false;
}

/* Attach the acknowledgement that is owed, unless the packet implies it. */
static void peer_attach_ack(struct coll_peer *peer, struct coll_header *h)
{
	if (peer_ack_covered(peer, h->done)) {
		peer_ack_settled(peer);
		return;
	}
	h->acknowledges = true;
	h->ack_connection = peer->their_connection;
	h->ack_seq = peer->recv_seq;
	h->ack_bits = peer->recv_bits;
	peer_ack_settled(peer);
}

static void peer_emit(struct coll_peer *peer, const struct coll_header *h)
{
	struct coll_group *g = peer->group;
	u32 bytes = coll_wire_bytes(h);
	struct coll_packet *packet;
	u8 *start, *body;

	start = coll_env_packet(g, bytes, &packet);
	if (unlikely(!start)) {
		g->stats.memory_short++;
		return;
	}
	body = coll_wire_encode(start, h);
	if (h->payload_bytes)
		memcpy(body, h->payload, h->payload_bytes);
	coll_wire_seal(start, bytes, &g->secret.mac);
	coll_env_transmit(peer, packet);
}

/* How long to wait for an acknowledgement after so many transmissions. */
static u64 peer_timeout(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct coll_timing *t = &peer->group->timing;
	u64 ceiling = peer->incarnation ? t->rto_ceiling : t->rto_unheard;
	u32 doublings = m->tries > 1 ? min_t(u32, m->tries - 1, 16) : 0;

	return min((u64)peer->rto_ns << doublings, max_t(u64, ceiling, peer->rto_ns));
}

static void peer_transmit(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	struct coll_group *g = peer->group;
	struct coll_header h;

	peer_header(peer, &h, m->op ? COLL_PACKET_MESSAGE : COLL_PACKET_GOODBYE);
	h.seq = m->seq;
	if (m->op) {
		h.operation = m->op->number;
		h.signature = m->op->signature;
		h.round = m->round;
		h.done = m->op->done;
		h.payload = m->payload;
		h.payload_bytes = m->op->bytes;
		if (m->op->schedule->all_to_all && !coll_before(h.done, g->cover_done)) {
			g->cover_done = h.done;
			g->cover_ns = now;
		}
	} else {
		h.operation = g->next - 1;
		h.signature.root = coll_group_rank(g, g->self);
	}
	if (peer->ack_owed)
		peer_attach_ack(peer, &h);

	if (m->tries++)
		g->stats.retransmits++;
	else
		g->stats.messages_sent++;
	m->tries = min_t(u8, m->tries, COLL_MAX_TRIES);
	m->sent_ns = now;
	peer_emit(peer, &h);
	coll_group_schedule(g, peer, now + peer_timeout(peer, m));
}

/* Is there no room at the other side, as far as we know? */
static bool peer_beyond_credit(const struct coll_peer *peer, const struct coll_message *m)
{
	return m->op && coll_after(m->op->number, peer->credit) &&
	       coll_after(m->op->number, peer->group->common_credit);
}

static void peer_transmit_first(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	list_add_tail(&m->link, &peer->sent);
	m->seq = peer->next_seq++;
	/* 0 is no sequence number: it marks what was not sent yet. */
	if (unlikely(!m->seq))
		m->seq = peer->next_seq++;
	m->tries = 0;
	m->first_ns = now;
	if (peer_beyond_credit(peer, m))
		peer->forced = true;
	peer_transmit(peer, m, now);
}

static bool peer_may_send(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct coll_message *oldest;

	if (peer_beyond_credit(peer, m))
		return false;
	if (list_empty(&peer->sent))
		return true;
	oldest = list_first_entry(&peer->sent, struct coll_message, link);
	return peer->next_seq - oldest->seq < COLL_PEER_WINDOW;
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
 * coll_peer_push() - credit or acknowledgements came: send what may leave now
 * @peer: to whom
 * @now: time in ns
 */
void coll_peer_push(struct coll_peer *peer, u64 now)
{
	struct coll_message *m, *next;

	list_for_each_entry_safe(m, next, &peer->held, link) {
		if (peer_may_send(peer, m))
			peer_release(peer, m, now);
	}
}

/* Jacobson's estimator (RFC 6298), in ns; samples obey Karn's rule. */
static void peer_sample(struct coll_peer *peer, u64 rtt_ns)
{
	const struct coll_timing *t = &peer->group->timing;
	u32 rtt = (u32)min_t(u64, rtt_ns, NSEC_PER_SEC), off;
	u64 rto;

	if (!peer->srtt_ns) {
		peer->srtt_ns = rtt;
		peer->rttvar_ns = rtt / 2;
	} else {
		off = rtt > peer->srtt_ns ? rtt - peer->srtt_ns : peer->srtt_ns - rtt;
		peer->rttvar_ns += off / 4 - peer->rttvar_ns / 4;
		peer->srtt_ns += rtt / 8 - peer->srtt_ns / 8;
	}
	rto = (u64)peer->srtt_ns + 4ULL * peer->rttvar_ns + t->ack_delay;
	peer->rto_ns = (u32)clamp(rto, t->rto_floor, t->rto_ceiling);
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

	if (!peer)
		return;
	if (sample && m->tries == 1)
		peer_sample(peer, now - m->sent_ns);
	if (!m->seq)
		peer->group->held--;
	list_del(&m->link);
	m->peer = NULL;
	if (m->op)
		m->op->unacked--;
	if (unlikely(!list_empty(&peer->held)) && !peer->group->error)
		coll_peer_push(peer, now);
}

static void peer_hear_ack(struct coll_peer *peer, const struct coll_header *h, u64 now)
{
	struct coll_message *m, *next;

	if (h->ack_connection != peer->connection)
		return;
	list_for_each_entry_safe(m, next, &peer->sent, link) {
		u32 back = h->ack_seq - m->seq;

		/* A negative distance ends the list, which is in order of seq. */
		if ((s32)back < 0)
			break;
		if (back < COLL_PEER_WINDOW && h->ack_bits >> back & 1)
			coll_peer_forget(m, true, now);
	}
}

static void peer_hear_done(struct coll_peer *peer, u32 done, u64 now)
{
	struct coll_message *m, *next;

	peer->done = done;
	list_for_each_entry_safe(m, next, &peer->sent, link)
		if (m->op && !coll_after(m->op->number, done))
			coll_peer_forget(m, true, now);
}

static void peer_hear_credit(struct coll_peer *peer, u32 credit, u64 now)
{
	u32 before = peer->credit;
	struct coll_message *m;

	peer->credit = credit;
	if (unlikely(peer->forced)) {
		peer->forced = false;
		list_for_each_entry(m, &peer->sent, link)
			if (m->op && coll_after(m->op->number, before))
				peer_transmit(peer, m, now);
	}
	if (unlikely(!list_empty(&peer->held)))
		coll_peer_push(peer, now);
}

/* A message is new unless its bit is set; below the bitmap nobody knows. */
static enum coll_verdict peer_verdict(const struct coll_peer *peer, u32 seq)
{
	u32 back = peer->recv_seq - seq;

	if (back < COLL_PEER_WINDOW && peer->recv_bits >> back & 1)
		return COLL_DUPLICATE;
	return COLL_FRESH;
}

/*
 * The other side speaks for the first time. If it does not know us, what was
 * sent before it existed is lost; what was sent just now has crossed its packet.
 */
static void peer_meet(struct coll_peer *peer, const struct coll_header *h, u64 now)
{
	struct coll_message *m;

	peer->incarnation = h->incarnation;
	peer->their_connection = h->connection;
	peer->heard_ns = now;
	if (h->known)
		return;
	list_for_each_entry(m, &peer->sent, link) {
		if (now - m->sent_ns < peer->group->timing.ack_delay)
			continue;
		m->tries = 1;
		peer_transmit(peer, m, now);
	}
}

/**
 * coll_peer_hear() - read what every packet tells
 * @peer: who sent it
 * @h: authenticated
 * @now: time in ns
 *
 * "Done", credit and acknowledgement count only if they speak to this
 * incarnation of ours; so do all packets of one that knows another.
 *
 * Return: what the packet is to the connection.
 */
enum coll_verdict coll_peer_hear(struct coll_peer *peer, const struct coll_header *h,
				 u64 now)
{
	struct coll_group *g = peer->group;

	if (h->known && h->known != g->incarnation)
		return COLL_STALE;
	if (unlikely(!peer->incarnation))
		peer_meet(peer, h, now);
	else if (h->incarnation != peer->incarnation ||
		 coll_before(h->connection, peer->their_connection))
		return COLL_STALE;
	if (unlikely(coll_after(h->connection, peer->their_connection))) {
		peer->their_connection = h->connection;
		peer->recv_seq = 0;
		peer->recv_bits = 0;
	}
	peer->heard_ns = now;
	if (h->known) {
		if (h->acknowledges)
			peer_hear_ack(peer, h, now);
		if (coll_after(h->done, peer->done))
			peer_hear_done(peer, h->done, now);
		if (coll_after(h->credit, peer->credit))
			peer_hear_credit(peer, h->credit, now);
	}
	return peer_verdict(peer, h->seq);
}

static void peer_mark(struct coll_peer *peer, u32 seq)
{
	u32 ahead = seq - peer->recv_seq, back = peer->recv_seq - seq;

	if ((s32)ahead > 0) {
		peer->recv_bits = ahead < COLL_PEER_WINDOW ? peer->recv_bits << ahead : 0;
		peer->recv_bits |= 1;
		peer->recv_seq = seq;
	} else if (back < COLL_PEER_WINDOW) {
		peer->recv_bits |= 1ULL << back;
	}
}

/* An acknowledgement is owed; it may leave alone at @at. */
static void peer_owe_ack(struct coll_peer *peer, u64 at)
{
	if (peer->ack_owed)
		at = min(at, peer->ack_due_ns);
	peer->ack_owed = true;
	peer->ack_due_ns = at;
	coll_group_schedule(peer->group, peer, at);
}

/*
 * Owe it at once, yet send at most one lone acknowledgement in each delay: a
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
 * @h: the message
 * @now: time in ns
 *
 * The first packet of a connection is acknowledged at once, for the other side
 * does not know yet that anybody listens; so is a goodbye, which nothing
 * follows. All else waits for a packet to travel with.
 */
void coll_peer_accept(struct coll_peer *peer, const struct coll_header *h, u64 now)
{
	peer_mark(peer, h->seq);
	/* What others will tell the sender anyway is not waited for any longer. */
	if (peer->ack_owed && peer_ack_covered(peer, peer->group->cover_done))
		peer->ack_owed = false;
	if (!peer->ack_owed || coll_after(h->operation, peer->ack_operation))
		peer->ack_operation = h->operation;
	if (unlikely(!h->known || h->type == COLL_PACKET_GOODBYE))
		peer_owe_ack_now(peer, now);
	else if (!peer->ack_owed)
		peer_owe_ack(peer, now + peer->group->timing.ack_delay);
}

/**
 * coll_peer_repeat() - a message came again
 * @peer: who sent it
 * @now: time in ns
 */
void coll_peer_repeat(struct coll_peer *peer, u64 now)
{
	peer->group->stats.duplicates++;
	peer_owe_ack_now(peer, now);
}

/**
 * coll_peer_refuse() - there is no room for a message
 * @peer: who sent it
 * @now: time in ns
 *
 * It is neither stored nor acknowledged. The answer carries the credit, and
 * another will follow as soon as there is room.
 */
void coll_peer_refuse(struct coll_peer *peer, u64 now)
{
	struct coll_group *g = peer->group;

	g->stats.beyond_window++;
	if (!peer->refused) {
		peer->refused = true;
		g->refusals++;
	}
	peer_owe_ack_now(peer, now);
}

static void peer_lone_ack(struct coll_peer *peer, u64 now)
{
	struct coll_header h;

	peer_header(peer, &h, COLL_PACKET_ACK);
	peer->ack_explicit = true;
	peer_attach_ack(peer, &h);
	peer->lone_ack_ns = now;
	peer->group->stats.lone_acks++;
	peer_emit(peer, &h);
}

/**
 * coll_peer_flush() - the event is over
 * @peer: who was heard in it
 * @now: time in ns
 */
void coll_peer_flush(struct coll_peer *peer, u64 now)
{
	if (unlikely(peer->ack_now))
		peer_lone_ack(peer, now);
}

/**
 * coll_peer_nudge() - let the other side know that we are here, or have room
 * @peer: to whom
 * @now: time in ns
 */
void coll_peer_nudge(struct coll_peer *peer, u64 now)
{
	peer_lone_ack(peer, now);
}

/* Is the acknowledgement still needed? If so, has its time come? */
static bool peer_ack_due(struct coll_peer *peer, u64 now)
{
	const struct coll_group *g = peer->group;

	if (!peer->ack_owed)
		return false;
	if (peer_ack_covered(peer, g->acknowledged)) {
		peer_ack_settled(peer);
		return false;
	}
	/*
	 * "Done" that was sent in a running all-to-all operation will reach the
	 * other side through others when that operation completes.
	 */
	if (peer_ack_covered(peer, g->cover_done))
		peer->ack_due_ns = max(peer->ack_due_ns,
				       g->cover_ns + g->timing.ack_delay);
	return peer->ack_due_ns <= now;
}

static bool peer_silent(const struct coll_peer *peer, u64 now)
{
	const struct coll_timing *t = &peer->group->timing;
	const struct coll_message *oldest;
	u64 since;

	if (list_empty(&peer->sent))
		return false;
	oldest = list_first_entry(&peer->sent, struct coll_message, link);
	since = max(oldest->first_ns, peer->heard_ns);
	return now - since > (peer->incarnation ? t->liveness : t->join_timeout);
}

/* Send again what is due; to a host never heard only the oldest message. */
static void peer_retransmit(struct coll_peer *peer, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->sent, link) {
		u64 due = m->sent_ns + peer_timeout(peer, m);

		if (due <= now)
			peer_transmit(peer, m, now);
		else
			coll_group_schedule(peer->group, peer, due);
		if (!peer->incarnation)
			break;
	}
	/* Without credit the oldest goes nevertheless: the answer brings some. */
	if (list_empty(&peer->sent) && !list_empty(&peer->held)) {
		m = list_first_entry(&peer->held, struct coll_message, link);
		peer_release(peer, m, now);
	}
}

/**
 * coll_peer_expire() - the peer's deadline has passed
 * @peer: out of the heap
 * @now: time in ns
 *
 * Deadlines are lower bounds: what was acknowledged since is not due any more.
 *
 * Return: false if the other side has been silent too long.
 */
bool coll_peer_expire(struct coll_peer *peer, u64 now)
{
	if (peer_silent(peer, now))
		return false;
	peer_retransmit(peer, now);
	if (peer_ack_due(peer, now))
		peer_lone_ack(peer, now);
	else if (peer->ack_owed)
		coll_group_schedule(peer->group, peer, peer->ack_due_ns);
	return true;
}
