/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A communicator joins, in a blocking collective call of all its ranks, by the steps of
 * joining.h and a last one:
 *
 *	try out		a barrier of the group; they agree whether packets arrive
 *
 * The exchange uses the communicator itself.
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
