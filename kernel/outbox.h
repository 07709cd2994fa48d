/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of an event. The core makes them under the lock of their group, and they are transmitted
 * when the lock has been dropped.
 *
 * Most have their headers already. A packet to a host whose route is not known, or not valid any
 * more, goes without them to a second outbox. Its route is looked up without the lock, as that may
 * take long: there may be any number of rules, one after the other. An event spends COLL_OUTBOX_NS
 * on look-ups, and the last of them may take longer; the other packets wait for a turn, and count
 * against the send buffer. If the group ends before, they are counted as packets without a route,
 * and freed.
 */
#ifndef COLL_OUTBOX_H
#define COLL_OUTBOX_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/time64.h>

#include "bearer.h"
#include "counters.h"

/* After so long an event begins no further look-up. */
#define COLL_OUTBOX_NS	(32 * NSEC_PER_USEC)

/**
 * struct coll_outbox - packets with headers, of the current event; or packets without
 * @first: linked by their next
 * @end: where to link the next one
 */
struct coll_outbox {
	struct sk_buff	*first;
	struct sk_buff	**end;
};

/**
 * struct coll_outbox_sender - who sends packets for which routes are to be found
 * @lock: protects the cached routes
 * @bearers: of the namespace
 * @counters: likewise, of packets that are lost
 * @owner: of the packets
 * @self: their source
 */
struct coll_outbox_sender {
	spinlock_t			*lock;	/* of the routes */
	struct coll_bearers		*bearers;
	struct coll_counters __percpu	*counters;
	struct sock			*owner;
	const struct collsock_member	*self;
};

static inline void coll_outbox_init(struct coll_outbox *outbox)
{
	outbox->first = NULL;
	outbox->end = &outbox->first;
}

static inline void coll_outbox_add(struct coll_outbox *outbox, struct sk_buff *skb)
{
	*outbox->end = skb;
	outbox->end = &skb->next;
}

/* Take all packets; the last one's next is NULL. */
static inline struct sk_buff *coll_outbox_take(struct coll_outbox *outbox)
{
	struct sk_buff *queue = outbox->first;

	if (queue)
		coll_outbox_init(outbox);
	return queue;
}

/* Take the first one of an outbox that is not empty. */
static inline struct sk_buff *coll_outbox_take_first(struct coll_outbox *outbox)
{
	struct sk_buff *skb = outbox->first;

	outbox->first = skb->next;
	if (!outbox->first)
		outbox->end = &outbox->first;
	skb_mark_not_on_list(skb);
	return skb;
}

void coll_outbox_trace_sent(const struct sk_buff *skb);
void coll_outbox_add_unaddressed(struct coll_outbox *unaddressed, struct sk_buff *skb,
				 struct sock *owner, union coll_route *route,
				 const struct collsock_member *to, bool multicast);
struct sk_buff *coll_outbox_find_routes(const struct coll_outbox_sender *sender,
					struct coll_outbox *unaddressed);
void coll_outbox_free(struct coll_outbox *outbox, struct coll_counters __percpu *counters);

#endif
