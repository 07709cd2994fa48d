// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "policy.h"

enum { TABLE_RANGE, TABLE_KEYLESS, TABLE_MEMORY, TABLE_ENTRIES };

static void policy_get_range(struct coll_policy *policy, kgid_t *low, kgid_t *high)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&policy->range_lock);
		*low = policy->low;
		*high = policy->high;
	} while (read_seqretry(&policy->range_lock, seq));
}

static void policy_set_range(struct coll_policy *policy, kgid_t low, kgid_t high)
{
	write_seqlock(&policy->range_lock);
	policy->low = low;
	policy->high = high;
	write_sequnlock(&policy->range_lock);
}

static int policy_range(COLL_CTL_TABLE *table, int write, void *buffer, size_t *lenp,
			loff_t *ppos)
{
	struct user_namespace *user_ns = current_user_ns();
	static unsigned long least, most = (gid_t)-2;
	struct coll_policy *policy = table->data;
	unsigned long range[2];
	kgid_t low, high;
	int err;
	struct ctl_table both = {
		.data	= range,
		.maxlen	= sizeof(range),
		.mode	= table->mode,
		.extra1	= &least,
		.extra2	= &most,
	};

	policy_get_range(policy, &low, &high);
	range[0] = from_kgid_munged(user_ns, low);
	range[1] = from_kgid_munged(user_ns, high);
	err = proc_doulongvec_minmax(&both, write, buffer, lenp, ppos);
	if (!write || err)
		return err;

	low = make_kgid(user_ns, range[0]);
	high = make_kgid(user_ns, range[1]);
	if (!gid_valid(low) || !gid_valid(high))
		return -EINVAL;
	if (range[1] < range[0] || gid_lt(high, low)) {
		/* An empty range: nobody. */
		low = make_kgid(&init_user_ns, 1);
		high = make_kgid(&init_user_ns, 0);
	}
	policy_set_range(policy, low, high);
	return 0;
}

static const struct ctl_table policy_table[TABLE_ENTRIES + 1] = {
	[TABLE_RANGE] = {
		.procname	= "join_group_range",
		.maxlen		= 2 * sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= policy_range,
	},
	[TABLE_KEYLESS] = {
		.procname	= "keyless",
		.maxlen		= sizeof(u8),
		.mode		= 0644,
		.proc_handler	= proc_dou8vec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	[TABLE_MEMORY] = {
		.procname	= "max_memory_kib",
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= proc_doulongvec_minmax,
	},
	{ }
};

/**
 * coll_policy_init() - everyone may join, with a key, while there is memory
 * @policy: zeroed
 * @net: the namespace
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_policy_init(struct coll_policy *policy, struct net *net)
{
	seqlock_init(&policy->range_lock);
	policy->low = GLOBAL_ROOT_GID;
	policy->high = KGIDT_INIT((gid_t)-2);
	policy->max_memory_kib = totalram_pages() / 8 * (PAGE_SIZE / 1024);
	policy->table = kmemdup(policy_table, sizeof(policy_table), GFP_KERNEL);
	if (!policy->table)
		return -ENOMEM;
	policy->table[TABLE_RANGE].data = policy;
	policy->table[TABLE_KEYLESS].data = &policy->keyless;
	policy->table[TABLE_MEMORY].data = &policy->max_memory_kib;
	/* Who is root in a namespace of its own does not lift the machine's limit. */
	if (net->user_ns != &init_user_ns)
		policy->table[TABLE_MEMORY].mode = 0444;
	policy->header = coll_register_net_sysctl(net, "net/collsock", policy->table,
						  TABLE_ENTRIES);
	if (!policy->header) {
		kfree(policy->table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * coll_policy_uninit() - undo coll_policy_init()
 * @policy: initialised
 *
 * Context: process.
 */
void coll_policy_uninit(struct coll_policy *policy)
{
	unregister_net_sysctl_table(policy->header);
	kfree(policy->table);
}

/**
 * coll_policy_may_join() - may the calling process join groups?
 * @policy: of its namespace
 *
 * Return: whether one of its group ids is in the range. Context: process.
 */
bool coll_policy_may_join(struct coll_policy *policy)
{
	struct group_info *groups;
	kgid_t low, high, gid;
	bool found = false;
	int i;

	policy_get_range(policy, &low, &high);
	gid = current_egid();
	if (gid_lte(low, gid) && gid_lte(gid, high))
		return true;
	groups = get_current_groups();
	for (i = 0; i < groups->ngroups && !found; i++)
		found = gid_lte(low, groups->gid[i]) && gid_lte(groups->gid[i], high);
	put_group_info(groups);
	return found;
}

/**
 * coll_policy_keyless() - may groups without a key be joined?
 * @policy: of the namespace
 */
bool coll_policy_keyless(const struct coll_policy *policy)
{
	return READ_ONCE(policy->keyless);
}

/**
 * coll_policy_max_memory() - how many bytes may all groups reserve?
 * @policy: of the namespace
 */
u64 coll_policy_max_memory(const struct coll_policy *policy)
{
	return (u64)READ_ONCE(policy->max_memory_kib) * 1024;
}
