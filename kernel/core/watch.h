/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watching: whoever waits for a message asks whether the other side is there,
 * by probes, and whoever is probed about an operation that it has not posted
 * watches in its turn. Documentation/failure.md says why. Everything here is
 * called under the group's lock.
 */
#ifndef COLL_CORE_WATCH_H
#define COLL_CORE_WATCH_H

#include "wire.h"

struct coll_group;
struct coll_peer;

/* Look after a while whether those that an operation waits for are there. */
void coll_watch_arm(struct coll_group *g, u64 now);

/* Look for whom operations wait. */
void coll_watch_look(struct coll_group *g, u64 now);

/* A question went to the other side. */
void coll_watch_asked(struct coll_peer *peer, u64 now);

/* Ask the other side, if that is due. */
void coll_watch_ask(struct coll_peer *peer, u64 now);

/* Have there been enough questions, and no answer? */
bool coll_watch_silent(const struct coll_peer *peer, u64 now);

/* A probe, an answer came. */
void coll_watch_probed(struct coll_group *g, struct coll_peer *peer,
		       const struct coll_body *body, u64 now);
void coll_watch_answered(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* Has the other side, which an operation waits for, said where the chain of waits ends? */
bool coll_watch_told(const struct coll_peer *peer, u32 operation, struct coll_wait *wait,
		     u64 now);

/* Somebody speaks for the other side with another incarnation. */
void coll_watch_changed(struct coll_peer *peer, const struct coll_prefix *prefix,
			const u8 *packet, u32 bytes, u64 now);

#endif
