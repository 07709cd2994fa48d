/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How large packets between the hosts of a group may be */
#ifndef COLLSOCK_JOINING_PATH_H
#define COLLSOCK_JOINING_PATH_H

#include "joining_plan.h"

/*
 * The largest segment of a payload whose packets reach all hosts, according to the routes on the
 * host of @rank: collsock_join.segment_bytes. The addresses of @plan have been chosen.
 */
unsigned int joining_path_segment(const struct joining_plan *plan,
				  const struct collsock_options *options, unsigned int rank);

#endif
