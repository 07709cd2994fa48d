// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "collsock.h"
#include "launch_wait.h"
#include "meeting_clock.h"

#define LATE_MS	2000
/* More than one, as any rank may be missing; but a line from every rank would be too many. */
#define REPORTERS 2

/* A process that does not know its rank yet also reports: it may be the only one. */
void launch_wait_turn_to(struct launch_wait *wait, bool ranks)
{
	bool reports = wait->rank < REPORTERS || wait->rank == COLLSOCK_NO_RANK;

	wait->for_ranks = ranks;
	wait->late_ms = meeting_clock_ms() + LATE_MS;
	wait->was_late = wait->exchanges > 1 || !reports;
}

void launch_wait_begin(struct launch_wait *wait)
{
	wait->end_ms = meeting_clock_ms() + (wait->exchanges ? wait->later_ms : wait->first_ms);
	wait->exchanges++;
	launch_wait_turn_to(wait, false);
}

static void wait_report_late(struct launch_wait *wait)
{
	char rank[24] = "";

	if (wait->was_late || meeting_clock_left(wait->late_ms))
		return;
	wait->was_late = true;
	if (wait->rank != COLLSOCK_NO_RANK)
		snprintf(rank, sizeof(rank), "rank %u: ", wait->rank);
	fprintf(stderr, "collsock: %swaiting for %s (by %s)\n", rank, wait->for_ranks ?
		"ranks that the launcher has started, but that have not asked to join" :
		"the launcher, which has not answered", wait->by);
}

int launch_wait_for(struct launch_wait *wait, int fd)
{
	struct pollfd readable = { fd, POLLIN, 0 };
	int left, late;

	do {
		left = meeting_clock_left(wait->end_ms);
		late = meeting_clock_left(wait->late_ms);
		if (poll(&readable, 1, !wait->was_late && late < left ? late : left) > 0)
			return 0;
		wait_report_late(wait);
	} while (left);
	return -ETIMEDOUT;
}
