/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Counts the calls that were taken, those that were passed on, and why. */
#ifndef COLLSOCK_MPI_SUMMARY_H
#define COLLSOCK_MPI_SUMMARY_H

#include <linux/types.h>

#include "call.h"

void cm_summary_count(enum cm_call call, enum cm_reason reason);

/*
 * The time of a blocking call that was taken: returns when it began, or 0 if no summary
 * is wanted.
 */
__u64 cm_summary_begin(void);
void cm_summary_end(enum cm_call call, __u64 begin);

/* One page, of this rank. */
void cm_summary_print(void);

#endif
