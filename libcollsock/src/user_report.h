/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reports on members: messages of generic netlink, one after the other, like the answers of the
 * module's family to dumps of groups, hosts, ranks, peers and operations, and its own counters
 * (Documentation/netlink/specs/collsock.yaml). Any decoder of these also decodes reports.
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
 * The report as a sealed file, at its beginning; or a negative errno. The memory of the report is
 * freed.
 */
int user_report_file(struct user_report *report);

#endif
