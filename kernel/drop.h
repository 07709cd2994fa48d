/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that are dropped before a group has authenticated them: counted per namespace,
 * and traced. Those that a group drops are counted by the group.
 */
#ifndef COLL_DROP_H
#define COLL_DROP_H

#include "core/env.h"
#include "counters.h"

void coll_drop_packet(struct coll_counters __percpu *counters, const u8 *packet, u32 bytes,
		      enum coll_drop reason);

/* Why coll_bearer_address() has failed with @err */
static inline enum coll_drop coll_drop_unsent(int err)
{
	return err == -ENOBUFS ? COLL_DROP_SEND_BUFFER_FULL : COLL_DROP_NO_ROUTE;
}

#endif
