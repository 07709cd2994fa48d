// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>
#include <net/dst.h>

#include "backlog.h"

/*
 * Limit of a backlog, near that of IPsec's own queue: net.core.netdev_max_backlog, 1,000 by default
 */
#define BACKLOG_PACKETS	1024

/* Packets in one run of the tasklet; then other softirqs have their turn. */
#define BACKLOG_BUDGET	64

/* Filters look at the device that a packet came by, so the packet holds it while it waits. */
static void backlog_deliver(struct coll_backlog *backlog, struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;

	rcu_read_lock();
	backlog->deliver(backlog, skb);
	rcu_read_unlock();
	dev_put(dev);
}

static void backlog_run(struct tasklet_struct *tasklet)
{
	struct coll_backlog *backlog = from_tasklet(backlog, tasklet, tasklet);
	struct sk_buff *skb;
	u32 budget;

	for (budget = BACKLOG_BUDGET; budget; budget--) {
		skb = skb_dequeue(&backlog->packets);
		if (!skb)
			return;
		backlog_deliver(backlog, skb);
	}
	tasklet_schedule(&backlog->tasklet);
}

/**
 * coll_backlog_init() - an empty backlog
 * @backlog: of a namespace
 * @deliver: called for each packet
 */
void coll_backlog_init(struct coll_backlog *backlog,
		       void (*deliver)(struct coll_backlog *backlog, struct sk_buff *skb))
{
	skb_queue_head_init(&backlog->packets);
	tasklet_setup(&backlog->tasklet, backlog_run);
	backlog->deliver = deliver;
}

/**
 * coll_backlog_add() - deliver a packet later, in softirq
 * @backlog: of the namespace
 * @skb: the packet; it belongs to the backlog if there is room
 *
 * CPUs that add at the same time may exceed the limit by a packet each.
 *
 * Return: was there room? Context: BH disabled.
 */
bool coll_backlog_add(struct coll_backlog *backlog, struct sk_buff *skb)
{
	if (skb_queue_len_lockless(&backlog->packets) >= BACKLOG_PACKETS)
		return false;
	/* The route that it came by may only be valid under RCU. */
	skb_dst_drop(skb);
	dev_hold(skb->dev);
	skb_queue_tail(&backlog->packets, skb);
	tasklet_schedule(&backlog->tasklet);
	return true;
}

/**
 * coll_backlog_end() - nothing is delivered any more
 * @backlog: of a namespace that ends; nobody adds to it
 *
 * Context: process.
 */
void coll_backlog_end(struct coll_backlog *backlog)
{
	struct sk_buff *skb;

	tasklet_kill(&backlog->tasklet);
	while ((skb = skb_dequeue(&backlog->packets))) {
		dev_put(skb->dev);
		kfree_skb(skb);
	}
}
