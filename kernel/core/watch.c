// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "env.h"
#include "failure.h"
#include "liveness.h"
#include "peers.h"
#include "ranks.h"
#include "watch.h"
#include "window.h"
#include "work.h"

/* A report relayed by more hosts than any schedule has rounds is going in a circle. */
#define MOST_HOPS		64

/* Instructions of a check, about: of an operation, its lanes, and a host that it waits for */
#define WORK_OPERATION		1000
#define WORK_LANE		8
#define WORK_PEER		128

/* A check that exceeds what one event may do goes on after this time. */
#define PAUSE_NS		(100 * NSEC_PER_USEC)

/* ---- probing ---- */

/* Is there a reason to probe? Since when? */
static bool watch_reason(const struct coll_peer *peer, u64 *since)
{
	bool waited_for = coll_liveness_matters(peer);
	const struct coll_message *oldest;

	*since = peer->watch.since_ns;
	if (list_empty(&peer->send.sent))
		return waited_for;
	/*
	 * Retransmission serves as the probe of a host never heard from, which must receive
	 * that first.
	 */
	if (!peer->conn.incarnation)
		return false;
	oldest = list_first_entry(&peer->send.sent, struct coll_message, link);
	*since = waited_for ? min(*since, oldest->first_ns) : oldest->first_ns;
	return true;
}

static void watch_probe(struct coll_peer *peer)
{
	const struct coll_group *g = peer->group;
	u8 payload[COLL_WIRE_PROBE];
	struct coll_body body = {
		.type		= COLL_PACKET_PROBE,
		.payload	= payload,
		.payload_bytes	= sizeof(payload),
	};
	const struct coll_op *op = coll_group_slot(g, peer->watch.operation);

	if (coll_liveness_matters(peer) && op->head.number == peer->watch.operation &&
	    (op->state == COLL_OP_RUNNING || op->state == COLL_OP_EARLY)) {
		body.operation = op->head.number;
		body.signature = op->head.signature;
		peer->watch.probed_operation = op->head.number;
	}
	coll_wire_write_nonce(payload, ++peer->watch.probes);
	peer->group->stats.probes_sent++;
	coll_peer_speak(peer, &body);
}

/**
 * coll_watch_ask() - probe the other side if that is due
 * @peer: the other side
 * @now: time in ns
 */
void coll_watch_ask(struct coll_peer *peer, u64 now)
{
	u64 since, due;

	if (!watch_reason(peer, &since))
		return;
	if (unlikely(peer->live.asked_ns > peer->live.heard_ns))
		due = peer->live.asked_ns + coll_liveness_interval_ns(peer);
	else
		due = max(peer->live.heard_ns, since) + coll_liveness_quiet_ns(peer->group);
	if (unlikely(due <= now)) {
		coll_liveness_asked(peer, now);
		watch_probe(peer);
		due = now + coll_liveness_interval_ns(peer);
	}
	coll_deadline_peer(peer, due);
}

/* ---- which hosts to watch ---- */

/**
 * coll_watch_arm() - schedule a check, as an operation has begun to wait
 * @g: the group
 * @now: time in ns
 */
void coll_watch_arm(struct coll_group *g, u64 now)
{
	g->watch.next_ns = now + coll_liveness_quiet_ns(g);
	coll_deadline_arm(g, g->watch.next_ns);
}

static void watch_peer(struct coll_peer *peer, const struct coll_op *op, u64 now)
{
	struct coll_group *g = peer->group;

	if (peer->watch.round != g->watch.round) {
		if (peer->watch.round != g->watch.round - 1)
			peer->watch.since_ns = now;
		peer->watch.round = g->watch.round;
		peer->watch.operation = op->head.number;
	} else if (op->head.number - peer->watch.probed_operation - 1 <
		   peer->watch.operation - peer->watch.probed_operation - 1) {
		/* All operations that wait for it get their turn. */
		peer->watch.operation = op->head.number;
	}
	coll_deadline_peer(peer, now);
}

