// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The central barrier: a counter of arrivals, and a flag that the last to arrive sets. It is
 * sense-reversing: the sense is the number of the operation, which tells this one from the
 * last one, so that neither counter nor flag is reset.
 */
#include "team_algorithm.h"
#include "team_flag.h"

static int central_gather(struct collsock_team *team)
{
	unsigned int before = atomic_fetch_add_explicit(&team->memory.common->arrived, 1,
							memory_order_acq_rel);

	return before + 1 == team->operation * team->members;
}

static int central_release(struct collsock_team *team, bool closes)
{
	struct team_flag *release = &team->memory.common->release;

	if (!closes)
		return collsock_flag_wait(team, release);
	collsock_flag_set(team, release);
	return 0;
}

const struct team_algorithm collsock_team_central = {
	.gather		= central_gather,
	.release	= central_release,
};
