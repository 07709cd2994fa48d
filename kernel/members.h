/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of members: the hosts and the ranks of a group. It does not change once made,
 * and groups of one namespace that have equal tables share one, since a table may
 * be large and a program may make many groups of the same hosts.
 *
 * The receive path reads it under RCU; a grace period precedes the last put.
 */
#ifndef COLL_MEMBERS_H
#define COLL_MEMBERS_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "core/base.h"

/**
 * struct coll_members - the table
 * @node: in the namespace's list of tables
 * @rcu: softirqs may look at it while it is put for the last time
 * @references: groups that use it; under the namespace's mutex, like @node
 * @hosts: number of members
 * @ranks: number of ranks
 * @hash: of the table, to find an equal one
 * @member: they themselves
 * @host_of_rank: the host of each rank
 * @lowest: the lowest rank of each host
 */
struct coll_members {
	struct hlist_node		node;
	struct rcu_head			rcu;
	u32				references;
	u32				hosts;
	u32				ranks;
	u32				hash;
	struct collsock_member		*member;
	u32				*host_of_rank;
	u32				*lowest;
};

struct coll_members *coll_members_get(struct hlist_head *tables, u32 hosts, u32 ranks,
				      struct collsock_member **member, u32 **host_of_rank);
void coll_members_put(struct coll_members *members);

#endif
