// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "env.h"
#include "failure.h"
#include "liveness.h"
#include "peers.h"
#include "ranks.h"
#include "window.h"
#include "work.h"

#define COLL_REASON_ERROR(identifier, number, name, error)	[number] = error,

/**
 * coll_failure_error() - the errno of a failure
 * @f: the failure
 *
 * Return: errno, positive as completions have it. Context: any.
 */
u32 coll_failure_error(const struct coll_failure *f)
{
	static const u8 errors[COLL_REASONS] = { COLL_REASON_LIST(COLL_REASON_ERROR) };

	return errors[f->reason];
}

/* ---- notifying other hosts ---- */

/* Compose the goodbye that other hosts are sent from now on. */
static void failure_compose_goodbye(struct coll_group *g)
{
	struct coll_failure_state *f = &g->failure;
	struct coll_message_head *goodbye = &f->goodbye;

	goodbye->type = COLL_PACKET_GOODBYE;
	goodbye->number = coll_group_last(g);
	goodbye->expires = coll_group_failed(g);
	if (f->known && goodbye->number == f->what.limit) {
		goodbye->signature.root = f->what.rank;
		goodbye->signature.count = f->what.reason;
	} else {
		goodbye->signature.root = g->ranks.local[0].rank;
		goodbye->signature.count = COLL_REASON_LEFT;
	}
}

/* May the event notify another host? If not, that waits for the next turn. */
static bool failure_may_tell(struct coll_group *g)
{
	if (!coll_work_over(g))
		return true;
	coll_work_leave(g, COLL_WORK_GOODBYES);
	return false;
}

static void failure_tell_connected(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;

	for (peer = g->peers.all; peer && failure_may_tell(g); peer = peer->all)
		coll_peer_say_goodbye(peer, now);
}

static void failure_tell_host(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_peers_get(g, host, now);

	if (peer)
		coll_peer_say_goodbye(peer, now);
}

/*
 * Notify connected hosts, and of a failure also the hosts at distances 2^k on both sides, each of
 * which does the same. So a failure reaches all hosts: none is cut off unless all of its neighbours
 * of this kind have crashed.
 */
static void failure_tell(struct coll_group *g, u64 now)
{
	u32 distance;

	failure_tell_connected(g, now);
	if (!coll_group_failed(g))
		return;
	for (distance = 1; distance < g->hosts && failure_may_tell(g); distance *= 2) {
		failure_tell_host(g, (g->self + distance) % g->hosts, now);
		failure_tell_host(g, (g->self + g->hosts - distance) % g->hosts, now);
	}
}

/**
 * coll_failure_tell_rest() - notify hosts for which the events before had no time
 * @g: the group
 * @now: time in ns
 *
 * Those that were notified are skipped (coll_peer_say_goodbye()).
 *
 * Context: group lock held.
 */
void coll_failure_tell_rest(struct coll_group *g, u64 now)
{
	bool idle = g->work.rest & COLL_WORK_IDLE;

	g->work.rest &= ~COLL_WORK_GOODBYES;
	if (idle)
		coll_peers_reopen(g, now);
	failure_tell(g, now);
}

/* ---- the failure limit ---- */

/*
 * Abort operations that cannot complete: from now on nothing is sent for them, and posted ones
 * report after the settling time.
 */
static void failure_abort(struct coll_group *g, u64 latest)
{
	const struct coll_window *w = &g->window;
	u64 number;

	g->work.rest |= COLL_WORK_MESSAGES;
	for (number = w->oldest; !coll_after(number, latest); number++) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->head.number != number || !coll_after(number, g->failure.what.limit))
			continue;
		if (op->state == COLL_OP_RUNNING)
			coll_engine_abort(op);
		else if (op->state == COLL_OP_EARLY)
			coll_engine_stop(op);
		else if (op->state == COLL_OP_DONE)
			/* Our ranks' posts have completed, and no host can use it any more. */
			coll_engine_forget_later(op, false);
	}
}

/* Does it replace the known failure? The lower limit wins, then the lower rank. */
static bool failure_wins(const struct coll_group *g, const struct coll_failure *f)
{
	const struct coll_failure *known = &g->failure.what;

	if (!g->failure.known || coll_before(f->limit, known->limit))
		return true;
	/* All operations report the same rank, so it is kept once some may have reported. */
	return f->limit == known->limit && f->rank < known->rank && coll_group_settling(g) &&
	       !g->failure.reporting;
}

