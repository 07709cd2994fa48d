/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Failure of a group: which operations can no longer complete, which rank is to blame, and
 * how the other hosts are notified. Documentation/failure.md has the guarantees.
 *
 * Operations beyond the failure limit cannot complete. A limit may come from a rank that
 * left, and then the operations up to it proceed; or the group ends on this host
 * (terminal). Operations posted beyond the limit are aborted at once, and report after the
 * settling time.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_FAILURE_H
#define COLL_CORE_FAILURE_H

#include "state.h"

u32 coll_failure_error(const struct coll_failure *f);
void coll_failure_end(struct coll_group *g, enum coll_reason reason, u32 rank, u64 now);
void coll_failure_disagree(struct coll_group *g, const struct coll_peer *peer, u64 now);
void coll_failure_recall(struct coll_group *g, const struct coll_peer *peer,
			 const struct coll_body *body, u64 now);
void coll_failure_accuse(struct coll_group *g, struct coll_peer *peer, u64 now);
void coll_failure_blocked(struct coll_group *g, struct coll_peer *peer, u64 now);
void coll_failure_receive_goodbye(struct coll_group *g, struct coll_peer *peer,
				  const struct coll_body *body, u64 now);
void coll_failure_rank_left(struct coll_group *g, const struct coll_rank *rank, u64 now);
void coll_failure_settle(struct coll_group *g, u64 now);
void coll_failure_tell_rest(struct coll_group *g, u64 now);

#endif
