// SPDX-License-Identifier: GPL-2.0
/* The promises. Whatever breaks one says so in one line, with the way to see it again. */
#include <stdarg.h>
#include <stdlib.h>

#include "sim.h"

/* Only the first one counts: others follow from it. */
void sim_violated(struct sim *s, const char *format, ...)
{
	va_list arguments;

	if (s->failed)
		return;
	s->failed = true;
	s->over = true;
	printf("# class %s seed %llu at %.6f s: ", s->class->name, (unsigned long long)s->seed,
	       (double)s->world.now / NSEC_PER_SEC);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("; replay: build/sim/sim --class %s --seed %llu --trace\n", s->class->name,
	       (unsigned long long)s->seed);
	fflush(stdout);
}

/* ---- blame ---- */

/*
 * Does nobody answer for its host any more, though it did nothing wrong? Its tombstone
 * has crumbled, or was lost with the host.
 */
static bool forgotten(const struct sim_rank *r)
{
	const struct world_member *m = r->member;
	u64 liveness = r->group->common.timing.liveness;

	/* Whoever has begun to ask in time had an answer. */
	if (m->state == WORLD_ENTOMBED)
		return r->group->acted_ns > m->buried_ns + liveness;
	if (m->state == WORLD_ABSENT)
		for (r = sim_lowest_of(m); r; r = r->sibling)
			if (r->left)
				return true;
	return false;
}

static bool never_joins(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (!r->missing)
			return false;
	return true;
}

static bool host_suspect(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (r->crashed || r->restarted || r->cut || r->paused)
			return true;
	return never_joins(m) || forgotten(sim_lowest_of(m));
}

/* Did its host come back? */
static bool host_restarted(const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (r->restarted)
			return true;
	return false;
}

/*
 * May this rank be taken for dead? One that never joins, by its siblings; the lowest one
 * of a host for all of them. One that joins late may be late for its siblings, if the
 * host stood still meanwhile.
 */
static bool suspect(const struct sim_rank *r)
{
	return r->missing || (r == sim_lowest_of(r->member) && host_suspect(r->member)) ||
	       (!r->joined && r->paused);
}

/*
 * Ranks disagree about an operation in which not everybody waits for everybody: some
 * may be done with it, and have forgotten it, when one still waits for them. That one
 * cannot tell whether it has restarted.
 */
static bool left_behind(const struct sim_group *g, u32 number)
{
	const struct sim_op *op = &g->ops[g->disagreed_from];

	return number >= g->disagreed_from &&
	       (op->post.operation == COLLSOCK_REDUCE || op->post.operation == COLLSOCK_BROADCAST);
}

static bool blame_fits(const struct sim_rank *r, const struct sim_rank *named, u32 number,
		       u32 error)
{
	const struct sim_group *g = named->group;

	switch (error) {
	case ETIMEDOUT:
		return suspect(named);
	case ECONNRESET:
		return host_restarted(named->member) || (named->left && named->posted <= number) ||
		       (g->disagreed_from != COLL_NOTHING_DONE && left_behind(g, number));
	case EPROTO:
		/*
		 * With it fails all that is not acknowledged everywhere. Who comes
		 * back begins anew, and learns how the group has ended.
		 */
		return g->disagreed_from != COLL_NOTHING_DONE &&
		       (host_restarted(r->member) ||
			number + 2 * g->common.join.window >= g->disagreed_from);
	default:
		return false;
	}
}

/* After the crash of one host, if nothing else goes wrong, it alone is to blame. */
static bool only_a_crash(const struct sim_group *g)
{
	return g->crashes == 1 && !g->other_trouble;
}

static void check_blame(struct sim_rank *r, u32 number, u32 error, u32 failed_rank)
{
	struct sim_group *g = r->group;
	struct sim *s = g->sim;

	if (failed_rank >= g->size)
		sim_violated(s, "rank %u: operation %u fails with %u and names nobody (%d)",
			     r->number, number, error, (int)failed_rank);
	else if (!blame_fits(r, &g->ranks[failed_rank], number, error))
		sim_violated(s, "rank %u: operation %u fails with %u and names %u, an innocent",
			     r->number, number, error, failed_rank);
	else if (forgotten(&g->ranks[failed_rank]))
		return;
	else if (only_a_crash(g) && failed_rank != g->victim)
		sim_violated(s, "rank %u: operation %u names %u, but %u has crashed",
			     r->number, number, failed_rank, g->victim);
	else if (g->other_trouble == SIM_DISAGREE && !g->crashes && error != EPROTO &&
		 !left_behind(g, number))
		sim_violated(s, "rank %u: operation %u fails with %u, but ranks disagree",
			     r->number, number, error);
}

/* ---- results ---- */

/* Have all those posted without whom there is no result? */
static bool may_complete(const struct sim_op *op, const struct sim_rank *r)
{
	u32 rank;

	for (rank = 0; rank < r->group->size; rank++)
		if (sim_values_contributes(op, rank) && !(op->seen >> rank & 1))
			return false;
	return true;
}

