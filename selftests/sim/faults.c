// SPDX-License-Identifier: GPL-2.0
/* Faults during a run */
#include "sim.h"

/* ---- hosts ---- */

/* The rank starts from scratch: no host remembers what it has done. */
static void begin_anew(struct sim_rank *r)
{
	u32 i;

	r->life++;
	r->crashed = false;
	r->restarted = true;
	r->group->other_trouble |= SIM_RESTART;
	r->posted = 0;
	r->completed = 0;
	r->failed = COLL_NOTHING_DONE;
	r->busy = false;
	r->going = false;
	r->joined = false;
	r->left = false;
	memset(r->posts, 0, sizeof(r->posts));
	for (i = 0; i < SIM_MAX_OPS; i++)
		r->group->ops[i].agreed &= ~(1ULL << r->number);
}

static void restart(struct world *w, void *what)
{
	struct world_host *h = what;
	struct sim *s = w->owner;
	struct world_member *m;
	struct sim_rank *r;

	world_trace(w, "host %u starts again", h->id);
	world_start(h);
	for (m = h->members; m; m = m->next)
		for (r = sim_lowest_of(m); r; r = r->sibling) {
			if (!r->crashed)
				continue;
			begin_anew(r);
			sim_at(s, world_below(&s->random, NSEC_PER_SEC), sim_rank_join, r);
		}
	sim_acted(s);
}

/* A crash of a host that had not joined yet, or had left, has no effect. */
static void crash_member(struct sim *s, struct world_member *m, const struct sim_fault *f)
{
	struct sim_group *g = sim_group_of(m);
	bool crashed = false;
	struct sim_rank *r;

	for (r = sim_lowest_of(m); r; r = r->sibling) {
		if (r->missing || r->over || (r->left && m->state != WORLD_JOINED))
			continue;
		crashed = true;
		r->crashed = true;
		sim_check_gone(r);
		if (!f->duration_ns)
			sim_rank_over(r);
	}
	if (!crashed)
		return;
	g->crashes++;
	g->victim = sim_lowest_of(m)->number;
}

static void crash(struct sim *s, struct sim_fault *f)
{
	struct world_host *h = f->trigger->member->host;
	struct world_member *m;
	struct sim_rank *r;

	if (h->down)
		return;
	for (m = h->members; m; m = m->next)
		for (r = sim_lowest_of(m); r; r = r->sibling)
			if (r->life)
				return;
	for (m = h->members; m; m = m->next)
		crash_member(s, m, f);
	world_crash(&s->world, h);
	sim_attacker_crashed(s, h);
	if (f->duration_ns)
		sim_at(s, f->duration_ns, restart, h);
}

static bool lasts(const struct sim_group *g, u64 duration)
{
	return duration > g->common.timing.liveness / 2;
}

static void mark_paused(struct sim *s, struct world_host *h, u64 duration)
{
	struct world_member *m;
	struct sim_rank *r;

	for (m = h->members; m; m = m->next) {
		if (!lasts(sim_group_of(m), duration))
			continue;
		sim_group_of(m)->other_trouble |= SIM_PAUSE;
		for (r = sim_lowest_of(m); r; r = r->sibling)
			r->paused = true;
	}
}

/* Its ranks begin to wait again, as if they had just posted. */
static void awake(struct world *w, void *what)
{
	struct sim_fault *f = what;
	struct world_member *m;

	for (m = f->trigger->member->host->members; m; m = m->next)
		if (lasts(sim_group_of(m), f->duration_ns))
			sim_group_of(m)->acted_ns = w->now;
	sim_acted(f->sim);
}

/* ---- links ---- */

static bool cuts(const struct sim_fault *f, u32 from, u32 to)
{
	bool here = f->side >> from & 1, there = f->side >> to & 1;

	return here != there && (!f->one_way || there);
}

