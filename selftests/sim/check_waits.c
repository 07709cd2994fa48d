// SPDX-License-Identifier: GPL-2.0
/* The promises about waiting: no operation waits for a message that will never arrive. */
#include <stdlib.h>

#include "sim.h"
#include "work.h"

/* ---- waiting for a rank that is gone ---- */

/* The chain of hosts searched for, whose state has been the same @since then */
struct chain {
	const struct sim_group	*group;
	u64			number;
	const struct coll_signature *signature;
	u64			since;
	bool			heard;	/* only hosts that have heard from each other */
	u64			seen;
};

/* Permanently gone; others learn of it when they probe. */
static bool rank_gone(const struct chain *c, const struct sim_rank *r)
{
	return r->gone_ns <= c->since &&
	       (r->crashed || (r->left && sim_number(c->group, r->posted) <= c->number));
}

static bool host_joined(const struct chain *c, const struct world_member *m)
{
	const struct sim_rank *r;

	if (m->state == WORLD_JOINED)
		for (r = sim_lowest_of(m); r; r = r->sibling)
			if (r->joined && r->joined_ns <= c->since)
				return true;
	return false;
}

/*
 * Siblings name a rank that never joins a join time-out after the operation began to wait
 * for it: when they have posted, or others probe for its contribution.
 */
static bool sibling_missed(const struct chain *c, const struct sim_rank *r)
{
	const struct coll_group *core = &r->member->group;
	const struct coll_op *op = coll_group_slot(core, c->number);

	if (c->heard || !r->missing || !host_joined(c, r->member) ||
	    c->number - core->window.oldest >= core->window.size)
		return false;
	if (op->state == COLL_OP_RUNNING)
		return op->awaited_ns <= c->since;
	return op->state <= COLL_OP_EARLY &&
	       coll_signature_contributes(c->signature, r->number);
}

static bool is_gone(const struct chain *c, const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (rank_gone(c, r) || sibling_missed(c, r))
			return true;
	return sim_never_joins(m) && sim_lowest_of(m)->gone_ns <= c->since;
}

static bool has_heard(const struct coll_group *g, u32 host)
{
	const struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all)
		if (peer->host == host)
			return peer->conn.incarnation;
	for (peer = g->peers.spare; peer; peer = peer->next)
		if (peer->host == host)
			return peer->conn.incarnation;
	return false;
}

/*
 * Can a message for the operation be missing on this host, now or later? It receives none
 * of operations beyond its window.
 */
static bool may_miss(const struct chain *c, const struct coll_group *core)
{
	const struct coll_op *op = coll_group_slot(core, c->number);

	if (coll_before(c->number, core->window.oldest) ||
	    c->number - core->window.oldest >= core->window.size)
		return false;
	if (op->state == COLL_OP_FREE)
		return true;
	return op->head.number == c->number && op->state <= COLL_OP_RUNNING;
}

/*
 * The schedule of a host for the operation; one that does not know it yet will have the
 * same.
 */
static const struct coll_schedule *schedule_of(const struct chain *c,
					       const struct coll_group *core,
					       struct coll_schedule *room)
{
	const struct coll_op *op = coll_group_slot(core, c->number);
	const struct coll_shape shape = {
		.hosts	= core->hosts,
		.self	= core->self,
		.root	= coll_group_host(core, c->signature->root),
		.degree	= c->signature->degree,
	};

	if (op->state != COLL_OP_FREE)
		return op->schedule;
	if (coll_registry_find(c->signature->operation, c->signature->algorithm)
	    ->build(room, &shape))
		abort();
	return room;
}

/*
 * Does a host need one that is gone, through any chain of hosts? One that has begun needs
 * those of its current and later rounds, any other those of all rounds.
 */
static bool needs_gone(struct chain *c, const struct world_member *m)
{
	const struct coll_group *core = &m->group;
	const struct coll_schedule *s;
	struct coll_schedule room;
	const struct coll_op *op;
	u32 i;

	if (is_gone(c, m))
		return true;
	if (c->seen >> m->index & 1 || !host_joined(c, m) || !may_miss(c, core))
		return false;
	c->seen |= 1ULL << m->index;
	op = coll_group_slot(core, c->number);
	for (i = 0, s = schedule_of(c, core, &room); i < s->folds; i++)
		if (s->fold[i].host != s->self &&
		    (op->state == COLL_OP_FREE || sim_misses(op, i)) &&
		    (!c->heard || has_heard(core, s->fold[i].host)) &&
		    needs_gone(c, &m->common->members[s->fold[i].host]))
			return true;
	return false;
}

static void waits_too_long(const struct sim_rank *r, u64 number)
{
	sim_violated(r->group->sim,
		     "rank %u of group %u waits for operation %llu, but one that it needs is gone",
		     r->number, r->group->id, number);
}

/*
 * An operation that was posted before the bound and needs a rank that was gone before then
 * must have ended, even if others compute meanwhile.
 */
static void check_waits(struct sim_group *g, const struct sim_rank *r, u64 since, bool heard)
{
	u32 i;

	for (i = 0; i < r->posted; i++) {
		const u64 number = sim_number(g, i);
		const struct coll_op *op = coll_group_slot(&r->member->group, number);
		struct chain c = { g, number, &op->head.signature, since, heard, 0 };

		if (r->posts[i].done || r->posts[i].posted_ns > since ||
		    op->head.number != number || op->state != COLL_OP_RUNNING)
			continue;
		if (needs_gone(&c, r->member))
			waits_too_long(r, i);
	}
}

