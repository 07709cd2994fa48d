// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ack.h"
#include "congestion.h"
#include "deadline.h"
#include "env.h"
#include "liveness.h"
#include "path.h"
#include "peer.h"
#include "rtt.h"
#include "work.h"

/* Count a packet for which there is no memory. It is treated like one that was lost. */
static noinline void peer_lose(struct coll_peer *peer, const struct coll_body *body)
{
	struct coll_group *g = peer->group;

	g->stats.memory_short++;
	coll_env_drop(g, g->self, peer->host, body, COLL_DROP_MEMORY_SHORT);
}

/* Begin the next packet to the other side, of this length. */
static inline struct coll_blank peer_begin(struct coll_peer *peer, u32 bytes)
{
	coll_work_do(peer->group, COLL_WORK_PACKET);
	peer->send.number++;
	return coll_env_packet(peer->group, bytes);
}

/* Fill in the fields that packets of every type carry. */
static inline void peer_body(const struct coll_peer *peer, struct coll_body *body)
{
	body->number = peer->send.number;
	body->credit = coll_group_credit(peer->group);
	body->ce = peer->recv.ce;
}

/**
 * coll_peer_emit() - send a packet
 * @peer: destination
 * @side: the direction, usually the peer's
 * @body: its contents, but for the number of the packet
 */
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    struct coll_body *body)
{
	struct coll_blank blank = peer_begin(peer, coll_wire_bytes(body));

	body->number = peer->send.number;
	if (unlikely(!blank.data)) {
		peer_lose(peer, body);
		return;
	}
	coll_wire_write(blank.data, side, body);
	coll_env_transmit(peer, blank.packet);
}

/**
 * coll_peer_speak() - send a packet that is not acknowledged
 * @peer: destination
 * @body: contents; what every packet carries is filled in
 */
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body)
{
	peer_body(peer, body);
	body->done = peer->group->window.completed;
	body->acknowledges = coll_ack_needed(peer, body->done);
	coll_ack_attach(peer, body);
	coll_peer_emit(peer, &peer->conn.tx, body);
}

static __always_inline void peer_body_of_message(const struct coll_message *m,
						 struct coll_body *body)
{
	body->type = m->head->type;
	body->flags = m->head->copied;
	body->operation = m->head->number;
	body->signature = m->head->signature;
	body->segment = m->segment;
	body->round = m->round;
	body->payload = m->payload;
	body->payload_bytes = m->bytes;
	body->rest = m->rest;
	body->gap = m->gap;
}

/* Length of the message's packet */
static inline u32 peer_bytes(const struct coll_message *m, bool acknowledges)
{
	struct coll_body body COLL_UNINITIALIZED;

	body.signature = m->head->signature;
	body.acknowledges = acknowledges;
	body.payload_bytes = m->bytes;
	return coll_wire_bytes(&body);
}

/* Treat a message's packet as lost. An acknowledgment that is owed goes with the next packet. */
static noinline void peer_lose_message(struct coll_peer *peer, const struct coll_message *m)
{
	struct coll_body body = {};

	peer_body(peer, &body);
	peer_body_of_message(m, &body);
	peer_lose(peer, &body);
}

/*
 * The packet is allocated before its body is made, and nothing else sees the body: so the
 * compiler keeps most of it in registers.
 */
static __always_inline void peer_transmit(struct coll_peer *peer, struct coll_message *m,
					  bool ack_now, u64 now)
{
	u64 done = coll_peer_done(peer->group, m->head, now);
	bool acknowledges = coll_ack_needed(peer, done);
	struct coll_blank blank = peer_begin(peer, peer_bytes(m, acknowledges));
	struct coll_body body COLL_UNINITIALIZED;

	m->latest = peer->send.number;
	m->sent_ns = now;
	if (unlikely(!blank.data)) {
		peer_lose_message(peer, m);
		return;
	}
	body.done = done;
	body.ack_now = ack_now;
	body.acknowledges = acknowledges;
	peer_body(peer, &body);
	peer_body_of_message(m, &body);
	coll_ack_attach(peer, &body);
	coll_wire_write(blank.data, &peer->conn.tx, &body);
	coll_env_transmit(peer, blank.packet);
}