static void failure_learn(struct coll_group *g, const struct coll_failure *f, u64 now)
{
	bool lower = !g->failure.known || f->limit != g->failure.what.limit;
	u64 latest = g->window.oldest + g->window.size - 1;

	if (!failure_wins(g, f))
		return;
	/* Operations beyond the former limit were aborted then, and none has begun since. */
	if (g->failure.known && coll_before(g->failure.what.limit, latest))
		latest = g->failure.what.limit;
	g->failure.known = true;
	g->failure.what = *f;
	failure_compose_goodbye(g);
	coll_env_failure(g);
	/*
	 * All hosts are about to learn the limit; another rank to blame is no reason to
	 * notify them again.
	 */
	if (!lower)
		return;
	failure_abort(g, latest);
	if (!coll_group_settling(g) || g->failure.reporting) {
		g->failure.reporting = false;
		g->failure.settle_ns = now + g->timing.settle;
		coll_deadline_arm(g, g->failure.settle_ns);
	}
	/* Other hosts wait for the report, but for no message that is forgotten. */
	failure_tell(g, now);
	coll_window_forget(g, now);
}

/**
 * coll_failure_settle() - report errors after the settling time
 * @g: the group
 * @now: time in ns
 *
 * All aborted operations report the failure that won, in several events if they are many:
 * until then it stays due.
 *
 * Context: group lock held.
 */
void coll_failure_settle(struct coll_group *g, u64 now)
{
	const struct coll_failure *f = &g->failure.what;
	u64 number;

	g->failure.reporting = true;
	for (number = g->window.oldest; number != g->window.next; number++) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->state != COLL_OP_ABORTED)
			continue;
		if (!coll_engine_report(op, coll_failure_error(f), f->rank))
			return;
		coll_window_completed(g, op, now);
	}
	g->failure.reporting = false;
	g->failure.settle_ns = COLL_NEVER;
	coll_window_advance(g, now);
	coll_env_writable(g);
}

/* ---- causes of failures ---- */

/**
 * coll_failure_end() - the group ends on this host
 * @g: the group
 * @reason: why
 * @rank: the rank that is to blame
 * @now: time in ns
 *
 * Terminal. Unacknowledged messages are not retransmitted; hosts that may need them are
 * notified.
 *
 * Context: group lock held.
 */
void coll_failure_end(struct coll_group *g, enum coll_reason reason, u32 rank, u64 now)
{
	struct coll_failure f = { .limit = g->window.oldest - 1, .rank = rank, .reason = reason };
	struct coll_peer *peer;

	if (g->failure.terminal)
		return;
	g->failure.terminal = true;
	/* Send no waiting messages before it is known which of them nobody needs. */
	g->work.rest |= COLL_WORK_MESSAGES;
	for (peer = g->peers.all; peer; peer = peer->all)
		coll_peer_fall_silent(peer, now);
	failure_learn(g, &f, now);
	/* Even if nothing is new: a goodbye may be among what was dropped. */
	failure_tell(g, now);
	coll_window_forget(g, now);
}

/**
 * coll_failure_disagree() - another host has a different operation with the same number
 * @g: the group
 * @peer: that host
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_failure_disagree(struct coll_group *g, const struct coll_peer *peer, u64 now)
{
	coll_failure_end(g, COLL_REASON_DISAGREES, coll_ranks_lowest(g, peer->host), now);
}

/**
 * coll_failure_recall() - check another host's signature of an operation that is over
 * @g: the group
 * @peer: that host
 * @body: number and signature
 * @now: time in ns
 *
 * A slot keeps the signature of its operation until it is reused.
 *
 * Context: group lock held.
 */
void coll_failure_recall(struct coll_group *g, const struct coll_peer *peer,
			 const struct coll_body *body, u64 now)
{
	const struct coll_op *op = coll_group_slot(g, body->operation);

	if (op->head.number == body->operation && !g->failure.known &&
	    !coll_signature_equal(&op->head.signature, &body->signature))
		coll_failure_disagree(g, peer, now);
}

/*
 * Does the death of this peer matter? Not if this host has left, waits for nothing and owes
 * only a goodbye: other hosts may still receive it. And not if the peer has left and no
 * operation waits for it.
 */
