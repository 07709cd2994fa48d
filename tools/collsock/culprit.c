// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "culprit.h"
#include "text.h"

/* Who has not answered for this part of the liveness time is silent */
#define SILENCE_OF_LIVENESS 8

static bool is_state(struct json_object *object, const char *state)
{
	return !strcmp(text_string(object, "state", ""), state);
}

static bool has_some(struct json_object *operation, const char *key)
{
	struct json_object *array = json_object_object_get(operation, key);

	return array && json_object_array_length(array);
}

/* Nobody waits for those that a broadcast is for. */
static bool holds_up(struct json_object *operation, uint64_t rank)
{
	return strcmp(text_string(operation, "operation", ""), "broadcast") ||
	       rank == text_number(operation, "root", CULPRIT_UNKNOWN);
}

struct json_object *culprit_ranks(struct json_object *operation)
{
	struct json_object *missing = json_object_object_get(operation, "missing_rank");
	struct json_object *ranks = json_object_new_array();
	size_t i, count = missing ? json_object_array_length(missing) : 0;

	for (i = 0; i < count; i++) {
		struct json_object *rank = json_object_array_get_idx(missing, i);

		if (holds_up(operation, json_object_get_uint64(rank)))
			json_object_array_add(ranks, json_object_get(rank));
	}
	return ranks;
}

/* The lowest rank of this host that it waits for, or CULPRIT_UNKNOWN. */
static uint64_t lowest_here(struct json_object *operation)
{
	struct json_object *ranks = culprit_ranks(operation);
	uint64_t lowest = CULPRIT_UNKNOWN;

	if (json_object_array_length(ranks))
		lowest = json_object_get_uint64(json_object_array_get_idx(ranks, 0));
	json_object_put(ranks);
	return lowest;
}

/*
 * Where nobody has posted here, somebody waits elsewhere if it says so, or if it must: who
 * contributes to a reduce or sends a broadcast need not wait.
 */
static bool is_awaited(struct json_object *operation)
{
	const char *name = text_string(operation, "operation", "");

	return text_has(operation, "waited_ms") || !strcmp(name, "barrier") ||
	       !strcmp(name, "allreduce");
}

bool culprit_waits(struct json_object *operation)
{
	if (!is_state(operation, "running") &&
	    !(is_state(operation, "early") && is_awaited(operation)))
		return false;
	return lowest_here(operation) != CULPRIT_UNKNOWN || has_some(operation, "missing");
}

/* Numbers wrap: the older one is less than half of all numbers behind. */
static bool is_older(struct json_object *a, struct json_object *b)
{
	uint32_t difference = text_number(a, "number", 0) - text_number(b, "number", 0);

	return difference > UINT32_MAX / 2;
}

struct json_object *culprit_operation(struct json_object *operations)
{
	struct json_object *oldest = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(operations); i++) {
		struct json_object *operation = json_object_array_get_idx(operations, i);

		if (culprit_waits(operation) && (!oldest || is_older(operation, oldest)))
			oldest = operation;
	}
	return oldest;
}

/* A question that is under way is no silence yet. */
static bool is_silent(struct json_object *missing, struct json_object *group)
{
	uint64_t patience_ms = text_number(group, "liveness_ms", 0) / SILENCE_OF_LIVENESS;

	return text_number(missing, "silent_ms", 0) > patience_ms;
}

static enum culprit_reason told_reason(struct json_object *missing, bool itself)
{
	if (!json_object_get_boolean(json_object_object_get(missing, "awaits_said")))
		return CULPRIT_MISSED;
	return itself ? CULPRIT_NOT_POSTED : CULPRIT_TOLD;
}

/* Where the chain of waits ends that begins at a host whose message is missing. */
static void follow(struct culprit *end, struct json_object *missing, struct json_object *group)
{
	uint64_t self = text_number(group, "host", CULPRIT_UNKNOWN);
	uint64_t host = text_number(missing, "host", CULPRIT_UNKNOWN);
	uint64_t awaits = text_number(missing, "awaits_host", CULPRIT_UNKNOWN);

	*end = (struct culprit){
		.host		= host,
		.rank		= text_number(missing, "rank", CULPRIT_UNKNOWN),
		.via		= CULPRIT_UNKNOWN,
		.operation	= CULPRIT_UNKNOWN,
		.silent_ms	= CULPRIT_UNKNOWN,
		.heard_ms	= text_number(missing, "heard_ms", CULPRIT_UNKNOWN),
		.told_ms	= CULPRIT_UNKNOWN,
	};
	if (is_state(missing, "left") || is_state(missing, "dead")) {
		end->reason = CULPRIT_GONE;
	} else if (is_state(missing, "unheard") || is_state(missing, "unknown")) {
		end->reason = CULPRIT_UNHEARD;
	} else if (is_silent(missing, group)) {
		end->reason = CULPRIT_SILENT;
		end->silent_ms = text_number(missing, "silent_ms", 0);
		end->waited_ms = end->silent_ms;
	} else if (awaits == CULPRIT_UNKNOWN) {
		end->reason = CULPRIT_QUIET;
	} else if (awaits == self) {
		end->reason = CULPRIT_LOST;
	} else {
		end->reason = told_reason(missing, awaits == host);
		end->host = awaits;
		end->rank = text_number(missing, "awaits_rank", end->rank);
		end->via = awaits == host ? CULPRIT_UNKNOWN : host;
		end->heard_ms = awaits == host ? end->heard_ms : CULPRIT_UNKNOWN;
		end->operation = text_number(missing, "awaits_operation", CULPRIT_UNKNOWN);
		end->told_ms = text_number(missing, "told_ms", 0);
		end->waited_ms = text_number(missing, "awaits_ms", 0) + end->told_ms;
	}
}

