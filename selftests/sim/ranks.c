// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of ranks: join, compute, post, receive completions, close. Each has a number
 * of operations to post and keeps several of them under way.
 */
#include <math.h>

#include "sim.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* ---- pending actions ---- */

void sim_at(struct sim *s, u64 delay, world_action run, void *what)
{
	s->actions++;
	world_at(&s->world, s->world.now + delay, run, what);
}

static void nobody_acts(struct world *w, void *what)
{
	struct sim *s = what;

	s->watching = false;
	if (s->actions)
		return;
	if (w->now - s->idle_ns >= s->bound_ns) {
		sim_check_stuck(s);
		return;
	}
	s->watching = true;
	world_at(w, s->idle_ns + s->bound_ns, nobody_acts, s);
}

/*
 * An action has happened. If none is left, everything that waits must end within the bound
 * from now on.
 */
void sim_acted(struct sim *s)
{
	if (--s->actions)
		return;
	s->idle_ns = s->world.now;
	if (s->watching)
		return;
	s->watching = true;
	world_at(&s->world, s->idle_ns + s->bound_ns, nobody_acts, s);
}

/* ---- posting ---- */

static void rank_next(struct sim_rank *r);

void sim_rank_over(struct sim_rank *r)
{
	if (r->over)
		return;
	r->over = true;
	if (!--r->group->sim->active)
		r->group->sim->over = true;
}

static bool rank_alive(const struct sim_rank *r)
{
	return r->member->state == WORLD_JOINED && r->joined && !r->left;
}

static void rank_post(struct sim_rank *r)
{
	u64 payload[SIM_MAX_BYTES / 8];
	struct sim_post *p = &r->posts[r->posted];
	struct sim_op *op = &r->group->ops[r->posted];
	struct sim *s = r->group->sim;
	struct collsock_post post = op->post;
	u32 bytes = sim_values_contributed(op, r->number);
	int err;

	sim_values_payload(r, r->posted, r->life, payload);
	if (r->posted == r->dissent)
		bytes = sim_values_dissent(r, &post);
	*p = (struct sim_post){ .number = r->posted, .rank = r->number,
				.life = r->life, .posted_ns = s->world.now };
	if (!coll_group_writable(&r->member->group, r->local))
		return;
	world_trace(&s->world, "rank %u of group %u posts %u", r->number, r->group->id,
		    r->posted);
	if (!(op->seen >> r->number & 1)) {
		op->seen |= 1ULL << r->number;
		op->posted++;
	}
	r->posted++;
	r->group->acted_ns = s->world.now;
	err = world_post_rank(r->member, r->local, &post, payload, bytes, p);
	if (err)
		sim_violated(s, "rank %u cannot post %u: %d", r->number, p->number, err);
	sim_check_posted(r, p);
	sim_faults_posted(r);
}

static void rank_acts_on_cpu(struct world *w, void *what)
{
	struct sim_rank *r = what;

	r->busy = false;
	if (rank_alive(r) && r->posted < r->ops && r->posted - r->completed < r->depth)
		rank_post(r);
	rank_next(r);
	sim_acted(r->group->sim);
}

static void rank_acts(struct world *w, void *what)
{
	struct sim_rank *r = what;

	world_on_cpu(w, r->member->host, rank_acts_on_cpu, r);
}

static void rank_leaves_on_cpu(struct world *w, void *what)
{
	struct sim_rank *r = what;

	if (rank_alive(r)) {
		r->left = true;
		world_leave_rank(r->member, r->local);
		sim_check_gone(r);
	}
	sim_acted(r->group->sim);
}

void sim_rank_leave(struct world *w, void *what)
{
	struct sim_rank *r = what;

	world_on_cpu(w, r->member->host, rank_leaves_on_cpu, r);
}

static u64 think(struct sim_rank *r)
{
	struct sim *s = r->group->sim;

	if (r->skew_ns && r->posted == r->skew_at)
		return r->skew_ns;
	return r->think_ns ? world_below(&s->random, 2 * r->think_ns) : 0;
}

/* Schedule its next action: none while it waits for a completion or for room. */
static void rank_next(struct sim_rank *r)
{
	struct sim *s = r->group->sim;
	bool done = r->posted == r->ops;

	if (!rank_alive(r) || r->busy || r->going)
		return;
	if (r->failed != COLL_NOTHING_DONE && r->completed == r->posted) {
		done |= !r->extra;
		r->extra -= !!r->extra;
	}
	if (done && r->completed == r->posted) {
		r->going = true;
		sim_at(s, world_below(&s->random, world_chance(&s->random, 500) ?
				      2 * SECOND : 100 * NSEC_PER_USEC), sim_rank_leave, r);
	} else if (!done && r->posted - r->completed < r->depth &&
		   coll_group_writable(&r->member->group, r->local)) {
		r->busy = true;
		sim_at(s, think(r), rank_acts, r);
	}
}

/* ---- joining ---- */

static void rank_joins_now(struct sim_rank *r)
{
	struct sim *s = r->group->sim;
	int local;

	r->group->acted_ns = s->world.now;
	local = world_join_rank(r->member, r->number);
	if (local < 0) {
		sim_violated(s, "rank %u cannot join: %d", r->number, local);
		return;
	}
	r->local = local;
	r->joined = true;
	sim_check_joined(r);
	sim_faults_posted(r);
	rank_next(r);
}

/* Fails if all others of its host have left, which ended the group there. */
static void rank_joins_on_cpu(struct world *w, void *what)
{
	struct sim_rank *r = what;

	if (r->member->state == WORLD_TIMEWAIT)
		sim_rank_over(r);
	else if (!r->member->host->down && !r->joined)
		rank_joins_now(r);
	sim_acted(r->group->sim);
}

void sim_rank_join(struct world *w, void *what)
{
	struct sim_rank *r = what;

	world_on_cpu(w, r->member->host, rank_joins_on_cpu, r);
}

void sim_ranks_start(struct sim *s)
{
	u32 g, i;

	for (g = 0; g < s->group_count; g++)
		for (i = 0; i < s->groups[g].size; i++) {
			struct sim_rank *r = &s->groups[g].ranks[i];

			if (r->missing) {
				sim_check_gone(r);
				continue;
			}
			s->active++;
			sim_at(s, r->join_ns, sim_rank_join, r);
		}
}

/* ---- callbacks of the world ---- */

static void user_complete(struct world_member *m, void *token, const void *result,
			  u32 bytes, u32 error, u32 failed_rank)
{
	struct sim_post *p = token;
	struct sim_rank *r = &sim_group_of(m)->ranks[p->rank];

	world_trace(m->world, "rank %u of group %u: %u ends, error %u rank %d", r->number,
		    r->group->id, p->number, error, (int)failed_rank);
	sim_check_completion(m, r, p, result, bytes, error, failed_rank);
	if (p->done)
		return;
	p->done = true;
	r->completed++;
	if (error && p->number < r->failed)
		r->failed = p->number;
}

static void user_after(struct world_member *m)
{
	struct sim_rank *r;

	sim_check_member(m);
	for (r = sim_lowest_of(m); r; r = r->sibling) {
		if (m->state != WORLD_TIMEWAIT)
			rank_next(r);
		else if (r->left)
			sim_rank_over(r);
	}
}

static bool user_tap(struct world *w, struct world_packet *p)
{
	sim_check_copy(w->owner, p);
	sim_faults_sent(w->owner, p);
	sim_attacker_sent(w->owner, p);
	return false;
}

const struct world_user sim_user = {
	.complete	= user_complete,
	.after		= user_after,
	.tap		= user_tap,
	.damaged	= sim_check_damaged,
};
