// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "port.h"
#include "siblings.h"
#include "text.h"
#include "userspace.h"

/**
 * struct siblings - the processes of this machine in one group, and the module
 * @n: the connection
 * @groups: the reply of each of them about the group
 * @ranks: their ranks
 * @hosts: all hosts of the group
 */
struct siblings {
	struct netlink	*n;
	struct replies	groups;
	struct replies	ranks;
	struct replies	hosts;
};

/* ---- what they reply ---- */

bool siblings_are(const struct reply *a, const struct reply *b)
{
	static const int types[] = {
		COLLSOCK_A_GROUP_ID, COLLSOCK_A_GROUP_NONCE, COLLSOCK_A_GROUP_TAG
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (reply_number(a, types[i], 0) != reply_number(b, types[i], 0))
			return false;
	return true;
}

static const struct reply *siblings_group(const struct replies *groups, uint32_t handle)
{
	size_t i;

	for (i = 0; i < groups->count; i++)
		if (groups_handle(&groups->reply[i]) == handle)
			return &groups->reply[i];
	return NULL;
}

static void siblings_read_ranks(struct siblings *s, uint32_t handle)
{
	struct replies ranks;
	size_t i;

	ranks = netlink_dump(s->n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, handle);
	for (i = 0; i < ranks.count; i++)
		replies_add(&s->ranks, &ranks.reply[i]);
	replies_free(&ranks);
}

/* Without @groups if there is only one, or it has ended */
static struct siblings siblings_read(struct netlink *n, const struct replies *all, uint32_t handle)
{
	const struct reply *group = siblings_group(all, handle);
	struct siblings s = { .n = n };
	size_t i;

	for (i = 0; group && i < all->count; i++)
		if (siblings_are(&all->reply[i], group))
			replies_add(&s.groups, &all->reply[i]);
	if (s.groups.count < 2)
		replies_free(&s.groups);
	for (i = 0; i < s.groups.count; i++)
		siblings_read_ranks(&s, groups_handle(&s.groups.reply[i]));
	if (s.groups.count)
		s.hosts = netlink_dump(n, COLLSOCK_CMD_HOST_GET, COLLSOCK_A_HOST_GROUP, handle);
	return s;
}

static void siblings_free(struct siblings *s)
{
	replies_free(&s->groups);
	replies_free(&s->ranks);
	replies_free(&s->hosts);
}

/* The reply about a rank that is here, or NULL */
static const struct reply *siblings_rank(const struct siblings *s, uint64_t rank)
{
	size_t i;

	for (i = 0; i < s->ranks.count; i++)
		if (reply_number(&s->ranks.reply[i], COLLSOCK_A_RANK_RANK, NUMBER_UNKNOWN) == rank)
			return &s->ranks.reply[i];
	return NULL;
}

static bool siblings_has_posted(const struct reply *rank, uint64_t operation)
{
	return reply_number(rank, COLLSOCK_A_RANK_NEXT, 0) > operation;
}

/* ---- the best of their reports ---- */

static bool siblings_is_guess(const struct culprit *culprit)
{
	return culprit->reason == CULPRIT_QUIET || culprit->reason == CULPRIT_LOST;
}

/* Does it blame a rank that is here, and has posted? */
static bool siblings_is_wrong(const struct siblings *s, const struct report *r)
{
	const struct reply *rank = siblings_rank(s, r->culprit.rank);

	return rank && siblings_has_posted(rank, r->operation);
}

static bool siblings_is_unsure(const struct siblings *s, const struct report *r)
{
	return siblings_is_guess(&r->culprit) || siblings_is_wrong(s, r);
}

static bool siblings_is_better(const struct siblings *s, const struct report *a,
			       const struct report *b)
{
	if (a->operation != b->operation)
		return a->operation < b->operation;
	if (siblings_is_wrong(s, a) != siblings_is_wrong(s, b))
		return siblings_is_wrong(s, b);
	if (siblings_is_guess(&a->culprit) != siblings_is_guess(&b->culprit))
		return siblings_is_guess(&b->culprit);
	return a->running_ms > b->running_ms;
}

/* Leave the best report of these siblings, in the place of the first one. */
static size_t siblings_choose(const struct siblings *s, struct report *first, size_t count)
{
	uint64_t running_ms = first->running_ms;
	size_t i, left = 1;
	struct report r;

	for (i = 1; i < count; i++) {
		r = first[i];
		if (!siblings_group(&s->groups, r.handle)) {
			first[left++] = r;
			continue;
		}
		if (r.operation == first->operation && r.running_ms > running_ms)
			running_ms = r.running_ms;
		if (siblings_is_better(s, &r, first)) {
			if (r.operation != first->operation)
				running_ms = r.running_ms;
			report_free(first);
			*first = r;
		} else {
			report_free(&r);
		}
	}
	first->running_ms = running_ms;
	return left;
}

/* ---- ranks that are here ---- */

/* Are all ranks that have not posted the operation of the report waited for? */
static bool siblings_all_awaited(const struct siblings *s, const struct report *report)
{
	struct replies replies;
	struct operation o;
	bool all = false;
	size_t i;

	replies = netlink_dump(s->n, COLLSOCK_CMD_OPERATION_GET, COLLSOCK_A_OPERATION_GROUP,
			       report->handle);
	for (i = 0; i < replies.count; i++) {
		operation_read(&o, &replies.reply[i]);
		if (o.number == report->operation)
			all = o.all_receive;
		operation_free(&o);
	}
	replies_free(&replies);
	return all;
}

static bool siblings_equal_address(const struct reply *a, const struct reply *b)
{
	struct nlattr *one = nla_find(a->head, a->bytes, COLLSOCK_A_HOST_ADDRESS);
	struct nlattr *other = nla_find(b->head, b->bytes, COLLSOCK_A_HOST_ADDRESS);

	return one && other && nla_len(one) == nla_len(other) &&
	       !memcmp(nla_data(one), nla_data(other), nla_len(one));
}

static unsigned int siblings_port(const struct reply *host)
{
	return reply_number(host, COLLSOCK_A_HOST_PORT, 0);
}

/*
 * Is the host at an address of a process that replies, in the network namespace that is seen here?
 */
static bool siblings_is_near(const struct siblings *s, const struct reply *host)
{
	const struct reply *other;
	struct port_holder holder;
	size_t i;

	for (i = 0; i < s->hosts.count; i++) {
		other = &s->hosts.reply[i];
		if (siblings_rank(s, reply_number(other, COLLSOCK_A_HOST_RANK, NUMBER_UNKNOWN)) &&
		    siblings_equal_address(host, other) &&
		    port_find_holder(siblings_port(other), &holder))
			return true;
	}
	return false;
}

/*
 * A rank whose process does not reply, if it is here. Return: false if that is not known, as
 * processes of another user are not visible.
 */
static bool siblings_find_mute(const struct siblings *s, struct report_rank *found,
			       const struct reply *host)
{
	const char *state = "left";
	struct port_holder holder;
	struct port_process has = { };

	if (!siblings_is_near(s, host))
		return false;
	if (port_find_holder(siblings_port(host), &holder)) {
		if (!port_find_process(holder.inode, &has))
			return false;
		if (has.pid)
			state = userspace_has_process(has.pid) ? "joined" : "absent";
	}
	*found = (struct report_rank){
		.mute = strcmp(state, "absent"),
		.rank = reply_number(host, COLLSOCK_A_HOST_RANK, NUMBER_UNKNOWN),
		.next = NUMBER_UNKNOWN,
		.last = NUMBER_UNKNOWN,
	};
	snprintf(found->state, sizeof(found->state), "%s", state);
	process_read(&found->process, has.pid);
	return true;
}

/* A rank whose process replies. Return: whether it has not posted. */
static bool siblings_find_late(struct report_rank *found, const struct reply *rank,
			       uint64_t operation)
{
	if (siblings_has_posted(rank, operation))
		return false;
	report_read_rank(found, rank);
	return true;
}

/* The host of a process that replies, or NULL */
static const struct reply *siblings_host(const struct siblings *s, const struct reply *rank)
{
	uint32_t handle = reply_number(rank, COLLSOCK_A_RANK_GROUP, 0);
	const struct reply *group = siblings_group(&s->groups, handle);
	uint64_t index = group ? reply_number(group, COLLSOCK_A_GROUP_HOST, 0) : 0;
	size_t i;

	for (i = 0; group && i < s->hosts.count; i++)
		if (reply_number(&s->hosts.reply[i], COLLSOCK_A_HOST_HOST, 0) == index)
			return &s->hosts.reply[i];
	return NULL;
}

/* The first rank that is added takes the blame. */
static void siblings_add(struct report *report, const struct report_rank *found,
			 const struct reply *host)
{
	const struct nlattr *address = nla_find(host->head, host->bytes, COLLSOCK_A_HOST_ADDRESS);
	char text[REPLY_ADDRESS_BYTES] = "";

	report->ranks[report->rank_count++] = *found;
	if (report->rank_count > 1)
		return;
	report->culprit = (struct culprit){
		.reason		= CULPRIT_HERE,
		.host		= reply_number(host, COLLSOCK_A_HOST_HOST, NUMBER_UNKNOWN),
		.rank		= found->rank,
		.via		= NUMBER_UNKNOWN,
		.operation	= report->operation,
		.waited_ms	= report->running_ms,
		.silent_ms	= NUMBER_UNKNOWN,
		.heard_ms	= NUMBER_UNKNOWN,
		.reported_ms	= NUMBER_UNKNOWN,
	};
	if (address)
		reply_address(text, address);
	free(report->address);
	report->address = text_format("%s", text);
}

/*
 * Ranks that have not posted, according to their processes. Where others need not contribute, only
 * the one that is blamed for certain is of interest.
 */
static void siblings_add_late(const struct siblings *s, struct report *report,
			      const struct culprit *blamed, bool all)
{
	const struct reply *rank, *host;
	struct report_rank found;
	size_t i;

	for (i = 0; i < s->ranks.count; i++) {
		rank = &s->ranks.reply[i];
		host = siblings_host(s, rank);
		if (host && siblings_find_late(&found, rank, report->operation) &&
		    (all || (found.rank == blamed->rank && !siblings_is_guess(blamed))))
			siblings_add(report, &found, host);
	}
}

/* Ranks whose processes do not reply: the blamed one, or with @anyone all of them */
static void siblings_add_mute(const struct siblings *s, struct report *report,
			      const struct culprit *blamed, bool anyone)
{
	struct report_rank found;
	const struct reply *host;
	uint64_t number;
	size_t i;

	for (i = 0; i < s->hosts.count; i++) {
		host = &s->hosts.reply[i];
		number = reply_number(host, COLLSOCK_A_HOST_RANK, NUMBER_UNKNOWN);
		if ((anyone || number == blamed->rank) && !siblings_rank(s, number) &&
		    siblings_find_mute(s, &found, host))
			siblings_add(report, &found, host);
	}
}

static void siblings_find(const struct siblings *s, struct report *report)
{
	bool all = siblings_all_awaited(s, report), unsure = siblings_is_unsure(s, report);
	const struct culprit blamed = report->culprit;

	if (blamed.reason == CULPRIT_HERE && !all)
		return;
	free(report->ranks);
	report->rank_count = 0;
	report->ranks = calloc(s->ranks.count + s->hosts.count, sizeof(*report->ranks));
	if (!report->ranks)
		err(EXIT_ERROR, "ranks");
	siblings_add_late(s, report, &blamed, all);
	if (!report->rank_count)
		siblings_add_mute(s, report, &blamed, all && unsure);
}

size_t siblings_merge(struct netlink *n, struct report *reports, size_t count)
{
	struct siblings s;
	struct replies all;
	size_t i;

	if (!count)
		return 0;
	all = netlink_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	for (i = 0; i < count; i++) {
		s = siblings_read(n, &all, reports[i].handle);
		if (s.groups.count) {
			count = i + siblings_choose(&s, &reports[i], count - i);
			siblings_find(&s, &reports[i]);
		}
		siblings_free(&s);
	}
	replies_free(&all);
	return count;
}
