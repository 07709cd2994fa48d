/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long an exchange waits for ranks. Only the launcher knows whether they were started, so the
 * first exchange has more time than the others.
 */
#ifndef COLLSOCK_LAUNCH_WAIT_H
#define COLLSOCK_LAUNCH_WAIT_H

#include <stdbool.h>

#include <linux/types.h>

/**
 * struct launch_wait - the time of an exchange
 * @first_ms: how long the first exchange may take
 * @later_ms: each of the others
 * @rank: of this process
 * @by: what the ranks exchange by, for reports
 * @has_begun: the first has begun
 * @was_late: it was reported that others are missing
 * @late_ms: when to report that
 * @end_ms: of the exchange
 */
struct launch_wait {
	__u32		first_ms;
	__u32		later_ms;
	__u32		rank;
	const char	*by;
	bool		has_begun;
	bool		was_late;
	__u64		late_ms;
	__u64		end_ms;
};

/* Another exchange begins. */
void launch_wait_begin(struct launch_wait *wait);

/*
 * Wait until @fd can be read. After two seconds of the first exchange a line on standard error
 * reports that. Return: 0, or -ETIMEDOUT at the end of the exchange.
 */
int launch_wait_for(struct launch_wait *wait, int fd);

#endif