/* Send a message again. It does not count as lost any more. */
static noinline void peer_send_again(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	coll_congestion_recovered(peer, m);
	coll_work_do(peer->group, m->bytes * COLL_WORK_PACKET_BYTE);
	peer->group->stats.retransmits++;
	peer->live.retransmits++;
	if (coll_path_needs_fragments(m))
		peer->conn.fragments = true;
	coll_env_send_again(m);
	if (m->tries == 1)
		coll_liveness_repeat(peer);
	/* Retransmitting to a host never heard from counts as a probe. */
	if (!peer->conn.incarnation)
		coll_liveness_asked(peer, now);
	if (likely(m->tries < COLL_MAX_TRIES))
		m->tries++;
	peer_transmit(peer, m, true, now);
	coll_deadline_peer(peer, coll_rtt_due(peer, m));
}

static bool peer_is_operation(const struct coll_message *m)
{
	return m->head->type == COLL_PACKET_MESSAGE;
}

/* Is the other side out of room, as far as we know? */
static bool peer_beyond_credit(const struct coll_peer *peer, const struct coll_message *m)
{
	return peer_is_operation(m) && coll_after(m->head->number, peer->send.credit) &&
	       coll_after(m->head->number, peer->group->credit.common);
}

static inline void peer_transmit_first(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	bool ack_now;

	list_add_tail(&m->link, &peer->send.sent);
	peer->send.unacked++;
	peer->group->stats.messages_sent++;
	m->tries = 1;
	m->lost = false;
	m->answered = peer->live.answered;
	m->first_ns = now;
	ack_now = unlikely(peer->send.unacked >= peer->congestion.ask) &&
		  coll_congestion_asks(peer, m);
	peer_transmit(peer, m, ack_now, now);
	m->first = m->latest;
	coll_deadline_peer(peer, now + peer->rtt.rto_ns);
}

/* May the message be sent, although the quick check of window and credit has failed? */
static noinline bool peer_may_send_more(struct coll_peer *peer, const struct coll_message *m)
{
	/* Nothing reports a failure but a goodbye, so congestion does not delay it. */
	if (!peer_is_operation(m))
		return peer->send.unacked < COLL_PEER_WINDOW;
	if (!peer->congestion.initial)
		coll_congestion_begin(peer, m->fan_in);
	return !peer_beyond_credit(peer, m) && coll_congestion_admits(peer, m);
}

static inline bool peer_may_send(struct coll_peer *peer, const struct coll_message *m)
{
	if (likely(peer->send.unacked < peer->congestion.limit && !peer_beyond_credit(peer, m)))
		return true;
	return peer_may_send_more(peer, m);
}

/* May the message not overtake those that are held? */
static bool peer_must_queue(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct list_head *held = &peer->send.held;

	return unlikely(!list_empty(held)) && coll_held_precedes(coll_held_first(held), m);
}

/**
 * coll_peer_may_send() - would coll_peer_send() send a message at once?
 * @peer: destination
 * @m: the message, with its head set
 * @more: number of other messages to count as in flight
 */
bool coll_peer_may_send(struct coll_peer *peer, const struct coll_message *m, u32 more)
{
	u32 limit;

	if (peer_must_queue(peer, m) || !peer_may_send(peer, m))
		return false;
	limit = m->head->several ? peer->congestion.limit :
				   max_t(u32, peer->congestion.limit, COLL_CONGESTION_SINGLES);
	return peer->send.unacked + more < limit;
}

static noinline void peer_hold(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	if (peer_beyond_credit(peer, m))
		peer->group->stats.no_credit++;
	else
		peer->group->stats.paced++;
	coll_work_do(peer->group, COLL_WORK_HELD);
	peer->group->peers.held++;
	peer->held++;
	m->first = 0;
	coll_held_add(&peer->send.held, m);
	coll_deadline_peer(peer, now + peer->rtt.rto_ns);
}

