// SPDX-License-Identifier: GPL-2.0
/*
 * The promises about the end of a group: what hosts know about it, that errors are held for
 * the settling time, and that every host learns of a failure.
 */
#include "sim.h"

/* ---- settling ---- */

/* The lower limit wins, then the lower rank; a known limit is never raised. */
static bool takes_back(const struct coll_failure *known, const struct coll_failure *v)
{
	return coll_after(v->limit, known->limit) ||
	       (v->limit == known->limit && v->rank > known->rank);
}

/* Did a sibling end the operation with an error? A reported error stays. */
static bool was_reported(const struct sim_rank *r, u64 number)
{
	const struct sim_rank *sibling;

	for (sibling = sim_lowest_of(r->member); sibling; sibling = sibling->sibling)
		if (sibling != r && sibling->failed <= number)
			return true;
	return false;
}

/**
 * sim_check_error() - an operation ends with an error
 * @r: the rank that has posted it
 * @number: of the operation
 * @error: errno
 * @failed_rank: the rank to blame
 *
 * Goodbyes of others may arrive within the settling time; then the lowest failure is named.
 */
void sim_check_error(struct sim_rank *r, u64 number, u32 error, u32 failed_rank)
{
	const struct sim_known *known = &r->group->known[r->member->index];
	struct sim *s = r->group->sim;

	sim_check_failure(r->member);
	if (!known->limited || !coll_after(sim_number(r->group, number), known->failure.limit))
		sim_violated(s, "rank %u: operation %llu fails with %u, but nothing has failed",
			     r->number, number, error);
	else if (error != coll_failure_error(&known->failure) ||
		 failed_rank != known->failure.rank)
		sim_violated(s, "rank %u: operation %llu fails with %u and names %u instead of %u",
			     r->number, number, error, failed_rank, known->failure.rank);
	else if (s->world.now < known->held_ns && !was_reported(r, number))
		sim_violated(s, "rank %u: operation %llu fails before the failure has settled",
			     r->number, number);
}

/* ---- spreading of a failure ---- */

/* Hosts at the distances 2^k on both sides. */
static u32 count_neighbours(u32 hosts)
{
	u64 seen = 0;
	u32 distance;

	for (distance = 1; distance < hosts; distance *= 2)
		seen |= 1ULL << distance | 1ULL << (hosts - distance);
	return __builtin_popcountll(seen);
}

/* Was the host present when the failure was first known, and in its first life? */
static bool host_was_there(const struct sim_group *g, const struct world_member *m)
{
	const struct sim_rank *r;

	if (sim_host_restarted(m))
		return false;
	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (r->joined && r->joined_ns <= g->broken_ns)
			return true;
	return false;
}

/*
 * Has it notified its neighbours of a failure? A host that left before one has reported
 * only that it left.
 */
static bool host_tells(const struct world_member *m)
{
	const struct coll_group *core = &m->group;

	if (m->state == WORLD_TIMEWAIT)
		return m->timewait.goodbye.count != COLL_REASON_LEFT;
	return m->state == WORLD_JOINED && coll_group_failed(core) &&
	       coll_group_last(core) == core->failure.what.limit;
}

/*
 * A rank that left may have ended the group before the failure could, even if the host has
 * itself detected that another one restarted.
 */
static bool host_knows(const struct sim_group *g, const struct world_member *m)
{
	const struct coll_group *core = &m->group;

	return m->state != WORLD_JOINED || coll_group_failed(core) || core->failure.terminal ||
	       (core->failure.known && !coll_after(core->failure.what.limit, g->broken_limit));
}

/*
 * Each host notifies its neighbours, including those without connections. With fewer silent
 * hosts than each has neighbours, every host is notified.
 */
static void check_news(struct world *w, void *what)
{
	struct sim_group *g = what;
	u32 i, mute = 0, unaware = COLL_NOBODY;

	if (g->sim->calm_ns > g->broken_ns)
		return;
	for (i = 0; i < g->hosts; i++) {
		const struct world_member *m = &g->common.members[i];
		bool there = host_was_there(g, m);

		if (there && !host_knows(g, m))
			unaware = i;
		else if (!there || !host_tells(m))
			mute++;
	}
	if (unaware != COLL_NOBODY && mute < count_neighbours(g->hosts))
		sim_violated(g->sim, "host %u of group %u has not heard of the failure at %.6f s",
			     unaware, g->id, (double)g->broken_ns / NSEC_PER_SEC);
}

