// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The tree barrier of Mellor-Crummey and Scott: members arrive along a tree in which each has
 * up to four children, and leave along one in which each has up to two. Every flag has one
 * writer and one reader. The closer is member 0.
 */
#include "team_algorithm.h"
#include "team_flag.h"

#define UP_CHILDREN 4
#define DOWN_CHILDREN 2

/* Children of member m in a tree of fan-out k: from m k + 1 on, k of them or what there are. */
static __u32 mcs_children_end(const struct collsock_team *team, __u32 fanout)
{
	__u32 end = team->member * fanout + fanout + 1;

	return end < team->members ? end : team->members;
}

static int mcs_gather(struct collsock_team *team)
{
	__u32 child, end = mcs_children_end(team, UP_CHILDREN);
	int err;

	for (child = team->member * UP_CHILDREN + 1; child < end; child++) {
		err = collsock_flag_wait(team, &team->memory.up[child]);
		if (err)
			return err;
	}
	if (!team->member)
		return 1;
	collsock_flag_set(team, &team->memory.up[team->member]);
	return 0;
}

static int mcs_release(struct collsock_team *team, bool closes)
{
	__u32 child, end = mcs_children_end(team, DOWN_CHILDREN);
	int err = closes ? 0 : collsock_flag_wait(team, &team->memory.down[team->member]);

	if (err)
		return err;
	for (child = team->member * DOWN_CHILDREN + 1; child < end; child++)
		collsock_flag_set(team, &team->memory.down[child]);
	return 0;
}

const struct team_algorithm collsock_team_mcs = {
	.gather		= mcs_gather,
	.release	= mcs_release,
};
