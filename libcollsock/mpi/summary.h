/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Counts of calls handled and of calls passed on, with the reasons */
#ifndef COLLSOCK_MPI_SUMMARY_H
#define COLLSOCK_MPI_SUMMARY_H

#include <linux/types.h>

#include "call.h"
#include "clock.h"
#include "settings.h"

void cm_summary_count(enum cm_call call, enum cm_reason reason);

/*
 * Measure a blocking call that was handled. Returns the time of its start, or 0 if no summary
 * is wanted.
 */
static inline __u64 cm_summary_begin(void)
{
	return cm_settings.summary ? cm_clock_ns() : 0;
}

void cm_summary_add(enum cm_call call, __u64 ns);

static inline void cm_summary_end(enum cm_call call, __u64 begin)
{
	if (begin)
		cm_summary_add(call, cm_clock_ns() - begin);
}

/* Print the summary of this rank, one page. */
void cm_summary_print(void);

#endif
