/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Failure of a group: which operations cannot complete any more, which rank is to
 * blame, and how the other hosts are told. Documentation/failure.md says what is
 * promised.
 *
 * Operations beyond the failure limit cannot complete. A limit may come from a rank that
 * left, and then those before it go on; or the group ends on this host (terminal). What
 * was posted beyond the limit is aborted at once, and reports after the settling time.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_FAILURE_H
#define COLL_CORE_FAILURE_H

#include "state.h"

/* The errno of a failure, positive as completions have it. */
u32 coll_failure_error(const struct coll_failure *f);

/* The group ends on this host: @rank is to blame. */
void coll_failure_end(struct coll_group *g, enum coll_reason reason, u32 rank, u64 now);

/* Another host means another operation by the same number. */
void coll_failure_disagree(struct coll_group *g, const struct coll_peer *peer, u64 now);

/* The same for an operation that is over here: was it another one? */
void coll_failure_recall(struct coll_group *g, const struct coll_peer *peer,
			 const struct coll_body *body, u64 now);

/* The other side of @peer was asked for long enough, and is silent. */
void coll_failure_accuse(struct coll_group *g, struct coll_peer *peer, u64 now);

/* The other side of @peer is there, and what it needs does not get through to it. */
void coll_failure_blocked(struct coll_group *g, struct coll_peer *peer, u64 now);

/* A goodbye came. */
void coll_failure_receive_goodbye(struct coll_group *g, struct coll_peer *peer,
				  const struct coll_body *body, u64 now);

/* A rank of this host has left; all of them have, if none is joined any more. */
void coll_failure_rank_left(struct coll_group *g, const struct coll_rank *rank, u64 now);

/* The settling time is over: aborted operations report. */
void coll_failure_settle(struct coll_group *g, u64 now);

#endif