static void check_result(struct sim_rank *r, u32 number, const void *result, u32 bytes)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	bool takes = sim_values_takes(op, r->number);
	struct sim *s = g->sim;

	if (takes && !may_complete(op, r))
		sim_violated(s, "rank %u completes operation %u, which %u of %u have posted",
			     r->number, number, op->posted, g->size);
	else if (takes && op->disputed && op->post.operation != COLLSOCK_BROADCAST)
		sim_violated(s, "rank %u completes operation %u, about which they disagree",
			     r->number, number);
	else if (bytes != (takes ? op->bytes : 0))
		sim_violated(s, "rank %u: operation %u gives %u bytes instead of %u",
			     r->number, number, bytes, takes ? op->bytes : 0);
	else if (takes && !sim_expect_right(r, number, result))
		sim_violated(s, "rank %u: the result of operation %u is wrong",
			     r->number, number);
	else if (number > r->failed)
		sim_violated(s, "rank %u: operation %u completes, but %u has failed",
			     r->number, number, r->failed);
}

void sim_check_completion(const struct world_member *m, struct sim_rank *r,
			  const struct sim_post *p, const void *result, u32 bytes, u32 error,
			  u32 failed_rank)
{
	struct sim *s = r->group->sim;

	if (p->done || p->life != r->life || r->member != m)
		sim_violated(s, "rank %u: operation %u completes twice", r->number,
			     p->number);
	else if (error)
		check_blame(r, p->number, error, failed_rank);
	else
		check_result(r, p->number, result, bytes);
}

/* ---- a member, after each of its events ---- */

static void check_counters(const struct world_member *m, const struct collsock_stats *stats)
{
	struct sim *s = m->world->owner;

	if (stats->invalid && !(s->trouble & (SIM_DISAGREE | SIM_RESTART)))
		sim_violated(s, "host %u: %llu packets of members are invalid",
			     m->index, (unsigned long long)stats->invalid);
}

void sim_check_member(struct world_member *m)
{
	const struct coll_group *g = &m->group;

	if (m->state == WORLD_ENTOMBED)
		check_counters(m, &m->last_stats);
	else if (g->next - g->oldest > g->window)
		sim_violated(m->world->owner, "host %u: %u operations in a window of %u",
			     m->index, g->next - g->oldest, g->window);
}

void sim_check_damaged(struct world_member *m, enum coll_refusal refusal, bool changed)
{
	struct sim *s = m->world->owner;

	s->damaged++;
	if (refusal == COLL_ACCEPTED)
		sim_violated(s, "host %u accepts a packet that nobody has written", m->index);
	else if (changed)
		sim_violated(s, "host %u is changed by a packet that nobody has written",
			     m->index);
}

/* ---- waiting for a rank that is gone ---- */

/* What is looked for: a chain of hosts, of which all is true @since. */
struct chain {
	const struct sim_group	*group;
	u32			number;
	u32			schedule;
	u64			since;
	bool			heard;	/* along hosts only that have heard each other */
	u64			seen;
};

/* For good; others learn of it when they ask. */
static bool rank_gone(const struct chain *c, const struct sim_rank *r)
{
	return r->gone_ns <= c->since && (r->crashed || (r->left && r->posted <= c->number));
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
 * One that never joins is missed by its siblings, a join time-out after the operation
 * has waited for it: when they have posted, or others ask for what it has to bring.
 */
static bool sibling_missed(const struct chain *c, const struct sim_rank *r)
{
	const struct coll_group *core = &r->member->group;
	const struct coll_op *op = coll_group_slot(core, c->number);

	if (c->heard || !r->missing || !host_joined(c, r->member) ||
	    c->number - core->oldest >= core->window)
		return false;
	if (op->state == COLL_OP_RUNNING)
		return op->awaited_ns <= c->since;
	return op->state <= COLL_OP_EARLY &&
	       sim_values_contributes(&c->group->ops[c->number], r->number);
}

static bool is_gone(const struct chain *c, const struct world_member *m)
{
	const struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling)
		if (rank_gone(c, r) || sibling_missed(c, r))
			return true;
	return never_joins(m) && sim_lowest_of(m)->gone_ns <= c->since;
}

static bool has_heard(const struct coll_group *g, u32 host)
{
	const struct coll_peer *peer;

	for (peer = g->all_peers; peer; peer = peer->all)
		if (peer->host == host)
			return peer->incarnation;
	for (peer = g->spare; peer; peer = peer->next)
		if (peer->host == host)
			return peer->incarnation;
	return false;
}

/* Can a message for the operation be missing on this host, now or later? */
static bool may_miss(const struct chain *c, const struct coll_group *core)
{
	const struct coll_op *op = coll_group_slot(core, c->number);

	if (coll_before(c->number, core->oldest))
		return false;
	if (op->state == COLL_OP_FREE)
		return true;
	return op->number == c->number && op->state <= COLL_OP_RUNNING;
}