/* Who has said nothing of use, or waits for us, is blamed only if nobody else is. */
static bool is_guess(const struct culprit *end)
{
	return end->reason == CULPRIT_QUIET || end->reason == CULPRIT_LOST;
}

static bool is_told(const struct culprit *end)
{
	return end->reason == CULPRIT_TOLD || end->reason == CULPRIT_MISSED;
}

/* What is known at first hand counts more than what was told, and that more than nothing. */
static bool is_better(const struct culprit *a, const struct culprit *b)
{
	bool told_a = is_told(a), told_b = is_told(b);

	if (is_guess(a) != is_guess(b))
		return is_guess(b);
	return told_a != told_b ? told_b : a->waited_ms > b->waited_ms;
}

/* One more chain ends at this place. */
static void join(struct culprit *place, const struct culprit *end)
{
	uint64_t heard_ms = place->heard_ms < end->heard_ms ? place->heard_ms : end->heard_ms;
	unsigned int chains = place->chains + 1;

	if (is_better(end, place))
		*place = *end;
	place->heard_ms = heard_ms;
	place->chains = chains;
}

static void append(struct culprit *place, const struct culprit *end)
{
	*place = *end;
	place->chains = 1;
}

static bool beats(const struct culprit *a, const struct culprit *b)
{
	if (is_guess(a) != is_guess(b))
		return is_guess(b);
	if (a->chains != b->chains)
		return a->chains > b->chains;
	return a->waited_ms > b->waited_ms;
}

/* Ends become places, in the same memory: there are never more of them. */
static void choose(struct culprit *culprit, struct culprit *ends, unsigned int count)
{
	unsigned int i, j, places = 0;

	for (i = 0; i < count; i++) {
		for (j = 0; j < places && ends[j].host != ends[i].host; j++)
			;
		if (j < places)
			join(&ends[j], &ends[i]);
		else
			append(&ends[places++], &ends[i]);
	}
	for (j = 0; j < places; j++) {
		ends[j].of = count;
		if (!j || beats(&ends[j], culprit))
			*culprit = ends[j];
	}
}

void culprit_find(struct culprit *culprit, struct json_object *group,
		  struct json_object *operation)
{
	struct json_object *missing = json_object_object_get(operation, "missing");
	uint64_t self = text_number(group, "host", CULPRIT_UNKNOWN);
	size_t i, count = missing ? json_object_array_length(missing) : 0;
	struct culprit *ends;

	*culprit = (struct culprit){
		.reason		= CULPRIT_NOBODY,
		.host		= self,
		.rank		= lowest_here(operation),
		.via		= CULPRIT_UNKNOWN,
		.operation	= text_number(operation, "number", CULPRIT_UNKNOWN),
		.waited_ms	= text_number(operation, "waited_ms", 0),
		.silent_ms	= CULPRIT_UNKNOWN,
		.heard_ms	= CULPRIT_UNKNOWN,
		.told_ms	= CULPRIT_UNKNOWN,
	};
	if (culprit->rank != CULPRIT_UNKNOWN) {
		culprit->reason = CULPRIT_HERE;
		return;
	}
	if (!count)
		return;
	ends = calloc(count, sizeof(*ends));
	if (!ends)
		err(EXIT_ERROR, "an operation");
	for (i = 0; i < count; i++)
		follow(&ends[i], json_object_array_get_idx(missing, i), group);
	choose(culprit, ends, count);
	free(ends);
}

const char *culprit_reason_name(enum culprit_reason reason)
{
	static const char *const names[] = {
		[CULPRIT_NOBODY]	= "nobody",
		[CULPRIT_HERE]		= "here",
		[CULPRIT_NOT_POSTED]	= "not-posted",
		[CULPRIT_TOLD]		= "told",
		[CULPRIT_MISSED]	= "missed",
		[CULPRIT_SILENT]	= "silent",
		[CULPRIT_UNHEARD]	= "unheard",
		[CULPRIT_GONE]		= "gone",
		[CULPRIT_QUIET]		= "quiet",
		[CULPRIT_LOST]		= "lost",
	};

	return names[reason];
}
