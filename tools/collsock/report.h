/* SPDX-License-Identifier: GPL-2.0 */
/* The findings of "wait" about one group: the rank that its oldest operation waits for */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "culprit.h"
#include "process.h"

/**
 * struct report_rank - a rank of this host that has not posted
 * @rank: its number
 * @state: "absent", "joined" or "left"; empty if unknown
 * @next: the operation that it posts next, or NUMBER_UNKNOWN
 * @last: how often it was the last to post, or NUMBER_UNKNOWN
 * @mute: its process does not reply, so it may have posted
 * @process: process that holds it
 */
struct report_rank {
	uint64_t	rank;
	char		state[8];
	uint64_t	next;
	uint64_t	last;
	bool		mute;
	struct process	process;
};

/**
 * struct report - a group in which an operation waits
 * @handle: of the group on this host
 * @id: of the group
 * @uid: of its user, or NUMBER_UNKNOWN
 * @liveness_ms: time without an answer after which a host counts as dead
 * @operation: number of the operation
 * @kind: its kind
 * @running_ms: for how long a rank has waited
 * @culprit: the rank that it waits for
 * @address: address of its host, or empty
 * @ranks: ranks of this host, if the reason is CULPRIT_HERE
 * @rank_count: number of @ranks
 */
struct report {
	uint64_t		handle;
	uint64_t		id;
	uint64_t		uid;
	uint64_t		liveness_ms;
	uint64_t		operation;
	char			*kind;
	uint64_t		running_ms;
	struct culprit		culprit;
	char			*address;
	struct report_rank	*ranks;
	size_t			rank_count;
};

/* Read a reply about a rank, and its process. */
void report_read_rank(struct report_rank *found, const struct reply *rank);

/* Free what it points to. */
void report_free(struct report *report);

#endif
