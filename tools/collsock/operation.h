/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation as the kernel of this host sees it: read once from its reply, so that other code
 * does not depend on attributes.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reply.h"

enum operation_state {
	OPERATION_EARLY,	/* packets for it have arrived, no rank here has posted it */
	OPERATION_RUNNING,
	OPERATION_OVER,		/* done, or aborted */
};

enum operation_host_state {
	OPERATION_HOST_UNHEARD,
	OPERATION_HOST_HEARD,
	OPERATION_HOST_GONE,	/* it has left, or counts as dead */
};

/**
 * struct operation_host - another host whose message is missing
 * @host: its index
 * @state: of the connection
 * @rank: lowest rank of that host
 * @heard_ms: time since it was last heard from
 * @silent_ms: time since the first unanswered probe
 * @awaits_host: host that it waits for itself, as far as it has reported
 * @awaits_rank: rank of that host
 * @awaits_operation: the operation that this rank has not posted
 * @awaits_ms: for how long it had waited at the time of the report
 * @awaits_reported: that host itself has reported that the rank has not posted
 * @reported_ms: time since the report
 *
 * Unknown numbers are NUMBER_UNKNOWN, but 0 for @silent_ms, @awaits_ms and @reported_ms.
 */
struct operation_host {
	uint64_t			host;
	enum operation_host_state	state;
	uint64_t			rank;
	uint64_t			heard_ms;
	uint64_t			silent_ms;
	uint64_t			awaits_host;
	uint64_t			awaits_rank;
	uint64_t			awaits_operation;
	uint64_t			awaits_ms;
	bool				awaits_reported;
	uint64_t			reported_ms;
};

/**
 * struct operation - one operation of a group
 * @number: its number
 * @kind: name of its kind
 * @state: its state
 * @waited_ms: for how long a rank here has waited; NUMBER_UNKNOWN if none does
 * @all_receive: every rank needs all others, so each waits
 * @ranks: ranks of this host that have not posted, and that it waits for
 * @rank_count: number of @ranks
 * @hosts: hosts whose messages are missing
 * @host_count: number of @hosts
 */
struct operation {
	uint64_t		number;
	char			*kind;
	enum operation_state	state;
	uint64_t		waited_ms;
	bool			all_receive;
	uint64_t		*ranks;
	size_t			rank_count;
	struct operation_host	*hosts;
	size_t			host_count;
};

/* Read the kernel's reply about an operation. */
void operation_read(struct operation *o, const struct reply *reply);
void operation_free(struct operation *o);

/* Does it wait for any rank? */
bool operation_waits(const struct operation *o);

/* Was @a posted before @b? Both are of one group. */
bool operation_is_older(const struct operation *a, const struct operation *b);

#endif
