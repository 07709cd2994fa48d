/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The failure of a team: it happens once and stays. It is one word: 0, or the error and the
 * member that is to blame. The sleepers of a team of processes find out who has ended.
 */
#ifndef COLLSOCK_TEAM_FAILURE_H
#define COLLSOCK_TEAM_FAILURE_H

#include "team_member.h"

/* The team has failed, unless it had before. All that sleep wake up. */
void collsock_team_fail(struct collsock_team *team, int error, __u32 member);

/* Wake all that sleep at a flag, of a team that has failed. */
void collsock_team_wake(const struct collsock_team *team, struct team_flag *flag);

/* The error of a team that has failed, or 0. Notes the member to blame. */
int collsock_team_failure(struct collsock_team *team);

/*
 * For a member that waits: every 100 ms it looks whether another process of the team has
 * ended. Returns the team's failure, or 0.
 */
int collsock_team_look(struct collsock_team *team);

#endif
