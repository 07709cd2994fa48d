// SPDX-License-Identifier: GPL-2.0
#include "group.h"
#include "failure.h"

#define COLL_REASON_ERROR(identifier, number, name, error)	[number] = error,

/**
 * coll_failure_error() - the errno of a failure
 * @v: the failure
 *
 * Return: errno, positive as completions have it.
 */
u32 coll_failure_error(const struct coll_failure *v)
{
	static const u8 errors[COLL_REASONS] = { COLL_REASON_LIST(COLL_REASON_ERROR) };

	return errors[v->reason];
}

/* ---- telling ---- */

/**
 * coll_group_blame() - why does this host say goodbye?
 * @g: the group
 * @goodbye: out: its count is the reason, its root the rank that is to blame
 */
void coll_group_blame(const struct coll_group *g, struct coll_signature *goodbye)
{
	if (g->limited && coll_group_last(g) == g->failure.limit) {
		goodbye->root = g->failure.rank;
		goodbye->count = g->failure.reason;
	} else {
		goodbye->root = g->ranks[0].rank;
		goodbye->count = COLL_REASON_LEFT;
	}
}

/**
 * coll_group_say_goodbye() - tell the other side what we know, unless it knows
 * @g: left, or limited
 * @peer: to whom
 * @now: time in ns
 *
 * One that has left too must still hear it if it has posted more than we have:
 * those operations of it wait for us. A goodbye that is under way becomes
 * another one, for it may have been heard. A host that nobody has heard is told
 * of a rank that left by that rank only: the others answer when it speaks.
 */
void coll_group_say_goodbye(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	u32 last = coll_group_last(g);

	if (peer->dead || (peer->gone && !coll_after(peer->last, last)) ||
	    (peer->told && peer->told_last == last))
		return;
	if (!peer->incarnation && !g->leaving && !coll_group_broken(g))
		return;
	peer->told = true;
	peer->told_last = last;
	coll_peer_forget(&peer->goodbye, false, now);
	peer->goodbye.peer = peer;
	coll_peer_send(peer, &peer->goodbye, now);
}

static void failure_tell_host(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_group_peer(g, host, now);

	if (peer)
		coll_group_say_goodbye(g, peer, now);
}

/*
 * Those that are connected hear it. A failure goes to all hosts, by way of those
 * at the distances 2^k on both sides, each of which tells its own: so fewer
 * crashes than a host has such neighbours cut nobody off from the news.
 */
static void failure_tell(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;
	u32 distance;

	for (peer = g->all_peers; peer; peer = peer->all)
		coll_group_say_goodbye(g, peer, now);
	if (!coll_group_broken(g))
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
	u32 number;

	/* The latest first: what waits for room is not sent when others make it. */
	for (number = g->oldest + g->window - 1; !coll_before(number, g->oldest); number--) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->number != number || !coll_after(number, g->failure.limit))
			continue;
		if (op->state == COLL_OP_RUNNING)
			coll_op_abort(op, now);
		else if (op->state == COLL_OP_EARLY)
			coll_op_stop(op, now);
		else if (op->state == COLL_OP_DONE)
			/* Our ranks were answered, and nobody can use it any more. */
			coll_op_forget(op, false, now);
	}
}

/* Does it say more than what we know? The lower limit wins, then the lower rank. */
static bool failure_wins(const struct coll_group *g, const struct coll_failure *v)
{
	if (!g->limited || coll_before(v->limit, g->failure.limit))
		return true;
	/* What has been reported stays. */
	return v->limit == g->failure.limit && v->rank < g->failure.rank &&
	       coll_group_settling(g);
}

static void failure_learn(struct coll_group *g, const struct coll_failure *v, u64 now)
{
	bool lower = !g->limited || v->limit != g->failure.limit;

	if (!failure_wins(g, v))
		return;
	g->limited = true;
	g->failure = *v;
	coll_env_failure(g);
	/* All hosts are on the way to know the limit; another rank is no news. */
	if (!lower)
		return;
	failure_abort(g, now);
	if (!coll_group_settling(g)) {
		g->settle_ns = now + g->timing.settle;
		coll_group_arm(g, g->settle_ns);
	}
	failure_tell(g, now);
}

/**
 * coll_group_settle() - the settling time is over
 * @g: the group
 * @now: time in ns
 *
 * All that was aborted reports the failure that won.
 */
void coll_group_settle(struct coll_group *g, u64 now)
{
	u32 number;

	g->settle_ns = COLL_NEVER;
	for (number = g->oldest; number != g->next; number++) {
		struct coll_op *op = coll_group_slot(g, number);

		if (op->state == COLL_OP_ABORTED)
			coll_op_report(op, coll_failure_error(&g->failure), g->failure.rank, now);
	}
	coll_group_advance_window(g, now);
	coll_env_writable(g);
}

