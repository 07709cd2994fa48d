// SPDX-License-Identifier: GPL-2.0
/* The promises. Whatever breaks one says so in one line, with the way to see it again. */
#include <stdarg.h>

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

/* May this rank be taken for dead? */
static bool suspect(const struct sim_rank *r, u64 now)
{
	u64 liveness = r->group->common.timing.liveness;

	if (r->crashed || r->restarted || r->cut || r->paused || r->missing)
		return true;
	/* Its tombstone has crumbled, or was lost with the host. */
	if (r->left && r->member->state == WORLD_ABSENT)
		return true;
	return r->member->state == WORLD_ENTOMBED && now - r->member->buried_ns > 2 * liveness;
}

static bool blame_fits(const struct sim_rank *named, u32 number, u32 error)
{
	const struct sim_group *g = named->group;

	switch (error) {
	case ETIMEDOUT:
		return suspect(named, g->sim->world.now);
	case ECONNRESET:
		return named->restarted || (named->left && named->posted <= number);
	case EPROTO:
		/* With it fails all that is not acknowledged everywhere. */
		return g->disagreed_from != COLL_NOTHING_DONE &&
		       number + 2 * g->common.join.window >= g->disagreed_from;
	default:
		return false;
	}
}

/* After the crash of one host, if nothing else goes wrong, it alone is to blame. */
static bool only_a_crash(const struct sim_group *g)
{
	return g->crashes == 1 && !g->other_trouble && !(g->sim->trouble & SIM_MISSING) &&
	       g->disagreed_from == COLL_NOTHING_DONE;
}

static void check_blame(struct sim_rank *r, u32 number, u32 error, u32 failed_rank)
{
	struct sim_group *g = r->group;
	struct sim *s = g->sim;

	if (failed_rank >= g->hosts)
		sim_violated(s, "rank %u: operation %u fails with %u and names nobody (%d)",
			     r->member->index, number, error, (int)failed_rank);
	else if (!blame_fits(&g->ranks[failed_rank], number, error))
		sim_violated(s, "rank %u: operation %u fails with %u and names %u, which is innocent",
			     r->member->index, number, error, failed_rank);
	else if (only_a_crash(g) && !r->restarted && failed_rank != g->victim)
		sim_violated(s, "rank %u: operation %u names %u, but %u has crashed",
			     r->member->index, number, failed_rank, g->victim);
	else if (g->other_trouble == SIM_DISAGREE && !g->crashes && error != EPROTO)
		sim_violated(s, "rank %u: operation %u fails with %u, but ranks disagree",
			     r->member->index, number, error);
}

/* ---- results ---- */

static void check_result(struct sim_rank *r, u32 number, const void *result, u32 bytes)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	struct sim *s = g->sim;

	if (op->posted < g->hosts)
		sim_violated(s, "rank %u completes operation %u, which %u of %u have posted",
			     r->member->index, number, op->posted, g->hosts);
	else if (op->disputed)
		sim_violated(s, "rank %u completes operation %u, about which they disagree",
			     r->member->index, number);
	else if (bytes != op->bytes)
		sim_violated(s, "rank %u: operation %u gives %u bytes instead of %u",
			     r->member->index, number, bytes, op->bytes);
	else if (!sim_values_right(g, number, result))
		sim_violated(s, "rank %u: the result of operation %u is wrong",
			     r->member->index, number);
	else if (number > r->failed)
		sim_violated(s, "rank %u: operation %u completes, but %u has failed",
			     r->member->index, number, r->failed);
}

void sim_check_completion(struct sim_rank *r, const struct sim_post *p, const void *result,
			  u32 bytes, u32 error, u32 failed_rank)
{
	struct sim *s = r->group->sim;

	if (p->done || p->life != r->member->life || p->rank != r->member->index)
		sim_violated(s, "rank %u: operation %u completes twice", r->member->index,
			     p->number);
	else if (error)
		check_blame(r, p->number, error, failed_rank);
	else
		check_result(r, p->number, result, bytes);
}

/* ---- a member, after each of its events ---- */

static void check_counters(struct sim_rank *r, const struct collsock_stats *stats)
{
	struct sim *s = r->group->sim;

	if (stats->invalid && !(s->trouble & (SIM_DISAGREE | SIM_RESTART)))
		sim_violated(s, "rank %u: %llu packets of members are invalid",
			     r->member->index, (unsigned long long)stats->invalid);
}

void sim_check_member(struct world_member *m)
{
	const struct coll_group *g = &m->group;
	struct sim_rank *r = sim_rank_of(m);

	if (m->state == WORLD_ENTOMBED)
		check_counters(r, &m->last_stats);
	else if (g->next - g->oldest > g->window)
		sim_violated(r->group->sim, "rank %u: %u operations in a window of %u",
			     m->index, g->next - g->oldest, g->window);
}

void sim_check_damaged(struct world_member *m, enum coll_refusal refusal, bool changed)
{
	struct sim *s = m->world->owner;

	s->damaged++;
	if (refusal == COLL_ACCEPTED)
		sim_violated(s, "rank %u accepts a packet that nobody has written", m->index);
	else if (changed)
		sim_violated(s, "rank %u is changed by a packet that nobody has written",
			     m->index);
}

/* ---- the end ---- */

static void check_rank_stuck(struct sim *s, const struct sim_rank *r)
{
	const struct coll_group *g = &r->member->group;

	if (r->over || r->member->state != WORLD_JOINED)
		return;
	if (r->completed < r->posted)
		sim_violated(s, "rank %u of group %u waits for ever for operation %u of %u posted",
			     r->member->index, r->group->id, r->completed, r->posted);
	else
		sim_violated(s, "rank %u of group %u lingers: %s, next %u, oldest %u",
			     r->member->index, r->group->id, r->left ? "left" : "stays",
			     g->next, g->oldest);
}

/* Nothing has been owed by ranks for longer than anything may take. */
void sim_check_stuck(struct sim *s)
{
	u32 g, i;

	for (g = 0; g < s->group_count; g++)
		for (i = 0; i < s->groups[g].hosts; i++)
			check_rank_stuck(s, &s->groups[g].ranks[i]);
	s->over = true;
}

void sim_check_end(struct sim *s)
{
	if (world_memory)
		sim_violated(s, "%ld allocations remain", world_memory);
}
