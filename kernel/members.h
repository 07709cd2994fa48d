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

#include "core/base.h"

/**
 * struct coll_members - a table of members
 * @node: in the namespace's list of tables
 * @rcu: frees it, as softirqs may read it during the last put
 * @references: number of groups that use it; under the namespace's mutex, like @node
 * @hosts: number of members
 * @ranks: number of ranks
 * @hash: hash of the table, to find an equal one
 * @member: the members
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
