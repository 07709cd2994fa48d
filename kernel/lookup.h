/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look-up by tag and own host: which group of a namespace, or which time-wait entry, a packet
 * is for. Where several hosts of a group are namespaces of one machine their tag is the same,
 * and within a namespace a group may have several hosts.
 *
 * Tags are public, and who joins a group chooses a nonce, so anybody finds as many tags as he
 * likes that an unseeded hash puts into one bucket. Therefore each namespace has a table of its
 * own (struct rhashtable), which draws a seed when it begins, grows and shrinks with what it
 * holds, and draws another seed where a bucket has more than 16 entries nevertheless. It costs
 * a packet some 50 instructions more than a fixed table with an unseeded hash. A table of our
 * own could save some of them, and would have to do all of that under RCU by itself.
 *
 * Readers use RCU; who adds or removes holds the namespace's mutex.
 */
#ifndef COLL_LOOKUP_H
#define COLL_LOOKUP_H

#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/rhashtable.h>

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

static inline u32 coll_lookup_hash(const void *data, u32 bytes, u32 seed)
{
	const struct coll_lookup_key *key = data;

	return jhash_3words(lower_32_bits(key->tag), upper_32_bits(key->tag), key->self, seed);
}

/* 0 if they are equal. */
static inline int coll_lookup_compare(struct rhashtable_compare_arg *arg, const void *data)
{
	const struct coll_lookup_entry *entry = data;
	const struct coll_lookup_key *key = arg->key;

	return entry->key.tag != key->tag || entry->key.self != key->self;
}

/* In a header, so that the compiler binds what the receive path calls. */
static const struct rhashtable_params coll_lookup_params = {
	.head_offset		= offsetof(struct coll_lookup_entry, node),
	.key_offset		= offsetof(struct coll_lookup_entry, key),
	.key_len		= sizeof(struct coll_lookup_key),
	.hashfn			= coll_lookup_hash,
	.obj_cmpfn		= coll_lookup_compare,
	.automatic_shrinking	= true,
};

/**
 * coll_lookup_find() - what has that tag and own host
 * @table: of the namespace
 * @tag: of the group
 * @self: index of this host
 *
 * Return: the entry or NULL. Context: RCU read side.
 */
static inline struct coll_lookup_entry *coll_lookup_find(struct rhashtable *table, u64 tag,
							 u32 self)
{
	const struct coll_lookup_key key = { .tag = tag, .self = self };

	return rhashtable_lookup(table, &key, coll_lookup_params);
}

int coll_lookup_init(struct rhashtable *table);
int coll_lookup_add(struct rhashtable *table, struct coll_lookup_entry *entry);
void coll_lookup_replace(struct rhashtable *table, struct coll_lookup_entry *old,
			 struct coll_lookup_entry *new);
void coll_lookup_remove(struct rhashtable *table, struct coll_lookup_entry *entry);

#endif
