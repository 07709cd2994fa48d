/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of members: the hosts and the ranks of a group. It is immutable, and groups of
 * one namespace with equal tables share one, since a table may be large and a program may
 * create many groups of the same hosts.
 *
 * The receive path reads it under RCU; a grace period precedes the last put.
 */
#ifndef COLL_MEMBERS_H
#define COLL_MEMBERS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable-types.h>
#include <linux/siphash.h>

#include "core/base.h"

/**
 * struct coll_members_table - the tables of members of a namespace
 * @table: those that are shared, by hash
 * @seed: of the hashes; secret, as the process that joins chooses what is hashed
 */
struct coll_members_table {
	struct rhashtable	table;
	siphash_key_t		seed;
};

/**
 * struct coll_members - a table of members
 * @node: in the namespace's table
 * @rcu: softirqs may look at it while it is put for the last time
 * @shared: where it is found, or NULL
 * @references: groups, time-wait entries and calls that use it; under the namespace's mutex,
 *	like @node
 * @hosts: number of members
 * @ranks: number of ranks
 * @hash: hash of the table, to find an equal one
 * @member: the members
 * @host_of_rank: the host of each rank
 * @lowest: the lowest rank of each host
 */
struct coll_members {
	struct rhash_head		node;
	struct rcu_head			rcu;
	struct coll_members_table	*shared;
	u32				references;
	u32				hosts;
	u32				ranks;
	u64				hash;
	struct collsock_member		*member;
	u32				*host_of_rank;
	u32				*lowest;
};

/* How much memory a table with these numbers needs. */
static inline u64 coll_members_bytes(u32 hosts, u32 ranks)
{
	return sizeof(struct coll_members) +
	       hosts * (u64)(sizeof(struct collsock_member) + sizeof(u32)) +
	       ranks * (u64)sizeof(u32);
}

int coll_members_init(struct coll_members_table *tables);
struct coll_members *coll_members_new(const struct coll_members_table *tables, u32 hosts,
				      u32 ranks, struct collsock_member **member,
				      u32 **host_of_rank);
bool coll_members_equal(const struct coll_members *a, const struct coll_members *b);
struct coll_members *coll_members_find(struct coll_members_table *tables,
				       struct coll_members *own);
void coll_members_put(struct coll_members *members);
void coll_members_free(struct coll_members *members);

#endif
