// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "timewait_table.h"
#include "tunables.h"
#include "user.h"

/* Entries that are forgotten while the mutex is held once */
#define BATCH	256

/**
 * struct coll_timewait_user - a user who has entries
 * @node: in coll_timewait_table.users
 * @uid: number of the user
 * @charged: the user, held
 * @count: number of entries, at least 1
 * @bytes: their memory
 * @entries: oldest first
 */
struct coll_timewait_user {
	struct rhash_head	node;
	uid_t			uid;
	struct coll_user	*charged;
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
 * @tunables: of the namespace
 * @memory: the namespace's charge
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_timewait_table_init(struct coll_timewait_table *table, struct coll_lookup *lookup,
			     const struct coll_tunables *tunables, atomic64_t *memory)
{
	table->lookup = lookup;
	table->tunables = tunables;
	table->memory = memory;
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

static struct coll_timewait_user *timewait_user_find(struct coll_timewait_table *table,
						     const struct coll_user *charged)
{
	uid_t uid = __kuid_val(charged->uid);

	return rhashtable_lookup_fast(&table->users, &uid, timewait_user_params);
}

/* Get the user, who may have no entry yet; NULL if there is no memory. */
static struct coll_timewait_user *timewait_user_get(struct coll_timewait_table *table,
						    struct coll_user *charged)
{
	struct coll_timewait_user *user = timewait_user_find(table, charged);

	if (user)
		return user;
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return NULL;
	user->uid = __kuid_val(charged->uid);
	user->charged = charged;
	INIT_LIST_HEAD(&user->entries);
	if (rhashtable_insert_fast(&table->users, &user->node, timewait_user_params)) {
		kfree(user);
		return NULL;
	}
	coll_user_hold(charged);
	return user;
}

/* Only holders of the mutex look users up, so no grace period is needed. */
static void timewait_user_put(struct coll_timewait_table *table, struct coll_timewait_user *user)
{
	if (user->count)
		return;
	rhashtable_remove_fast(&table->users, &user->node, timewait_user_params);
	coll_user_release(user->charged);
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
	u64 bytes = timewait_entry_bytes(entry->members);

	coll_lookup_remove(table->lookup, &entry->lookup);
	rb_erase_cached(&entry->by_end, &table->by_end);
	list_del(&entry->of_user);
	timewait_entry_account(table, entry, -1);
	coll_user_forget(entry->user->charged, bytes);
	atomic64_sub(bytes, table->memory);
	coll_members_put(entry->members);
	call_rcu(&entry->rcu, timewait_entry_free);
}

static void timewait_user_forget_oldest(struct coll_timewait_table *table,
					struct coll_timewait_user *user)
{
	timewait_entry_remove(table, list_first_entry(&user->entries, struct coll_timewait_entry,
						      of_user));
}

/* The fewest entries that may be left when the mutex is released */
static u32 timewait_user_least(const struct coll_timewait_user *user)
{
	return user->count - min_t(u32, user->count, BATCH);
}

/* Make room for one more entry, and account it for the user in all namespaces. */
static bool timewait_user_make_room(struct coll_timewait_table *table,
				    struct coll_timewait_user *user, u64 bytes)
{
	u64 most = coll_tunable(table->tunables, COLL_TUNABLE_MAX_MEMORY) * 1024ULL /
		   COLL_TIMEWAIT_SHARE;
	u32 least = timewait_user_least(user);

	if (bytes > most)
		return false;
	while (user->count >= COLL_TIMEWAIT_PER_USER || user->bytes > most - bytes ||
	       !coll_user_remember(user->charged, bytes, table->tunables)) {
		if (user->count == least)
			return false;
		timewait_user_forget_oldest(table, user);
	}
	return true;
}

static bool timewait_entry_add(struct coll_timewait_table *table,
			       struct coll_timewait_entry *entry, struct coll_user *charged)
{
	struct coll_timewait_user *user = timewait_user_get(table, charged);

	if (!user)
		return false;
	if (!timewait_user_make_room(table, user, timewait_entry_bytes(entry->members))) {
		timewait_user_put(table, user);
		return false;
	}
	entry->user = user;
	list_add_tail(&entry->of_user, &user->entries);
	rb_add_cached(&entry->by_end, &table->by_end, timewait_entry_ends_before);
	timewait_entry_account(table, entry, 1);
	return true;
}

/**
 * coll_timewait_table_make_room() - make room for a group's entry
 * @table: of the namespace; its mutex is held
 * @charged: who will be charged for it
 * @members: the table of the group
 *
 * Forgets the user's oldest entries for it, but not more than a batch.
 *
 * Return: false if more are to be forgotten, once others have had the mutex. Context: process.
 */
bool coll_timewait_table_make_room(struct coll_timewait_table *table,
				   const struct coll_user *charged,
				   const struct coll_members *members)
{
	struct coll_timewait_user *user = timewait_user_find(table, charged);
	u64 bytes = timewait_entry_bytes(members);
	u32 before = table->count;
	bool done;

	if (!user)
		return true;
	done = timewait_user_make_room(table, user, bytes);
	if (done)
		coll_user_unremember(user->charged, bytes);
	else
		done = before - table->count < BATCH;
	timewait_user_put(table, user);
	return done;
}

/**
 * coll_timewait_table_add() - add a time-wait entry for a group
 * @table: of the namespace; its mutex is held
 * @group: where packets find the group; they find the time-wait entry instead from now on
 * @g: quiet; its lock is not needed, as nothing happens in it any more
 * @members: its table
 * @user: who is charged for it
 *
 * If there is no memory, or no room, no entry is added, and late packets are not answered.
 *
 * Return: the part of the group's charge, to the user and to the namespace, that is the entry's
 * from now on; 0 if none was added: then the caller removes @group. Context: process.
 */
u64 coll_timewait_table_add(struct coll_timewait_table *table, struct coll_lookup_entry *group,
			    const struct coll_group *g, struct coll_members *members,
			    struct coll_user *user)
{
	struct coll_timewait_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return 0;
	coll_timewait_set(g, &entry->timewait, ktime_get_ns());
	entry->lookup.key = group->key;
	entry->lookup.timewait = true;
	entry->members = members;
	if (!timewait_entry_add(table, entry, user)) {
		kfree_sensitive(entry);
		return 0;
	}
	members->references++;
	coll_lookup_replace(table->lookup, group, &entry->lookup);
	return timewait_entry_bytes(members);
}

/**
 * coll_timewait_table_expire() - remove expired entries
 * @table: of the namespace; its mutex is held
 * @now: time in ns; U64_MAX removes all entries
 *
 * Removes not more than a batch, so that the mutex is not held for long.
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
 * coll_timewait_table_reclaim() - forget entries of a user who needs memory
 * @table: of the namespace; its mutex is held
 * @charged: the user
 * @bytes: how much of it; the user's oldest entries are forgotten for it, but not more than a batch
 *
 * Return: how much has become free, 0 if the user has no entries. Context: process.
 */
u64 coll_timewait_table_reclaim(struct coll_timewait_table *table,
				const struct coll_user *charged, u64 bytes)
{
	struct coll_timewait_user *user = timewait_user_find(table, charged);
	u64 before, freed = 0;
	u32 least;

	if (!user)
		return 0;
	before = user->bytes;
	least = timewait_user_least(user);
	while (freed < bytes && user->count > least) {
		timewait_user_forget_oldest(table, user);
		freed = before - user->bytes;
	}
	timewait_user_put(table, user);
	return freed;
}
