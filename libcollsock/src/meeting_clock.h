/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Time of a meeting */
#ifndef COLLSOCK_MEETING_CLOCK_H
#define COLLSOCK_MEETING_CLOCK_H

#include <limits.h>
#include <time.h>

#include <linux/types.h>

static inline __u64 meeting_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For poll(): how long until @end, from 0 */
static inline int meeting_clock_left(__u64 end)
{
	__u64 now = meeting_clock_ms();

	if (now >= end)
		return 0;
	return end - now < INT_MAX ? end - now : INT_MAX;
}

#endif
