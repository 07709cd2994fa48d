/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reports of what members do: messages of generic netlink, one after the other, as the module's
 * family answers dumps of groups, hosts, ranks, peers and operations, and its own counters
 * (Documentation/netlink/specs/collsock.yaml). What decodes these decodes reports.
 */
#ifndef COLLSOCK_USER_REPORT_H
#define COLLSOCK_USER_REPORT_H

#include "user_state.h"

/**
 * struct user_report - a report
 * @data: the messages
 * @bytes: their length
 * @room: allocated there
 * @failed: there was no memory
 */
struct user_report {
	u8	*data;
	size_t	bytes;
	size_t	room;
	bool	failed;
};

/* Add a member that has a group; its lock is held. */
void user_report_member(struct user_report *report, struct user_member *m);

/* Add the messages of another report. */
void user_report_add(struct user_report *report, const void *messages, size_t bytes);

/*
 * The report as a file that nobody can change, and whose beginning is read next; or a negative
 * errno. The memory of the report is freed.
 */
int user_report_file(struct user_report *report);

#endif