/**
 * coll_peer_send() - send a message reliably
 * @peer: destination
 * @m: the message, with its head, round and payload set
 * @now: time in ns
 *
 * It is sent at once, or held until the other side has room and the congestion window
 * allows it.
 */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	m->peer = peer;
	m->head->unacked++;
	if (likely(!peer_must_queue(peer, m) && peer_may_send(peer, m)))
		peer_transmit_first(peer, m, now);
	else
		peer_hold(peer, m, now);
}

static void peer_unhold(struct coll_peer *peer, struct coll_message *m)
{
	coll_held_remove(&peer->send.held, m);
	peer->group->peers.held--;
	peer->held--;
}

/* Send a message that was held. */
static void peer_send_held(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	peer_unhold(peer, m);
	coll_work_do(peer->group, m->bytes * COLL_WORK_PACKET_BYTE);
	peer_transmit_first(peer, m, now);
}

/**
 * coll_peer_push() - send held messages after credit or acknowledgments were received
 * @peer: destination
 * @now: time in ns
 *
 * If the first one must wait, all others must, which are of the same operation or later
 * ones. If the event has done what it may, the rest waits for the next turn.
 */
void coll_peer_push(struct coll_peer *peer, u64 now)
{
	while (!list_empty(&peer->send.held)) {
		struct coll_message *m = coll_held_first(&peer->send.held);

		if (!peer_may_send(peer, m))
			break;
		if (!coll_work_may_send(peer->group)) {
			coll_work_leave(peer->group, COLL_WORK_PEERS);
			break;
		}
		peer_send_held(peer, m, now);
	}
}

/* Lost messages sent again to one peer, after a time-out or in one turn */
#define REPAIRS_AT_ONCE	2

/*
 * Send lost messages again, the oldest first, as many as the window allows, but at most
 * @most. If the event has done what it may, the rest waits for a time-out.
 */
static void peer_repair(struct coll_peer *peer, u32 most, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link) {
		if (!peer->send.lost || !most || !coll_congestion_repairs(peer, m))
			break;
		if (!m->lost)
			continue;
		if (coll_work_over(peer->group)) {
			coll_deadline_peer(peer, now);
			break;
		}
		peer_send_again(peer, m, now);
		most--;
	}
}

/*
 * Messages have left the network, and others wait for that. @fresh of them were sent since
 * the window was last reduced: these open it. At most @repairs are sent again: about as
 * many as have left.
 */
static noinline void peer_refill(struct coll_peer *peer, u32 repairs, u32 fresh, u64 now)
{
	if (fresh)
		coll_congestion_acknowledged(peer, fresh);
	if (!coll_work_may_send(peer->group)) {
		coll_work_leave(peer->group, COLL_WORK_PEERS);
	} else if (!peer->conn.dead) {
		peer_repair(peer, repairs, now);
		coll_peer_push(peer, now);
	}
}

/**
 * coll_peer_catch_up() - send again and push what an event has left
 * @peer: destination
 * @now: time in ns
 */
void coll_peer_catch_up(struct coll_peer *peer, u64 now)
{
	if (peer->send.lost)
		peer_repair(peer, REPAIRS_AT_ONCE, now);
	coll_peer_push(peer, now);
}

/* Does anything wait until messages in flight are acknowledged? */
static inline bool peer_waits(const struct coll_peer *peer)
{
	return unlikely(!list_empty(&peer->send.held) || peer->send.lost);
}

/* Drop a message that has not been sent: it is held, or multicast has carried it. */
static noinline void peer_drop_unsent(struct coll_peer *peer, struct coll_message *m)
{
	if (m->tries != COLL_AHEAD) {
		peer_unhold(peer, m);
		return;
	}
	peer->send.ahead--;
	list_del(&m->link);
	m->tries = 0;
}

static inline void peer_drop(struct coll_peer *peer, struct coll_message *m)
{
	if (likely(m->first)) {
		peer->send.unacked--;
		list_del(&m->link);
	} else {
		peer_drop_unsent(peer, m);
	}
	if (unlikely(m->lost))
		coll_congestion_recovered(peer, m);
	m->peer = NULL;
	m->head->unacked--;
}

/* Was the message sent, for the last time, after the window was reduced? */
static bool peer_is_fresh(const struct coll_peer *peer, const struct coll_message *m)
{
	return m->latest > peer->congestion.reduced;
}

