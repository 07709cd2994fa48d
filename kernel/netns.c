// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "event.h"
#include "instance.h"
#include "netns.h"

static unsigned int net_id;

/**
 * coll_net_of() - what a namespace has of collsock
 * @net: the namespace
 */
struct coll_net *coll_net_of(const struct net *net)
{
	return net_generic(net, net_id);
}

/**
 * coll_net_port() - the UDP port of a namespace
 * @cn: the namespace
 *
 * Return: the port that is open, else the one that the next group opens; in the byte
 * order of the host. Context: any.
 */
u16 coll_net_port(struct coll_net *cn)
{
	u16 port = READ_ONCE(cn->port);

	return port ? port : coll_tunable(&cn->tunables, COLL_TUNABLE_PORT);
}

/* ---- groups ---- */

/**
 * coll_net_add() - a namespace has one more group
 * @cn: the namespace; its mutex is held
 * @gi: gets a handle
 *
 * Return: 0, -ENOMEM, or -ENFILE if there are too many. Context: process.
 */
int coll_net_add(struct coll_net *cn, struct coll_instance *gi)
{
	int err;

	lockdep_assert_held(&cn->mutex);
	if (cn->groups >= coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_GROUPS))
		return -ENFILE;
	err = xa_alloc_cyclic(&cn->instances, &gi->handle, gi, XA_LIMIT(1, INT_MAX),
			      &cn->next_handle, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	cn->groups++;
	cn->generation++;
	return 0;
}

/**
 * coll_net_remove() - undo coll_net_add()
 * @cn: the namespace; its mutex is held
 * @gi: has its handle no more
 *
 * Context: process.
 */
void coll_net_remove(struct coll_net *cn, struct coll_instance *gi)
{
	lockdep_assert_held(&cn->mutex);
	xa_erase(&cn->instances, gi->handle);
	cn->groups--;
	cn->generation++;
}

/* ---- tidying ---- */

/**
 * coll_net_tidy_soon() - there is something to tidy
 * @cn: the namespace
 *
 * Context: any, but the namespace has not begun to end.
 */
void coll_net_tidy_soon(struct coll_net *cn)
{
	mod_delayed_work(coll_work_queue, &cn->tidy, 0);
}

/**
 * coll_net_became_quiet() - an instance can be replaced by a time-wait entry
 * @cn: the namespace
 * @gi: the instance; its lock is held, and it was not told of before
 *
 * Context: BH disabled.
 */
void coll_net_became_quiet(struct coll_net *cn, struct coll_instance *gi)
{
	lockdep_assert_held(&gi->lock);
	if (llist_add(&gi->quiet_node, &cn->quiet))
		coll_net_tidy_soon(cn);
}

/* Bury what is quiet; what was buried goes to @buried, to be freed later. */
static void net_retire_quiet(struct coll_net *cn, struct list_head *buried)
{
	struct llist_node *quiet = llist_del_all(&cn->quiet);
	struct coll_instance *gi, *next;

	llist_for_each_entry_safe(gi, next, quiet, quiet_node) {
		if (!coll_instance_retire(gi))
			continue;
		/* A packet finds the time-wait entry as soon as it misses the group. */
		coll_timewait_table_add(&cn->timewait, &gi->group, gi->members, ktime_get_ns());
		coll_instance_unhash(gi);
		coll_net_remove(cn, gi);
		coll_event_group(gi, COLLSOCK_EVENT_GROUP_ENDED);
		list_add(&gi->link, buried);
	}
}

static void net_free(struct list_head *instances)
{
	struct coll_instance *gi, *next;

	list_for_each_entry_safe(gi, next, instances, link)
		coll_instance_free(gi);
}

static void net_tidy(struct work_struct *work)
{
	struct coll_net *cn = container_of(to_delayed_work(work), struct coll_net, tidy);
	LIST_HEAD(buried);
	u64 now, due;

	mutex_lock(&cn->mutex);
	net_retire_quiet(cn, &buried);
	mutex_unlock(&cn->mutex);
	if (!list_empty(&buried)) {
		synchronize_rcu();
		net_free(&buried);
	}

	mutex_lock(&cn->mutex);
	now = ktime_get_ns();
	due = coll_timewait_table_expire(&cn->timewait, now);
	if (due != U64_MAX)
		queue_delayed_work(coll_work_queue, &cn->tidy, nsecs_to_jiffies(due - now) + 1);
	else if (!cn->groups)
		coll_udp_close(cn);
	mutex_unlock(&cn->mutex);
}

/* ---- counters ---- */

/**
 * coll_net_stats() - counters of the namespace
 * @cn: the namespace
 * @stats: out, complete but for its size
 *
 * Context: process.
 */
void coll_net_stats(struct coll_net *cn, struct collsock_net_stats *stats)
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
	mutex_unlock(&cn->mutex);
}

/* ---- beginning and end of a namespace ---- */

static int __net_init net_begin(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);

	cn->net = net;
	mutex_init(&cn->joining);
	mutex_init(&cn->mutex);
	xa_init_flags(&cn->instances, XA_FLAGS_ALLOC);
	INIT_HLIST_HEAD(&cn->members);
	init_llist_head(&cn->quiet);
	INIT_DELAYED_WORK(&cn->tidy, net_tidy);
	coll_timewait_table_init(&cn->timewait);
	coll_early_packets_init(&cn->early_packets);
	cn->counters = coll_counters_new();
	return cn->counters ? 0 : -ENOMEM;
}

/*
 * No socket is left, so nobody joins; what is left lingers. First packets stop
 * coming: closing the port waits for those that are on their way. Timers may
 * still enter the core until an instance is stopped. Thereafter nothing asks
 * for the tidying, so it can be cancelled for good, and what it has buried by
 * then it has freed. A grace period follows before net_end().
 */
static void __net_exit net_pre_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_instance *gi;
	unsigned long handle;

	mutex_lock(&cn->mutex);
	coll_udp_close(cn);
	xa_for_each(&cn->instances, handle, gi)
		coll_instance_stop(gi);
	mutex_unlock(&cn->mutex);

	cancel_delayed_work_sync(&cn->tidy);
	xa_for_each(&cn->instances, handle, gi)
		coll_instance_unhash(gi);
}

static void __net_exit net_end(struct net *net)
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

static struct pernet_operations net_operations = {
	.init		= net_begin,
	.pre_exit	= net_pre_end,
	.exit		= net_end,
	.id		= &net_id,
	.size		= sizeof(struct coll_net),
};

/**
 * coll_net_init() - begin in every namespace
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_net_init(void)
{
	return register_pernet_device(&net_operations);
}

/**
 * coll_net_uninit() - end in every namespace
 *
 * Context: process; no socket of the family exists or can be made.
 */
void coll_net_uninit(void)
{
	unregister_pernet_device(&net_operations);
	/* Time-wait entries are freed by a function of this module. */
	rcu_barrier();
}
