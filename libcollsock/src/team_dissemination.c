// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The dissemination barrier: in round k each member tells the one at distance 2^k that it and
 * those of whom it knows have arrived. After log2 of the members, rounded up, all know of all.
 * The closer is member 0.
 */
#include "team_algorithm.h"
#include "team_flag.h"

static struct team_flag *dissemination_flag(struct collsock_team *team, __u32 member, __u32 round)
{
	return &team->memory.rounds[member * team->memory.round_count + round];
}

static int dissemination_gather(struct collsock_team *team)
{
	__u32 round, to;
	int err;

	for (round = 0; round < team->memory.round_count; round++) {
		to = (team->member + (1U << round)) % team->members;
		collsock_flag_set(team, dissemination_flag(team, to, round));
		err = collsock_flag_wait(team, dissemination_flag(team, team->member, round));
		if (err)
			return err;
	}
	return !team->member;
}

static int dissemination_release(struct collsock_team *team, bool closes)
{
	return collsock_team_central.release(team, closes);
}

const struct team_algorithm collsock_team_dissemination = {
	.gather		= dissemination_gather,
	.release	= dissemination_release,
	.all_know	= true,
};
