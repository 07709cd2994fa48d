// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "values.h"

/* Where a block of a vector in parts begins: the last ones may be shorter, or empty. */
static u32 values_block_start(const struct coll_op *op, u32 block)
{
	return min(block * op->layout.part_bytes, op->layout.bytes);
}

/**
 * coll_values_extent() - what an edge has of a part of the vector
 * @op: its schedule has blocks
 * @e: the edge
 * @lane: that part
 */
struct coll_extent coll_values_extent(const struct coll_op *op, const struct coll_edge *e,
				      const struct coll_span *lane)
{
	struct coll_span part;

	if (op->schedule->form == COLL_FORM_PLACES)
		return coll_extent_of(&op->group->ranks.order, e, op->layout.block, lane);
	part.first = values_block_start(op, e->first_block);
	part.end = values_block_start(op, e->first_block + e->blocks);
	return coll_extent_of_part(&part, lane);
}

/**
 * coll_values_part() - coll_values_range() if a lane, or an edge, has not all of the vector
 * @op: the operation
 * @lane: index of the lane
 * @e: the edge
 */
struct coll_extent coll_values_part(const struct coll_op *op, u32 lane, const struct coll_edge *e)
{
	struct coll_extent range = coll_values_segment(op, lane);
	struct coll_span span = { range.first, range.first + range.bytes };

	return coll_schedule_has_blocks(op->schedule) ? coll_values_extent(op, e, &span) : range;
}
