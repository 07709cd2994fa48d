/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a namespace (event.h) that wait to be sent to the multicast group of the netlink
 * family. A worker sends them, so that no group pays for listeners, however many there are. If
 * there is no room for an event, listeners are told that they have missed some (ENOBUFS).
 */
#ifndef COLL_EVENT_QUEUE_H
#define COLL_EVENT_QUEUE_H

#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

/**
 * struct coll_event_queue - of a namespace
 * @net: the namespace
 * @events: messages; with a lock of their own
 * @lost: there was no room or no memory for one
 * @work: sends them
 */
struct coll_event_queue {
	struct net		*net;
	struct sk_buff_head	events;
	bool			lost;
	struct work_struct	work;
};

void coll_event_queue_init(struct coll_event_queue *queue, struct net *net);
void coll_event_queue_end(struct coll_event_queue *queue);

void coll_event_queue_allow(const struct genl_family *family);
const struct genl_family *coll_event_queue_family(const struct coll_event_queue *queue);
struct sk_buff *coll_event_queue_new(struct coll_event_queue *queue, u32 bytes);
void coll_event_queue_add(struct coll_event_queue *queue, struct sk_buff *skb);

#endif
