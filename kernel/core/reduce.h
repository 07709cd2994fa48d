/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reduction of byte ranges: data types and operators.
 *
 * Elements are in the byte order of the group, which is the host's, and need no alignment.
 * Integers wrap (two's complement). Floats of each format follow IEEE 754 and round to nearest
 * even, once for each operator; every host gets the same bits. Long vectors are reduced with
 * vector instructions (vector.h) where an event context may use them, all else in integer code
 * (softfloat.h). The first (left) NaN operand is the result, quieted; a NaN produced from numbers
 * is 0x7ff8000000000000 (double), 0x7fc00000 (float), 0x7e00 (float16) or 0x7fc0 (bfloat16). Min
 * and max: -0 < +0.
 *
 * A pair is a value followed by an int32, its index, without padding. Minloc and maxloc
 * give the value that min and max give, with its index; of equal numbers, including -0 and
 * +0, the smaller index. A NaN keeps its own index.
 *
 * An exact sum is an integer, so that its bits do not depend on the order of additions. Any
 * bits are one.
 */
#ifndef COLL_CORE_REDUCE_H
#define COLL_CORE_REDUCE_H

#include "base.h"

#define COLL_INDEX_BYTES	4

/* Bytes of one element; 0 if there is no such type. */
static inline u32 coll_type_bytes(u8 type)
{
	switch (type) {
	case COLLSOCK_INT8:
	case COLLSOCK_UINT8:
	case COLLSOCK_BYTE:
		return 1;
	case COLLSOCK_INT16:
	case COLLSOCK_UINT16:
	case COLLSOCK_FLOAT16:
	case COLLSOCK_BFLOAT16:
		return 2;
	case COLLSOCK_INT32:
	case COLLSOCK_UINT32:
	case COLLSOCK_FLOAT:
		return 4;
	case COLLSOCK_INT64:
	case COLLSOCK_UINT64:
	case COLLSOCK_DOUBLE:
		return 8;
	case COLLSOCK_INT16_INT:
		return 2 + COLL_INDEX_BYTES;
	case COLLSOCK_INT32_INT:
	case COLLSOCK_FLOAT_INT:
		return 4 + COLL_INDEX_BYTES;
	case COLLSOCK_INT64_INT:
	case COLLSOCK_DOUBLE_INT:
		return 8 + COLL_INDEX_BYTES;
	case COLLSOCK_EXACT:
		return sizeof(struct collsock_exact);
	default:
		return 0;
	}
}

/* About how many instructions it takes to reduce one element of this type */
static inline u32 coll_reduce_work(u8 type)
{
	switch (type) {
	case COLLSOCK_FLOAT:
	case COLLSOCK_DOUBLE:
	case COLLSOCK_FLOAT_INT:
	case COLLSOCK_DOUBLE_INT:
	case COLLSOCK_FLOAT16:
	case COLLSOCK_BFLOAT16:
		return 128;
	case COLLSOCK_EXACT:
		return 512;
	default:
		return 16;
	}
}

/* Bytes of a segment that whole elements fill */
static inline u32 coll_reduce_segment(u8 type, u32 segment_bytes)
{
	u32 element = coll_type_bytes(type);

	return element ? segment_bytes - segment_bytes % element : segment_bytes;
}

/*
 * Bytes of a segment that whole elements of any type fill, except exact sums. Numbers fill all of
 * it, pairs of 6 and 12 bytes need not.
 */
static inline u32 coll_reduce_least_segment(u32 segment_bytes)
{
	return coll_reduce_segment(COLLSOCK_DOUBLE_INT, segment_bytes);
}

bool coll_reduce_valid(u8 type, u8 op);

/**
 * coll_reduce() - result[i] = left[i] op right[i]
 * @result: may be @left or @right, else must not overlap them
 * @left: operand of the lower rank
 * @right: operand of the higher rank
 * @count: elements
 * @type: enum collsock_type
 * @op: enum collsock_operator; coll_reduce_valid() for @type
 *
 * Context: any.
 */
void coll_reduce(void *result, const void *left, const void *right, u32 count,
		 u8 type, u8 op);

#endif
