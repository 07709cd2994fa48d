/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy of a network namespace: who may join a group in it, and how much
 * memory groups may take. Sysctls:
 *
 *   net.collsock.join_group_range	two group ids, like ping_group_range; by
 *					default everyone
 *   net.collsock.keyless		1 allows groups whose key is all zero
 *   net.collsock.max_memory_kib	what all groups together may reserve, those
 *					that linger included; by default an eighth
 *					of the machine's memory. Only to be changed
 *					where the namespace's owner is the machine's
 *
 * It is read when a group is joined and by nothing that runs a group.
 */
#ifndef COLL_POLICY_H
#define COLL_POLICY_H

#include <linux/seqlock.h>
#include <linux/sysctl.h>
#include <linux/uidgid.h>
#include <net/net_namespace.h>

/**
 * struct coll_policy - see above
 * @header: of the sysctls
 * @table: they themselves
 * @range_lock: @low and @high belong together
 * @low: first group id that may join
 * @high: last one
 * @keyless: groups without a key may be joined
 * @max_memory_kib: what groups may reserve
 */
struct coll_policy {
	struct ctl_table_header	*header;
	struct ctl_table	*table;
	seqlock_t		range_lock;
	kgid_t			low;
	kgid_t			high;
	u8			keyless;
	unsigned long		max_memory_kib;
};

int coll_policy_init(struct coll_policy *policy, struct net *net);
void coll_policy_uninit(struct coll_policy *policy);

bool coll_policy_may_join(struct coll_policy *policy);
bool coll_policy_keyless(const struct coll_policy *policy);
u64 coll_policy_max_memory(const struct coll_policy *policy);

#endif
