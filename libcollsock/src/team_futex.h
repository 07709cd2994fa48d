/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sleeping until a flag changes */
#ifndef COLLSOCK_TEAM_FUTEX_H
#define COLLSOCK_TEAM_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team_member.h"

/* Processes wake up to look at others. */
static inline void team_futex_wait(const struct collsock_team *team, struct team_flag *flag,
				   unsigned int word)
{
	static const struct timespec look = { .tv_nsec = TEAM_LOOK_US * 1000 };

	if (team->is_process)
		syscall(SYS_futex, &flag->word, FUTEX_WAIT, word, &look, NULL, 0);
	else
		syscall(SYS_futex, &flag->word, FUTEX_WAIT_PRIVATE, word, NULL, NULL, 0);
}

static inline void team_futex_wake(const struct collsock_team *team, struct team_flag *flag)
{
	syscall(SYS_futex, &flag->word, team->is_process ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE,
		INT_MAX, NULL, NULL, 0);
}

#endif
