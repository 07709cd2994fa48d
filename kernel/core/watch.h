/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Watching: a host that waits for a message probes whether the other side is alive. A host also
 * watches if it is probed about an operation that it has not posted. Documentation/failure.md
 * explains why.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_WATCH_H
#define COLL_CORE_WATCH_H

#include "state.h"

void coll_watch_arm(struct coll_group *g, u64 now);

/* An operation begins to wait: check later whether the hosts that it waits for are alive. */
static inline void coll_watch_start(struct coll_group *g, u64 now)
{
	if (unlikely(g->watch.next_ns == COLL_NEVER))
		coll_watch_arm(g, now);
}

void coll_watch_look(struct coll_group *g, u64 now);
void coll_watch_ask(struct coll_peer *peer, u64 now);
void coll_watch_probed(struct coll_group *g, struct coll_peer *peer,
		       const struct coll_body *body, u64 now);
void coll_watch_answered(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* Has the other side, which an operation waits for, reported where the chain of waits ends? */
bool coll_watch_told(const struct coll_peer *peer, u64 operation, struct coll_wait *wait,
		     u64 now);
void coll_watch_changed(struct coll_peer *peer, const struct coll_prefix *prefix,
			const u8 *packet, u32 bytes, u64 now);

#endif
