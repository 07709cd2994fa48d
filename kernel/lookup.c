// SPDX-License-Identifier: GPL-2.0
#include "lookup.h"

/**
 * coll_lookup_init() - the table is empty
 * @table: out; ends with rhashtable_destroy()
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_lookup_init(struct rhashtable *table)
{
	return rhashtable_init(table, &coll_lookup_params);
}

/**
 * coll_lookup_add() - from now on it is found
 * @table: of the namespace; its mutex is held
 * @entry: with its key
 *
 * Return: 0, -EADDRINUSE if something else has that key, or -ENOMEM, also while the table is
 * given another seed because a bucket was long. Context: process.
 */
int coll_lookup_add(struct rhashtable *table, struct coll_lookup_entry *entry)
{
	int err = rhashtable_lookup_insert_fast(table, &entry->node, coll_lookup_params);

	if (err == -EEXIST)
		return -EADDRINUSE;
	return err ? -ENOMEM : 0;
}

/**
 * coll_lookup_replace() - something else is found from now on
 * @table: of the namespace; its mutex is held
 * @old: in the table
 * @new: with the same key
 *
 * A packet finds one or the other.
 *
 * Context: process.
 */
void coll_lookup_replace(struct rhashtable *table, struct coll_lookup_entry *old,
			 struct coll_lookup_entry *new)
{
	int err;

	rcu_read_lock();
	err = rhashtable_replace_fast(table, &old->node, &new->node, coll_lookup_params);
	rcu_read_unlock();
	WARN_ON_ONCE(err);
}

/**
 * coll_lookup_remove() - it is not found any more
 * @table: of the namespace; its mutex is held, or nobody adds any more
 * @entry: perhaps in the table; RCU readers may have it until a grace period from now
 *
 * Context: process.
 */
void coll_lookup_remove(struct rhashtable *table, struct coll_lookup_entry *entry)
{
	rhashtable_remove_fast(table, &entry->node, coll_lookup_params);
}
