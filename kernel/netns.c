// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/module.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "formation.h"
#include "netns.h"

static unsigned short port __ro_after_init = COLLSOCK_PORT;
module_param(port, ushort, 0444);
MODULE_PARM_DESC(port, "UDP port of every namespace");

static unsigned int net_id;

/**
 * coll_net_of() - what a namespace has of collsock
 * @net: the namespace
 */
struct coll_net *coll_net_of(const struct net *net)
{
	return net_generic(net, net_id);
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
 * coll_net_became_quiet() - a formation can be replaced by a tombstone
 * @cn: the namespace
 * @f: the formation; its lock is held, and it was not told of before
 *
 * Context: BH disabled.
 */
void coll_net_became_quiet(struct coll_net *cn, struct coll_formation *f)
{
	lockdep_assert_held(&f->lock);
	if (llist_add(&f->quiet_node, &cn->quiet))
		coll_net_tidy_soon(cn);
}

/* Bury what is quiet; what was buried goes to @buried, to be freed later. */
static void net_bury_quiet(struct coll_net *cn, struct list_head *buried)
{
	struct llist_node *quiet = llist_del_all(&cn->quiet);
	struct coll_formation *f, *next;

	llist_for_each_entry_safe(f, next, quiet, quiet_node) {
		if (!coll_formation_retire(f))
			continue;
		/* A packet finds the tombstone as soon as it misses the group. */
		coll_graveyard_bury(&cn->graveyard, &f->group, f->members, ktime_get_ns());
		coll_formation_unhash(f);
		list_move(&f->link, buried);
	}
}

static void net_free(struct list_head *formations)
{
	struct coll_formation *f, *next;

	list_for_each_entry_safe(f, next, formations, link)
		coll_formation_free(f);
}

static void net_tidy(struct work_struct *work)
{
	struct coll_net *cn = container_of(to_delayed_work(work), struct coll_net, tidy);
	LIST_HEAD(buried);
	u64 now, due;

	mutex_lock(&cn->mutex);
	net_bury_quiet(cn, &buried);
	mutex_unlock(&cn->mutex);
	if (!list_empty(&buried)) {
		synchronize_rcu();
		net_free(&buried);
	}

	mutex_lock(&cn->mutex);
	now = ktime_get_ns();
	due = coll_graveyard_forget(&cn->graveyard, now);
	if (due != U64_MAX)
		queue_delayed_work(coll_work_queue, &cn->tidy, nsecs_to_jiffies(due - now) + 1);
	else if (list_empty(&cn->formations))
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
	struct coll_formation *f;

	memset(stats, 0, sizeof(*stats));
	coll_counters_read(cn->counters, stats);
	mutex_lock(&cn->mutex);
	list_for_each_entry(f, &cn->formations, link) {
		stats->groups++;
		stats->peers += READ_ONCE(f->group.stats.peers);
	}
	stats->tombstones = cn->graveyard.count;
	stats->memory = cn->memory;
	stats->over_memory = cn->over_memory;
	mutex_unlock(&cn->mutex);
}

/* ---- beginning and end of a namespace ---- */

static int __net_init net_begin(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	int err;

	cn->net = net;
	cn->port = port;
	mutex_init(&cn->joining);
	mutex_init(&cn->mutex);
	INIT_LIST_HEAD(&cn->formations);
	INIT_HLIST_HEAD(&cn->members);
	init_llist_head(&cn->quiet);
	INIT_DELAYED_WORK(&cn->tidy, net_tidy);
	coll_graveyard_init(&cn->graveyard);
	coll_knocks_init(&cn->knocks);
	cn->counters = coll_counters_new();
	if (!cn->counters)
		return -ENOMEM;
	err = coll_policy_init(&cn->policy, net);
	if (err)
		coll_counters_free(cn->counters);
	return err;
}

/*
 * No socket is left, so nobody joins; what is left lingers. First packets stop
 * coming: closing the port waits for those that are on their way. Timers may
 * still enter the core until a formation is stopped. Thereafter nothing asks
 * for the tidying, so it can be cancelled for good, and what it has buried by
 * then it has freed. A grace period follows before net_end().
 */
static void __net_exit net_pre_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);
	struct coll_formation *f;

	mutex_lock(&cn->mutex);
	coll_udp_close(cn);
	list_for_each_entry(f, &cn->formations, link)
		coll_formation_stop(f);
	mutex_unlock(&cn->mutex);

	cancel_delayed_work_sync(&cn->tidy);
	list_for_each_entry(f, &cn->formations, link)
		coll_formation_unhash(f);
}

static void __net_exit net_end(struct net *net)
{
	struct coll_net *cn = coll_net_of(net);

	net_free(&cn->formations);
	coll_graveyard_forget(&cn->graveyard, U64_MAX);
	coll_policy_uninit(&cn->policy);
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
	if (!port)
		return -EINVAL;
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
	/* Tombstones are freed by a function of this module. */
	rcu_barrier();
}
