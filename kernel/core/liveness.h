/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Liveness of the other side of a connection: probes that were sent to it, and whether it
 * has answered. A message that is retransmitted to a host never heard from counts as a
 * probe. Nothing is sent here. Documentation/failure.md defines what counts as an answer.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_LIVENESS_H
#define COLL_CORE_LIVENESS_H

#include "state.h"

/*
 * Does an operation wait for this peer? While a check is under way it may not have come to that
 * operation yet; then the check before it counts.
 */
static inline bool coll_liveness_matters(const struct coll_peer *peer)
{
	const struct coll_watch *w = &peer->group->watch;

	return w->round - peer->watch.round <= !!w->left;
}

u64 coll_liveness_quiet_ns(const struct coll_group *g);
u64 coll_liveness_interval_ns(const struct coll_peer *peer);
void coll_liveness_asked(struct coll_peer *peer, u64 now);
bool coll_liveness_silent(const struct coll_peer *peer, u64 now);
void coll_liveness_check_idle(struct coll_peer *peer, u64 now);

void coll_liveness_repeat(struct coll_peer *peer);
bool coll_liveness_muted(const struct coll_peer *peer);
bool coll_liveness_filtered(const struct coll_peer *peer);

#endif
