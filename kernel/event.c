// SPDX-License-Identifier: GPL-2.0
#include "event.h"
#include "instance.h"
#include "netns.h"

/* Enough for any event: eight attributes of up to eight bytes */
#define EVENT_BYTES	96

/**
 * struct event - an event under construction
 * @skb: the message
 * @header: its generic netlink header
 */
struct event {
	struct sk_buff	*skb;
	void		*header;
};

/*
 * Begin an event with what every event has: its kind and the group's attributes. Returns false if
 * the event is not to be sent.
 */
static bool event_begin(struct event *e, struct coll_instance *gi, enum collsock_event kind)
{
	struct coll_event_queue *queue = &gi->cn->events;
	const struct genl_family *family = coll_event_queue_family(queue);

	if (!family)
		return false;
	e->skb = coll_event_queue_new(queue, EVENT_BYTES);
	if (!e->skb)
		return false;
	e->header = genlmsg_put(e->skb, 0, 0, family, 0, COLLSOCK_CMD_NOTICE);
	if (e->header && !nla_put_u32(e->skb, COLLSOCK_A_NOTICE_EVENT, kind) &&
	    !nla_put_u32(e->skb, COLLSOCK_A_NOTICE_GROUP, gi->handle) &&
	    !nla_put_u64_64bit(e->skb, COLLSOCK_A_NOTICE_ID, gi->request.id,
			       COLLSOCK_A_NOTICE_PAD))
		return true;
	nlmsg_free(e->skb);
	return false;
}

static void event_send(struct event *e, struct coll_instance *gi)
{
	genlmsg_end(e->skb, e->header);
	coll_event_queue_add(&gi->cn->events, e->skb);
}

/**
 * coll_event_group() - send an event about the beginning or end of a group
 * @gi: the group
 * @kind: which of the two
 *
 * Context: process.
 */
void coll_event_group(struct coll_instance *gi, enum collsock_event kind)
{
	struct event e;

	rcu_read_lock();
	if (event_begin(&e, gi, kind))
		event_send(&e, gi);
	rcu_read_unlock();
}

static int event_put_operation(struct event *e, u64 operation)
{
	return nla_put_u64_64bit(e->skb, COLLSOCK_A_NOTICE_OPERATION, operation,
				 COLLSOCK_A_NOTICE_PAD);
}

static void event_blame(struct coll_instance *gi, enum collsock_event kind, u64 operation,
			u32 rank, u32 error)
{
	struct event e;

	lockdep_assert_held(&gi->lock);
	if (!event_begin(&e, gi, kind))
		return;
	if (event_put_operation(&e, operation) ||
	    (rank != COLLSOCK_NO_RANK && nla_put_u32(e.skb, COLLSOCK_A_NOTICE_RANK, rank)) ||
	    nla_put_u32(e.skb, COLLSOCK_A_NOTICE_ERROR, error))
		nlmsg_free(e.skb);
	else
		event_send(&e, gi);
}

/**
 * coll_event_group_failed() - send the event that operations beyond a failure limit fail
 * @gi: the group, with a new failure
 *
 * No event is sent when the last rank of this host leaves.
 *
 * Context: under the lock of the group.
 */
void coll_event_group_failed(struct coll_instance *gi)
{
	const struct coll_group *g = &gi->group;
	const struct coll_failure *f = &g->failure.what;
	u32 error = coll_failure_error(f);

	if (!g->ranks.joined)
		return;
	if (f->reason == COLL_REASON_DISAGREES)
		event_blame(gi, COLLSOCK_EVENT_DISAGREEMENT, f->limit, f->rank, error);
	event_blame(gi, f->reason == COLL_REASON_LEFT ? COLLSOCK_EVENT_RANK_LEFT :
		    COLLSOCK_EVENT_GROUP_FAILED, f->limit, f->rank, error);
}

/**
 * coll_event_operation_failed() - send the event that a local rank's operation failed
 * @gi: the group
 * @operation: number of the operation
 * @rank: rank to blame
 * @error: errno, positive
 *
 * Context: under the lock of the group.
 */
void coll_event_operation_failed(struct coll_instance *gi, u64 operation, u32 rank, u32 error)
{
	event_blame(gi, COLLSOCK_EVENT_OPERATION_FAILED, operation, rank, error);
}

/**
 * coll_event_peer() - send an event about a connection
 * @peer: the connection
 * @kind: kind of event
 * @operation: operation of a message that is not acknowledged
 *
 * Context: under the lock of the group.
 */
void coll_event_peer(struct coll_peer *peer, enum collsock_event kind, u64 operation)
{
	struct coll_instance *gi = coll_instance_of(peer->group);
	struct event e;

	lockdep_assert_held(&gi->lock);
	if (!event_begin(&e, gi, kind))
		return;
	if (nla_put_u32(e.skb, COLLSOCK_A_NOTICE_HOST, peer->host) ||
	    (kind == COLLSOCK_EVENT_PEER_LOSSY &&
	     event_put_operation(&e, operation)))
		nlmsg_free(e.skb);
	else
		event_send(&e, gi);
}
