// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>

#include "event.h"
#include "instance.h"
#include "netns.h"
#include "pernet.h"
#include "port.h"
#include "receive.h"
#include "user.h"
#include "work_queue.h"

/* ---- tidying ---- */

static void pernet_retire(struct coll_net *cn, struct coll_instance *gi,
			  struct list_head *retired)
{
	mutex_lock(&cn->mutex);
	while (!coll_timewait_table_make_room(&cn->timewait, gi->user, gi->members)) {
		mutex_unlock(&cn->mutex);
		cond_resched();
		mutex_lock(&cn->mutex);
	}
	if (coll_instance_retire(gi)) {
		coll_instance_remember(gi);
		atomic_sub(gi->group.stats.peers, &cn->peers);
		coll_net_remove(cn, gi->handle);
		coll_user_uncount(gi->user);
		gi->uncounted = true;
		coll_event_group(gi, COLLSOCK_EVENT_GROUP_ENDED);
		list_add(&gi->link, retired);
	}
	mutex_unlock(&cn->mutex);
	cond_resched();
}

/*
 * Replace quiet groups by time-wait entries, and add them to @retired, to be freed later. A process
 * that ends may close many groups at once, and a large table may need the room of many entries;
 * others can join meanwhile.
 */
static void pernet_retire_quiet(struct coll_net *cn, struct list_head *retired)
{
	struct llist_node *quiet = llist_reverse_order(llist_del_all(&cn->quiet));
	struct coll_instance *gi, *next;

	llist_for_each_entry_safe(gi, next, quiet, quiet_node)
		pernet_retire(cn, gi, retired);
}

static void pernet_free(struct list_head *instances)
{
	struct coll_instance *gi, *next;

	list_for_each_entry_safe(gi, next, instances, link) {
		coll_instance_free(gi);
		cond_resched();
	}
}

static void pernet_tidy(struct work_struct *work)
{
	struct coll_net *cn = container_of(to_delayed_work(work), struct coll_net, tidy);
	LIST_HEAD(retired);
	u64 now, due;

	pernet_retire_quiet(cn, &retired);
	if (!list_empty(&retired)) {
		synchronize_rcu();
		pernet_free(&retired);
	}

	mutex_lock(&cn->mutex);
	now = ktime_get_ns();
	due = coll_timewait_table_expire(&cn->timewait, now);
	if (due != U64_MAX)
		queue_delayed_work(coll_work_queue, &cn->tidy,
				   due > now ? nsecs_to_jiffies(due - now) + 1 : 0);
	coll_port_settle(cn);
	mutex_unlock(&cn->mutex);
}

/* ---- counters ---- */

/* Memory that groups have reserved; both numbers may change meanwhile. */
static u64 pernet_memory(const struct coll_net *cn)
{
	u64 all = atomic64_read(&cn->memory);

	return all - min(all, READ_ONCE(cn->timewait.bytes));
}

/**
 * coll_pernet_stats() - counters of the namespace
 * @cn: the namespace
 * @stats: out, all but its size
 *
 * Any user may ask, so it takes no lock, and its time does not depend on the number of groups.
 *
 * Context: process.
 */
void coll_pernet_stats(struct coll_net *cn, struct collsock_net_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	coll_counters_read(cn->counters, stats);
	stats->groups = READ_ONCE(cn->groups);
	stats->peers = atomic_read(&cn->peers);
	stats->timewait_entries = READ_ONCE(cn->timewait.count);
	stats->memory = pernet_memory(cn);
	stats->over_memory = READ_ONCE(cn->over_memory);
	stats->over_user = READ_ONCE(cn->over_user);
}

/* ---- beginning and end of a namespace ---- */

static int __net_init pernet_begin_tables(struct coll_net *cn)
{
	int err = coll_lookup_init(&cn->lookup);

	if (err)
		return err;
	err = coll_lookup_init(&cn->joining);
	if (err)
		goto no_joining;
	err = coll_members_init(&cn->members);
	if (err)
		goto no_members;
	err = coll_timewait_table_init(&cn->timewait, &cn->lookup, &cn->tunables, &cn->memory);
	if (!err)
		return 0;
	rhashtable_destroy(&cn->members.table);
no_members:
	coll_lookup_destroy(&cn->joining);
no_joining:
	coll_lookup_destroy(&cn->lookup);
	return err;
}

