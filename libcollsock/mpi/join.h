/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A communicator joins, in a blocking collective call of all its ranks:
 *
 *	exchange	each rank sends the others its host and addresses (record.h)
 *	plan		hosts and addresses, the same on all ranks (plan.h)
 *	join		each rank joins the group; they agree whether all could (outcome.h)
 *	try out		a barrier of the group; they agree whether packets arrive
 *
 * The exchange and the agreements use the communicator itself.
 */
#ifndef COLLSOCK_MPI_JOIN_H
#define COLLSOCK_MPI_JOIN_H

#include "comm.h"

/*
 * @c is CM_COUNTING; afterwards it is CM_JOINED or CM_PASSING, the same on all ranks. It is
 * unchanged if the underlying MPI makes the call while this thread joins.
 */
void cm_join(struct cm_comm *c);

#endif