static void change_cut(struct sim *s, struct sim_fault *f, int change)
{
	u32 from, to;

	world_trace(&s->world, "partition %llx%s %s", (unsigned long long)f->side,
		    f->one_way ? " one way" : "", change > 0 ? "begins" : "heals");
	for (from = 0; from < s->world.count; from++)
		for (to = 0; to < s->world.count; to++)
			if (cuts(f, from, to))
				world_link(&s->world, from, to)->cut += change;
}

static void heal(struct world *w, void *what)
{
	struct sim_fault *f = what;

	change_cut(f->sim, f, -1);
	sim_acted(f->sim);
}

static void mark_pair(struct sim_group *g, u32 one, u32 other)
{
	struct sim_rank *r;

	for (r = sim_lowest_of(&g->common.members[one]); r; r = r->sibling)
		r->cut = true;
	for (r = sim_lowest_of(&g->common.members[other]); r; r = r->sibling)
		r->cut = true;
	g->other_trouble |= SIM_PARTITION;
}

/* A host with a member of its group on the other side is cut off. */
static void mark_cut(struct sim *s, struct sim_fault *f)
{
	u32 g, i, k;

	for (g = 0; g < s->group_count; g++) {
		struct sim_group *group = &s->groups[g];
		const u32 *host_of = group->common.host_of;

		if (!lasts(group, f->duration_ns))
			continue;
		for (i = 0; i < group->hosts; i++)
			for (k = 0; k < group->hosts; k++)
				if (cuts(f, host_of[i], host_of[k]))
					mark_pair(group, i, k);
	}
}

/* ---- when ---- */

static void happen(struct world *w, void *what)
{
	struct sim_fault *f = what;
	struct sim *s = f->sim;

	switch (f->kind) {
	case SIM_FAULT_LEAVE:
		if (f->trigger->member->state != WORLD_JOINED || !f->trigger->joined ||
		    f->trigger->left)
			break;
		f->trigger->going = true;
		f->trigger->group->other_trouble |= SIM_EXIT;
		sim_at(s, 0, sim_rank_leave, f->trigger);
		break;
	case SIM_FAULT_CRASH:
		crash(s, f);
		break;
	case SIM_FAULT_PAUSE:
		mark_paused(s, f->trigger->member->host, f->duration_ns);
		sim_check_calm(s, w->now + f->duration_ns);
		world_pause(w, f->trigger->member->host, f->duration_ns, f->deaf);
		sim_at(s, f->duration_ns, awake, f);
		break;
	case SIM_FAULT_PARTITION:
		mark_cut(s, f);
		sim_check_calm(s, w->now + f->duration_ns);
		change_cut(s, f, 1);
		sim_at(s, f->duration_ns, heal, f);
		break;
	}
	sim_acted(s);
}

/* The rank has posted: trigger the faults that waited for that. */
void sim_faults_posted(struct sim_rank *r)
{
	struct sim *s = r->group->sim;
	u32 i;

	for (i = 0; i < s->fault_count; i++) {
		struct sim_fault *f = &s->faults[i];

		if (f->fired || f->at_probe || f->trigger != r || f->at_post != r->posted)
			continue;
		f->fired = true;
		sim_at(s, f->delay_ns, happen, f);
	}
}

/* ---- during a probe ---- */

/* A probe is in flight: pause the host that sent it for a while. */
static void pause_asker(struct sim *s, const struct world_packet *p)
{
	u32 i;

	for (i = 0; i < s->fault_count; i++) {
		struct sim_fault *f = &s->faults[i];

		if (f->fired || !f->at_probe || f->trigger->member->host->id != p->from ||
		    --f->at_probe)
			continue;
		f->fired = true;
		sim_at(s, 0, happen, f);
	}
}

/* A packet is sent: trigger the faults that waited for that. */
void sim_faults_sent(struct sim *s, const struct world_packet *p)
{
	if (s->trouble & SIM_PAUSE &&
	    p->data[COLL_WIRE_PREFIX] == COLL_PACKET_PROBE)
		pause_asker(s, p);
}
