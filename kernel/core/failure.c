// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "env.h"
#include "failure.h"
#include "peers.h"
#include "ranks.h"
#include "window.h"

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

/* ---- telling ---- */

/* What the other hosts are told from now on. */
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

static void failure_tell_connected(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all)
		coll_peer_say_goodbye(peer, now);
}

static void failure_tell_host(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_peers_get(g, host, now);

	if (peer)
		coll_peer_say_goodbye(peer, now);
}

/*
 * Connected hosts are told. A failure goes to all hosts, through those at the distances
 * 2^k on both sides, each of which tells its own: so fewer crashes than a host has such
 * neighbours cut no host off.
 */
static void failure_tell(struct coll_group *g, u64 now)
{
	u32 distance;

	failure_tell_connected(g, now);
	if (!coll_group_failed(g))
		return;
	for (distance = 1; distance < g->hosts; distance *= 2) {
		failure_tell_host(g, (g->self + distance) % g->hosts, now);
		failure_tell_host(g, (g->self + g->hosts - distance) % g->hosts, now);
	}
}

/* ---- knowing ---- */

/*
 * Nothing more is sent for what cannot complete; what was posted reports when all
 * is settled.
 */
static void failure_abort(struct coll_group *g, u64 now)
{
	const struct coll_window *w = &g->window;
	u64 number;

	/* The latest first, so that what waits for room is not sent when others make some. */
	for (number = w->oldest + w->size - 1; !coll_before(number, w->oldest); number--) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->head.number != number || !coll_after(number, g->failure.what.limit))
			continue;
		if (op->state == COLL_OP_RUNNING)
			coll_engine_abort(op, now);
		else if (op->state == COLL_OP_EARLY)
			coll_engine_stop(op, now);
		else if (op->state == COLL_OP_DONE)
			/* Our ranks were answered, and no host can use it any more. */
			coll_engine_forget(op, false, now);
	}
}

/* Does it say more than what we know? The lower limit wins, then the lower rank. */
static bool failure_wins(const struct coll_group *g, const struct coll_failure *f)
{
	const struct coll_failure *known = &g->failure.what;

	if (!g->failure.known || coll_before(f->limit, known->limit))
		return true;
	/* What has been reported stays. */
	return f->limit == known->limit && f->rank < known->rank && coll_group_settling(g);
}

static void failure_learn(struct coll_group *g, const struct coll_failure *f, u64 now)
{
	bool lower = !g->failure.known || f->limit != g->failure.what.limit;

	if (!failure_wins(g, f))
		return;
	g->failure.known = true;
	g->failure.what = *f;
	failure_compose_goodbye(g);
	coll_env_failure(g);
	/* All hosts are about to know the limit; they need not be told of another rank. */
	if (!lower)
		return;
	failure_abort(g, now);
	if (!coll_group_settling(g)) {
		g->failure.settle_ns = now + g->timing.settle;
		coll_deadline_arm(g, g->failure.settle_ns);
	}
	failure_tell(g, now);
}

/**
 * coll_failure_settle() - the settling time is over
 * @g: the group
 * @now: time in ns
 *
 * All that was aborted reports the failure that won.
 *
 * Context: group lock held.
 */
void coll_failure_settle(struct coll_group *g, u64 now)
{
	const struct coll_failure *f = &g->failure.what;
	u64 number;

	g->failure.settle_ns = COLL_NEVER;
	for (number = g->window.oldest; number != g->window.next; number++) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->state != COLL_OP_ABORTED)
			continue;
		coll_engine_report(op, coll_failure_error(f), f->rank);
		coll_window_completed(g, op, now);
	}
	coll_window_advance(g, now);
	coll_env_writable(g);
}

/* ---- where failures come from ---- */

/**
 * coll_failure_end() - the group ends on this host
 * @g: the group
 * @reason: why
 * @rank: the rank that is to blame
 * @now: time in ns
 *
 * Terminal. What was not acknowledged is not sent again; others may need it, and
 * are told that it does not come.
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
	for (peer = g->peers.all; peer; peer = peer->all)
		coll_peer_drop_all(peer, now);
	failure_learn(g, &f, now);
	/* Even if nothing is new: a goodbye may be among what was dropped. */
	failure_tell(g, now);
}

/**
 * coll_failure_disagree() - another host means another operation by the same number
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
 * coll_failure_recall() - does another host agree on an operation that is over?
 * @g: the group
 * @peer: that host
 * @body: number and signature
 * @now: time in ns
 *
 * A slot remembers its operation until it serves another one.
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
 * Must it be alive? Not if this host has left, waits for nothing and owes only a goodbye:
 * other hosts may still hear it. Nor if the peer has left and no operation waits for it.
 */
static bool failure_is_missed(const struct coll_peer *peer)
{
	const struct coll_group *g = peer->group;

	if (coll_peer_owes_messages(peer))
		return true;
	if (peer->recv.gone && peer->watch.round != g->watch.round)
		return false;
	return !g->ranks.leaving || g->window.running;
}

/**
 * coll_failure_accuse() - a host is silent
 * @g: the group
 * @peer: the host
 * @now: time in ns
 *
 * It is not told, since it would not answer.
 *
 * Context: group lock held.
 */
void coll_failure_accuse(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	peer->conn.dead = true;
	if (!g->failure.terminal && failure_is_missed(peer))
		coll_failure_end(g, COLL_REASON_SILENT, coll_ranks_lowest(g, peer->host), now);
	coll_peer_drop_all(peer, now);
	coll_window_advance(g, now);
}

/**
 * coll_failure_blocked() - a host is there, and what it needs does not get through to it
 * @g: the group
 * @peer: the host
 * @now: time in ns
 *
 * It answers, so it is told, too.
 *
 * Context: group lock held.
 */
void coll_failure_blocked(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	coll_failure_end(g, COLL_REASON_SILENT, coll_ranks_lowest(g, peer->host), now);
}

/**
 * coll_failure_receive_goodbye() - a goodbye came
 * @g: works still, or its errors have not settled
 * @peer: who sent it
 * @body: authenticated; not heard before
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
		/* A host does not disagree with itself. */
		if (f.reason == COLL_REASON_DISAGREES)
			f.rank = coll_ranks_lowest(g, peer->host);
		/* Others count us as failed: they accept nothing that we send. */
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
 * The other hosts learn that it left; as long as other ranks are here, or have posted
 * more, it limits what they can do. When the last one leaves, each host that was ever
 * heard is told.
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
