// SPDX-License-Identifier: GPL-2.0
#include "event.h"
#include "instance.h"
#include "netlink.h"
#include "netns.h"

/* Is the family there? Groups may outlive it by a moment when the module goes. */
static bool events_allowed;

/**
 * coll_events_allow() - events can be sent from now on, or none is any more
 * @allow: which of it
 *
 * Context: process.
 */
void coll_events_allow(bool allow)
{
	WRITE_ONCE(events_allowed, allow);
	/* They are sent with bottom halves off, or under RCU. */
	if (!allow)
		synchronize_rcu();
}

/* Every event says what it is, and of which group. */
static struct sk_buff *event_begin(struct coll_instance *gi, enum collsock_event kind,
				   void **header)
{
	struct sk_buff *skb;

	if (!READ_ONCE(events_allowed) ||
	    !genl_has_listeners(&coll_genl_family, gi->cn->net, 0))
		return NULL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb) {
		genl_set_err(&coll_genl_family, gi->cn->net, 0, 0, -ENOBUFS);
		return NULL;
	}
	*header = genlmsg_put(skb, 0, 0, &coll_genl_family, 0, COLLSOCK_CMD_NOTICE);
	if (*header && !nla_put_u32(skb, COLLSOCK_A_NOTICE_EVENT, kind) &&
	    !nla_put_u32(skb, COLLSOCK_A_NOTICE_GROUP, gi->handle) &&
	    !nla_put_u64_64bit(skb, COLLSOCK_A_NOTICE_ID, gi->request.id, COLLSOCK_A_NOTICE_PAD))
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static void event_send(struct coll_instance *gi, struct sk_buff *skb, void *header)
{
	genlmsg_end(skb, header);
	genlmsg_multicast_netns(&coll_genl_family, gi->cn->net, skb, 0, 0, GFP_ATOMIC);
}

/**
 * coll_event_group() - a group begins, or is not there any more
 * @gi: the group
 * @kind: which of it
 *
 * Context: process.
 */
void coll_event_group(struct coll_instance *gi, enum collsock_event kind)
{
	struct sk_buff *skb;
	void *header;

	rcu_read_lock();
	skb = event_begin(gi, kind, &header);
	if (skb)
		event_send(gi, skb, header);
	rcu_read_unlock();
}

static void event_blame(struct coll_instance *gi, enum collsock_event kind, u32 operation,
			u32 rank, u32 error)
{
	struct sk_buff *skb;
	void *header;

	skb = event_begin(gi, kind, &header);
	if (!skb)
		return;
	if (nla_put_u32(skb, COLLSOCK_A_NOTICE_OPERATION, operation) ||
	    (rank != COLLSOCK_NO_RANK && nla_put_u32(skb, COLLSOCK_A_NOTICE_RANK, rank)) ||
	    nla_put_u32(skb, COLLSOCK_A_NOTICE_ERROR, error))
		nlmsg_free(skb);
	else
		event_send(gi, skb, header);
}

/**
 * coll_event_group_failed() - operations beyond a limit cannot complete
 * @gi: the group; its failure is new
 *
 * That the last rank of this host has left is no event.
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
 * coll_event_operation_failed() - a rank of this host is told that its operation failed
 * @gi: the group
 * @operation: number of it
 * @rank: who is to blame
 * @error: errno, positive
 *
 * Context: under the lock of the group.
 */
void coll_event_operation_failed(struct coll_instance *gi, u32 operation, u32 rank, u32 error)
{
	event_blame(gi, COLLSOCK_EVENT_OPERATION_FAILED, operation, rank, error);
}

/**
 * coll_event_peer() - something happened to a connection
 * @peer: it
 * @kind: what
 * @operation: of a message that gets lost
 *
 * Context: under the lock of the group.
 */
void coll_event_peer(struct coll_peer *peer, enum collsock_event kind, u32 operation)
{
	struct coll_instance *gi = coll_instance_of(peer->group);
	struct sk_buff *skb;
	void *header;

	skb = event_begin(gi, kind, &header);
	if (!skb)
		return;
	if (nla_put_u32(skb, COLLSOCK_A_NOTICE_HOST, peer->host) ||
	    (kind == COLLSOCK_EVENT_PEER_LOSSY &&
	     nla_put_u32(skb, COLLSOCK_A_NOTICE_OPERATION, operation)))
		nlmsg_free(skb);
	else
		event_send(gi, skb, header);
}
