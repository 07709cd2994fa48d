/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look-up by tag and own host: which group of a namespace, or which time-wait entry, a packet
 * is for. Where several hosts of a group are namespaces of one machine their tag is the same,
 * and within a namespace a group may have several hosts.
 *
 * Tags are public, and those who join a group choose its nonce, so anybody can find any number of
 * tags that an unseeded hash puts into one bucket. Therefore each namespace has a table of its
 * own (struct rhashtable), which draws a seed when it begins, grows and shrinks with what it
 * holds, and draws another seed where a bucket has more than 16 entries nevertheless.
 *
 * In front of it is an array that has the latest entry of each slot, and saves a packet some
 * 70 instructions. The slot is a multiply-shift hash by a random number (Dietzfelbinger and
 * others, "A reliable randomized algorithm for the closest-pair problem", 1997). An entry that
 * has lost its slot to another is found in the table.
 *
 * Readers use RCU; writers hold the namespace's mutex.
 */
#ifndef COLL_LOOKUP_H
#define COLL_LOOKUP_H

#include <linux/kernel.h>
#include <linux/rhashtable.h>

#include "core/base.h"

/**
 * struct coll_lookup_key - what is looked up
 * @tag: of the group
 * @self: index of this host in it
 */
struct coll_lookup_key {
	u64	tag;
	u32	self;
};

/**
 * struct coll_lookup_entry - part of what is found
 * @node: in the table
 * @key: constant
 * @timewait: it is part of a time-wait entry, not of an instance; constant
 */
struct coll_lookup_entry {
	struct rhash_head	node;
	struct coll_lookup_key	key;
	bool			timewait;
};

/*
 * A multicast packet names no host: instead of the index of this host its key has that of the
 * device, beyond the indices of hosts. A device usually has one member of a group at most.
 */
static inline u32 coll_lookup_device(u32 ifindex)
{
	return COLLSOCK_MAX_HOSTS + ifindex;
}

#define COLL_LOOKUP_SLOT_BITS	8

/**
 * struct coll_lookup - the groups and time-wait entries of a namespace
 * @multiplier: odd
 * @latest: the latest entry of each slot, or NULL
 * @table: all entries
 */
struct coll_lookup {
	u64				multiplier;
	struct coll_lookup_entry __rcu	*latest[1 << COLL_LOOKUP_SLOT_BITS];
	struct rhashtable		table;
};

static inline u32 coll_lookup_slot(const struct coll_lookup *lookup, u64 tag, u32 self)
{
	return (tag + self) * lookup->multiplier >> (64 - COLL_LOOKUP_SLOT_BITS);
}

struct coll_lookup_entry *coll_lookup_find_slowly(struct coll_lookup *lookup, u64 tag, u32 self);

/**
 * coll_lookup_find() - find the entry with that tag and own host
 * @lookup: of the namespace
 * @tag: of the group
 * @self: index of this host
 *
 * Return: the entry or NULL. Context: RCU read side.
 */
static inline struct coll_lookup_entry *coll_lookup_find(struct coll_lookup *lookup, u64 tag,
							 u32 self)
{
	struct coll_lookup_entry *entry;

	entry = rcu_dereference(lookup->latest[coll_lookup_slot(lookup, tag, self)]);
	if (likely(entry && entry->key.tag == tag && entry->key.self == self))
		return entry;
	return coll_lookup_find_slowly(lookup, tag, self);
}

int coll_lookup_init(struct coll_lookup *lookup);
void coll_lookup_destroy(struct coll_lookup *lookup);
int coll_lookup_add(struct coll_lookup *lookup, struct coll_lookup_entry *entry);
void coll_lookup_replace(struct coll_lookup *lookup, struct coll_lookup_entry *old,
			 struct coll_lookup_entry *new);
void coll_lookup_remove(struct coll_lookup *lookup, struct coll_lookup_entry *entry);

#endif
