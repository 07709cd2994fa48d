/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time-wait table of a namespace: time-wait entries (core/timewait.h) of the groups
 * that were closed here. They answer late packets of other members for twice the
 * liveness time.
 *
 * An entry belongs to the user whose process made the group. A user has at most
 * COLL_TIMEWAIT_PER_USER of them in a namespace, and no more of their memory (an entry keeps
 * its group's table of members) than a share of what the namespace's groups may reserve; a new
 * one replaces the user's oldest. So no user displaces entries of another. In all namespaces
 * together they have no more than coll_user_remember() allows; an entry beyond that replaces
 * the user's oldest of this namespace, or is not added.
 *
 * The memory of an entry was charged for its group, and stays charged, to the namespace and
 * to the user. So groups and entries together never need more than either may have: a user
 * who joins when that is used up loses the oldest entries in the namespace.
 *
 * Softirqs find entries by tag and host, as they find groups (lookup.h). Entries are added and
 * forgotten under the namespace's mutex, at most a batch each time it is held, so that others can
 * join meanwhile.
 */
#ifndef COLL_TIMEWAIT_TABLE_H
#define COLL_TIMEWAIT_TABLE_H

#include <linux/rbtree.h>
#include <linux/rhashtable-types.h>
#include <linux/uidgid.h>

#include "core/timewait.h"
#include "lookup.h"
#include "members.h"

#define COLL_TIMEWAIT_PER_USER		4096
#define COLL_TIMEWAIT_SHARE		16	/* a user has one of this number of parts */

struct coll_timewait_user;
struct coll_tunables;
struct coll_user;

/**
 * struct coll_timewait_entry - one time-wait entry of a namespace
 * @lookup: in the table by which packets find it
 * @rcu: softirqs may look at it while it is taken out
 * @by_end: in coll_timewait_table.by_end
 * @of_user: in the list of its user
 * @user: whose it is
 * @members: the table of the group
 * @timewait: what is remembered
 */
struct coll_timewait_entry {
	struct coll_lookup_entry	lookup;
	struct rcu_head			rcu;
	struct rb_node			by_end;
	struct list_head		of_user;
	struct coll_timewait_user	*user;
	struct coll_members		*members;
	struct coll_timewait		timewait;
};

/**
 * struct coll_timewait_table - see above; under the namespace's mutex
 * @lookup: where packets find entries
 * @tunables: of the namespace
 * @memory: what is charged to the namespace
 * @by_end: all entries, those first that end first
 * @users: those who have entries
 * @count: number of entries
 * @bytes: their memory; may be read without the mutex
 */
struct coll_timewait_table {
	struct coll_lookup	*lookup;
	const struct coll_tunables	*tunables;
	atomic64_t		*memory;
	struct rb_root_cached	by_end;
	struct rhashtable	users;
	u32			count;
	u64			bytes;
};

/* The time-wait entry that was looked up; @entry is not that of an instance. */
static inline struct coll_timewait_entry *
coll_timewait_looked_up(struct coll_lookup_entry *entry)
{
	return container_of(entry, struct coll_timewait_entry, lookup);
}

int coll_timewait_table_init(struct coll_timewait_table *table, struct coll_lookup *lookup,
			     const struct coll_tunables *tunables, atomic64_t *memory);
void coll_timewait_table_destroy(struct coll_timewait_table *table);
bool coll_timewait_table_make_room(struct coll_timewait_table *table,
				   const struct coll_user *charged,
				   const struct coll_members *members);
u64 coll_timewait_table_add(struct coll_timewait_table *table, struct coll_lookup_entry *group,
			    const struct coll_group *g, struct coll_members *members,
			    struct coll_user *user);
u64 coll_timewait_table_expire(struct coll_timewait_table *table, u64 now);
u64 coll_timewait_table_reclaim(struct coll_timewait_table *table,
				const struct coll_user *charged, u64 bytes);

#endif