/*
 * Has the other side finished an operation in which this host waits for it? It cannot have finished
 * before its message to us was acknowledged, and we have not acknowledged it: so a former
 * incarnation of this host has. Or the two operations differ: then the other side reports that when
 * it is probed about this one, unless it has left.
 */
static bool watch_is_late(const struct coll_peer *peer, u64 number)
{
	return !coll_before(number, peer->group->window.oldest) &&
	       !coll_after(number, peer->send.credit - peer->group->window.size);
}

static bool watch_succeeds(struct coll_peer *peer, const struct coll_op *op, u64 now)
{
	if (!watch_is_late(peer, op->head.number))
		return false;
	if (peer->recv.gone)
		return true;
	/* One probe at a time: the next one follows when it is due. */
	if (peer->watch.answers != peer->watch.probes)
		return false;
	if (watch_is_late(peer, peer->watch.probed_operation))
		return true;
	peer->watch.operation = op->head.number;
	watch_probe(peer);
	return false;
}

static void watch_host(struct coll_group *g, const struct coll_op *op, u32 host, u64 now)
{
	struct coll_peer *peer = coll_peers_get(g, host, now);

	coll_work_do(g, WORK_PEER);
	/* Memory was reserved for the peers of every schedule. */
	if (WARN_ON_ONCE(!peer))
		return;
	watch_peer(peer, op, now);
	if (watch_succeeds(peer, op, now))
		coll_failure_end(g, COLL_REASON_RESTARTED, coll_ranks_lowest(g, g->self), now);
}

/*
 * Watch the hosts that an operation waits for. Returns false if the event has done what it may, and
 * something is left.
 */
static bool watch_operation(struct coll_group *g, const struct coll_op *op, u64 now)
{
	struct coll_arrived arrived = coll_engine_arrived(op);
	struct coll_watch *w = &g->watch;
	u32 first;

	if (w->operation != op->head.number)
		w->fold = 0;
	w->operation = op->head.number;
	for (first = w->fold; w->fold < op->schedule->folds && !g->failure.terminal; w->fold++) {
		if (!coll_engine_misses(op, &arrived, w->fold))
			continue;
		if (w->fold != first && coll_work_over(g))
			return false;
		watch_host(g, op, op->schedule->fold[w->fold].host, now);
	}
	w->fold = 0;
	return true;
}

static bool watch_wanted(const struct coll_group *g, const struct coll_op *op)
{
	if (g->failure.known && coll_after(op->head.number, g->failure.what.limit))
		return false;
	return op->state == COLL_OP_RUNNING || (op->state == COLL_OP_EARLY && op->probed);
}

/*
 * Does an operation wait for a rank of this host that has not joined? Once another local
 * rank has posted, that rank waits for it; other hosts wait only for its contribution.
 */
static bool watch_misses(const struct coll_op *op, const struct coll_rank *rank)
{
	return rank->state == COLL_RANK_ABSENT &&
	       (op->state == COLL_OP_RUNNING ||
		coll_signature_contributes(&op->head.signature, rank->rank));
}

/*
 * Fail the group if an operation misses a rank of this host that has not joined by the join
 * time-out. Ranks that have joined may be late.
 */
static void watch_locals(struct coll_group *g, const struct coll_op *op, u64 now)
{
	u32 i;

	if (!op->locals.unposted || now - op->awaited_ns <= g->timing.join_timeout)
		return;
	for (i = 0; i < g->ranks.locals; i++) {
		if (watch_misses(op, &g->ranks.local[i])) {
			coll_failure_end(g, COLL_REASON_SILENT, g->ranks.local[i].rank, now);
			return;
		}
	}
}

/* Check the operation in a slot. Returns false as watch_operation() does. */
static bool watch_slot(struct coll_group *g, const struct coll_op *op, u64 now)
{
	if (!watch_wanted(g, op))
		return true;
	coll_work_do(g, WORK_OPERATION + op->locals.unposted + WORK_LANE * op->layout.segments);
	if (!watch_operation(g, op, now))
		return false;
	watch_locals(g, op, now);
	g->watch.found = true;
	return true;
}

