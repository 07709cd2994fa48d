// SPDX-License-Identifier: GPL-2.0
#include "event.h"
#include "instance.h"
#include "netns.h"

/* The family that sends events; NULL if none are sent. */
static const struct genl_family *event_family;

/**
 * struct event - an event under construction
 * @family: the family that sends it
 * @skb: the message
 * @header: its generic netlink header
 */
struct event {
	const struct genl_family	*family;
	struct sk_buff			*skb;
	void				*header;
};

/**
 * coll_event_allow() - start or stop sending events
 * @family: the family that sends them; NULL stops them, since groups may briefly outlive
 *	the family when the module is removed
 *
 * Context: process.
 */
void coll_event_allow(const struct genl_family *family)
{
	WRITE_ONCE(event_family, family);
	/* Events are sent with bottom halves disabled, or under RCU. */
	if (!family)
		synchronize_rcu();
}

/* Every event has its kind and the group's attributes. False if it is not to be sent. */
static bool event_begin(struct event *e, struct coll_instance *gi, enum collsock_event kind)
{
	e->family = READ_ONCE(event_family);
	if (!e->family || !genl_has_listeners(e->family, gi->cn->net, 0))
		return false;
	e->skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!e->skb) {
		genl_set_err(e->family, gi->cn->net, 0, 0, -ENOBUFS);
		return false;
	}
	e->header = genlmsg_put(e->skb, 0, 0, e->family, 0, COLLSOCK_CMD_NOTICE);
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
	genlmsg_multicast_netns(e->family, gi->cn->net, e->skb, 0, 0, GFP_ATOMIC);
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
 * coll_event_group_failed() - send the event that operations beyond a limit cannot complete
 * @gi: the group, with a new failure
 *
 * That the last rank of this host leaves is not an event.
 *
 * Context: under the lock of the group.
 */
void coll_event_group_failed(struct coll_instance *gi)
{
	const struct coll_group *g = &gi->group;
	const struct coll_failure *v = &g->failure.what;
	u32 error = coll_failure_error(v);

	if (!g->ranks.joined)
		return;
	if (v->reason == COLL_REASON_DISAGREES)
		event_blame(gi, COLLSOCK_EVENT_DISAGREEMENT, v->limit, v->rank, error);
	event_blame(gi, v->reason == COLL_REASON_LEFT ? COLLSOCK_EVENT_RANK_LEFT :
		    COLLSOCK_EVENT_GROUP_FAILED, v->limit, v->rank, error);
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