/**
 * coll_peer_forget() - stop transmitting a message
 * @m: any message; nothing happens if it is not in flight or held
 * @sample: it has been received
 * @now: time in ns
 */
void coll_peer_forget(struct coll_message *m, bool sample, u64 now)
{
	struct coll_peer *peer = m->peer;
	bool waits;

	if (!peer)
		return;
	waits = peer_waits(peer) && m->first;
	if (sample && m->first)
		coll_rtt_received(peer, m, now);
	peer_drop(peer, m);
	if (unlikely(waits))
		peer_refill(peer, sample, sample && peer_is_fresh(peer, m), now);
}

/* Does the acknowledgment name the packet? */
static bool peer_acknowledged(const struct coll_body *body, u64 number)
{
	u64 back = body->ack_number - number;

	return back < COLL_PEER_WINDOW && body->ack_bits >> back & 1;
}

/*
 * Is the first packet of a message acknowledged, although its latest is not? Both numbers are
 * known, so a message that was sent several times is acknowledged, and gives a sample, even if the
 * path is longer than the time-out.
 */
static noinline bool peer_sample_first(struct coll_peer *peer, const struct coll_message *m,
				       const struct coll_body *body, u64 now)
{
	if (!peer_acknowledged(body, m->first))
		return false;
	coll_rtt_acknowledged(peer, m, now - m->first_ns);
	coll_congestion_undo(peer, m);
	return true;
}

/* Is the message acknowledged? If so, take a sample of the round-trip time. */
static inline bool peer_sample_ack(struct coll_peer *peer, const struct coll_message *m,
				   const struct coll_body *body, u64 now)
{
	if (unlikely(!peer_acknowledged(body, m->latest)))
		return peer_sample_first(peer, m, body, now);
	coll_rtt_acknowledged(peer, m, now - m->sent_ns);
	if (unlikely(m->lost))
		coll_congestion_undo(peer, m);
	return true;
}

/**
 * coll_peer_hear_ack() - process an acknowledgment
 * @peer: its sender
 * @body: it has one
 * @now: time in ns
 */
void coll_peer_hear_ack(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	struct coll_message *m, *next;
	bool waits = peer_waits(peer);
	u32 arrived = 0, fresh = 0;

	/* Nobody can have received a packet that was not sent. */
	if (unlikely(body->ack_number > peer->send.number))
		return;
	list_for_each_entry_safe(m, next, &peer->send.sent, link) {
		/* The list is in the order of first transmissions. */
		if (m->first > body->ack_number)
			break;
		if (peer_sample_ack(peer, m, body, now)) {
			arrived++;
			fresh += peer_is_fresh(peer, m);
			peer_drop(peer, m);
		} else if (unlikely(coll_congestion_gap(m, body))) {
			coll_congestion_lost(peer, m);
		}
	}
	if (arrived) {
		peer->live.heard_ns = now;
		peer->rtt.progress_ns = now;
	}
	if (waits || peer_waits(peer))
		peer_refill(peer, arrived + 1, waits ? fresh : 0, now);
}

/**
 * coll_peer_forget_through() - the other side has completed operations
 * @peer: the other side
 * @done: the latest of them
 * @now: time in ns
 */
void coll_peer_forget_through(struct coll_peer *peer, u64 done, u64 now)
{
	struct coll_message *m, *next;
	bool waits = peer_waits(peer);
	u32 arrived = 0, fresh = 0;

	list_for_each_entry_safe(m, next, &peer->send.sent, link) {
		if (!peer_is_operation(m) || coll_after(m->head->number, done))
			continue;
		arrived++;
		fresh += peer_is_fresh(peer, m);
		coll_rtt_received(peer, m, now);
		peer_drop(peer, m);
	}
	if (waits)
		peer_refill(peer, arrived + 1, fresh, now);
}

/*
 * Send one of several messages again. If the event has done what it may, its time-out will do so.
 */
static void peer_send_more_again(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	if (coll_work_may_send(peer->group))
		peer_send_again(peer, m, now);
	else
		coll_deadline_peer(peer, now);
}