/**
 * coll_watch_look() - check which hosts operations wait for
 * @g: the group
 * @now: time in ns
 *
 * If they are many, one event does a part of it.
 */
void coll_watch_look(struct coll_group *g, u64 now)
{
	const struct coll_op *end = g->window.slots + g->window.mask + 1;
	struct coll_watch *w = &g->watch;
	u32 first;

	if (!w->left) {
		w->round++;
		w->left = g->window.mask + 1;
		w->found = false;
	}
	for (first = w->left; w->left && !g->failure.terminal; w->left--) {
		if ((w->left != first && coll_work_over(g)) || !watch_slot(g, end - w->left, now)) {
			w->next_ns = now + PAUSE_NS;
			return;
		}
	}
	w->left = 0;
	w->next_ns = w->found ? now + coll_liveness_quiet_ns(g) : COLL_NEVER;
}

/* ---- being probed ---- */

/* The other side waits in this operation, so watch it on this host as well. */
static void watch_compare(struct coll_group *g, struct coll_peer *peer,
			  const struct coll_body *body, u64 now)
{
	s64 ahead = body->operation - g->window.oldest;
	struct coll_op *op;

	if (!body->signature.operation || g->failure.terminal || ahead >= (s64)g->window.size)
		return;
	if (ahead < 0) {
		coll_failure_recall(g, peer, body, now);
		return;
	}
	op = coll_window_open_early(g, peer->host, body, now);
	if (!op) {
		g->stats.invalid++;
		coll_env_drop(g, peer->host, g->self, body, COLL_DROP_INVALID);
	} else if (!coll_signature_equal(&op->head.signature, &body->signature)) {
		coll_failure_disagree(g, peer, now);
	} else if (op->state == COLL_OP_EARLY) {
		if (!op->probed)
			op->awaited_ns = now;
		op->probed = true;
		coll_watch_start(g, now);
	}
}

static u32 watch_ms(u64 since, u64 now)
{
	return (u32)min_t(u64, div_u64(now - since, NSEC_PER_MSEC), ~0U);
}

/* A rank of this host that contributes to the operation and has not posted it */
static u32 watch_missing_local(const struct coll_group *g, const struct coll_op *op)
{
	u32 i;

	for (i = 0; i < g->ranks.locals; i++)
		if (!coll_after(g->ranks.local[i].next, op->head.number) &&
		    coll_signature_contributes(&op->head.signature, g->ranks.local[i].rank))
			return g->ranks.local[i].rank;
	return COLLSOCK_NO_RANK;
}

/* A member may report anything: the host, its rank and the hops must be plausible. */
static bool watch_is_sane(const struct coll_group *g, const struct coll_wait *wait)
{
	return wait->host < g->hosts && wait->hops < MOST_HOPS &&
	       (wait->rank == COLLSOCK_NO_RANK ||
		(wait->rank < g->ranks.size && coll_group_host(g, wait->rank) == wait->host));
}

/**
 * coll_watch_told() - has the other side reported where the chain of waits ends?
 * @peer: the other side, for which an operation waits
 * @operation: number of the operation
 * @wait: out: the report, with its current age
 * @now: time in ns
 *
 * A report from before the operation waited concerns another one: a host is not probed
 * until it was silent for a while, so its last answer may be an hour old. A rank that waits
 * in a later operation is not to blame.
 */
bool coll_watch_told(const struct coll_peer *peer, u64 operation, struct coll_wait *wait,
		     u64 now)
{
	const struct coll_group *g = peer->group;
	const struct coll_op *op = coll_group_slot(g, operation);
	u32 age_ms = (u32)div_u64(now, NSEC_PER_MSEC) - peer->watch.reported_ms;

	*wait = peer->watch.wait;
	if (!peer->watch.answers || op->head.number != operation ||
	    age_ms > watch_ms(op->awaited_ns, now) || !watch_is_sane(g, wait) ||
	    coll_after(wait->operation, operation))
		return false;
	wait->age_ms = wait->age_ms < ~0U - age_ms ? wait->age_ms + age_ms : ~0U;
	wait->hops++;
	return true;
}

