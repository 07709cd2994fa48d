// SPDX-License-Identifier: GPL-2.0
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

/**
 * coll_drop_packet() - count and trace a packet that goes no further
 * @counters: of the namespace
 * @packet: the packet, NULL if it is not formed
 * @bytes: its length
 * @reason: one that the platform finds
 *
 * Context: BH disabled.
 */
void coll_drop_packet(struct coll_counters __percpu *counters, const u8 *packet, u32 bytes,
		      enum coll_drop reason)
{
	static const u8 counter[] = {
		[COLL_DROP_MALFORMED]		= COLL_COUNT_MALFORMED,
		[COLL_DROP_UNKNOWN_GROUP]	= COLL_COUNT_UNKNOWN_GROUP,
		[COLL_DROP_WRONG_SOURCE]	= COLL_COUNT_WRONG_SOURCE,
		[COLL_DROP_FORGED]		= COLL_COUNT_FORGED,
		[COLL_DROP_WRONG_DESCRIPTOR]	= COLL_COUNT_WRONG_DESCRIPTOR,
		[COLL_DROP_NO_ROUTE]		= COLL_COUNT_NO_ROUTE,
	};

	coll_count(counters, counter[reason]);
	if (trace_coll_packet_dropped_enabled())
		drop_trace(packet, bytes, reason);
}
