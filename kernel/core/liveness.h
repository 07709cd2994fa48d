/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Liveness of the other side of a connection: questions that were sent to it, and
 * whether it has answered. A question is a probe, or a message that is sent again to a
 * host that was never heard. Nothing is sent here. Documentation/failure.md says what
 * counts as an answer.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_LIVENESS_H
#define COLL_CORE_LIVENESS_H

#include "state.h"

/* How long a host may be silent before it is asked; time between questions. */
u64 coll_liveness_quiet_ns(const struct coll_group *g);
u64 coll_liveness_interval_ns(const struct coll_peer *peer);

/* A question went to the other side. */
void coll_liveness_asked(struct coll_peer *peer, u64 now);

/* Have there been enough questions, and no answer? */
bool coll_liveness_silent(const struct coll_peer *peer, u64 now);

#endif