/* Which host does an operation of ours ultimately wait for? False if it waits for none. */
static bool watch_end(const struct coll_group *g, const struct coll_op *op,
		      struct coll_wait *end, u64 now)
{
	struct coll_arrived arrived;
	const struct coll_peer *peer;
	struct coll_wait told;
	bool found = false;
	u32 i;

	*end = (struct coll_wait) {
		.rank		= COLLSOCK_NO_RANK,
		.operation	= op->head.number,
		.waited_ms	= watch_ms(op->awaited_ns, now),
	};
	if (op->locals.contributed < op->locals.contributors) {
		end->host = g->self;
		end->rank = watch_missing_local(g, op);
		return true;
	}
	if (coll_engine_finished(op))
		return false;
	coll_work_do(op->group, WORK_OPERATION + WORK_LANE * op->layout.segments);
	arrived = coll_engine_arrived(op);
	for (i = 0; i < op->schedule->folds; i++) {
		if (!coll_engine_misses(op, &arrived, i))
			continue;
		peer = coll_peers_find(g, op->schedule->fold[i].host);
		if (peer && coll_watch_told(peer, op->head.number, &told, now) &&
		    told.host != g->self) {
			*end = told;
			return true;
		}
		if (!found)
			end->host = op->schedule->fold[i].host;
		found = true;
	}
	return found;
}

/*
 * Which host does the probed operation wait for? If a rank of this host has not posted it,
 * that rank may itself wait in the oldest waiting operation: then that one counts.
 */
static void watch_describe(const struct coll_group *g, const struct coll_body *probe,
			   struct coll_wait *end, u64 now)
{
	const struct coll_op *op = coll_group_slot(g, probe->operation);
	u64 number;

	if (op->head.number == probe->operation && op->state == COLL_OP_RUNNING &&
	    op->locals.contributed >= op->locals.contributors && watch_end(g, op, end, now))
		return;
	for (number = g->window.oldest; number != g->window.next && !coll_work_over(g); number++) {
		op = coll_group_slot(g, number);
		if (op->state == COLL_OP_RUNNING && watch_end(g, op, end, now))
			return;
	}
	/* Has no rank of this host posted the operation in which the other side waits? */
	op = coll_group_slot(g, probe->operation);
	if (op->head.number == probe->operation && op->state == COLL_OP_EARLY &&
	    watch_end(g, op, end, now))
		return;
	*end = (struct coll_wait) {
		.host		= COLL_NOBODY,
		.rank		= COLLSOCK_NO_RANK,
		.operation	= g->window.next,
	};
}

/**
 * coll_watch_probed() - answer a probe
 * @g: the group
 * @peer: its sender
 * @body: authenticated
 * @now: time in ns
 *
 * One packet is answered by one packet.
 */
void coll_watch_probed(struct coll_group *g, struct coll_peer *peer,
		       const struct coll_body *body, u64 now)
{
	u8 payload[COLL_WIRE_ANSWER];
	struct coll_body reply = {
		.type		= COLL_PACKET_ANSWER,
		.operation	= body->operation,
		.signature	= body->signature,
		.payload	= payload,
		.payload_bytes	= sizeof(payload),
	};
	struct coll_answer answer;

	g->stats.probes_received++;
	watch_compare(g, peer, body, now);
	watch_describe(g, body, &answer.wait, now);
	answer.nonce = coll_wire_read_nonce(body->payload);
	coll_wire_write_answer(payload, &answer);
	peer->live.idle_at_ns = now + g->timing.idle;
	coll_peer_speak(peer, &reply);
}

/**
 * coll_watch_answered() - handle an answer
 * @peer: its sender
 * @body: authenticated
 * @now: time in ns
 *
 * Each probe is answered once: a replayed answer proves nothing.
 */
