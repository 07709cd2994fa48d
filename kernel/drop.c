// SPDX-License-Identifier: GPL-2.0
#include <linux/skbuff.h>

#include "drop.h"
#include "trace.h"

static void drop_trace(const u8 *packet, u32 bytes, enum coll_drop reason)
{
	struct coll_prefix prefix = {};
	struct coll_body body = {};

	if (packet) {
		coll_wire_read_prefix(packet, &prefix);
		coll_wire_read_body(packet, bytes, &body);
	}
	trace_coll_packet_dropped(prefix.tag, prefix.source, prefix.destination, &body, bytes,
				  reason);
}

#define DROP_COUNTER(identifier, name)	[COLL_DROP_##identifier] = COLL_COUNT_##identifier,

/**
 * coll_drop_packet() - count and trace a dropped packet
 * @counters: of the namespace
 * @packet: the packet, NULL if it is not well-formed
 * @bytes: its length
 * @reason: one that the platform detects
 *
 * Context: BH disabled.
 */
void coll_drop_packet(struct coll_counters __percpu *counters, const u8 *packet, u32 bytes,
		      enum coll_drop reason)
{
	static const u8 counter[] = { COLL_NET_DROP_LIST(DROP_COUNTER) };

	coll_counters_add(counters, counter[reason]);
	if (trace_coll_packet_dropped_enabled())
		drop_trace(packet, bytes, reason);
}

/**
 * coll_drop_unsent() - count, trace and free a packet that cannot be sent
 * @counters: of the namespace
 * @skb: the packet, without headers
 * @err: why, from coll_bearer_address() or coll_bearer_route_find()
 *
 * Context: BH disabled.
 */
void coll_drop_unsent(struct coll_counters __percpu *counters, struct sk_buff *skb, int err)
{
	coll_drop_packet(counters, skb->data, skb->len,
			 err == -ENOBUFS ? COLL_DROP_SEND_BUFFER_FULL : COLL_DROP_NO_ROUTE);
	kfree_skb(skb);
}
