// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock.h>

#include "command.h"
#include "operation.h"
#include "text.h"

static const char *const operation_names[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };

/*
 * Which ranks wait for which in an operation. In one that is not listed (reduce, gather, scans, or
 * one newer than this command) all ranks may be waited for, and none must wait.
 */
static const struct operation_roles {
	bool	root_contributes;	/* and no other rank */
	bool	all_receive;		/* what the others contribute */
} operation_roles[COLLSOCK_MAX_OPERATIONS] = {
	[COLLSOCK_BARRIER] = { .all_receive = true },
	[COLLSOCK_ALLREDUCE] = { .all_receive = true },
	[COLLSOCK_BROADCAST] = { .root_contributes = true },
	[COLLSOCK_ALLGATHER] = { .all_receive = true },
	[COLLSOCK_SCATTER] = { .root_contributes = true },
	[COLLSOCK_REDUCE_SCATTER_BLOCK] = { .all_receive = true },
};

static struct operation_roles operation_roles_of(const char *kind)
{
	size_t i;

	for (i = 0; i < sizeof(operation_names) / sizeof(*operation_names); i++)
		if (operation_names[i] && !strcmp(operation_names[i], kind))
			return operation_roles[i];
	return (struct operation_roles){ };
}

static void *operation_array(size_t count, size_t bytes)
{
	void *array = calloc(count ? count : 1, bytes);

	if (!array)
		err(EXIT_ERROR, "an operation");
	return array;
}

static size_t operation_length(struct json_object *array)
{
	return array ? json_object_array_length(array) : 0;
}

static enum operation_state operation_read_state(struct json_object *reply)
{
	const char *state = text_string(reply, "state", "");

	if (!strcmp(state, "running"))
		return OPERATION_RUNNING;
	return strcmp(state, "early") ? OPERATION_OVER : OPERATION_EARLY;
}

/* The ranks here that have not posted, without those that no other rank waits for */
static void operation_read_ranks(struct operation *o, struct json_object *reply,
				 bool root_contributes)
{
	struct json_object *missing = json_object_object_get(reply, "missing_rank");
	uint64_t root = text_number(reply, "root", NUMBER_UNKNOWN), rank;
	size_t i, count = operation_length(missing);

	o->ranks = operation_array(count, sizeof(*o->ranks));
	for (i = 0; i < count; i++) {
		rank = json_object_get_uint64(json_object_array_get_idx(missing, i));
		if (!root_contributes || rank == root)
			o->ranks[o->rank_count++] = rank;
	}
}

static enum operation_host_state operation_read_host_state(struct json_object *missing)
{
	const char *state = text_string(missing, "state", "");

	if (!strcmp(state, "left") || !strcmp(state, "dead"))
		return OPERATION_HOST_GONE;
	if (!strcmp(state, "unheard") || !strcmp(state, "unknown"))
		return OPERATION_HOST_UNHEARD;
	return OPERATION_HOST_HEARD;
}

static void operation_read_host(struct operation_host *host, struct json_object *missing)
{
	*host = (struct operation_host){
		.host		  = text_number(missing, "host", NUMBER_UNKNOWN),
		.state		  = operation_read_host_state(missing),
		.rank		  = text_number(missing, "rank", NUMBER_UNKNOWN),
		.heard_ms	  = text_number(missing, "heard_ms", NUMBER_UNKNOWN),
		.silent_ms	  = text_number(missing, "silent_ms", 0),
		.awaits_host	  = text_number(missing, "awaits_host", NUMBER_UNKNOWN),
		.awaits_rank	  = text_number(missing, "awaits_rank", NUMBER_UNKNOWN),
		.awaits_operation = text_number(missing, "awaits_operation", NUMBER_UNKNOWN),
		.awaits_ms	  = text_number(missing, "awaits_ms", 0),
		.awaits_said	  = text_flag(missing, "awaits_said"),
		.told_ms	  = text_number(missing, "told_ms", 0),
	};
}

void operation_read(struct operation *o, struct json_object *reply)
{
	struct json_object *missing = json_object_object_get(reply, "missing");
	const char *kind = text_string(reply, "operation", "?");
	struct operation_roles roles = operation_roles_of(kind);
	size_t i;

	*o = (struct operation){
		.number		= text_number(reply, "number", 0),
		.kind		= text_format("%s", kind),
		.state		= operation_read_state(reply),
		.waited_ms	= text_number(reply, "waited_ms", NUMBER_UNKNOWN),
		.all_receive	= roles.all_receive,
		.host_count	= operation_length(missing),
	};
	operation_read_ranks(o, reply, roles.root_contributes);
	o->hosts = operation_array(o->host_count, sizeof(*o->hosts));
	for (i = 0; i < o->host_count; i++)
		operation_read_host(&o->hosts[i], json_object_array_get_idx(missing, i));
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
