// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "timewait_table.h"

/* Entries that are forgotten while the mutex is held once */
#define BATCH	256

/**
 * struct coll_timewait_user - a user who has entries
 * @node: in coll_timewait_table.users
 * @uid: the user
 * @count: number of entries, at least 1
 * @bytes: their memory
 * @entries: oldest first
 */
struct coll_timewait_user {
	struct rhash_head	node;
	uid_t			uid;
	u32			count;
	u64			bytes;
	struct list_head	entries;
};

static const struct rhashtable_params timewait_user_params = {
	.head_offset		= offsetof(struct coll_timewait_user, node),
	.key_offset		= offsetof(struct coll_timewait_user, uid),
	.key_len		= sizeof_field(struct coll_timewait_user, uid),
	.automatic_shrinking	= true,
};

/**
 * coll_timewait_table_init() - the table is empty
 * @table: out
 * @lookup: of the namespace
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_timewait_table_init(struct coll_timewait_table *table, struct coll_lookup *lookup)
{
	table->lookup = lookup;
	table->by_end = RB_ROOT_CACHED;
	return rhashtable_init(&table->users, &timewait_user_params);
}

/**
 * coll_timewait_table_destroy() - forget everything
 * @table: no packet comes any more
 *
 * Context: process.
 */
void coll_timewait_table_destroy(struct coll_timewait_table *table)
{
	while (table->count) {
		coll_timewait_table_expire(table, U64_MAX);
		cond_resched();
	}
	rhashtable_destroy(&table->users);
}

/* ---- users ---- */

static struct coll_timewait_user *timewait_user_find(struct coll_timewait_table *table, uid_t uid)
{
	return rhashtable_lookup_fast(&table->users, &uid, timewait_user_params);
}

/* The user, who may have no entry yet, or NULL if there is no memory. */
static struct coll_timewait_user *timewait_user_get(struct coll_timewait_table *table, uid_t uid)
{
	struct coll_timewait_user *user = timewait_user_find(table, uid);

	if (user)
		return user;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return NULL;
	user->uid = uid;
	INIT_LIST_HEAD(&user->entries);
	if (!rhashtable_insert_fast(&table->users, &user->node, timewait_user_params))
		return user;
	kfree(user);
	return NULL;
}

/* Only holders of the mutex look users up, so no grace period is needed. */
static void timewait_user_put(struct coll_timewait_table *table, struct coll_timewait_user *user)
{
	if (user->count)
		return;
	rhashtable_remove_fast(&table->users, &user->node, timewait_user_params);
	kfree(user);
}

/* ---- entries ---- */

static u64 timewait_entry_bytes(const struct coll_members *members)
{
	return sizeof(struct coll_timewait_entry) +
	       coll_members_bytes(members->hosts, members->ranks);
}

static bool timewait_entry_ends_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct coll_timewait_entry, by_end)->timewait.until_ns <
	       rb_entry(b, struct coll_timewait_entry, by_end)->timewait.until_ns;
}

static void timewait_entry_account(struct coll_timewait_table *table,
				   struct coll_timewait_entry *entry, int change)
{
	u64 bytes = timewait_entry_bytes(entry->members) * change;

	entry->user->count += change;
	entry->user->bytes += bytes;
	table->count += change;
	WRITE_ONCE(table->bytes, table->bytes + bytes);
}

static void timewait_entry_free(struct rcu_head *rcu)
{
	/* It holds a key. */
	kfree_sensitive(container_of(rcu, struct coll_timewait_entry, rcu));
}

static void timewait_entry_remove(struct coll_timewait_table *table,
				  struct coll_timewait_entry *entry)
{
	coll_lookup_remove(table->lookup, &entry->lookup);
	rb_erase_cached(&entry->by_end, &table->by_end);
	list_del(&entry->of_user);
	timewait_entry_account(table, entry, -1);
	coll_members_put(entry->members);
	call_rcu(&entry->rcu, timewait_entry_free);
}

