/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For whom is everybody waiting? Answered from what this host knows of one operation;
 * nothing here asks the kernel.
 *
 * An operation misses ranks of this host that have not posted: these are it. Or it misses
 * messages of other hosts. Each of them is where a chain of waits begins. A host that is
 * silent, or was never heard, is the end of its chain; any other one has said where the
 * chain ends, as far as it knows. Most chains end at the same place: that is it. Of two
 * places where equally many end it is the one for which was waited longer.
 */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

enum culprit_reason {
	CULPRIT_NOBODY,		/* the operation waits for nothing but acknowledgments */
	CULPRIT_HERE,		/* ranks of this host have not posted */
	CULPRIT_NOT_POSTED,	/* a rank there has not posted: its host says so */
	CULPRIT_TOLD,		/* another host has heard it say so */
	CULPRIT_MISSED,		/* another host waits for it, and has not heard it say why */
	CULPRIT_SILENT,		/* it was heard, and does not answer any more */
	CULPRIT_UNHEARD,	/* it was never heard */
	CULPRIT_GONE,		/* it has left, or counts as dead */
	CULPRIT_QUIET,		/* it was heard, and has not said for whom it waits */
	CULPRIT_LOST,		/* it says that it waits for us: messages are under way, or lost */
};

#define CULPRIT_UNKNOWN UINT64_MAX

/**
 * struct culprit - for whom is waited
 * @reason: why
 * @host: index of its host
 * @rank: the rank, or the lowest one of the host
 * @via: host that says so, if it is another one
 * @operation: number of the operation that it has not posted
 * @waited_ms: for how long is waited there; 0 if that is not known
 * @silent_ms: since it was first asked without an answer
 * @heard_ms: since it was last heard
 * @told_ms: since it was said
 * @chains: so many chains end there
 * @of: of so many
 *
 * Numbers that are not known are CULPRIT_UNKNOWN.
 */
struct culprit {
	enum culprit_reason	reason;
	uint64_t		host;
	uint64_t		rank;
	uint64_t		via;
	uint64_t		operation;
	uint64_t		waited_ms;
	uint64_t		silent_ms;
	uint64_t		heard_ms;
	uint64_t		told_ms;
	unsigned int		chains;
	unsigned int		of;
};

/* Of the ranks here that have not posted, those for which it waits: an array of numbers. */
struct json_object *culprit_ranks(struct json_object *operation);

/* Does the operation wait for anybody? */
bool culprit_waits(struct json_object *operation);

/* Of operations of a group, the oldest one that waits, or NULL. */
struct json_object *culprit_operation(struct json_object *operations);

/* For whom an operation of a group waits. */
void culprit_find(struct culprit *culprit, struct json_object *group,
		  struct json_object *operation);

/* The reason in a word, as JSON has it. */
const char *culprit_reason_name(enum culprit_reason reason);

#endif
