// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "position.h"

/* Advance past the first segment, which has come, and past those after it that have come. */
static void position_advance(struct coll_position *p)
{
	bool next;

	do {
		next = p->bits & 1;
		p->bits >>= 1;
		p->first++;
	} while (next);
}

/**
 * coll_position_mark() - a segment has come
 * @p: the latest position of its edge
 * @operation: its operation; another than before begins with no segments
 * @round: round of the edge
 * @segment: which one; it may have come before
 *
 * Segments that are too far behind the first one that has not come are not remembered.
 */
void coll_position_mark(struct coll_position *p, u64 operation, u8 round, u16 segment)
{
	u32 behind;

	if (p->operation != operation || p->round != round)
		*p = (struct coll_position) { .operation = operation, .round = round };
	if (segment < p->first)
		return;
	behind = segment - p->first;
	if (!behind)
		position_advance(p);
	else if (behind <= COLL_POSITION_BITS)
		p->bits |= BIT_ULL(behind - 1);
}

/**
 * coll_position_has() - has a segment come?
 * @p: a position
 * @operation: number of the operation
 * @round: round of the edge
 * @segment: which one
 *
 * Return: false also if that is not remembered.
 */
bool coll_position_has(const struct coll_position *p, u64 operation, u8 round, u16 segment)
{
	u32 behind;

	if (p->operation != operation || p->round != round)
		return false;
	if (segment < p->first)
		return true;
	behind = segment - p->first;
	return behind && behind <= COLL_POSITION_BITS && p->bits >> (behind - 1) & 1;
}
