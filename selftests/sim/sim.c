// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "sim.h"

/* A simulation with more events than this is in an endless loop. */
#define MOST_EVENTS	60000000

/* Several processes may add to it. */
static void add(struct sim_completed *to, const struct sim_completed *from)
{
	u32 operation, algorithm;

	for (operation = 0; operation < COLL_MAX_OPERATIONS; operation++)
		for (algorithm = 0; algorithm < COLL_MAX_ALGORITHMS; algorithm++)
			__atomic_add_fetch(&to->operations[operation][algorithm],
					   from->operations[operation][algorithm],
					   __ATOMIC_RELAXED);
}

bool sim_run(const struct sim_class *class, u64 seed, FILE *trace,
	     struct sim_completed *completed)
{
	struct sim *s = malloc(sizeof(*s));
	bool right;

	sim_scenario(s, class, seed);
	s->world.trace = trace;
	if (trace)
		sim_scenario_tell(s, trace);
	sim_ranks_start(s);
	while (!s->over && world_step(&s->world, COLL_NEVER))
		if (++s->events > MOST_EVENTS)
			sim_violated(s, "no end after %llu events",
				     (unsigned long long)s->events);
	if (!s->over)
		sim_check_stuck(s);
	sim_scenario_free(s);
	if (!s->failed)
		sim_check_end(s);
	right = !s->failed;
	if (trace)
		fprintf(trace, "# %llu events, %llu packets, %llu damaged ones checked\n",
			(unsigned long long)s->events, (unsigned long long)s->world.sent,
			(unsigned long long)s->damaged);
	add(completed, &s->completed);
	free(s);
	return right;
}
