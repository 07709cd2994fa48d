// SPDX-License-Identifier: GPL-2.0
#include <linux/jhash.h>
#include <linux/random.h>

#include "lookup.h"

static u32 lookup_hash(const void *data, u32 bytes, u32 seed)
{
	const struct coll_lookup_key *key = data;

	return jhash_3words(lower_32_bits(key->tag), upper_32_bits(key->tag), key->self, seed);
}

/* 0 if they are equal. */
static int lookup_compare(struct rhashtable_compare_arg *arg, const void *data)
{
	const struct coll_lookup_entry *entry = data;
	const struct coll_lookup_key *key = arg->key;

	return entry->key.tag != key->tag || entry->key.self != key->self;
}

static const struct rhashtable_params lookup_params = {
	.head_offset		= offsetof(struct coll_lookup_entry, node),
	.key_offset		= offsetof(struct coll_lookup_entry, key),
	.key_len		= sizeof(struct coll_lookup_key),
	.hashfn			= lookup_hash,
	.obj_cmpfn		= lookup_compare,
	.automatic_shrinking	= true,
};

/**
 * coll_lookup_init() - initialise the table, empty
 * @lookup: zeroed
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_lookup_init(struct coll_lookup *lookup)
{
	lookup->multiplier = get_random_u64() | 1;
	return rhashtable_init(&lookup->table, &lookup_params);
}

/**
 * coll_lookup_destroy() - undo coll_lookup_init()
 * @lookup: empty
 *
 * Context: process.
 */
void coll_lookup_destroy(struct coll_lookup *lookup)
{
	rhashtable_destroy(&lookup->table);
}

/**
 * coll_lookup_find_slowly() - coll_lookup_find() of an entry that may not have its slot
 * @lookup: of the namespace
 * @tag: of the group
 * @self: index of this host
 *
 * Return: the entry or NULL. Context: RCU read side.
 */
struct coll_lookup_entry *coll_lookup_find_slowly(struct coll_lookup *lookup, u64 tag, u32 self)
{
	const struct coll_lookup_key key = { .tag = tag, .self = self };

	return rhashtable_lookup(&lookup->table, &key, lookup_params);
}

/* The slot in which a packet looks for the entry first */
static struct coll_lookup_entry __rcu **lookup_latest(struct coll_lookup *lookup,
						      const struct coll_lookup_entry *entry)
{
	return &lookup->latest[coll_lookup_slot(lookup, entry->key.tag, entry->key.self)];
}

/**
 * coll_lookup_add() - add an entry
 * @lookup: of the namespace; its mutex is held
 * @entry: with its key
 *
 * Return: 0, -EADDRINUSE if something else has that key, or -ENOMEM, also while the table is
 * given another seed because a bucket was long. Context: process.
 */
int coll_lookup_add(struct coll_lookup *lookup, struct coll_lookup_entry *entry)
{
	int err = rhashtable_lookup_insert_fast(&lookup->table, &entry->node, lookup_params);

	if (!err)
		rcu_assign_pointer(*lookup_latest(lookup, entry), entry);
	if (err == -EEXIST)
		return -EADDRINUSE;
	return err ? -ENOMEM : 0;
}

/**
 * coll_lookup_replace() - replace an entry
 * @lookup: of the namespace; its mutex is held
 * @old: in the table
 * @new: with the same key
 *
 * A packet finds one or the other.
 *
 * Context: process.
 */
void coll_lookup_replace(struct coll_lookup *lookup, struct coll_lookup_entry *old,
			 struct coll_lookup_entry *new)
{
	int err;

	rcu_read_lock();
	err = rhashtable_replace_fast(&lookup->table, &old->node, &new->node, lookup_params);
	rcu_read_unlock();
	WARN_ON_ONCE(err);
	rcu_assign_pointer(*lookup_latest(lookup, new), new);
}

/**
 * coll_lookup_remove() - remove an entry
 * @lookup: of the namespace; its mutex is held, or nobody adds any more
 * @entry: perhaps in the table; RCU readers may have it until a grace period from now
 *
 * Context: process.
 */
void coll_lookup_remove(struct coll_lookup *lookup, struct coll_lookup_entry *entry)
{
	struct coll_lookup_entry __rcu **latest = lookup_latest(lookup, entry);

	if (rcu_access_pointer(*latest) == entry)
		RCU_INIT_POINTER(*latest, NULL);
	rhashtable_remove_fast(&lookup->table, &entry->node, lookup_params);
}
