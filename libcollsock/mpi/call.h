/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The calls that this library may take, and the reasons to pass one on */
#ifndef COLLSOCK_MPI_CALL_H
#define COLLSOCK_MPI_CALL_H

#include <stdbool.h>

enum cm_call {
	CM_BARRIER,
	CM_BCAST,
	CM_REDUCE,
	CM_ALLREDUCE,
	CM_ALLGATHER,
	CM_ALLGATHERV,
	CM_GATHER,
	CM_SCATTER,
	CM_REDUCE_SCATTER_BLOCK,
	CM_SCAN,
	CM_EXSCAN,
	CM_IBARRIER,
	CM_IBCAST,
	CM_IREDUCE,
	CM_IALLREDUCE,
	CM_IALLGATHER,
	CM_IALLGATHERV,
	CM_IGATHER,
	CM_ISCATTER,
	CM_IREDUCE_SCATTER_BLOCK,
	CM_ISCAN,
	CM_IEXSCAN,
	CM_CALLS,
};

extern const char *const cm_call_names[CM_CALLS];

static inline bool cm_call_is_nonblocking(enum cm_call call)
{
	return call >= CM_IBARRIER;
}

/* CM_TAKEN: collsock serves the call; all others are reasons to pass it on. */
enum cm_reason {
	CM_TAKEN,
	CM_NOT_YET,	/* the communicator has not joined */
	CM_LARGE,
	CM_EMPTY,	/* no bytes */
	CM_DATATYPE,	/* derived, unknown, or without this operator */
	CM_OPERATOR,	/* user-defined */
	CM_ARGUMENTS,	/* invalid */
	CM_ALONE,	/* one rank */
	CM_ONE_HOST,
	CM_SCATTERED,	/* ranks are not in the order of hosts */
	CM_INTER,	/* inter-communicator */
	CM_FOREIGN,	/* ranks of another MPI_COMM_WORLD */
	CM_UNABLE,	/* joining has failed */
	CM_FREED,	/* called while the communicator is freed */
	CM_REASONS,
};

#endif