static bool failure_is_missed(const struct coll_peer *peer)
{
	const struct coll_group *g = peer->group;

	if (coll_peer_owes_messages(peer))
		return true;
	if (peer->recv.gone && !coll_liveness_matters(peer))
		return false;
	return !g->ranks.leaving || g->window.running;
}

/* A host whose own filters drop its packets blames itself: no other host can find that out. */
static void failure_silent(struct coll_group *g, const struct coll_peer *peer, u64 now)
{
	if (coll_liveness_filtered(peer))
		coll_failure_end(g, COLL_REASON_REFUSED, coll_ranks_lowest(g, g->self), now);
	else
		coll_failure_end(g, COLL_REASON_SILENT, coll_ranks_lowest(g, peer->host), now);
}

/**
 * coll_failure_accuse() - declare a silent host dead
 * @g: the group
 * @peer: the host
 * @now: time in ns
 *
 * It is not notified, since it would not answer.
 *
 * Context: group lock held.
 */
void coll_failure_accuse(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	peer->conn.dead = true;
	if (!g->failure.terminal && failure_is_missed(peer))
		failure_silent(g, peer, now);
	coll_peer_fall_silent(peer, now);
	coll_window_advance(g, now);
}

/**
 * coll_failure_blocked() - a host is alive, but messages do not reach it
 * @g: the group
 * @peer: the host
 * @now: time in ns
 *
 * Since it answers, it is notified, too.
 *
 * Context: group lock held.
 */
void coll_failure_blocked(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	coll_failure_end(g, COLL_REASON_SILENT, coll_ranks_lowest(g, peer->host), now);
}

/* Another host reports that this one is silent: is the reason known here? */
static enum coll_reason failure_own_reason(const struct coll_group *g, enum coll_reason reason)
{
	const struct coll_peer *peer;

	for (peer = g->peers.all; peer && reason == COLL_REASON_SILENT; peer = peer->all)
		if (coll_liveness_muted(peer))
			return COLL_REASON_REFUSED;
	return reason;
}

/**
 * coll_failure_receive_goodbye() - handle a goodbye
 * @g: the group, in which operations can still complete or errors have not settled
 * @peer: its sender
 * @body: authenticated; not a duplicate
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_failure_receive_goodbye(struct coll_group *g, struct coll_peer *peer,
				  const struct coll_body *body, u64 now)
{
	struct coll_failure f = {
		.limit	= body->operation,
		.rank	= body->signature.root,
		.reason	= body->signature.count,
	};

	if (body->number < COLL_NUMBER_TIMEWAIT)
		coll_peer_accept(peer, body, now);
	/* A later goodbye of the same host may name an earlier operation. */
	if (peer->recv.gone && !coll_before(f.limit, peer->goodbye.last))
		return;
	peer->recv.gone = true;
	peer->goodbye.last = f.limit;
	if (f.rank >= g->ranks.size || f.reason >= COLL_REASONS) {
		f.rank = coll_ranks_lowest(g, peer->host);
		f.reason = COLL_REASON_LEFT;
	}
	if (f.reason != COLL_REASON_LEFT && coll_group_host(g, f.rank) == g->self) {
		/* A host cannot disagree with itself. */
		if (f.reason == COLL_REASON_DISAGREES)
			f.rank = coll_ranks_lowest(g, peer->host);
		f.reason = failure_own_reason(g, f.reason);
		/* Other hosts consider this one failed and accept nothing from it. */
		coll_failure_end(g, f.reason, f.rank, now);
	}
	failure_learn(g, &f, now);
}

/**
 * coll_failure_rank_left() - a rank of this host has left
 * @g: the group
 * @rank: the rank
 * @now: time in ns
 *
 * The other hosts are notified. While other ranks are here, or have posted more, it limits
 * the operations that can complete. When the last one leaves, every host ever heard from is
 * notified.
 *
 * Context: group lock held.
 */
void coll_failure_rank_left(struct coll_group *g, const struct coll_rank *rank, u64 now)
{
	struct coll_failure f = {
		.limit	= rank->next - 1,
		.rank	= rank->rank,
		.reason	= COLL_REASON_LEFT,
	};

	if (g->ranks.locals > 1)
		failure_learn(g, &f, now);
	if (g->ranks.joined)
		return;
	g->ranks.leaving = true;
	failure_compose_goodbye(g);
	coll_peers_reopen(g, now);
	failure_tell_connected(g, now);
}
