// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>

#include <linux/collsock.h>
#include <linux/collsock_netlink.h>

#include "../../kernel/core/operation.h"
#include "command.h"
#include "operation.h"
#include "text.h"

/* Does the root alone contribute? */
static bool operation_of_root(uint64_t kind)
{
	return kind < COLL_MAX_OPERATIONS && coll_operations[kind].contributes == COLL_ROOT;
}

/*
 * Do all ranks receive the others' contributions? In other kinds (reduce, gather, scans, or one
 * newer than this command) any rank may be waited for, and none must wait.
 */
static bool operation_for_all(uint64_t kind)
{
	return kind < COLL_MAX_OPERATIONS && coll_operations[kind].receives == COLL_ALL &&
	       !coll_operations[kind].prefix;
}

/* One from a newer kernel is shown as a number. */
static char *operation_name(uint64_t kind)
{
	static const char *const names[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };

	if (kind < sizeof(names) / sizeof(*names) && names[kind])
		return text_format("%s", names[kind]);
	return kind == NUMBER_UNKNOWN ? text_format("?") : text_format("%ju", (uintmax_t)kind);
}

static void *operation_array(size_t count, size_t bytes)
{
	void *array = calloc(count ? count : 1, bytes);

	if (!array)
		err(EXIT_ERROR, "an operation");
	return array;
}

/* A number that is unknown if it is absent */
static uint64_t operation_known(const struct reply *reply, int type)
{
	return reply_number(reply, type, NUMBER_UNKNOWN);
}

static enum operation_state operation_read_state(const struct reply *reply)
{
	switch (reply_number(reply, COLLSOCK_A_OPERATION_STATE, COLLSOCK_OPERATION_STATE_DONE)) {
	case COLLSOCK_OPERATION_STATE_EARLY:
		return OPERATION_EARLY;
	case COLLSOCK_OPERATION_STATE_RUNNING:
		return OPERATION_RUNNING;
	default:
		return OPERATION_OVER;
	}
}

/* The ranks here that have not posted, without those that no other rank waits for */
static void operation_read_ranks(struct operation *o, const struct reply *reply,
				 bool root_contributes)
{
	uint64_t root = operation_known(reply, COLLSOCK_A_OPERATION_ROOT);
	const int type = COLLSOCK_A_OPERATION_MISSING_RANK;
	const struct nlattr *attribute;
	int left;

	o->ranks = operation_array(reply_count(reply, type), sizeof(*o->ranks));
	nla_for_each_attr(attribute, reply->head, reply->bytes, left) {
		if (nla_type(attribute) != type)
			continue;
		if (!root_contributes || reply_value(attribute) == root)
			o->ranks[o->rank_count++] = reply_value(attribute);
	}
}

static enum operation_host_state operation_read_host_state(const struct reply *missing)
{
	switch (reply_number(missing, COLLSOCK_A_MISSING_STATE, COLLSOCK_HOST_STATE_HEARD)) {
	case COLLSOCK_HOST_STATE_LEFT:
	case COLLSOCK_HOST_STATE_DEAD:
		return OPERATION_HOST_GONE;
	case COLLSOCK_HOST_STATE_UNHEARD:
	case COLLSOCK_HOST_STATE_UNKNOWN:
		return OPERATION_HOST_UNHEARD;
	default:
		return OPERATION_HOST_HEARD;
	}
}

static uint64_t operation_read_awaited_rank(const struct reply *missing)
{
	uint64_t rank = reply_number(missing, COLLSOCK_A_MISSING_AWAITS_RANK, COLLSOCK_NO_RANK);

	return rank == COLLSOCK_NO_RANK ? NUMBER_UNKNOWN : rank;
}

static void operation_read_host(struct operation_host *host, const struct reply *missing)
{
	*host = (struct operation_host){
		.host	     = operation_known(missing, COLLSOCK_A_MISSING_HOST),
		.state	     = operation_read_host_state(missing),
		.rank	     = operation_known(missing, COLLSOCK_A_MISSING_RANK),
		.heard_ms    = operation_known(missing, COLLSOCK_A_MISSING_HEARD_MS),
		.silent_ms   = reply_number(missing, COLLSOCK_A_MISSING_SILENT_MS, 0),
		.awaits_host = operation_known(missing, COLLSOCK_A_MISSING_AWAITS_HOST),
		.awaits_rank = operation_read_awaited_rank(missing),
		.awaits_operation = operation_known(missing, COLLSOCK_A_MISSING_AWAITS_OPERATION),
		.awaits_ms   = reply_number(missing, COLLSOCK_A_MISSING_AWAITS_MS, 0),
		.awaits_reported = reply_has(missing, COLLSOCK_A_MISSING_AWAITS_REPORTED),
		.reported_ms     = reply_number(missing, COLLSOCK_A_MISSING_REPORTED_MS, 0),
	};
}

static void operation_read_hosts(struct operation *o, const struct reply *reply)
{
	const int type = COLLSOCK_A_OPERATION_MISSING;
	const struct nlattr *attribute;
	struct reply missing;
	int left;

	o->hosts = operation_array(reply_count(reply, type), sizeof(*o->hosts));
	nla_for_each_attr(attribute, reply->head, reply->bytes, left) {
		if (nla_type(attribute) != type)
			continue;
		missing = reply_nest(attribute);
		operation_read_host(&o->hosts[o->host_count++], &missing);
	}
}

void operation_read(struct operation *o, const struct reply *reply)
{
	uint64_t kind = operation_known(reply, COLLSOCK_A_OPERATION_KIND);

	*o = (struct operation){
		.number	     = reply_number(reply, COLLSOCK_A_OPERATION_NUMBER, 0),
		.kind	     = operation_name(kind),
		.state	     = operation_read_state(reply),
		.waited_ms   = operation_known(reply, COLLSOCK_A_OPERATION_WAITED_MS),
		.all_receive = operation_for_all(kind),
	};
	operation_read_ranks(o, reply, operation_of_root(kind));
	operation_read_hosts(o, reply);
}

void operation_free(struct operation *o)
{
	free(o->hosts);
	free(o->ranks);
	free(o->kind);
}

/*
 * If no rank here has posted, a rank elsewhere waits if its host reports so, or if it must:
 * a rank that contributes to a reduce or sends a broadcast need not wait.
 */
bool operation_waits(const struct operation *o)
{
	bool awaited = o->waited_ms != NUMBER_UNKNOWN || o->all_receive;

	if (o->state != OPERATION_RUNNING && !(o->state == OPERATION_EARLY && awaited))
		return false;
	return o->rank_count || o->host_count;
}

bool operation_is_older(const struct operation *a, const struct operation *b)
{
	return a->number < b->number;
}
