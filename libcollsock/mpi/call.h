/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The calls that this library may take, and the reasons to pass one on */
#ifndef COLLSOCK_MPI_CALL_H
#define COLLSOCK_MPI_CALL_H

#include <stdbool.h>

/* LINE(NAME, blocking, nonblocking): each collective has two calls, CM_NAME and CM_INAME */
#define CM_CALL_LIST(LINE) \
	LINE(BARRIER, "MPI_Barrier", "MPI_Ibarrier") \
	LINE(BCAST, "MPI_Bcast", "MPI_Ibcast") \
	LINE(REDUCE, "MPI_Reduce", "MPI_Ireduce") \
	LINE(ALLREDUCE, "MPI_Allreduce", "MPI_Iallreduce") \
	LINE(ALLGATHER, "MPI_Allgather", "MPI_Iallgather") \
	LINE(ALLGATHERV, "MPI_Allgatherv", "MPI_Iallgatherv") \
	LINE(GATHER, "MPI_Gather", "MPI_Igather") \
	LINE(SCATTER, "MPI_Scatter", "MPI_Iscatter") \
	LINE(REDUCE_SCATTER_BLOCK, "MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block") \
	LINE(SCAN, "MPI_Scan", "MPI_Iscan") \
	LINE(EXSCAN, "MPI_Exscan", "MPI_Iexscan")

#define CM_CALL_BLOCKING(name, ...) CM_##name,
#define CM_CALL_NONBLOCKING(name, ...) CM_I##name,

enum cm_call {
	CM_CALL_LIST(CM_CALL_BLOCKING)
	CM_COLLECTIVES,
	CM_LAST_BLOCKING = CM_COLLECTIVES - 1,
	CM_CALL_LIST(CM_CALL_NONBLOCKING)
	CM_CALLS,
};

extern const char *const cm_call_names[CM_CALLS];

static inline bool cm_call_is_nonblocking(enum cm_call call)
{
	return call > CM_LAST_BLOCKING;
}

/* LINE(NAME, meaning): why a call is passed on */
#define CM_REASON_LIST(LINE) \
	LINE(NOT_YET, "before the communicator joined") \
	LINE(LARGE, "more bytes than are handled") \
	LINE(EMPTY, "no data") \
	LINE(DATATYPE, "datatype") /* derived, unknown, or without this operator */ \
	LINE(OPERATOR, "operator") /* user-defined */ \
	LINE(ARGUMENTS, "invalid arguments") \
	LINE(ALONE, "communicator of one rank") \
	LINE(ONE_HOST, "all ranks on one host") \
	LINE(SCATTERED, "ranks are not in the order of hosts") \
	LINE(INTER, "inter-communicator") \
	LINE(FOREIGN, "ranks of another MPI_COMM_WORLD") \
	LINE(UNABLE, "the communicator could not join") \
	LINE(FREED, "in a callback while the communicator is freed")

#define CM_REASON_NUMBER(name, ...) CM_##name,

/* CM_HANDLED: collsock handles the call; all others are reasons to pass it on. */
enum cm_reason {
	CM_HANDLED,
	CM_REASON_LIST(CM_REASON_NUMBER)
	CM_REASONS,
};

#endif
