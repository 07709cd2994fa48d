/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Where the values of an operation are: registers as they were after each round, early messages
 * and the contributions of this host's ranks, each as long as the group's largest payload. And
 * which bytes of each are a lane's.
 *
 * A long vector is not copied between the core and its platform. A post hands over the memory of
 * its payload, and gets other memory for its result: the last value is made there, unless it is
 * sent, as sent bytes must stay until they are acknowledged. A host that only receives does so
 * into the first value, which is handed over in the same way.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_VALUES_H
#define COLL_CORE_VALUES_H

#include "extent.h"
#include "work.h"

/* Bytes from which on it costs less to exchange memory than to copy */
#define COLL_VALUES_LONG	256

/* A register as it was after @index rounds that fold. */
static inline u8 *coll_values_register(const struct coll_op *op, u32 index, u32 reg)
{
	u32 value = index * op->schedule->registers + reg;

	if (!value)
		return op->vector.first;
	if (unlikely(value == op->vector.last_value))
		return op->vector.last;
	return op->values + (value - 1) * (size_t)op->group->payload.room;
}

/* The message of a fold entry */
static inline u8 *coll_values_early(const struct coll_op *op, u32 edge)
{
	return op->early + (size_t)edge * op->group->payload.room;
}

/* The buffer of a rank of this host, if there are several */
static inline u8 *coll_values_local(const struct coll_op *op, u32 local)
{
	return op->locals.buffers + (size_t)local * op->group->payload.room;
}

/* The segment of a lane: all but the last have the same size. */
static inline struct coll_extent coll_values_segment(const struct coll_op *op, u32 lane)
{
	struct coll_extent range = { .bytes = op->layout.bytes };

	if (unlikely(op->layout.segments > 1)) {
		range.first = lane * op->layout.segment_bytes;
		range.bytes = min(op->layout.bytes - range.first, op->layout.segment_bytes);
	}
	return range;
}

struct coll_extent coll_values_extent(const struct coll_op *op, const struct coll_edge *e,
				      const struct coll_span *lane);
struct coll_extent coll_values_part(const struct coll_op *op, u32 lane, const struct coll_edge *e);

/* The part of the vector that an edge concerns. A place-only schedule has 0 blocks. */
static inline struct coll_extent coll_values_range(const struct coll_op *op, u32 lane,
						   const struct coll_edge *e)
{
	if (unlikely(op->layout.segments > 1 || e->blocks != op->schedule->blocks))
		return coll_values_part(op, lane, e);
	return (struct coll_extent) { .bytes = op->layout.bytes };
}

/*
 * Offset of the block of a rank of this host. A vector that is only moved is in host order; one
 * that is reduced stays in the order of ranks.
 */
static inline u32 coll_values_own_block(const struct coll_op *op, u32 local)
{
	const struct coll_ranks *ranks = &op->group->ranks;
	u32 position = op->schedule->form == COLL_FORM_PLACES ?
		       coll_order_first(&ranks->order, op->schedule->self) + local :
		       ranks->local[local].rank;

	return position * op->layout.block;
}

/* Copy bytes of a value, as a part of what the event may do. */
static inline void coll_values_copy(struct coll_op *op, u8 *to, const u8 *from, u32 bytes)
{
	coll_work_do(op->group, bytes * COLL_WORK_BYTE);
	memcpy(to, from, bytes);
}

#endif
