// SPDX-License-Identifier: GPL-2.0
#include <linux/rculist.h>
#include <linux/slab.h>

#include "timewait_table.h"

/**
 * struct timewait_entry - one time-wait entry of a namespace
 * @link: in coll_timewait_table.entries
 * @rcu: frees it, as softirqs may read it while it is removed
 * @members: the table of the group
 * @timewait: the time-wait entry
 */
struct timewait_entry {
	struct list_head	link;
	struct rcu_head		rcu;
	struct coll_members	*members;
	struct coll_timewait	timewait;
};

/**
 * coll_timewait_table_init() - initialise the table, empty
 * @table: zeroed
 *
 * Context: process.
 */
void coll_timewait_table_init(struct coll_timewait_table *table)
{
	INIT_LIST_HEAD(&table->entries);
}

static void timewait_entry_free(struct rcu_head *rcu)
{
	/* It holds a key. */
	kfree_sensitive(container_of(rcu, struct timewait_entry, rcu));
}

static void timewait_entry_remove(struct coll_timewait_table *table, struct timewait_entry *entry)
{
	list_del_rcu(&entry->link);
	WRITE_ONCE(table->count, table->count - 1);
	coll_members_put(entry->members);
	call_rcu(&entry->rcu, timewait_entry_free);
}

/**
 * coll_timewait_table_add() - add a time-wait entry for a group
 * @table: of the namespace; its mutex is held
 * @g: quiet; its lock is not needed, as it has ended
 * @members: its table of members
 * @now: time in ns
 *
 * If there is no memory, no entry is added, and late packets are not answered.
 *
 * Context: process.
 */
void coll_timewait_table_add(struct coll_timewait_table *table, const struct coll_group *g,
			     struct coll_members *members, u64 now)
{
	struct timewait_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return;
	coll_timewait_set(g, &entry->timewait, now);
	members->references++;
	entry->members = members;
	if (table->count == COLL_TIMEWAIT_ENTRIES)
		timewait_entry_remove(table, list_first_entry(&table->entries,
							      struct timewait_entry, link));
	list_add_tail_rcu(&entry->link, &table->entries);
	WRITE_ONCE(table->count, table->count + 1);
}

/**
 * coll_timewait_table_expire() - remove expired entries
 * @table: of the namespace; its mutex is held
 * @now: time in ns; U64_MAX removes all entries
 *
 * Groups may differ in their liveness time, so entries do not expire in list order.
 *
 * Return: when the next entry expires, U64_MAX if there is none. Context: process.
 */
u64 coll_timewait_table_expire(struct coll_timewait_table *table, u64 now)
{
	struct timewait_entry *entry, *next;
	u64 due = U64_MAX;

	list_for_each_entry_safe(entry, next, &table->entries, link) {
		if (coll_timewait_over(&entry->timewait, now))
			timewait_entry_remove(table, entry);
		else
			due = min(due, entry->timewait.until_ns);
	}
	return due;
}

/**
 * coll_timewait_table_find() - find the time-wait entry of a group
 * @table: of the namespace
 * @tag: of the group
 * @self: index of this host in it
 * @members: out: its table of members, if found
 *
 * Return: the time-wait entry or NULL. Context: RCU read side.
 */
const struct coll_timewait *coll_timewait_table_find(const struct coll_timewait_table *table,
						     u64 tag, u32 self,
						     const struct coll_members **members)
{
	struct timewait_entry *entry;

	list_for_each_entry_rcu(entry, &table->entries, link) {
		if (entry->timewait.secret.tag != tag || entry->timewait.self != self)
			continue;
		*members = entry->members;
		return &entry->timewait;
	}
	return NULL;
}
