/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time-wait table of a namespace: time-wait entries (core/timewait.h) of the groups
 * that were closed here. They answer late packets of other members for twice the liveness
 * time. There are at most COLL_TIMEWAIT_ENTRIES; beyond that a new one replaces the oldest.
 *
 * Softirqs look them up under RCU. They are added and removed under the namespace's mutex.
 */
#ifndef COLL_TIMEWAIT_TABLE_H
#define COLL_TIMEWAIT_TABLE_H

#include <linux/list.h>

#include "core/timewait.h"
#include "members.h"

#define COLL_TIMEWAIT_ENTRIES		64

/**
 * struct coll_timewait_table - time-wait entries of a namespace
 * @entries: oldest first
 * @count: number of entries
 */
struct coll_timewait_table {
	struct list_head	entries;
	u32			count;
};

void coll_timewait_table_init(struct coll_timewait_table *table);
void coll_timewait_table_add(struct coll_timewait_table *table, const struct coll_group *g,
			     struct coll_members *members, u64 now);
u64 coll_timewait_table_expire(struct coll_timewait_table *table, u64 now);
const struct coll_timewait *coll_timewait_table_find(const struct coll_timewait_table *table,
						     u64 tag, u32 self,
						     const struct coll_members **members);

#endif