void coll_watch_answered(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	struct coll_group *g = peer->group;
	const struct coll_op *op = coll_group_slot(g, peer->watch.probed_operation);
	struct coll_answer answer;

	coll_wire_read_answer(body->payload, &answer);
	if (answer.nonce <= peer->watch.answers || answer.nonce > peer->watch.probes) {
		g->stats.stale++;
		coll_env_drop(g, peer->host, g->self, body, COLL_DROP_STALE);
		return;
	}
	peer->watch.answers = answer.nonce;
	peer->live.answered++;
	peer->live.heard_ns = now;
	peer->watch.wait = answer.wait;
	peer->watch.reported_ms = (u32)div_u64(now, NSEC_PER_MSEC);
	/*
	 * The other side does not disagree and is ahead of us, which can be acted on at
	 * once.
	 */
	if (op->head.number == peer->watch.probed_operation && watch_wanted(g, op) &&
	    watch_is_late(peer, op->head.number)) {
		g->watch.next_ns = now;
		coll_deadline_arm(g, now);
	}
}

/* ---- another incarnation ---- */

/*
 * The nonce that challenges an incarnation. Only that incarnation itself, while alive, can return
 * it, since nonces of probes are small. The input of the hash has a length of its own: no packet,
 * and no word of NH's key, is the same under this key.
 */
static u64 watch_challenge(const struct coll_peer *peer, u32 incarnation)
{
	const struct coll_group *g = peer->group;
	const u32 words[3] = { g->incarnation, incarnation, g->self << 16 | peer->host };

	static_assert(sizeof(words) < COLL_WIRE_AT_TAG + 8 && sizeof(words) > 8);
	static_assert(COLLSOCK_MAX_HOSTS <= 1 << 16);

	return siphash(words, sizeof(words), &g->secret.mac.key) | BIT_ULL(63);
}

static void watch_send_challenge(struct coll_peer *peer, const struct coll_prefix *theirs)
{
	struct coll_group *g = peer->group;
	struct coll_prefix prefix = coll_peer_prefix(peer, theirs->incarnation);
	u8 payload[COLL_WIRE_PROBE];
	struct coll_body body = {
		.type		= COLL_PACKET_PROBE,
		.done		= COLL_NOTHING_DONE,
		.credit		= g->window.size - 1,
		.payload	= payload,
		.payload_bytes	= sizeof(payload),
	};
	struct coll_wire_side side;

	g->stats.challenges++;
	coll_wire_write_nonce(payload, watch_challenge(peer, theirs->incarnation));
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	coll_peer_emit(peer, &side, &body);
	memzero_explicit(&side, sizeof(side));
}

/**
 * coll_watch_changed() - handle a packet of another incarnation of the other side
 * @peer: the other side
 * @prefix: authenticated; it names the current incarnation of this host, or none
 * @packet: authenticated
 * @bytes: its length
 * @now: time in ns
 *
 * It may be a replay from an earlier incarnation: nothing is trusted until a challenge is
 * answered. Then the former state of the other side is known to be lost, and with it the
 * group.
 */
void coll_watch_changed(struct coll_peer *peer, const struct coll_prefix *prefix,
			const u8 *packet, u32 bytes, u64 now)
{
	struct coll_group *g = peer->group;
	struct coll_body body;

	coll_wire_read_body(packet, bytes, &body);
	if (body.type != COLL_PACKET_ANSWER) {
		if (now - peer->live.challenged_ns >= g->timing.rto_initial) {
			peer->live.challenged_ns = now;
			watch_send_challenge(peer, prefix);
		}
		return;
	}
	if (coll_wire_read_nonce(body.payload) != watch_challenge(peer, prefix->incarnation))
		return;
	coll_peer_succeed(peer, prefix, now);
	coll_failure_end(g, COLL_REASON_RESTARTED, coll_ranks_lowest(g, peer->host), now);
	coll_peer_say_goodbye(peer, now);
}
