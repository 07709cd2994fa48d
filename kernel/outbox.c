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
 * @tried: the route was looked up once, and was not valid
 */
struct outbox_block {
	union coll_route		*route;
	const struct collsock_member	*to;
	bool				multicast;
	bool				tried;
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
 * @unaddressed: the outbox
 * @skb: the packet, without headers
 * @owner: of the packet, against whose send buffer it counts while it waits
 * @route: the cached route to @to, which is not valid
 * @to: its destination
 * @multicast: that is a multicast address
 *
 * @route and @to must exist until coll_outbox_find_routes() takes the packet; coll_outbox_free()
 * does not use them. Context: the lock of the routes held.
 */
void coll_outbox_add_unaddressed(struct coll_outbox *unaddressed, struct sk_buff *skb,
				 struct sock *owner, union coll_route *route,
				 const struct collsock_member *to, bool multicast)
{
	coll_owner_take(owner, skb);
	*outbox_block(skb) = (struct outbox_block) {
		.route		= route,
		.to		= to,
		.multicast	= multicast,
	};
	coll_outbox_add(unaddressed, skb);
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

/* Look up the route of a packet, with the lock dropped, and then address the packet. */
static int outbox_find_route(const struct coll_outbox_sender *s, const struct outbox_block *block,
			     struct sk_buff *skb)
	__must_hold(s->lock)
{
	union coll_route route = {};
	int err;

	spin_unlock(s->lock);
	err = coll_bearer_route_find(s->bearers, &route, s->owner, s->self, block->to);
	spin_lock(s->lock);
	if (err)
		return err;
	err = coll_bearer_route_replace(block->route, &route);
	return err ? err : outbox_address(s, block, skb);
}

/*
 * Give a packet its route and its headers. An earlier packet to the same host may have found the
 * route already. Returns 0; -EAGAIN if the route that was found is not valid; or why the packet
 * cannot be sent.
 */
static int outbox_complete(const struct coll_outbox_sender *s, struct sk_buff *skb)
{
	/* Copy it, as the control data of the headers are written over it. */
	const struct outbox_block block = *outbox_block(skb);
	int err;

	/* With its headers the packet counts against the send buffer again. */
	skb_orphan(skb);
	err = outbox_address(s, &block, skb);
	return err == -EAGAIN ? outbox_find_route(s, &block, skb) : err;
}

/*
 * Complete a packet and add it to @complete, or drop it. If its route was not valid as soon as it
 * was found, routes have changed meanwhile. But there are routes that are never valid, such as that
 * of an IPsec policy without a key. So such a packet is tried twice.
 */
static void outbox_sort(const struct coll_outbox_sender *s, struct sk_buff *skb,
			struct coll_outbox *unaddressed, struct coll_outbox *complete)
{
	int err = outbox_complete(s, skb);

	if (err == -EAGAIN && !outbox_block(skb)->tried) {
		outbox_block(skb)->tried = true;
		coll_owner_take(s->owner, skb);
		coll_outbox_add(unaddressed, skb);
	} else if (err) {
		coll_drop_unsent(s->counters, skb, err);
	} else {
		if (trace_coll_packet_sent_enabled())
			coll_outbox_trace_sent(skb);
		coll_outbox_add(complete, skb);
	}
}

/**
 * coll_outbox_find_routes() - take the packets whose routes there is time to look up
 * @sender: who sends the packets
 * @unaddressed: packets without headers; those that have to wait remain
 *
 * Packets that have no route are counted and freed.
 *
 * Return: the packets, with their headers; NULL if there is none. Context: BH disabled until they
 * have been transmitted; the lock of the routes, which also protects @unaddressed, held. It is
 * dropped meanwhile.
 */
struct sk_buff *coll_outbox_find_routes(const struct coll_outbox_sender *sender,
					struct coll_outbox *unaddressed)
	__must_hold(sender->lock)
{
	u64 until = ktime_get_ns() + COLL_OUTBOX_NS;
	struct coll_outbox complete;

	lockdep_assert_held(sender->lock);
	coll_outbox_init(&complete);
	while (unaddressed->first) {
		outbox_sort(sender, coll_outbox_take_first(unaddressed), unaddressed, &complete);
		if (ktime_get_ns() >= until)
			break;
	}
	return complete.first;
}

/**
 * coll_outbox_free() - count and free packets that will not be sent
 * @outbox: no longer shared; empty afterwards
 * @counters: of the namespace
 *
 * Context: process.
 */
void coll_outbox_free(struct coll_outbox *outbox, struct coll_counters __percpu *counters)
{
	while (outbox->first) {
		struct sk_buff *skb = coll_outbox_take_first(outbox);

		local_bh_disable();
		coll_drop_unsent(counters, skb, -EHOSTUNREACH);
		local_bh_enable();
		cond_resched();
	}
}
