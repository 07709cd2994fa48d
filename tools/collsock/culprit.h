/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whom an operation waits for, from what this host knows of it; nothing here asks the kernel.
 *
 * If ranks of this host have not posted, it is one of these. Otherwise messages of other hosts
 * are missing, and at each of these hosts a chain of waits begins. A host that is silent, or
 * was never heard from, is the end of its chain; any other one has said where the chain ends, as far
 * as it knows. The place where most chains end is the answer; of two places where equally
 * many end, the one that has been waited for longer.
 */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <stdint.h>

#include "operation.h"

enum culprit_reason {
	CULPRIT_NOBODY,		/* the operation waits for nothing but acknowledgments */
	CULPRIT_HERE,		/* ranks of this host have not posted */
	CULPRIT_NOT_POSTED,	/* a rank there has not posted: its host says so */
	CULPRIT_TOLD,		/* another host has heard it say so */
	CULPRIT_MISSED,		/* another host waits for it, and has not heard it say why */
	CULPRIT_SILENT,		/* it was heard, and does not answer any more */
	CULPRIT_UNHEARD,	/* it was never heard from */
	CULPRIT_GONE,		/* it has left, or counts as dead */
	CULPRIT_QUIET,		/* it was heard, and has not said whom it waits for */
	CULPRIT_LOST,		/* it says that it waits for us: messages are in flight, or lost */
};

/**
 * struct culprit - who is waited for
 * @reason: why
 * @host: index of its host
 * @rank: the rank, or the lowest one of the host
 * @via: host that says so, if it is another one
 * @operation: number of the operation that it has not posted
 * @waited_ms: for how long it has been waited for there; 0 if that is not known
 * @silent_ms: since it was first asked without an answer
 * @heard_ms: since it was last heard
 * @told_ms: since it was said
 * @chains: how many chains end there
 * @of: of how many
 *
 * Numbers that are not known are NUMBER_UNKNOWN.
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

/**
 * culprit_find() - whom an operation waits for
 * @culprit: filled in
 * @o: the operation
 * @self: index of this host in the group
 * @liveness_ms: of the group
 */
void culprit_find(struct culprit *culprit, const struct operation *o, uint64_t self,
		  uint64_t liveness_ms);

/* The reason in a word, as JSON has it. */
const char *culprit_reason_name(enum culprit_reason reason);

#endif