/* ---- hosts that conclude that they have restarted ---- */

/*
 * Is the host unable to decide whether a rank that waits in an operation which it has
 * finished disagrees? Its slot was reused, or it has left, or the group has ended.
 */
static bool cannot_tell(const struct world_member *m, u64 number)
{
	const struct coll_group *core = &m->group;

	if (m->state != WORLD_JOINED || sim_host_restarted(m))
		return true;
	return coll_before(number, core->window.oldest) &&
	       (core->failure.known || core->ranks.leaving ||
		coll_group_slot(core, number)->head.number != number);
}

static bool misses_lost(const struct world_member *m, const struct coll_op *op)
{
	const struct coll_schedule *s = op->schedule;
	u32 i;

	for (i = 0; i < s->folds; i++)
		if (sim_misses(op, i) &&
		    cannot_tell(&m->common->members[s->fold[i].host], op->head.number))
			return true;
	return false;
}

/* A host concludes that it has restarted: could no other host report a disagreement? */
static void check_succession(const struct world_member *m)
{
	const struct coll_group *core = &m->group;
	u32 i;

	for (i = 0; i < core->window.size; i++) {
		const struct coll_op *op = coll_group_slot(core, core->window.oldest + i);

		if (op->head.number == core->window.oldest + i && op->schedule &&
		    (op->state == COLL_OP_ABORTED || op->state == COLL_OP_EARLY) &&
		    misses_lost(m, op))
			return;
	}
	sim_violated(m->world->owner, "host %u takes itself for one that restarted",
		     m->index);
}

/* ---- what a host knows ---- */

static void learns(struct world_member *m, struct sim_known *known, bool lower)
{
	const struct coll_group *core = &m->group;
	struct sim_group *g = sim_group_of(m);
	u64 now = m->world->now;

	if (lower && !known->settling)
		known->held_ns = now + g->common.timing.settle;
	known->limited = true;
	known->failure = core->failure.what;
	if (core->failure.what.reason == COLL_REASON_RESTARTED && !sim_host_restarted(m) &&
	    g->host_of_rank[core->failure.what.rank] == m->index)
		check_succession(m);
	if (coll_group_failed(core) && !g->broken_ns) {
		g->broken_ns = now;
		g->broken_limit = core->failure.what.limit;
		world_at(m->world, now + g->spread_ns, check_news, g);
	}
}

/* It is composed once: each transmission has the current state. */
static void check_goodbye(const struct world_member *m)
{
	const struct coll_failure_state *f = &m->group.failure;
	u64 last = coll_group_last(&m->group);
	bool failure = f->known && last == f->what.limit;

	if (!f->known && !m->group.ranks.leaving)
		return;
	if (f->goodbye.number != last || f->goodbye.expires != coll_group_failed(&m->group) ||
	    f->goodbye.signature.count != (failure ? f->what.reason : COLL_REASON_LEFT) ||
	    f->goodbye.signature.root != (failure ? f->what.rank : m->group.ranks.local[0].rank))
		sim_violated(m->world->owner,
			     "host %u: its goodbye names %u from %llu, not from %llu", m->index,
			     f->goodbye.signature.root, f->goodbye.number + 1, last + 1);
}

/**
 * sim_check_failure() - does a host know more about the end of its group?
 * @m: member that has had an event
 */
void sim_check_failure(struct world_member *m)
{
	const struct coll_group *core = &m->group;
	struct sim_known *known = &sim_group_of(m)->known[m->index];
	bool lower;

	if (m->state != WORLD_JOINED)
		return;
	check_goodbye(m);
	if (known->incarnation != core->incarnation)
		*known = (struct sim_known){ .incarnation = core->incarnation };
	if (known->limited && takes_back(&known->failure, &core->failure.what))
		sim_violated(m->world->owner, "host %u names %u from %llu, and %u from %llu before",
			     m->index, core->failure.what.rank, core->failure.what.limit + 1,
			     known->failure.rank, known->failure.limit + 1);
	lower = core->failure.known &&
		(!known->limited || coll_before(core->failure.what.limit, known->failure.limit));
	if (lower || (core->failure.known && core->failure.what.rank != known->failure.rank))
		learns(m, known, lower);
	known->settling = coll_group_settling(core);
}
