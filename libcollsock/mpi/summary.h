/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What was taken, what was passed on, and why. */
#ifndef COLLSOCK_MPI_SUMMARY_H
#define COLLSOCK_MPI_SUMMARY_H

#include <stdbool.h>
#include <linux/types.h>

enum cm_call {
	CM_BARRIER,
	CM_BCAST,
	CM_REDUCE,
	CM_ALLREDUCE,
	CM_IBARRIER,
	CM_IBCAST,
	CM_IREDUCE,
	CM_IALLREDUCE,
	CM_CALLS,
};

extern const char *const cm_call_names[CM_CALLS];

static inline bool cm_call_is_nonblocking(enum cm_call call)
{
	return call >= CM_IBARRIER;
}

/* CM_TAKEN: by collsock; all others are reasons to pass a call on */
enum cm_reason {
	CM_TAKEN,
	CM_NOT_YET,	/* the communicator has not joined */
	CM_LARGE,
	CM_EMPTY,	/* no bytes */
	CM_DATATYPE,	/* derived or unknown, or has not this operator */
	CM_OPERATOR,	/* a user's */
	CM_ARGUMENTS,	/* make no sense */
	CM_ALONE,	/* one rank */
	CM_ONE_HOST,
	CM_INTER,	/* inter-communicator */
	CM_FOREIGN,	/* ranks of another MPI_COMM_WORLD */
	CM_UNABLE,	/* joining has failed */
	CM_FREED,	/* called while the communicator is freed */
	CM_REASONS,
};

void cm_summary_count(enum cm_call call, enum cm_reason reason);

/* Nanoseconds that a blocking call took that was taken; 0 if nobody wants to know. */
__u64 cm_summary_begin(void);
void cm_summary_end(enum cm_call call, __u64 begin);

/* One page of this rank. */
void cm_summary_print(void);

#endif
