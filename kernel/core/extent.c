// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "extent.h"

/*
 * Cut a span to the lane. If they have nothing in common, the result does not end after it begins.
 */
static struct coll_span extent_cut(const struct coll_span *lane, u32 first, u32 end)
{
	return (struct coll_span) { max(first, lane->first), min(end, lane->end) };
}

static u32 extent_length(const struct coll_span *span)
{
	return span->end > span->first ? span->end - span->first : 0;
}

/* Join two pieces, @low before @high, either of which may be empty. */
static struct coll_extent extent_join(const struct coll_span *low, const struct coll_span *high)
{
	u32 bytes = extent_length(low), rest = extent_length(high);

	if (!bytes || !rest)
		return (struct coll_extent) {
			.first	= bytes ? low->first : high->first,
			.bytes	= bytes + rest,
		};
	return (struct coll_extent) {
		.first	= low->first,
		.bytes	= bytes + rest,
		.rest	= rest,
		.gap	= high->first - low->end,
	};
}

/**
 * coll_extent_of() - the bytes of an edge in a lane
 * @order: how many blocks each host has
 * @e: the edge, of a place-only schedule
 * @block: bytes of a block
 * @lane: the lane
 *
 * Return: the bytes, none or in up to two pieces.
 */
struct coll_extent coll_extent_of(const struct coll_order *order, const struct coll_edge *e,
				  u32 block, const struct coll_span *lane)
{
	u32 after = (u32)e->first_block + e->blocks;
	u32 wrapped = after > order->hosts ? after - order->hosts : 0;
	struct coll_span low, high;

	low = extent_cut(lane, 0, coll_order_first(order, wrapped) * block);
	high = extent_cut(lane, coll_order_first(order, e->first_block) * block,
			  coll_order_first(order, min(after, order->hosts)) * block);
	return extent_join(&low, &high);
}

/**
 * coll_extent_of_part() - the bytes of an edge in a lane
 * @part: what the edge of a schedule of parts has of the vector; may be empty
 * @lane: the lane
 *
 * Return: the bytes, none or in one piece.
 */
struct coll_extent coll_extent_of_part(const struct coll_span *part, const struct coll_span *lane)
{
	struct coll_span common = extent_cut(lane, part->first, part->end);

	return (struct coll_extent) { .first = common.first, .bytes = extent_length(&common) };
}

/**
 * coll_extent_lanes() - which lanes have a part of an extent
 * @e: of the whole vector as a lane; not empty
 * @segment: bytes of each lane
 * @lanes: out: ranges of lanes, which have none in common
 *
 * Return: the number of ranges, 1 or 2.
 */
u32 coll_extent_lanes(const struct coll_extent *e, u32 segment, struct coll_span lanes[2])
{
	u32 end = e->first + e->bytes - e->rest, next = end + e->gap;

	lanes[0].first = e->first / segment;
	lanes[0].end = (end - 1) / segment + 1;
	if (!e->rest)
		return 1;
	lanes[1].first = next / segment;
	lanes[1].end = (next + e->rest - 1) / segment + 1;
	if (lanes[0].end <= lanes[1].first)
		return 2;
	/* Both pieces are in the lane between. */
	lanes[0].end = lanes[1].end;
	return 1;
}
