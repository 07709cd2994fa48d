// SPDX-License-Identifier: GPL-2.0
/* A program and its CPU; the run of an experiment. */
#include <stdlib.h>

#include "experiment.h"

/* After this time no operation is under way: acknowledgments are delayed for less. */
#define QUIET_NS	(20 * NSEC_PER_MSEC)

/* ---- a program on a CPU ---- */

static void has_computed(struct world *w, void *what)
{
	struct exp_host *h = what;
	u64 stolen = h->cpu->worked_ns - h->mark_ns;

	if (!stolen) {
		h->next(h);
		return;
	}
	h->mark_ns = h->cpu->worked_ns;
	world_at(w, w->now + stolen, has_computed, h);
}

static u64 free_at(const struct exp_host *h)
{
	return max(h->cpu->busy_ns, h->x->world.now);
}

void exp_compute(struct exp_host *h, u64 ns, exp_step next)
{
	h->next = next;
	h->used_ns += ns;
	h->mark_ns = h->cpu->worked_ns;
	world_at(&h->x->world, free_at(h) + ns, has_computed, h);
}

u64 exp_late_ns(const struct exp_settings *s, u32 host, u32 iteration)
{
	u64 state = s->seed;

	state = world_random(&state) + host;
	state = world_random(&state) + iteration;
	return world_random(&state) % (s->late_us * NSEC_PER_USEC + 1);
}

void exp_spin(struct exp_host *h)
{
	h->state = EXP_SPINS;
	h->mark_ns = h->cpu->worked_ns;
	h->since_ns = free_at(h);
}

u64 exp_spun(struct exp_host *h)
{
	u64 ns = free_at(h) - h->since_ns - (h->cpu->worked_ns - h->mark_ns);

	h->state = EXP_RUNS;
	h->used_ns += ns;
	return ns;
}

void exp_sleep(struct exp_host *h)
{
	h->state = EXP_SLEEPS;
	h->sleeps++;
}

void exp_wake(struct exp_host *h, exp_step next)
{
	h->state = EXP_RUNS;
	exp_compute(h, h->x->settings.costs.wake, next);
}

void exp_operate(struct exp_host *h, enum exp_operation operation, bool spins, exp_step then)
{
	h->operation = operation;
	h->spins = spins;
	h->then = then;
	if (h->x->settings.maker == EXP_COLLSOCK)
		exp_collsock_operate(h);
	else
		exp_hostbased_operate(h);
}

void exp_end(struct exp_host *h)
{
	h->x->running--;
}

/* ---- a run ---- */

u64 exp_worked(const struct experiment *x)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < x->settings.hosts; i++)
		ns += x->hosts[i].used_ns - x->hosts[i].apart_ns + x->hosts[i].cpu->worked_ns;
	return ns;
}

static void start(struct experiment *x)
{
	const struct exp_settings *s = &x->settings;
	u32 i;

	world_init(&x->world, s->hosts, s->seed, &exp_collsock_user);
	x->world.owner = x;
	x->world.link.delay_ns = s->costs.wire;
	x->world.link.byte_ps = s->costs.byte;
	x->hosts = calloc(s->hosts, sizeof(*x->hosts));
	for (i = 0; i < s->hosts; i++) {
		struct exp_host *h = &x->hosts[i];

		h->x = x;
		h->id = i;
		h->cpu = &x->world.hosts[i];
		h->last = &h->queue;
	}
	if (s->maker == EXP_COLLSOCK ? exp_collsock_start(x) : exp_hostbased_start(x)) {
		fprintf(stderr, "sim: no group of %u hosts and %u doubles is possible\n", s->hosts,
			s->doubles);
		exit(2);
	}
}

/* No CPU may have done more than there was time for. */
static bool possible(const struct experiment *x, u64 begin_ns)
{
	u32 i;

	for (i = 0; i < x->settings.hosts; i++) {
		const struct exp_host *h = &x->hosts[i];

		if (h->used_ns + h->cpu->worked_ns > free_at(h) - begin_ns)
			return false;
	}
	return true;
}

void exp_run(struct experiment *x, const struct exp_settings *settings, exp_step first)
{
	u64 begin_ns, quiet_ns;
	u32 i;

	memset(x, 0, sizeof(*x));
	x->settings = *settings;
	start(x);
	begin_ns = x->world.now;
	x->running = settings->hosts;
	for (i = 0; i < settings->hosts; i++)
		exp_compute(&x->hosts[i], 0, first);
	while (x->running && !x->wrong && world_step(&x->world, COLL_NEVER))
		;
	x->wrong += x->running || !possible(x, begin_ns);
	quiet_ns = x->world.now + QUIET_NS;
	while (world_step(&x->world, quiet_ns))
		;
}

void exp_free(struct experiment *x)
{
	u32 i;

	if (x->settings.maker == EXP_COLLSOCK)
		world_group_free(&x->group);
	world_free(&x->world);
	for (i = 0; i < EXP_OPERATIONS; i++)
		free(x->schedules[i]);
	free(x->hosts);
}
