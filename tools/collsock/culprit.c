// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>

#include "command.h"
#include "culprit.h"
#include "text.h"

/* A host that has not answered for this fraction of the liveness time is silent. */
#define SILENCE_OF_LIVENESS 8

/* The end of the chain if the host has reported which host it waits for */
static void culprit_follow_told(struct culprit *end, const struct operation_host *missing)
{
	bool itself = missing->awaits_host == missing->host;

	if (!missing->awaits_reported)
		end->reason = CULPRIT_MISSED;
	else
		end->reason = itself ? CULPRIT_NOT_POSTED : CULPRIT_TOLD;
	end->host = missing->awaits_host;
	if (missing->awaits_rank != NUMBER_UNKNOWN)
		end->rank = missing->awaits_rank;
	if (!itself) {
		end->via = missing->host;
		end->heard_ms = NUMBER_UNKNOWN;
	}
	end->operation = missing->awaits_operation;
	end->reported_ms = missing->reported_ms;
	end->waited_ms = missing->awaits_ms + end->reported_ms;
}

/* The end of the chain of waits that begins at a host whose message is missing */
static void culprit_follow(struct culprit *end, const struct operation_host *missing,
			   uint64_t self, uint64_t liveness_ms)
{
	*end = (struct culprit){
		.host		= missing->host,
		.rank		= missing->rank,
		.via		= NUMBER_UNKNOWN,
		.operation	= NUMBER_UNKNOWN,
		.silent_ms	= NUMBER_UNKNOWN,
		.heard_ms	= missing->heard_ms,
		.reported_ms	= NUMBER_UNKNOWN,
	};
	if (missing->state == OPERATION_HOST_GONE) {
		end->reason = CULPRIT_GONE;
	} else if (missing->state == OPERATION_HOST_UNHEARD) {
		end->reason = CULPRIT_UNHEARD;
	} else if (missing->silent_ms > liveness_ms / SILENCE_OF_LIVENESS) {
		/* For less time, the answer to a probe may still be in flight. */
		end->reason = CULPRIT_SILENT;
		end->silent_ms = missing->silent_ms;
		end->waited_ms = missing->silent_ms;
	} else if (missing->awaits_host == NUMBER_UNKNOWN) {
		end->reason = CULPRIT_QUIET;
	} else if (missing->awaits_host == self) {
		end->reason = CULPRIT_LOST;
	} else {
		culprit_follow_told(end, missing);
	}
}

/* A host that has reported nothing useful, or waits for us, is blamed only if no other is. */
static bool culprit_is_guess(const struct culprit *end)
{
	return end->reason == CULPRIT_QUIET || end->reason == CULPRIT_LOST;
}

static bool culprit_is_told(const struct culprit *end)
{
	return end->reason == CULPRIT_TOLD || end->reason == CULPRIT_MISSED;
}

/* First-hand knowledge counts more than reports, and these more than guesses. */
static bool culprit_is_better(const struct culprit *a, const struct culprit *b)
{
	bool told_a = culprit_is_told(a), told_b = culprit_is_told(b);

	if (culprit_is_guess(a) != culprit_is_guess(b))
		return culprit_is_guess(b);
	return told_a != told_b ? told_b : a->waited_ms > b->waited_ms;
}

/* One more chain ends at this place. */
static void culprit_join(struct culprit *place, const struct culprit *end)
{
	uint64_t heard_ms = place->heard_ms < end->heard_ms ? place->heard_ms : end->heard_ms;
	unsigned int chains = place->chains + 1;

	if (culprit_is_better(end, place))
		*place = *end;
	place->heard_ms = heard_ms;
	place->chains = chains;
}

static void culprit_append(struct culprit *place, const struct culprit *end)
{
	*place = *end;
	place->chains = 1;
}

static bool culprit_beats(const struct culprit *a, const struct culprit *b)
{
	if (culprit_is_guess(a) != culprit_is_guess(b))
		return culprit_is_guess(b);
	if (a->chains != b->chains)
		return a->chains > b->chains;
	return a->waited_ms > b->waited_ms;
}

/* Merge equal ends into places, in the same array. */
static void culprit_choose(struct culprit *culprit, struct culprit *ends, unsigned int count)
{
	unsigned int i, j, places = 0;

	for (i = 0; i < count; i++) {
		for (j = 0; j < places && ends[j].host != ends[i].host; j++)
			;
		if (j < places)
			culprit_join(&ends[j], &ends[i]);
		else
			culprit_append(&ends[places++], &ends[i]);
	}
	for (j = 0; j < places; j++) {
		ends[j].of = count;
		if (!j || culprit_beats(&ends[j], culprit))
			*culprit = ends[j];
	}
}

void culprit_find(struct culprit *culprit, const struct operation *o, uint64_t self,
		  uint64_t liveness_ms)
{
	struct culprit *ends;
	size_t i;

	*culprit = (struct culprit){
		.reason		= o->rank_count ? CULPRIT_HERE : CULPRIT_NOBODY,
		.host		= self,
		.rank		= o->rank_count ? o->ranks[0] : NUMBER_UNKNOWN,
		.via		= NUMBER_UNKNOWN,
		.operation	= o->number,
		.waited_ms	= o->waited_ms == NUMBER_UNKNOWN ? 0 : o->waited_ms,
		.silent_ms	= NUMBER_UNKNOWN,
		.heard_ms	= NUMBER_UNKNOWN,
		.reported_ms	= NUMBER_UNKNOWN,
	};
	if (o->rank_count || !o->host_count)
		return;
	ends = calloc(o->host_count, sizeof(*ends));
	if (!ends)
		err(EXIT_ERROR, "an operation");
	for (i = 0; i < o->host_count; i++)
		culprit_follow(&ends[i], &o->hosts[i], self, liveness_ms);
	culprit_choose(culprit, ends, o->host_count);
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
