// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>

#include "drop.h"
#include "outbox.h"
#include "trace.h"

/**
 * struct outbox_block - what a packet without headers has in its control block
 * @route: the cached route to @to
 * @to: its destination
 * @multicast: that is a multicast address
 */
struct outbox_block {
	union coll_route		*route;
	const struct collsock_member	*to;
	bool				multicast;
};

static struct outbox_block *outbox_block(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct outbox_block) > sizeof(skb->cb));
	return (struct outbox_block *)skb->cb;
}

/**
 * coll_outbox_trace_sent() - trace a packet
 * @skb: with its headers
 *
 * Context: any.
 */
void coll_outbox_trace_sent(const struct sk_buff *skb)
{
	const u8 *data = coll_bearer_written(skb);

	trace_coll_packet_sent(data, skb_tail_pointer(skb) - data);
}

/**
 * coll_outbox_add_unaddressed() - add a packet whose route is to be looked up
 * @outbox: the outbox
 * @skb: the packet, without headers
 * @owner: of the packet, against whose send buffer it counts while it waits
 * @route: the cached route to @to, which is not valid
 * @to: its destination
 * @multicast: that is a multicast address
 *
 * @route and @to must exist as long as the outbox. Context: the lock of the routes held.
 */
void coll_outbox_add_unaddressed(struct coll_outbox *outbox, struct sk_buff *skb,
				 struct sock *owner, union coll_route *route,
				 const struct collsock_member *to, bool multicast)
{
	coll_owner_take(owner, skb);
	*outbox_block(skb) = (struct outbox_block) {
		.route		= route,
		.to		= to,
		.multicast	= multicast,
	};
	coll_outbox_add(outbox, skb);
}

static int outbox_address(const struct coll_outbox_sender *s, const struct outbox_block *block,
			  struct sk_buff *skb)
{
	lockdep_assert_held(s->lock);
	if (block->multicast)
		return coll_bearer_address_all(s->bearers, block->route, skb, s->owner, s->self,
					       block->to);
	return coll_bearer_address(s->bearers, block->route, skb, s->owner, s->self, block->to);
}

/* The same; first the route is looked up. The lock is dropped meanwhile. */
static int outbox_find_route(const struct coll_outbox_sender *s, const struct outbox_block *block,
			     struct sk_buff *skb)
	__must_hold(s->lock)
{
	union coll_route route = {};
	int err;

	spin_unlock(s->lock);
	err = coll_bearer_route_find(s->bearers, &route, s->owner, s->self, block->to);
	spin_lock(s->lock);
	if (!err) {
		swap(*block->route, route);
		err = outbox_address(s, block, skb);
	}
	/* The former one, which was not valid any more */
	coll_bearer_route_drop(&route);
	return err;
}

/*
 * Give a packet its route and its headers. An earlier packet to the same host may have found the
 * route already. Returns 0; -EAGAIN if routes have changed meanwhile; or why it cannot be sent.
 */
static int outbox_complete(const struct coll_outbox_sender *s, struct sk_buff *skb)
{
	/* The headers' own data are written over it. */
	const struct outbox_block block = *outbox_block(skb);
	int err;

	/* It counts against the send buffer again with its headers. */
	skb_orphan(skb);
	spin_lock(s->lock);
	err = outbox_address(s, &block, skb);
	if (err == -EAGAIN)
		err = outbox_find_route(s, &block, skb);
	spin_unlock(s->lock);
	return err;
}

/* Complete the packet, and move it to where it belongs then. */
static void outbox_sort(const struct coll_outbox_sender *s, struct sk_buff *skb,
			struct coll_outbox *complete, struct coll_outbox *late)
{
	int err = outbox_complete(s, skb);

	if (err == -EAGAIN) {
		coll_owner_take(s->owner, skb);
		coll_outbox_add(late, skb);
	} else if (err) {
		coll_drop_unsent(s->counters, skb, err);
	} else {
		if (trace_coll_packet_sent_enabled())
			coll_outbox_trace_sent(skb);
		coll_outbox_add(complete, skb);
	}
}

/**
 * coll_outbox_find_routes() - look up routes, for as long as there is time
 * @sender: who sends the packets
 * @queue: the packets, from coll_outbox_take(), with headers and without
 * @late: an empty outbox; receives those that have to wait
 *
 * Packets without a route are counted and freed.
 *
 * Return: the packets that have their headers; NULL if there is none. Context: BH disabled since
 * the first of @queue were addressed, until they have been transmitted; no lock.
 */
struct sk_buff *coll_outbox_find_routes(const struct coll_outbox_sender *sender,
					struct sk_buff *queue, struct coll_outbox *late)
{
	u64 until = ktime_get_ns() + COLL_OUTBOX_NS;
	struct coll_outbox complete;

	coll_outbox_init(&complete);
	while (queue) {
		struct sk_buff *skb = queue;

		queue = skb->next;
		skb_mark_not_on_list(skb);
		if (coll_outbox_has_headers(skb))
			coll_outbox_add(&complete, skb);
		else if (late->first || ktime_get_ns() >= until)
			coll_outbox_add(late, skb);
		else
			outbox_sort(sender, skb, &complete, late);
	}
	return complete.first;
}

/**
 * coll_outbox_put_back() - put late packets before those that have come meanwhile
 * @outbox: where they came from
 * @late: from coll_outbox_find_routes(), with a packet; empty afterwards
 *
 * Context: the lock of @outbox held.
 */
void coll_outbox_put_back(struct coll_outbox *outbox, struct coll_outbox *late)
{
	*late->end = outbox->first;
	if (!outbox->first)
		outbox->end = late->end;
	outbox->first = late->first;
	coll_outbox_init(late);
}

/**
 * coll_outbox_free() - count and free packets that will not be sent
 * @outbox: no longer shared; empty afterwards
 * @counters: of the namespace
 *
 * Context: any but hard interrupts.
 */
void coll_outbox_free(struct coll_outbox *outbox, struct coll_counters __percpu *counters)
{
	struct sk_buff *skb, *next;

	local_bh_disable();
	for (skb = coll_outbox_take(outbox); skb; skb = next) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		coll_drop_unsent(counters, skb, -EHOSTUNREACH);
	}
	local_bh_enable();
}
