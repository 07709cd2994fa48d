/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that are dropped before a group has authenticated them: counted per namespace,
 * and traced. Packets that a group drops are counted by the group.
 */
#ifndef COLL_DROP_H
#define COLL_DROP_H

#include "core/env.h"
#include "counters.h"

struct sk_buff;

void coll_drop_packet(struct coll_counters __percpu *counters, const u8 *packet, u32 bytes,
		      enum coll_drop reason);

void coll_drop_unsent(struct coll_counters __percpu *counters, struct sk_buff *skb, int err);

#endif
