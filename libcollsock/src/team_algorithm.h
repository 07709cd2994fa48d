/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The algorithms of teams, as tables of functions. An operation has two parts: members gather,
 * then one of them, the closer, lets them leave. By dissemination a member that has gathered
 * knows that all have arrived, and need not wait in a barrier; the closer lets all leave anyway,
 * in case others wait in another operation than its own.
 */
#ifndef COLLSOCK_TEAM_ALGORITHM_H
#define COLLSOCK_TEAM_ALGORITHM_H

#include "team_member.h"

/**
 * struct team_algorithm - how members meet
 * @gather: note that this member has arrived. Returns 1 in the closer, when all have arrived;
 *	0 in others; or the team's failure
 * @release: in the closer: let all others leave; in the others: wait for that. Returns 0 or the
 *	team's failure
 * @all_know: @gather returns when all have arrived, in every member
 */
struct team_algorithm {
	int	(*gather)(struct collsock_team *team);
	int	(*release)(struct collsock_team *team, bool closes);
	bool	all_know;
};

extern const struct team_algorithm collsock_team_central, collsock_team_mcs,
	collsock_team_dissemination;

#endif
