// SPDX-License-Identifier: GPL-2.0
#include <linux/collsock_netlink.h>

#include "absent.h"
#include "group.h"
#include "groups.h"
#include "look.h"
#include "text.h"
#include "user_udp.h"
#include "userspace.h"

#define FIRST_OPERATION	0	/* of a group */

/* ---- the group here ---- */

static uint32_t absent_own_host(const struct absent *a)
{
	return a->group->host_of_rank[a->rank]->index;
}

/* With user space the ranks of one machine are in groups of their own. */
static bool absent_is_group(const struct absent *a, const struct reply *group)
{
	return (a->socket >= 0) == !!group->pid &&
	       reply_number(group, COLLSOCK_A_GROUP_ID, 0) == a->group->request.id &&
	       reply_number(group, COLLSOCK_A_GROUP_HOST, NUMBER_UNKNOWN) == absent_own_host(a);
}

static struct replies absent_groups(const struct absent *a, struct netlink *n)
{
	struct replies groups = { };

	if (a->socket < 0)
		return netlink_try_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	if (user_udp_is_used(a->socket))
		userspace_groups_of(&groups, user_udp_user(a->socket));
	return groups;
}

/* ---- ranks ---- */

static void absent_mark(struct absent *a, uint64_t rank)
{
	if (rank < a->group->request.ranks && rank != a->rank)
		a->rank_is[rank] = true;
}

static void absent_mark_host(struct absent *a, uint64_t host)
{
	uint32_t rank;

	for (rank = 0; rank < a->group->request.ranks; rank++)
		if (a->group->host_of_rank[rank]->index == host)
			absent_mark(a, rank);
}

/* Of this host, with the kernel. @waits: an operation does */
static void absent_read_ranks(struct absent *a, const struct replies *ranks, bool waits)
{
	uint64_t rank, state;
	size_t i;

	for (i = 0; i < ranks->count; i++) {
		rank = reply_number(&ranks->reply[i], COLLSOCK_A_RANK_RANK, NUMBER_UNKNOWN);
		state = reply_number(&ranks->reply[i], COLLSOCK_A_RANK_STATE, NUMBER_UNKNOWN);
		if (rank == a->rank)
			a->joined |= state == COLLSOCK_RANK_STATE_JOINED;
		else if (waits && state == COLLSOCK_RANK_STATE_ABSENT)
			absent_mark(a, rank);
	}
}

/*
 * @host has been heard from: does it wait for a rank that has not joined? It does not report
 * whether it has ever heard from that rank; in the first operation it has not, or that rank has
 * stopped.
 */
static bool absent_ends_chain(const struct absent *a, const struct operation_host *host)
{
	return host->state == OPERATION_HOST_HEARD && host->awaits_host != absent_own_host(a) &&
	       !host->awaits_reported && host->awaits_operation == FIRST_OPERATION;
}

static void absent_read_hosts(struct absent *a, const struct operation *o)
{
	const struct operation_host *host;
	size_t i;

	for (i = 0; i < o->host_count; i++) {
		host = &o->hosts[i];
		if (host->state == OPERATION_HOST_UNHEARD)
			absent_mark_host(a, host->host);
		else if (a->chains && absent_ends_chain(a, host))
			absent_mark(a, host->awaits_rank);
	}
}

static void absent_read_group(struct absent *a, struct netlink *n, uint32_t handle)
{
	struct operation o = { };
	struct replies ranks;
	bool waits = look_find_operation(n, handle, &o) && o.waited_ms != NUMBER_UNKNOWN;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, handle);
	absent_read_ranks(a, &ranks, waits);
	if (waits)
		absent_read_hosts(a, &o);
	replies_free(&ranks);
	operation_free(&o);
}

void absent_find(struct absent *a)
{
	struct replies groups;
	struct netlink n;
	size_t i;

	a->joined = false;
	netlink_connect_lenient(&n);
	groups = absent_groups(a, &n);
	for (i = 0; i < groups.count; i++)
		if (absent_is_group(a, &groups.reply[i]))
			absent_read_group(a, &n, groups_handle(&groups.reply[i]));
	replies_free(&groups);
	netlink_close(&n);
}
