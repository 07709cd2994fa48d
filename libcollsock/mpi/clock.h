/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_MPI_CLOCK_H
#define COLLSOCK_MPI_CLOCK_H

#include <linux/types.h>
#include <time.h>

#define CM_NS_PER_S 1000000000ULL

/* CLOCK_MONOTONIC, as in completions */
static inline __u64 cm_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * CM_NS_PER_S + t.tv_nsec;
}

#endif
