/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Reduction of long vectors with vector instructions. Only 64-bit x86 has them here: SSE2,
 * which every such processor has.
 *
 * A result in which NaN takes part, as an operand or as the result of numbers, differs between
 * processors and with the order that a compiler chooses. So a block with one is left to the
 * caller, which follows the rules of reduce.h. All other results are the same everywhere,
 * provided that the processor rounds to nearest even and keeps subnormals: it does so between
 * coll_env_vector_begin() and coll_env_vector_end(), a section.
 */
#ifndef COLL_CORE_VECTOR_H
#define COLL_CORE_VECTOR_H

#include "base.h"

/* Bytes that instructions process together; fewer at the end are left to the caller. */
#define COLL_VECTOR_BYTES	16

/* Bytes of a block, which is done or left to the caller as a whole */
#define COLL_VECTOR_BLOCK	64

/* Bytes of a section at most: it has a bit for each block, and nothing else runs meanwhile. */
#define COLL_VECTOR_SECTION	(64 * COLL_VECTOR_BLOCK)

/* Bytes from which on a section costs less than it saves */
#define COLL_VECTOR_LEAST	128

/*
 * Do vector instructions pay for @op, an operator of @type? SSE2 has none that compare or
 * multiply integers of 64 bits, and the values of pairs are not side by side.
 */
static inline bool coll_vector_has(u8 type, u8 op)
{
#ifdef __x86_64__
	if (type == COLLSOCK_INT64 || type == COLLSOCK_UINT64)
		return op == COLLSOCK_SUM || op >= COLLSOCK_BITWISE_AND;
	return type < COLLSOCK_FLOAT_INT || type == COLLSOCK_FLOAT16 || type == COLLSOCK_BFLOAT16;
#else
	return false;
#endif
}

#ifdef __x86_64__
u64 coll_vector_reduce(void *result, const void *left, const void *right, u32 bytes,
		       u8 type, u8 op);
#else
static inline u64 coll_vector_reduce(void *result, const void *left, const void *right,
				     u32 bytes, u8 type, u8 op)
{
	return ~0ULL;
}
#endif

#endif
