// SPDX-License-Identifier: GPL-2.0
#include <linux/rwsem.h>

#include "event_queue.h"
#include "work_queue.h"

/*
 * Most events that wait: by default the socket of a listener that does not read has no room for
 * more.
 */
#define EVENT_QUEUE_LENGTH	512

/* How many events a worker sends before it sends those of other namespaces. */
#define EVENT_QUEUE_TURN	64

/* The family that sends events; NULL if none are sent. */
static const struct genl_family *event_queue_family;

/* Held while events are sent, and to change @event_queue_family. */
static DECLARE_RWSEM(event_queue_lock);

/**
 * coll_event_queue_allow() - start or stop sending events
 * @family: the family that sends them; NULL stops them, since groups may briefly outlive
 *	the family when the module is removed
 *
 * Context: process.
 */
void coll_event_queue_allow(const struct genl_family *family)
{
	down_write(&event_queue_lock);
	WRITE_ONCE(event_queue_family, family);
	up_write(&event_queue_lock);
	/* Events are written with bottom halves disabled, or under RCU. */
	if (!family)
		synchronize_rcu();
}

/* Send the next event. Returns false if there is none. Called under event_queue_lock. */
static bool event_queue_send_one(struct coll_event_queue *queue)
{
	struct sk_buff *skb = skb_dequeue(&queue->events);

	if (!skb)
		return false;
	if (event_queue_family)
		genlmsg_multicast_netns(event_queue_family, queue->net, skb, 0, 0, GFP_KERNEL);
	else
		nlmsg_free(skb);
	cond_resched();
	return true;
}

/*
 * Send as many events as a turn allows; others may be added meanwhile. Called under
 * event_queue_lock.
 */
static void event_queue_send(struct coll_event_queue *queue)
{
	int left = EVENT_QUEUE_TURN;

	while (left && event_queue_send_one(queue))
		left--;
	if (!left) {
		queue_work(coll_event_work_queue, &queue->work);
		return;
	}
	if (!READ_ONCE(queue->lost))
		return;
	WRITE_ONCE(queue->lost, false);
	if (event_queue_family)
		genl_set_err(event_queue_family, queue->net, 0, 0, -ENOBUFS);
}

static void event_queue_work(struct work_struct *work)
{
	down_read(&event_queue_lock);
	event_queue_send(container_of(work, struct coll_event_queue, work));
	up_read(&event_queue_lock);
}

/**
 * coll_event_queue_init() - a namespace has no events yet
 * @queue: of it
 * @net: the namespace
 */
void coll_event_queue_init(struct coll_event_queue *queue, struct net *net)
{
	queue->net = net;
	skb_queue_head_init(&queue->events);
	INIT_WORK(&queue->work, event_queue_work);
}

/**
 * coll_event_queue_end() - no event is sent any more
 * @queue: of a namespace that ends; nothing happens there any more, and nobody listens
 *
 * Context: process.
 */
void coll_event_queue_end(struct coll_event_queue *queue)
{
	cancel_work_sync(&queue->work);
	skb_queue_purge(&queue->events);
}

/**
 * coll_event_queue_family() - the family by which events are sent, if anybody listens
 * @queue: of a namespace
 *
 * Return: the family, or NULL. Context: BH disabled, or under RCU.
 */
const struct genl_family *coll_event_queue_family(const struct coll_event_queue *queue)
{
	const struct genl_family *family = READ_ONCE(event_queue_family);

	return family && genl_has_listeners(family, queue->net, 0) ? family : NULL;
}

/**
 * coll_event_queue_new() - a message for an event
 * @queue: of a namespace
 * @bytes: of its payload at most
 *
 * Return: the message, or NULL if there is no room or no memory: listeners will get ENOBUFS.
 * Context: as coll_event_queue_family().
 */
struct sk_buff *coll_event_queue_new(struct coll_event_queue *queue, u32 bytes)
{
	struct sk_buff *skb = NULL;

	if (skb_queue_len_lockless(&queue->events) < EVENT_QUEUE_LENGTH)
		skb = genlmsg_new(bytes, GFP_ATOMIC);
	if (!skb) {
		WRITE_ONCE(queue->lost, true);
		queue_work(coll_event_work_queue, &queue->work);
	}
	return skb;
}

/**
 * coll_event_queue_add() - send an event
 * @queue: of a namespace
 * @skb: complete
 *
 * Context: as coll_event_queue_family().
 */
void coll_event_queue_add(struct coll_event_queue *queue, struct sk_buff *skb)
{
	skb_queue_tail(&queue->events, skb);
	queue_work(coll_event_work_queue, &queue->work);
}