/**
 * coll_peer_send_forced() - send again what was sent beyond the credit
 * @peer: the other side, which has reported more
 * @before: the credit before that
 * @now: time in ns
 */
void coll_peer_send_forced(struct coll_peer *peer, u64 before, u64 now)
{
	struct coll_message *m;

	peer->send.forced = false;
	list_for_each_entry(m, &peer->send.sent, link)
		if (peer_is_operation(m) && coll_after(m->head->number, before))
			peer_send_more_again(peer, m, now);
}

/**
 * coll_peer_send_again() - send again what was sent before the other side existed
 * @peer: the other side, which is heard for the first time and has not heard from this host
 * @notice: by a join notice, so messages sent before came too early
 * @now: time in ns
 *
 * Otherwise messages sent just now have crossed its packet.
 */
void coll_peer_send_again(struct coll_peer *peer, bool notice, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link) {
		if (!notice && now - m->sent_ns < peer->group->timing.ack_delay)
			continue;
		m->tries = 1;
		peer_send_more_again(peer, m, now);
	}
}

/**
 * coll_peer_drop_repeated() - drop a packet that came before, or too long ago to tell
 * @peer: its sender
 * @body: authenticated
 * @freshness: which of the two
 */
void coll_peer_drop_repeated(struct coll_peer *peer, const struct coll_body *body,
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
 * coll_peer_acknowledge_again() - acknowledge a message that this host has or no longer needs
 * @peer: its sender
 * @body: the message, or a goodbye
 * @now: time in ns
 *
 * It does not count among the messages that are acknowledged before the delay is over:
 * however many come, one acknowledgment leaves in each delay.
 */
void coll_peer_acknowledge_again(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	struct coll_group *g = peer->group;

	g->stats.duplicates++;
	coll_env_drop(g, peer->host, g->self, body, COLL_DROP_DUPLICATE);
	coll_ack_mark(peer, body->number);
	peer->live.heard_ns = now;
	coll_ack_owe_now(peer, now);
}

/**
 * coll_peer_refuse() - refuse a message for lack of room
 * @peer: its sender
 * @body: the message
 * @now: time in ns
 *
 * It is neither stored nor acknowledged. The answer carries the credit, and another answer
 * follows as soon as there is room.
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

/*
 * Add to a lone acknowledgment whether multicast works, and the position, unless "done" implies
 * it.
 */
static void peer_add_position(struct coll_peer *peer, struct coll_body *body,
			      u8 payload[COLL_WIRE_POSITION])
{
	const struct coll_ahead *a = coll_peer_ahead(peer);

	body->flags = peer->group->multicast.copied;
	if (!peer->ack.copies)
		return;
	peer->ack.copies = false;
	if (!coll_after(a->got.operation, peer->group->window.completed))
		return;
	coll_wire_write_position(payload, &a->got);
	body->flags |= COLL_FLAG_POSITION;
	body->payload = payload;
	body->payload_bytes = COLL_WIRE_POSITION;
}

/**
 * coll_peer_send_ack() - send a lone acknowledgment
 * @peer: destination
 * @now: time in ns
 */
void coll_peer_send_ack(struct coll_peer *peer, u64 now)
{
	struct coll_body body = {
		.type		= COLL_PACKET_ACK,
		.operation	= peer->group->window.completed,
	};
	u8 position[COLL_WIRE_POSITION];

	if (coll_group_multicasts(peer->group))
		peer_add_position(peer, &body, position);
	peer->ack.explicit = true;
	peer->ack.owed = true;
	peer->ack.lone_ns = now;
	peer->group->stats.lone_acks++;
	coll_peer_speak(peer, &body);
}

/* Give up retransmitting a goodbye to a host that may never join. */
static bool peer_gives_up(struct coll_peer *peer, const struct coll_message *m, u64 now)
{
	if (!m->head->expires || peer->conn.incarnation ||
	    now - m->first_ns <= peer->group->timing.liveness)
		return false;
	peer->send.told = false;
	return true;
}

/* A message is late: it is repaired in its turn. A goodbye does not wait for others. */
static void peer_late(struct coll_peer *peer, struct coll_message *m, u64 now)
{
	if (peer_is_operation(m) || !peer->conn.incarnation)
		coll_congestion_timed_out(peer, m);
	else
		peer_send_again(peer, m, now);
}

static void peer_find_late(struct coll_peer *peer, u64 now)
{
	struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link) {
		u64 due;

		if (peer_gives_up(peer, m, now)) {
			coll_peer_forget(m, false, now);
			/* The next message becomes the oldest. */
			if (!list_empty(&peer->send.sent))
				coll_deadline_peer(peer, now + peer->rtt.rto_ns);
			break;
		}
		if (m->lost)
			continue;
		due = coll_rtt_due(peer, m);
		if (due <= now && !coll_work_over(peer->group))
			peer_late(peer, m, now);
		else
			coll_deadline_peer(peer, due);
	}
}

