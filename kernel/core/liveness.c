// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "liveness.h"
#include "work.h"

/*
 * At least this number of probes must remain unanswered, however long ago the first was
 * sent.
 */
#define LEAST_QUESTIONS		3
#define LEAST_INTERVAL_NS	(50 * NSEC_PER_MSEC)
/* Even with a long liveness time a group soon finds out which host it waits for. */
#define MOST_QUIET_NS		((u64)NSEC_PER_SEC)

/**
 * coll_liveness_quiet_ns() - how long a host may be silent before it is probed
 * @g: the group
 *
 * Return: time in ns. Context: group lock held.
 */
u64 coll_liveness_quiet_ns(const struct coll_group *g)
{
	return min_t(u64, g->timing.liveness / 4, MOST_QUIET_NS);
}

/**
 * coll_liveness_interval_ns() - time between unanswered probes
 * @peer: the other side
 *
 * Far longer than the lateness of timers, or each probe would seem to follow a pause of
 * this host.
 *
 * Return: time in ns. Context: group lock held.
 */
u64 coll_liveness_interval_ns(const struct coll_peer *peer)
{
	const struct coll_timing *t = &peer->group->timing;
	u64 interval = t->rto_unheard;

	if (peer->conn.incarnation)
		interval = max_t(u64, t->rto_ceiling, peer->rtt.rto_ns);
	return max_t(u64, interval, LEAST_INTERVAL_NS);
}

/* From here on, count our packets that filters of this host refuse. */
static void liveness_mark(struct coll_peer *peer)
{
	peer->live.first_number = peer->send.number;
	peer->live.filtered = 0;
}

/**
 * coll_liveness_asked() - count a probe to the other side
 * @peer: the other side
 * @now: time in ns
 *
 * Probes in quick succession count once. After a pause, during which this host did not run,
 * counting starts again.
 */
void coll_liveness_asked(struct coll_peer *peer, u64 now)
{
	u64 interval = coll_liveness_interval_ns(peer), since = now - peer->live.asked_ns;

	if (peer->live.heard_ns >= peer->live.asked_ns || since > 4 * interval) {
		peer->live.first_asked_ns = now;
		peer->live.questions = 0;
		peer->live.filtered_in = false;
		liveness_mark(peer);
	} else if (since < interval / 2) {
		return;
	}
	peer->live.asked_ns = now;
	peer->live.questions++;
}

/**
 * coll_liveness_silent() - have enough probes remained unanswered?
 * @peer: the other side
 * @now: time in ns
 *
 * The join time-out applies to a host never heard from.
 */
bool coll_liveness_silent(const struct coll_peer *peer, u64 now)
{
	const struct coll_group *g = peer->group;
	u64 interval, patience;

	if (likely(peer->live.heard_ns >= peer->live.asked_ns))
		return false;
	interval = coll_liveness_interval_ns(peer);
	patience = peer->conn.incarnation ? g->timing.liveness : g->timing.join_timeout;
	if (now - peer->live.first_asked_ns <= patience || now - peer->live.asked_ns > 4 * interval)
		return false;
	return peer->live.questions >=
	       max_t(u64, LEAST_QUESTIONS, div64_u64(patience, 2 * interval));
}

/**
 * coll_liveness_repeat() - a message is about to be sent again for the first time
 * @peer: the other side
 *
 * It may be heard while filters refuse our packets to it; then no probes are sent.
 *
 * Context: group lock held.
 */
void coll_liveness_repeat(struct coll_peer *peer)
{
	if (peer->live.heard_ns >= peer->live.asked_ns)
		liveness_mark(peer);
}

/**
 * coll_liveness_muted() - do filters of this host refuse all packets to the other side?
 * @peer: the other side
 *
 * Return: true if they have since the first probe, or since a message was lost.
 */
bool coll_liveness_muted(const struct coll_peer *peer)
{
	const struct coll_peer_liveness *live = &peer->live;

	return live->filtered && live->filtered >= peer->send.number - live->first_number;
}

/**
 * coll_liveness_filtered() - do filters of this host keep the two from speaking?
 * @peer: the other side, which is silent
 *
 * Return: true if they have refused all packets to it since the first probe, or some that
 * came from it: all of these, as it would not be silent otherwise.
 */
bool coll_liveness_filtered(const struct coll_peer *peer)
{
	return peer->live.heard_ns < peer->live.asked_ns &&
	       (peer->live.filtered_in || coll_liveness_muted(peer));
}

/**
 * coll_liveness_check_idle() - mark a connection idle if it is unused for long enough
 * @peer: the connection
 * @now: time in ns
 */
void coll_liveness_check_idle(struct coll_peer *peer, u64 now)
{
	u32 mark = (u32)(peer->send.number + peer->recv.packets.highest);
	struct coll_peer_liveness *live = &peer->live;

	if (peer->due_ns != COLL_NEVER)
		return;
	if (mark == live->idle_mark && live->idle_at_ns <= now && !peer->recv.refused) {
		peer->live.idle = true;
		/* This event also releases the connection, which is reported. */
		coll_work_do(peer->group, COLL_WORK_REPORT);
		return;
	}
	if (mark != live->idle_mark || live->idle_at_ns <= now)
		live->idle_at_ns = now + peer->group->timing.idle;
	live->idle_mark = mark;
	coll_deadline_peer(peer, live->idle_at_ns);
}
