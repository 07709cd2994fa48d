/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Barriers of a team that is one rank: threads or processes of this host. For comparison there
 * is a bare futex barrier: a counter and a sequence number, without libcollsock's teams.
 */
#ifndef COLLPERF_TEAM_H
#define COLLPERF_TEAM_H

#include <stdbool.h>

#include <collsock.h>

#include "measure.h"

#define TEAM_DEFAULT_MEMBERS 4
#define TEAM_MAX_MEMBERS 64

/**
 * struct team_options - which team
 * @algorithm: of the team, a number for team_name(); 0 if there is no team
 * @members: number of members
 * @processes: they are processes, not threads
 */
struct team_options {
	unsigned int	algorithm;
	unsigned int	members;
	bool		processes;
};

/* Parse ALGORITHM[:threads|:processes]. Exits if it is wrong. */
void team_parse(struct team_options *team, const char *text);

const char *team_name(const struct team_options *team);

/* All members run what @options say; the caller is one of them. Exits if a barrier fails. */
void team_measure(struct figures *figures, const struct options *options,
		  const struct team_options *team, struct collsock *socket);

#endif
