/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The graveyard of a namespace: tombstones (core/tombstone.h) of the groups
 * that were closed here. They answer late packets of other members for twice the
 * liveness time; there are COLL_TOMBSTONES at most, and the oldest gives way.
 *
 * Softirqs look them up under RCU. They are added and forgotten under the
 * namespace's mutex.
 */
#ifndef COLL_GRAVEYARD_H
#define COLL_GRAVEYARD_H

#include <linux/list.h>

#include "core/tombstone.h"
#include "members.h"

#define COLL_TOMBSTONES		64

struct coll_net;
struct sk_buff;

/**
 * struct coll_graveyard - see above
 * @tombstones: oldest first
 * @count: number of them
 */
struct coll_graveyard {
	struct list_head	tombstones;
	u32			count;
};

void coll_graveyard_init(struct coll_graveyard *graves);
void coll_graveyard_bury(struct coll_graveyard *graves, const struct coll_group *g,
			 struct coll_members *members, u64 now);
u64 coll_graveyard_forget(struct coll_graveyard *graves, u64 now);
const struct coll_tombstone *coll_graveyard_find(const struct coll_graveyard *graves,
						 u64 tag, u32 self,
						 const struct coll_members **members);

#endif
