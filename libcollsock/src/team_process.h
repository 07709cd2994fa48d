/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A process as others recognise it: its pid and the time when it began, because pids are used
 * again.
 */
#ifndef COLLSOCK_TEAM_PROCESS_H
#define COLLSOCK_TEAM_PROCESS_H

#include <stdbool.h>

#include <linux/types.h>

struct team_process {
	__u32	pid;
	__u64	start;	/* in clock ticks; 0 if it is not known */
};

struct team_process collsock_process_self(void);

/*
 * Has it ended? Any @process is allowed. A process that this one may not see is taken to be
 * running, as is one that never was.
 */
bool collsock_process_ended(struct team_process process);

#endif