/* All groups are freed, so the tables are empty but for time-wait entries. */
static void __net_exit pernet_end_tables(struct coll_net *cn)
{
	mutex_lock(&cn->mutex);
	coll_timewait_table_destroy(&cn->timewait);
	mutex_unlock(&cn->mutex);
	rhashtable_destroy(&cn->members.table);
	coll_lookup_destroy(&cn->joining);
	coll_lookup_destroy(&cn->lookup);
}

static int __net_init pernet_begin(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	int err;

	cn->net = net;
	coll_bearer_init(&cn->bearers, net, &cn->tunables, &coll_receive_hooks, cn);
	coll_backlog_init(&cn->backlog, coll_receive_deferred);
	mutex_init(&cn->mutex);
	coll_event_queue_init(&cn->events, net);
	xa_init_flags(&cn->instances, XA_FLAGS_ALLOC);
	init_llist_head(&cn->quiet);
	INIT_DELAYED_WORK(&cn->tidy, pernet_tidy);
	coll_early_packet_init(&cn->early_packets);
	cn->counters = coll_counters_new();
	err = cn->counters ? pernet_begin_tables(cn) : -ENOMEM;
	if (err)
		coll_counters_free(cn->counters);
	else
		coll_port_begin(cn);
	return err;
}

/*
 * No socket is left, so no rank can join; remaining groups linger. Nothing here waits for RCU: all
 * namespaces that end at the same time have one grace period in common, between this and
 * pernet_end(). Until then packets in flight, the backlog and turns may look for groups. Such a
 * packet, or a timer, may enter the core until an instance is stopped. After that nothing
 * schedules the tidying, so it can be cancelled for good, and the groups that it has retired are
 * freed.
 */
static void __net_exit pernet_pre_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_instance *gi;
	unsigned long handle;

	coll_port_end(cn);
	mutex_lock(&cn->mutex);
	xa_for_each(&cn->instances, handle, gi) {
		coll_instance_stop(gi);
		cond_resched();
	}
	mutex_unlock(&cn->mutex);

	cancel_delayed_work_sync(&cn->tidy);
	xa_for_each(&cn->instances, handle, gi) {
		coll_instance_unhash(gi);
		cond_resched();
	}
}

/*
 * No packet is in flight, and none sees a group. Time-wait entries may still answer packets of the
 * backlog, over the port, so the backlog ends first.
 */
static void __net_exit pernet_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_instance *gi;
	unsigned long handle;

	coll_backlog_end(&cn->backlog);
	coll_bearer_end(&cn->bearers);
	coll_event_queue_end(&cn->events);
	xa_for_each(&cn->instances, handle, gi) {
		coll_instance_free(gi);
		cond_resched();
	}
	xa_destroy(&cn->instances);
	pernet_end_tables(cn);
	coll_counters_free(cn->counters);
}

static struct pernet_operations pernet_operations = {
	.init		= pernet_begin,
	.pre_exit	= pernet_pre_end,
	.exit		= pernet_end,
	.id		= &coll_net_id,
	.size		= sizeof(struct coll_net),
};

/* ---- devices that leave ---- */

static int pernet_device_event(struct notifier_block *block, unsigned long event, void *info)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct coll_net *cn = coll_net_of(dev_net(dev));

	/* A namespace whose set-up has failed may have no struct coll_net. */
	if (!cn)
		return NOTIFY_DONE;
	/* Removed or moved; or it may no longer be Ethernet */
	if (event == NETDEV_UNREGISTER || event == NETDEV_PRE_TYPE_CHANGE)
		coll_bearer_forget_device(&cn->bearers, dev);
	return NOTIFY_DONE;
}

static struct notifier_block pernet_devices = {
	.notifier_call = pernet_device_event,
};

/* ---- all namespaces ---- */

/**
 * coll_pernet_init() - set up every namespace
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_pernet_init(void)
{
	int err = register_pernet_device(&pernet_operations);

	if (err)
		return err;
	err = register_netdevice_notifier(&pernet_devices);
	if (err)
		unregister_pernet_device(&pernet_operations);
	return err;
}

/**
 * coll_pernet_uninit() - tear down every namespace
 *
 * Context: process; no socket of the family exists or can be created.
 */
void coll_pernet_uninit(void)
{
	unregister_netdevice_notifier(&pernet_devices);
	unregister_pernet_device(&pernet_operations);
	/* Time-wait entries and devices are freed by RCU callbacks of this module. */
	rcu_barrier();
}