/* Nothing that is under way with this host needs to arrive any more. */
static void peer_drop_all(struct coll_peer *peer, u64 now)
{
	while (!list_empty(&peer->sent))
		coll_peer_forget(list_first_entry(&peer->sent, struct coll_message, link),
				 false, now);
	while (!list_empty(&peer->held))
		coll_peer_forget(list_first_entry(&peer->held, struct coll_message, link),
				 false, now);
	peer->told = false;
	peer->ack_owed = false;
	peer->ack_now = false;
}

static bool peer_owes_messages(const struct coll_peer *peer)
{
	const struct coll_message *m;

	list_for_each_entry(m, &peer->sent, link)
		if (m->op)
			return true;
	return !list_empty(&peer->held);
}

/**
 * coll_group_break() - the group ends on this host
 * @g: the group
 * @reason: why
 * @rank: the rank that is to blame
 * @now: time in ns
 *
 * Terminal. What was not acknowledged is not sent again; others may need it, and
 * are told that it does not come.
 *
 * Context: BH disabled; group lock held.
 */
void coll_group_break(struct coll_group *g, enum coll_reason reason, u32 rank, u64 now)
{
	struct coll_failure v = { .limit = g->oldest - 1, .rank = rank, .reason = reason };
	struct coll_peer *peer;

	if (g->failed)
		return;
	g->failed = true;
	for (peer = g->all_peers; peer; peer = peer->all)
		peer_drop_all(peer, now);
	failure_learn(g, &v, now);
	/* If nothing is new: what was dropped was perhaps the news. */
	failure_tell(g, now);
}

/*
 * Must it be alive? Whoever has left, waits for nothing and owes it but a goodbye cannot
 * tell; others may still hear it. Nor must a host that has left, if nobody waits for it.
 */
static bool peer_is_missed(const struct coll_peer *peer)
{
	const struct coll_group *g = peer->group;

	if (peer_owes_messages(peer))
		return true;
	if (peer->gone && peer->watched != g->watch_round)
		return false;
	return !g->leaving || g->running;
}

/**
 * coll_group_accuse() - a host is silent
 * @g: the group
 * @peer: the host
 * @now: time in ns
 *
 * It is not told, for it would not answer.
 */
void coll_group_accuse(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	peer->dead = true;
	if (!g->failed && peer_is_missed(peer))
		coll_group_break(g, COLL_REASON_SILENT, coll_group_rank(g, peer->host), now);
	peer_drop_all(peer, now);
	coll_group_advance_window(g, now);
}

/**
 * coll_group_receive_goodbye() - a goodbye came
 * @g: works still, or its errors have not settled
 * @peer: who sent it
 * @body: authenticated; not heard before
 * @now: time in ns
 */
void coll_group_receive_goodbye(struct coll_group *g, struct coll_peer *peer,
				const struct coll_body *body, u64 now)
{
	struct coll_failure v = {
		.limit	= body->operation,
		.rank	= body->signature.root,
		.reason	= body->signature.count,
	};

	if (body->seq)
		coll_peer_accept(peer, body, now);
	/* A later goodbye of the same host may name an earlier operation. */
	if (peer->gone && !coll_before(v.limit, peer->last))
		return;
	peer->gone = true;
	peer->last = v.limit;
	if (v.rank >= g->size || v.reason >= COLL_REASONS) {
		v.rank = coll_group_rank(g, peer->host);
		v.reason = COLL_REASON_LEFT;
	}
	if (v.reason != COLL_REASON_LEFT && coll_group_host(g, v.rank) == g->self) {
		/* Nobody disagrees with itself. */
		if (v.reason == COLL_REASON_DISAGREES)
			v.rank = coll_group_rank(g, peer->host);
		/* Others have given us up: whatever we send, they take nothing. */
		coll_group_break(g, v.reason, v.rank, now);
	}
	failure_learn(g, &v, now);
}

/**
 * coll_group_leave() - a rank closes
 * @g: the group
 * @local: which one of this host
 * @now: time in ns
 *
 * What it has posted completes. The peers there are learn that it left; as long as
 * other ranks are here, or have posted more, it limits what they can do.
 *
 * Context: BH disabled; group lock held.
 */
void coll_group_leave(struct coll_group *g, u32 local, u64 now)
{
	struct coll_rank *rank = &g->ranks[local];
	struct coll_failure v = {
		.limit	= rank->next - 1,
		.rank	= rank->rank,
		.reason	= COLL_REASON_LEFT,
	};
	struct coll_peer *peer, *next;

	rank->state = COLL_RANK_LEFT;
	g->joined--;
	if (g->locals > 1)
		failure_learn(g, &v, now);
	if (g->joined)
		return;
	g->leaving = true;
	/* Connections that rest open again: each host that was ever heard is told. */
	for (peer = g->spare; peer; peer = next) {
		next = peer->next;
		if (peer->idle && peer->incarnation)
			coll_group_peer(g, peer->host, now);
	}
	for (peer = g->all_peers; peer; peer = peer->all)
		coll_group_say_goodbye(g, peer, now);
}