/* As many of a user's oldest entries are forgotten as @count and @bytes demand. */
static void timewait_user_shrink(struct coll_timewait_table *table,
				 struct coll_timewait_user *user, u32 count, u64 bytes)
{
	while (user->count > count || user->bytes > bytes)
		timewait_entry_remove(table, list_first_entry(&user->entries,
							      struct coll_timewait_entry,
							      of_user));
}

static bool timewait_entry_add(struct coll_timewait_table *table,
			       struct coll_timewait_entry *entry, kuid_t uid, u64 most_bytes)
{
	struct coll_timewait_user *user = timewait_user_get(table, __kuid_val(uid));
	u64 bytes = timewait_entry_bytes(entry->members);

	if (!user)
		return false;
	if (bytes > most_bytes) {
		timewait_user_put(table, user);
		return false;
	}
	timewait_user_shrink(table, user, COLL_TIMEWAIT_PER_USER - 1, most_bytes - bytes);
	entry->user = user;
	list_add_tail(&entry->of_user, &user->entries);
	rb_add_cached(&entry->by_end, &table->by_end, timewait_entry_ends_before);
	timewait_entry_account(table, entry, 1);
	return true;
}

/**
 * coll_timewait_table_add() - add a time-wait entry for a group
 * @table: of the namespace; its mutex is held
 * @group: where packets find the group; they find the time-wait entry instead from now on
 * @g: quiet; its lock is not needed, as nothing happens in it any more
 * @members: its table
 * @uid: who made it
 * @most_bytes: what the namespace's groups may reserve
 *
 * If there is no memory, no entry is added, and late packets are not answered.
 *
 * Return: was it added? Otherwise @group is to be removed. Context: process.
 */
bool coll_timewait_table_add(struct coll_timewait_table *table, struct coll_lookup_entry *group,
			     const struct coll_group *g, struct coll_members *members,
			     kuid_t uid, u64 most_bytes)
{
	struct coll_timewait_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return false;
	coll_timewait_set(g, &entry->timewait, ktime_get_ns());
	entry->lookup.key = group->key;
	entry->lookup.timewait = true;
	entry->members = members;
	if (!timewait_entry_add(table, entry, uid, most_bytes / COLL_TIMEWAIT_SHARE)) {
		kfree_sensitive(entry);
		return false;
	}
	members->references++;
	coll_lookup_replace(table->lookup, group, &entry->lookup);
	return true;
}

/**
 * coll_timewait_table_expire() - remove expired entries
 * @table: of the namespace; its mutex is held
 * @now: time in ns; U64_MAX removes all entries
 *
 * Not more than a batch, so that the mutex is not held for long.
 *
 * Return: when the next entry expires, U64_MAX if there is none. Context: process.
 */
u64 coll_timewait_table_expire(struct coll_timewait_table *table, u64 now)
{
	struct coll_timewait_entry *entry;
	struct coll_timewait_user *user;
	u32 forgotten = 0;

	while (table->count) {
		entry = rb_entry(rb_first_cached(&table->by_end), struct coll_timewait_entry,
				 by_end);
		if (!coll_timewait_over(&entry->timewait, now) || forgotten++ == BATCH)
			return entry->timewait.until_ns;
		user = entry->user;
		timewait_entry_remove(table, entry);
		timewait_user_put(table, user);
	}
	return U64_MAX;
}

/**
 * coll_timewait_table_reclaim() - a user needs memory
 * @table: of the namespace; its mutex is held
 * @uid: the user
 * @bytes: how much of it; his oldest entries are forgotten for it
 *
 * Context: process.
 */
void coll_timewait_table_reclaim(struct coll_timewait_table *table, kuid_t uid, u64 bytes)
{
	struct coll_timewait_user *user = timewait_user_find(table, __kuid_val(uid));

	if (!user)
		return;
	timewait_user_shrink(table, user, U32_MAX, user->bytes - min(user->bytes, bytes));
	timewait_user_put(table, user);
}
