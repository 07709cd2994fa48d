/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failure of a group: which operations cannot complete any more, who is to
 * blame, and how the other hosts come to know. Documentation/failure.md says
 * what is promised. Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_FAILURE_H
#define COLL_CORE_FAILURE_H

#include "wire.h"

struct coll_group;
struct coll_peer;

/**
 * struct coll_failure - operations beyond @limit cannot complete
 * @limit: the last that can
 * @rank: who is to blame
 * @reason: enum coll_reason
 */
struct coll_failure {
	u32	limit;
	u32	rank;
	u32	reason;
};

/* The errno of a failure, positive as completions have it. */
u32 coll_failure_error(const struct coll_failure *v);

/* The group ends on this host: @rank is to blame. */
void coll_group_break(struct coll_group *g, enum coll_reason reason, u32 rank, u64 now);

/* The other side of @peer was asked for long enough, and is silent. */
void coll_group_accuse(struct coll_group *g, struct coll_peer *peer, u64 now);

/* A goodbye came. */
void coll_group_receive_goodbye(struct coll_group *g, struct coll_peer *peer,
				const struct coll_body *body, u64 now);

/* Tell the other side what we know, unless it knows. */
void coll_group_say_goodbye(struct coll_group *g, struct coll_peer *peer, u64 now);

/* Why does this host say goodbye? */
void coll_group_blame(const struct coll_group *g, struct coll_signature *goodbye);

/* The settling time is over: aborted operations report. */
void coll_group_settle(struct coll_group *g, u64 now);

#endif
