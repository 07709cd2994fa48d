/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long an exchange waits for ranks, and for the launcher. Only the launcher knows whether ranks
 * were started, so the first exchange has more time than the others.
 */
#ifndef COLLSOCK_LAUNCH_WAIT_H
#define COLLSOCK_LAUNCH_WAIT_H

#include <stdbool.h>

#include <linux/types.h>

/**
 * struct launch_wait - the time of an exchange
 * @first_ms: how long the first exchange may take
 * @later_ms: each of the others
 * @rank: of this process; COLLSOCK_NO_RANK: the launcher has not told it yet
 * @by: what the ranks exchange by, for reports
 * @exchanges: number of those that have begun
 * @for_ranks: other ranks are waited for, not the launcher alone
 * @was_late: what is waited for was reported
 * @late_ms: when to report that
 * @end_ms: of the exchange
 */
struct launch_wait {
	__u32		first_ms;
	__u32		later_ms;
	__u32		rank;
	const char	*by;
	unsigned int	exchanges;
	bool		for_ranks;
	bool		was_late;
	__u64		late_ms;
	__u64		end_ms;
};

/* Another exchange begins. Its questions are answered by the launcher alone. */
void launch_wait_begin(struct launch_wait *wait);

/* The next answer comes when all @ranks have asked, or from the launcher alone. */
void launch_wait_turn_to(struct launch_wait *wait, bool ranks);

/*
 * Wait until @fd can be read. In the first exchange, a line on standard error reports after two
 * seconds what is waited for. Return: 0, or -ETIMEDOUT at the end of the exchange.
 */
int launch_wait_for(struct launch_wait *wait, int fd);

#endif
