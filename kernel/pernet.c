// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "event.h"
#include "instance.h"
#include "netns.h"
#include "pernet.h"
#include "port.h"
#include "receive.h"

/* ---- tidying ---- */

/* Replace what is quiet by time-wait entries; it goes to @retired, to be freed later. */
static void pernet_retire_quiet(struct coll_net *cn, struct list_head *retired)
{
	struct llist_node *quiet = llist_del_all(&cn->quiet);
	struct coll_instance *gi, *next;

	lockdep_assert_held(&cn->mutex);
	llist_for_each_entry_safe(gi, next, quiet, quiet_node) {
		if (!coll_instance_retire(gi))
			continue;
		/* A packet finds the time-wait entry as soon as it misses the group. */
		coll_timewait_table_add(&cn->timewait, &gi->group, gi->members, ktime_get_ns());
		coll_instance_unhash(gi);
		coll_net_remove(cn, gi->handle);
		coll_event_group(gi, COLLSOCK_EVENT_GROUP_ENDED);
		list_add(&gi->link, retired);
	}
}

static void pernet_free(struct list_head *instances)
{
	struct coll_instance *gi, *next;

	list_for_each_entry_safe(gi, next, instances, link)
		coll_instance_free(gi);
}

static void pernet_tidy(struct work_struct *work)
{
	struct coll_net *cn = container_of(to_delayed_work(work), struct coll_net, tidy);
	LIST_HEAD(retired);
	u64 now, due;

	mutex_lock(&cn->mutex);
	pernet_retire_quiet(cn, &retired);
	mutex_unlock(&cn->mutex);
	if (!list_empty(&retired)) {
		synchronize_rcu();
		pernet_free(&retired);
	}

	mutex_lock(&cn->mutex);
	now = ktime_get_ns();
	due = coll_timewait_table_expire(&cn->timewait, now);
	if (due != U64_MAX)
		queue_delayed_work(coll_work_queue, &cn->tidy, nsecs_to_jiffies(due - now) + 1);
	coll_port_settle(cn);
	mutex_unlock(&cn->mutex);
}

/* ---- counters ---- */

/**
 * coll_pernet_stats() - counters of the namespace
 * @cn: the namespace
 * @stats: out, complete but for its size
 *
 * Context: process.
 */
void coll_pernet_stats(struct coll_net *cn, struct collsock_net_stats *stats)
{
	struct coll_instance *gi;
	unsigned long handle;

	memset(stats, 0, sizeof(*stats));
	coll_counters_read(cn->counters, stats);
	mutex_lock(&cn->mutex);
	stats->groups = cn->groups;
	xa_for_each(&cn->instances, handle, gi)
		stats->peers += READ_ONCE(gi->group.stats.peers);
	stats->timewait_entries = cn->timewait.count;
	stats->memory = cn->memory;
	stats->over_memory = cn->over_memory;
	stats->over_user = cn->over_user;
	mutex_unlock(&cn->mutex);
}

/* ---- beginning and end of a namespace ---- */

static int __net_init pernet_begin(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);

	cn->net = net;
	coll_bearer_init(&cn->bearers, net, &cn->tunables, &coll_receive_hooks, cn);
	mutex_init(&cn->joining);
	mutex_init(&cn->mutex);
	xa_init_flags(&cn->instances, XA_FLAGS_ALLOC);
	INIT_HLIST_HEAD(&cn->members);
	init_llist_head(&cn->quiet);
	INIT_DELAYED_WORK(&cn->tidy, pernet_tidy);
	coll_timewait_table_init(&cn->timewait);
	coll_early_packet_init(&cn->early_packets);
	cn->counters = coll_counters_new();
	if (!cn->counters)
		return -ENOMEM;
	coll_port_begin(cn);
	return 0;
}

/*
 * No socket is left, so nobody joins; what is left lingers. First packets stop
 * coming: closing the port waits for those that are under way. Timers may
 * still enter the core until an instance is stopped. Thereafter nothing asks
 * for the tidying, so it can be cancelled for good, and the groups that it has retired
 * are freed. A grace period follows before pernet_end().
 */
static void __net_exit pernet_pre_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_instance *gi;
	unsigned long handle;

	coll_port_end(cn);
	mutex_lock(&cn->mutex);
	xa_for_each(&cn->instances, handle, gi)
		coll_instance_stop(gi);
	mutex_unlock(&cn->mutex);

	cancel_delayed_work_sync(&cn->tidy);
	xa_for_each(&cn->instances, handle, gi)
		coll_instance_unhash(gi);
}

static void __net_exit pernet_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_instance *gi;
	unsigned long handle;

	xa_for_each(&cn->instances, handle, gi)
		coll_instance_free(gi);
	xa_destroy(&cn->instances);
	coll_timewait_table_expire(&cn->timewait, U64_MAX);
	coll_counters_free(cn->counters);
}

static struct pernet_operations pernet_operations = {
	.init		= pernet_begin,
	.pre_exit	= pernet_pre_end,
	.exit		= pernet_end,
	.id		= &coll_net_id,
	.size		= sizeof(struct coll_net),
};

/**
 * coll_pernet_init() - begin in every namespace
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_pernet_init(void)
{
	return register_pernet_device(&pernet_operations);
}

/**
 * coll_pernet_uninit() - end in every namespace
 *
 * Context: process; no socket of the family exists or can be made.
 */
void coll_pernet_uninit(void)
{
	unregister_pernet_device(&pernet_operations);
	/* Time-wait entries are freed by a function of this module. */
	rcu_barrier();
}