static void check_group_waits(struct sim_group *g, u64 bound, bool heard)
{
	u64 since = g->sim->world.now - bound;
	u32 i;

	/* No host was paused and no link was cut since. */
	if (g->sim->over || g->sim->world.now < bound || g->sim->calm_ns > since)
		return;
	for (i = 0; i < g->size; i++)
		if (g->ranks[i].member->state == WORLD_JOINED)
			check_waits(g, &g->ranks[i], since, heard);
}

static void check_heard(struct world *w, void *what)
{
	struct sim_group *g = what;

	check_group_waits(g, g->heard_bound_ns, true);
}

static void check_unheard(struct world *w, void *what)
{
	struct sim_group *g = what;

	check_group_waits(g, g->heard_bound_ns + g->common.timing.join_timeout, false);
}

static void check_later(struct sim_group *g, u64 since)
{
	struct world *w = &g->sim->world;
	u64 heard = since + g->heard_bound_ns;

	world_at(w, heard, check_heard, g);
	world_at(w, heard + g->common.timing.join_timeout, check_unheard, g);
}

/* ---- waiting for messages that a former life received ---- */

/* How many operations has a host finished, with all its messages acknowledged? */
static u32 host_done(const struct world_member *m)
{
	const struct coll_group *core = &m->group;

	if (m->state == WORLD_TIMEWAIT)
		return m->timewait.last + 1 - m->common->first;
	if (m->state == WORLD_ABSENT)
		return 0;
	return coll_group_credit(core) - core->window.size + 1 - m->common->first;
}

static void note_given(struct sim_group *g)
{
	u32 i;

	for (i = 0; i < g->hosts; i++)
		g->given[i] = host_done(&g->common.members[i]);
}

/* Does the host answer in its first life, itself or by its time-wait entry? */
static bool host_answers(const struct world_member *m)
{
	if (sim_host_restarted(m))
		return false;
	return m->state == WORLD_JOINED ||
	       (m->state == WORLD_TIMEWAIT &&
		!coll_timewait_over(&m->timewait, m->world->now));
}

/* Did the former life receive what the operation misses? */
static bool misses_given(const struct sim_group *g, const struct coll_op *op)
{
	const struct coll_schedule *s = op->schedule;
	u32 i;

	for (i = 0; i < s->folds; i++)
		if (sim_misses(op, i) &&
		    op->head.number < sim_number(g, g->given[s->fold[i].host]) &&
		    host_answers(&g->common.members[s->fold[i].host]))
			return true;
	return false;
}

/* The time until it probes, is answered, and the error has settled */
static u64 bound_of_successor(const struct sim_group *g)
{
	return g->common.timing.liveness + g->spread_ns;
}

static void check_successor(struct world *w, void *what)
{
	const struct sim_rank *r = what;
	u64 since = w->now - bound_of_successor(r->group);
	u32 i;

	if (r->member->state != WORLD_JOINED || r->group->sim->calm_ns > since)
		return;
	for (i = 0; i < r->posted; i++) {
		const u64 number = sim_number(r->group, i);
		const struct coll_op *op = coll_group_slot(&r->member->group, number);

		if (!r->posts[i].done && r->posts[i].posted_ns <= since &&
		    op->head.number == number && op->state == COLL_OP_RUNNING &&
		    misses_given(r->group, op))
			sim_violated(r->group->sim,
				     "rank %u waits for operation %u, which its former life was given",
				     r->number, i);
	}
}

/* ---- events ---- */

/* The rank has left, its host is dead, or it will never join. */
void sim_check_gone(struct sim_rank *r)
{
	struct sim_group *g = r->group;
	u32 from = r->crashed || r->missing ? 0 : r->posted;

	r->gone_ns = g->sim->world.now;
	g->gone_from = min(g->gone_from, from);
	check_later(g, r->gone_ns);
}

/* May its contribution be one that is still copied? In the kernel its post returns after that. */
static bool is_copied(const struct sim_rank *r, const struct sim_post *p)
{
	const struct collsock_post *post = &r->group->ops[p->number].post;

	return r->member->folds && post->count * coll_type_bytes(post->type) >
				   r->member->group.work.unit * COLL_WORK_COPY;
}

/*
 * A rank that receives no result has done its part. If the operation cannot complete, the
 * error may be held.
 */
static void check_answered(const struct sim_rank *r, const struct sim_post *p)
{
	const struct coll_group *core = &r->member->group;

	if (p->done || p->number == r->dissent ||
	    sim_values_receives(&r->group->ops[p->number], r->number) || is_copied(r, p))
		return;
	if (!coll_group_settling(core) ||
	    !coll_after(sim_number(r->group, p->number), core->failure.what.limit))
		sim_violated(r->group->sim, "rank %u receives no result of operation %u, and waits",
			     r->number, p->number);
}

/* The rank has posted an operation that may need a rank that is gone. */
void sim_check_posted(struct sim_rank *r, const struct sim_post *p)
{
	struct world *w = &r->group->sim->world;

	check_answered(r, p);
	if (r->posted > r->group->gone_from)
		check_later(r->group, w->now);
	if (r->life)
		world_at(w, w->now + bound_of_successor(r->group), check_successor, r);
}

/* From now on it answers. */
void sim_check_joined(struct sim_rank *r)
{
	if (r->life && r->member->group.ranks.joined == 1)
		note_given(r->group);
	r->joined_ns = r->group->sim->world.now;
	if (r->group->gone_from != COLL_NOTHING_DONE)
		check_later(r->group, r->joined_ns);
}

/* Until @at some hosts are paused or cut off. */
void sim_check_calm(struct sim *s, u64 at)
{
	u32 i;

	if (at <= s->calm_ns)
		return;
	s->calm_ns = at;
	for (i = 0; i < s->group_count; i++)
		if (s->groups[i].gone_from != COLL_NOTHING_DONE)
			check_later(&s->groups[i], at);
}
