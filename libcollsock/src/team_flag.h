/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Flags: a member sets one to the number of its operation, and others wait for that. A later number
 * also ends the wait, since a member in a later operation has left theirs.
 */
#ifndef COLLSOCK_TEAM_FLAG_H
#define COLLSOCK_TEAM_FLAG_H

#include "team_member.h"

/* Earlier writes of this member are visible to those that see the flag. */
void collsock_flag_set(const struct collsock_team *team, struct team_flag *flag);

/* Spins, then sleeps. Returns 0, or the team's failure. */
int collsock_flag_wait(struct collsock_team *team, struct team_flag *flag);

#endif