/*
 * Retransmit what is due: of all late messages only the oldest, the others as that is
 * acknowledged. So a dead link gets a packet or two for each time-out, which grows.
 */
static void peer_retransmit(struct coll_peer *peer, u64 now)
{
	u32 checks = peer->send.unacked;
	struct coll_message *m;

	peer_find_late(peer, now);
	if (unlikely(peer->send.lost))
		peer_repair(peer, REPAIRS_AT_ONCE, now);
	/*
	 * Without credit the oldest is sent nevertheless, since the answer carries the
	 * credit.
	 */
	if (list_empty(&peer->send.sent) && !list_empty(&peer->send.held)) {
		m = coll_held_first(&peer->send.held);
		peer->send.forced |= peer_beyond_credit(peer, m);
		peer_send_held(peer, m, now);
	}
	/* Count the checks last, so that each event sends something, however little it may do. */
	coll_work_do(peer->group, checks * COLL_WORK_CHECK);
}

/* A message is blocked after this number of transmissions, and of probes answered meanwhile. */
#define BLOCKED_TRIES	64
#define BLOCKED_ANSWERS	40

/**
 * coll_peer_blocked() - is the other side alive, but not reached by messages?
 * @peer: the other side
 *
 * The path may drop packets above some size. Without credit the other side stores nothing,
 * so retransmissions prove nothing then.
 */
bool coll_peer_blocked(struct coll_peer *peer)
{
	struct coll_message *m;

	if (likely(list_empty(&peer->send.sent)) || !peer->conn.incarnation)
		return false;
	m = list_first_entry(&peer->send.sent, struct coll_message, link);
	if (!peer_is_operation(m) || coll_after(m->head->number, peer->send.credit)) {
		m->answered = peer->live.answered;
		return false;
	}
	return m->tries >= BLOCKED_TRIES && peer->live.answered - m->answered >= BLOCKED_ANSWERS;
}

/**
 * coll_peer_expire() - retransmit and acknowledge what is due
 * @peer: the connection; its due_ns has been cleared
 * @now: time in ns
 *
 * Deadlines are lower bounds: what was acknowledged since is no longer due.
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
 * coll_peer_say_goodbye() - send the group's goodbye, unless the other side has it
 * @peer: destination
 * @now: time in ns
 *
 * A host that has left must still receive it if it has posted more than we have, since
 * those operations wait for us. A goodbye in flight may have been received already, so a
 * changed one is sent as a new message. Only the host of a rank that left sends it to hosts
 * never heard from; other hosts answer their packets.
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
 * coll_peer_fall_silent() - drop the goodbye to the other side and what is owed to it
 * @peer: the other side
 * @now: time in ns
 *
 * Messages of operations are dropped when their operations are forgotten.
 */
void coll_peer_fall_silent(struct coll_peer *peer, u64 now)
{
	coll_peer_forget(&peer->goodbye.message, false, now);
	peer->send.told = false;
	peer->ack.owed = false;
	peer->ack.now = false;
}

/**
 * coll_peer_owes_messages() - is a message of an operation in flight or held?
 * @peer: the other side
 */
bool coll_peer_owes_messages(const struct coll_peer *peer)
{
	const struct coll_message *m;

	list_for_each_entry(m, &peer->send.sent, link)
		if (peer_is_operation(m))
			return true;
	return !list_empty(&peer->send.held) || peer->send.ahead;
}
