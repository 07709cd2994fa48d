/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The backlog of a namespace: packets that were delivered where rounds may not advance, and
 * that a tasklet delivers again. IPsec in transport mode delivers from a work queue.
 *
 * It holds a limited number of packets, in the order in which they came, and the devices by which
 * they came.
 */
#ifndef COLL_BACKLOG_H
#define COLL_BACKLOG_H

#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

/**
 * struct coll_backlog - of a namespace
 * @packets: with a lock of their own
 * @tasklet: empties @packets
 * @deliver: takes a packet from it; in softirq, under RCU
 */
struct coll_backlog {
	struct sk_buff_head	packets;
	struct tasklet_struct	tasklet;
	void			(*deliver)(struct coll_backlog *backlog, struct sk_buff *skb);
};

/*
 * Must rounds not advance here? They advance in softirq context, or with bottom halves
 * disabled: when a rank posts, in threaded NAPI, in busy polling. They never wait for a work
 * queue.
 */
static __always_inline bool coll_backlog_is_needed(void)
{
	return !in_serving_softirq() && (!in_softirq() || current->flags & PF_WQ_WORKER);
}

void coll_backlog_init(struct coll_backlog *backlog,
		       void (*deliver)(struct coll_backlog *backlog, struct sk_buff *skb));
bool coll_backlog_add(struct coll_backlog *backlog, struct sk_buff *skb);
void coll_backlog_end(struct coll_backlog *backlog);

#endif
