/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rank that an operation waits for, computed from what this host knows, without queries
 * to the kernel.
 *
 * If ranks of this host have not posted, it is one of these. Otherwise messages of other
 * hosts are missing, and at each of these hosts a chain of waits begins. A host that is
 * silent, or was never heard from, is the end of its chain; any other has reported where
 * its chain ends, as far as it knows. The answer is the place where most chains end; if
 * several tie, the one that has been waited for longest.
 */
#ifndef CULPRIT_H
#define CULPRIT_H

#include <stdint.h>

#include "operation.h"

enum culprit_reason {
	CULPRIT_NOBODY,		/* the operation waits only for acknowledgments */
	CULPRIT_HERE,		/* ranks of this host have not posted */
	CULPRIT_NOT_POSTED,	/* a rank there has not posted, as its host reports */
	CULPRIT_TOLD,		/* likewise, as another host relays */
	CULPRIT_MISSED,		/* another host waits for it, without a report from it */
	CULPRIT_SILENT,		/* it has stopped answering */
	CULPRIT_UNHEARD,	/* it was never heard from */
	CULPRIT_GONE,		/* it has left, or counts as dead */
	CULPRIT_QUIET,		/* it is alive, and has not reported which host it waits for */
	CULPRIT_LOST,		/* it waits for us: messages are in flight, or lost */
};

/**
 * struct culprit - the rank that is waited for
 * @reason: why
 * @host: index of its host
 * @rank: the rank, or the lowest one of the host
 * @via: host that reported this, if it is another one
 * @operation: number of the operation that it has not posted
 * @waited_ms: for how long it has been waited for there; 0 if unknown
 * @silent_ms: time since the first unanswered probe
 * @heard_ms: time since it was last heard from
 * @reported_ms: time since the report
 * @chains: number of chains that end there
 * @of: number of all chains
 *
 * Unknown numbers are NUMBER_UNKNOWN.
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
	uint64_t		reported_ms;
	unsigned int		chains;
	unsigned int		of;
};

/**
 * culprit_find() - find the rank that an operation waits for
 * @culprit: out
 * @o: the operation
 * @self: index of this host in the group
 * @liveness_ms: liveness time of the group
 */
void culprit_find(struct culprit *culprit, const struct operation *o, uint64_t self,
		  uint64_t liveness_ms);

/* The reason as a word, for JSON */
const char *culprit_reason_name(enum culprit_reason reason);

#endif
