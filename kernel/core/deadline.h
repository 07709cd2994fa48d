/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The deadline of a group: one timer of the platform for all of its deferred work. Each
 * connection knows when it is due; the group is due when the first connection is, when
 * errors settle, or when it is time to look for the hosts that operations wait for.
 *
 * A deadline is never cancelled: when it passes, work that is no longer due is skipped, and
 * connections that would soon be due are looked at, too, so that theirs need not pass.
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_DEADLINE_H
#define COLL_CORE_DEADLINE_H

#include "env.h"
#include "state.h"

/* Deadlines are rounded up to multiples of this, in ns, so that they coincide. */
#define COLL_DEADLINE_GRAIN	BIT_ULL(19)

/**
 * coll_deadline_arm() - call coll_group_expire() at @at, or earlier
 * @g: the group
 * @at: time in ns
 *
 * Context: group lock held.
 */
static inline void coll_deadline_arm(struct coll_group *g, u64 at)
{
	if (at < g->armed_ns) {
		g->armed_ns = at;
		coll_env_deadline(g, at);
	}
}

/**
 * coll_deadline_peer() - make a connection due at @at, or earlier
 * @peer: the connection
 * @at: time in ns
 *
 * In the usual case the peer is due earlier already, and this is one comparison.
 *
 * Context: group lock held.
 */
static inline void coll_deadline_peer(struct coll_peer *peer, u64 at)
{
	at = (at | (COLL_DEADLINE_GRAIN - 1)) + 1;
	if (likely(at >= peer->due_ns))
		return;
	peer->due_ns = at;
	coll_deadline_arm(peer->group, at);
}

#endif
