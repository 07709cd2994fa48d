// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include <linux/collsock_netlink.h>

#include "report.h"
#include "text.h"

static const char *report_rank_state(uint64_t state)
{
	static const char *const names[] = {
		[COLLSOCK_RANK_STATE_ABSENT]	= "absent",
		[COLLSOCK_RANK_STATE_JOINED]	= "joined",
		[COLLSOCK_RANK_STATE_LEFT]	= "left",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "";
}

void report_read_rank(struct report_rank *found, const struct reply *rank)
{
	*found = (struct report_rank){
		.rank = reply_number(rank, COLLSOCK_A_RANK_RANK, NUMBER_UNKNOWN),
		.next = reply_number(rank, COLLSOCK_A_RANK_NEXT, NUMBER_UNKNOWN),
		.last = reply_number(rank, COLLSOCK_A_RANK_LAST, NUMBER_UNKNOWN),
	};
	snprintf(found->state, sizeof(found->state), "%s",
		 report_rank_state(reply_number(rank, COLLSOCK_A_RANK_STATE, NUMBER_UNKNOWN)));
	process_read(&found->process, reply_number(rank, COLLSOCK_A_RANK_PID, 0));
}

void report_free(struct report *report)
{
	free(report->ranks);
	free(report->address);
	free(report->kind);
}
