/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that go no further, as far as the platform finds out: those that the core
 * refuses after it knows who sent them are counted in their group.
 */
#ifndef COLL_DROP_H
#define COLL_DROP_H

#include "core/env.h"
#include "counters.h"

void coll_drop_packet(struct coll_counters __percpu *counters, const u8 *packet, u32 bytes,
		      enum coll_drop reason);

#endif
