/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A member of a team: its private state, and its view of the memory that all share.
 *
 * Operations are numbered from 1. A member gathers: it notes its arrival and learns of that of
 * others. What comes next depends on the algorithm (team_algorithm.h).
 */
#ifndef COLLSOCK_TEAM_MEMBER_H
#define COLLSOCK_TEAM_MEMBER_H

#include <time.h>

#include "fork.h"
#include "team_memory.h"

/* How often those that sleep look whether others have ended */
#define TEAM_LOOK_US 100000

struct team_algorithm;

/**
 * struct collsock_team - a member
 * @memory: what all share
 * @algorithm: how they meet
 * @members: number of members
 * @member: number of this one
 * @max_bytes: of a contribution
 * @operation: number of its last operation
 * @looked_at: the last member whose process was looked at
 * @look_us: when to look at the next ones
 * @culprit: who is to blame for the last error
 * @socket: the rank that the team is, or NULL
 * @spin_us: how long to spin before sleeping
 * @forks: of this process and those it comes from, when the member began
 * @is_process: each member is a process
 */
struct collsock_team {
	TEAM_LINE struct team_memory	memory;
	const struct team_algorithm	*algorithm;
	__u32				members;
	__u32				member;
	__u32				max_bytes;
	__u32				operation;
	__u32				looked_at;
	__u64				look_us;
	struct collsock_team_culprit	culprit;
	struct collsock			*socket;
	unsigned int			spin_us;
	unsigned int			forks;
	bool				is_process;
};

/* Is this process not the member itself, but a child with a copy of its memory? */
static inline bool team_is_of_parent(const struct collsock_team *team)
{
	return team->forks != collsock_forks();
}

static inline __u64 team_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

#endif
