/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An extent: which bytes of a vector the message of an edge has in one lane. In a place-only
 * schedule the edge names blocks of hosts, modulo hosts; so these are one range of the vector, or
 * its beginning and its end. In a schedule of parts they are one range. The message has the bytes
 * of these that are in the lane: none, one piece or two, the lower one first. Pure; any context.
 */
#ifndef COLL_CORE_EXTENT_H
#define COLL_CORE_EXTENT_H

#include "order.h"
#include "schedule.h"

/**
 * struct coll_extent - bytes of a vector
 * @first: offset of the first one
 * @bytes: how many, in both pieces
 * @rest: how many of them are in the second piece
 * @gap: bytes between both pieces
 */
struct coll_extent {
	u32	first;
	u32	bytes;
	u32	rest;
	u32	gap;
};

/**
 * struct coll_span - consecutive bytes of a vector
 * @first: offset of the first one
 * @end: offset after the last one
 */
struct coll_span {
	u32	first;
	u32	end;
};

struct coll_extent coll_extent_of(const struct coll_order *order, const struct coll_edge *e,
				  u32 block, const struct coll_span *lane);
struct coll_extent coll_extent_of_part(const struct coll_span *part,
				       const struct coll_span *lane);
u32 coll_extent_lanes(const struct coll_extent *e, u32 segment, struct coll_span lanes[2]);

#endif