/* What a host does in the operation; one that has not heard of it will. */
static const struct coll_schedule *schedule_of(const struct chain *c,
					       const struct coll_group *core,
					       struct coll_schedule *room)
{
	const struct coll_op *op = coll_group_slot(core, c->number);
	const struct coll_shape shape = {
		.hosts	= core->hosts,
		.self	= core->self,
		.root	= coll_group_host(core, c->group->ops[c->number].post.root),
		.fanout	= core->fanout,
	};

	if (op->state != COLL_OP_FREE)
		return op->schedule;
	if (coll_algorithms[c->schedule].build(room, &shape))
		abort();
	return room;
}

/*
 * Does a host need one that is gone, through any chain of hosts? One that has begun
 * needs those of its present and later rounds, another one those of all rounds.
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
		    (op->state == COLL_OP_FREE || coll_op_misses(op, i)) &&
		    (!c->heard || has_heard(core, s->fold[i].host)) &&
		    needs_gone(c, &m->common->members[s->fold[i].host]))
			return true;
	return false;
}

static void waits_too_long(const struct sim_rank *r, u32 number)
{
	sim_violated(r->group->sim,
		     "rank %u of group %u waits for operation %u, but one that it needs is gone",
		     r->number, r->group->id, number);
}

/*
 * Nothing that was posted before the bound needs what was gone before it: it has
 * ended, whatever others compute meanwhile.
 */
static void check_waits(struct sim_group *g, const struct sim_rank *r, u64 since, bool heard)
{
	u32 i;

	for (i = 0; i < r->posted; i++) {
		const struct coll_op *op = coll_group_slot(&r->member->group, i);
		struct chain c = { g, i, 0, since, heard, 0 };

		if (r->posts[i].done || r->posts[i].posted_ns > since || op->number != i ||
		    op->state != COLL_OP_RUNNING)
			continue;
		c.schedule = op->schedule->id;
		if (needs_gone(&c, r->member))
			waits_too_long(r, i);
	}
}

static void check_group_waits(struct sim_group *g, u64 bound, bool heard)
{
	u64 since = g->sim->world.now - bound;
	u32 i;

	/* Nobody stood still, no link was cut since. */
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

/* The rank has left, its host is dead, or it will never join. */
void sim_check_gone(struct sim_rank *r)
{
	struct sim_group *g = r->group;
	u32 from = r->crashed || r->missing ? 0 : r->posted;

	r->gone_ns = g->sim->world.now;
	g->gone_from = min(g->gone_from, from);
	check_later(g, r->gone_ns);
}

/* The rank has posted what needs, perhaps, one that is gone. */
void sim_check_posted(struct sim_rank *r)
{
	if (r->posted > r->group->gone_from)
		check_later(r->group, r->group->sim->world.now);
}

/* From now on it answers. */
void sim_check_joined(struct sim_rank *r)
{
	r->joined_ns = r->group->sim->world.now;
	if (r->group->gone_from != COLL_NOTHING_DONE)
		check_later(r->group, r->joined_ns);
}

/* Until then some stand still, or are cut off. */
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

/* ---- the end ---- */

static void trace_group(const struct sim *s, const struct coll_group *g)
{
	const struct coll_peer *peer;

	world_trace(&s->world, "group of %u: next %u, oldest %u, running %u, deadline %.6f s",
		    g->self, g->next, g->oldest, g->running,
		    (double)g->armed_ns / NSEC_PER_SEC);
	for (peer = g->all_peers; peer; peer = peer->all)
		world_trace(&s->world, "peer %u: %s%s%s%s%sdue %.6f s", peer->host,
			    list_empty(&peer->sent) ? "" : "sent, ",
			    list_empty(&peer->held) ? "" : "held, ",
			    peer->ack_owed ? "owed, " : "", peer->gone ? "gone, " : "",
			    peer->dead ? "dead, " : "", (double)peer->due_ns / NSEC_PER_SEC);
}

static void check_rank_stuck(struct sim *s, const struct sim_rank *r)
{
	const struct coll_group *g = &r->member->group;

	if (r->over || !r->joined || r->member->state != WORLD_JOINED)
		return;
	trace_group(s, g);
	if (r->completed < r->posted)
		sim_violated(s, "rank %u of group %u waits for ever for operation %u of %u posted",
			     r->number, r->group->id, r->completed, r->posted);
	else
		sim_violated(s, "rank %u of group %u lingers: %s, next %u, oldest %u",
			     r->number, r->group->id, r->left ? "left" : "stays",
			     g->next, g->oldest);
}

/* Nothing has been owed by ranks for longer than anything may take. */
void sim_check_stuck(struct sim *s)
{
	u32 g, i;

	for (g = 0; g < s->group_count; g++)
		for (i = 0; i < s->groups[g].size; i++)
			check_rank_stuck(s, &s->groups[g].ranks[i]);
	s->over = true;
}

void sim_check_end(struct sim *s)
{
	if (world_memory)
		sim_violated(s, "%ld allocations remain", world_memory);
}
