// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "look.h"
#include "siblings.h"
#include "text.h"

static void *look_array(size_t count, size_t bytes)
{
	void *array = calloc(count ? count : 1, bytes);

	if (!array)
		err(EXIT_ERROR, "what was found");
	return array;
}

/* Read what is known about a rank of this host. */
static void look_read_rank(struct report_rank *found, uint64_t number, const struct replies *ranks)
{
	size_t i;

	*found = (struct report_rank){
		.rank = number, .next = NUMBER_UNKNOWN, .last = NUMBER_UNKNOWN
	};
	for (i = 0; i < ranks->count; i++)
		if (reply_number(&ranks->reply[i], COLLSOCK_A_RANK_RANK, NUMBER_UNKNOWN) == number)
			break;
	if (i < ranks->count)
		report_read_rank(found, &ranks->reply[i]);
}

static void look_read_ranks(struct netlink *n, struct report *report, const struct operation *o)
{
	struct replies ranks;

	report->ranks = look_array(o->rank_count, sizeof(*report->ranks));
	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, report->handle);
	for (; report->rank_count < o->rank_count; report->rank_count++)
		look_read_rank(&report->ranks[report->rank_count], o->ranks[report->rank_count],
			       &ranks);
	replies_free(&ranks);
}

/* The end of a chain may be a host that this one has heard from itself. */
static void look_read_peers(struct netlink *n, struct report *report)
{
	struct culprit *culprit = &report->culprit;
	const struct reply *peer;
	struct replies peers;
	size_t i;

	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP, report->handle);
	for (i = 0; i < peers.count; i++) {
		peer = &peers.reply[i];
		if (reply_number(peer, COLLSOCK_A_PEER_HOST, NUMBER_UNKNOWN) == culprit->host &&
		    reply_number(peer, COLLSOCK_A_PEER_STATE, COLLSOCK_HOST_STATE_UNKNOWN) ==
		    COLLSOCK_HOST_STATE_HEARD)
			culprit->heard_ms = reply_number(peer, COLLSOCK_A_PEER_HEARD_MS,
							 NUMBER_UNKNOWN);
	}
	replies_free(&peers);
}

static void look_read_address(struct netlink *n, struct report *report, const struct reply *group)
{
	struct group_addresses addresses = groups_addresses(n, group);
	const char *address = groups_address(&addresses, report->culprit.host);

	if (address)
		report->address = text_format("%s", address);
	groups_free_addresses(&addresses);
}

static void look_report(struct netlink *n, struct report *report, const struct reply *group,
			const struct operation *o)
{
	*report = (struct report){
		.handle		= groups_handle(group),
		.id		= reply_number(group, COLLSOCK_A_GROUP_ID, 0),
		.uid		= reply_number(group, COLLSOCK_A_GROUP_UID, NUMBER_UNKNOWN),
		.liveness_ms	= reply_number(group, COLLSOCK_A_GROUP_LIVENESS_MS, 0),
		.operation	= o->number,
		.kind		= text_format("%s", o->kind),
		.running_ms	= o->waited_ms == NUMBER_UNKNOWN ? 0 : o->waited_ms,
	};
	culprit_find(&report->culprit, o,
		     reply_number(group, COLLSOCK_A_GROUP_HOST, NUMBER_UNKNOWN),
		     report->liveness_ms);
	if (report->culprit.reason == CULPRIT_TOLD || report->culprit.reason == CULPRIT_MISSED)
		look_read_peers(n, report);
	if (report->culprit.reason == CULPRIT_HERE)
		look_read_ranks(n, report, o);
	look_read_address(n, report, group);
}

bool look_find_operation(struct netlink *n, uint32_t handle, struct operation *oldest)
{
	struct replies replies;
	struct operation o;
	bool found = false;
	size_t i;

	replies = netlink_dump(n, COLLSOCK_CMD_OPERATION_GET, COLLSOCK_A_OPERATION_GROUP, handle);
	for (i = 0; i < replies.count; i++) {
		operation_read(&o, &replies.reply[i]);
		if (!operation_waits(&o) || (found && !operation_is_older(&o, oldest))) {
			operation_free(&o);
			continue;
		}
		if (found)
			operation_free(oldest);
		*oldest = o;
		found = true;
	}
	replies_free(&replies);
	return found;
}

struct report *look_at(struct netlink *n, const struct replies *groups, size_t *count)
{
	struct report *reports = look_array(groups->count, sizeof(*reports));
	struct operation oldest;
	size_t i, found = 0;

	for (i = 0; i < groups->count; i++) {
		const struct reply *group = &groups->reply[i];

		if (!look_find_operation(n, groups_handle(group), &oldest))
			continue;
		look_report(n, &reports[found++], group, &oldest);
		operation_free(&oldest);
	}
	*count = siblings_merge(n, reports, found);
	return reports;
}

void look_free(struct report *reports, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		report_free(&reports[i]);
	free(reports);
}
