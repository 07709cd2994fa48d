// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "launch_wait.h"
#include "meeting_clock.h"

#define LATE_MS	2000
/* More than one, as any rank may be missing; but a line from every rank would be too many. */
#define REPORTERS 2

void launch_wait_begin(struct launch_wait *wait)
{
	__u64 now = meeting_clock_ms();

	wait->late_ms = now + LATE_MS;
	wait->end_ms = now + (wait->has_begun ? wait->later_ms : wait->first_ms);
	wait->was_late = wait->has_begun || wait->rank >= REPORTERS;
	wait->has_begun = true;
}

static void wait_report_late(struct launch_wait *wait)
{
	if (wait->was_late || meeting_clock_left(wait->late_ms))
		return;
	wait->was_late = true;
	fprintf(stderr,
		"collsock: rank %u: waiting for ranks that the launcher has started, but that have not asked to join (by %s)\n",
		wait->rank, wait->by);
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
