/* SPDX-License-Identifier: GPL-2.0 */
/* What ranks contribute, and the vector of an operation when all have */
#ifndef FUZZ_VALUES_H
#define FUZZ_VALUES_H

#include "../attributes.h"
#include "../halves.h"
#include "operation.h"
#include "reduce.h"
#include "state.h"

#define VALUES_REDUCED	240	/* the longest vector that is reduced */
#define VALUES_BYTES	(2 * VALUES_REDUCED)	/* one with a block for each rank may be longer */

/*
 * The same in each life, so that it does not matter which one was heard from; and small, so
 * that what is reduced of floats is exact in any order: in 16 bits sums of 0 to 7, and products
 * of 1 and 2.
 */
static inline u64 values_element(const struct coll_signature *sig, u32 rank, u64 number,
				 u32 element)
{
	bool half = sig->type == COLLSOCK_FLOAT16 || sig->type == COLLSOCK_BFLOAT16;
	u64 any = rank * 31 + number * 7 + element * 3;

	if (sig->operator == COLLSOCK_PRODUCT)
		return half ? 1 + any % 2 : any % 8;
	return any % (half ? 8 : 1000);
}

/* The index of a pair is its value except for the last bit. */
static inline void values_put(u8 *to, u8 type, u64 value)
{
	u32 index = value ^ 1;
	double real = value;
	float single = value;
	u16 half;

	switch (type) {
	case COLLSOCK_FLOAT_INT:
		memcpy(to + 4, &index, 4);
		fallthrough;
	case COLLSOCK_FLOAT:
		memcpy(to, &single, 4);
		break;
	case COLLSOCK_DOUBLE_INT:
		memcpy(to + 8, &index, 4);
		fallthrough;
	case COLLSOCK_DOUBLE:
		memcpy(to, &real, 8);
		break;
	case COLLSOCK_FLOAT16:
	case COLLSOCK_BFLOAT16:
		half = half_nearest(real, type == COLLSOCK_FLOAT16 ? FLOAT16_FRACTION_BITS :
								     BFLOAT16_FRACTION_BITS);
		memcpy(to, &half, 2);
		break;
	case COLLSOCK_INT64_INT:
	case COLLSOCK_INT32_INT:
	case COLLSOCK_INT16_INT:
		memcpy(to, &value, coll_type_bytes(type) - 4);
		memcpy(to + coll_type_bytes(type) - 4, &index, 4);
		break;
	default:
		memcpy(to, &value, coll_type_bytes(type));
		break;
	}
}

/* Elements of the operation's vector */
static inline u32 values_elements(u32 ranks, const struct coll_signature *sig)
{
	return sig->operation >= COLLSOCK_ALLGATHER &&
	       sig->operation <= COLLSOCK_REDUCE_SCATTER_BLOCK ? sig->count * ranks : sig->count;
}

/* Of a block for each rank, a rank contributes its own. */
static inline bool values_gather(const struct coll_signature *sig)
{
	return sig->operation == COLLSOCK_ALLGATHER || sig->operation == COLLSOCK_GATHER;
}

static inline void values_payload(u32 ranks, u8 *payload, const struct coll_signature *sig,
				  u32 rank, u64 number)
{
	u32 i, size = coll_type_bytes(sig->type);
	u32 count = values_gather(sig) ? sig->count : values_elements(ranks, sig);

	for (i = 0; i < count; i++)
		values_put(payload + i * size, sig->type, values_element(sig, rank, number, i));
}

/* Of how many ranks a rank receives what they contribute: all, or those before a limit */
static inline u32 values_ranks(u32 ranks, const struct coll_signature *sig, u32 rank)
{
	switch (sig->operation) {
	case COLLSOCK_SCAN:
		return rank + 1;
	case COLLSOCK_EXSCAN:
		return rank;
	default:
		return ranks;
	}
}

/* The operation's vector, when all of these have contributed */
static inline void values_vector(u32 ranks, u8 *vector, const struct coll_signature *sig,
				 u64 number)
{
	u32 block = sig->count * coll_type_bytes(sig->type), rank;
	u8 other[VALUES_BYTES];

	if (!coll_operation_contributes(sig->operation, false)) {
		values_payload(ranks, vector, sig, sig->root, number);
		return;
	}
	values_payload(ranks, vector, sig, 0, number);
	for (rank = 1; rank < ranks; rank++) {
		values_payload(ranks, values_gather(sig) ? vector + rank * block : other, sig,
			       rank, number);
		if (sig->operator)
			coll_reduce(vector, vector, other, values_elements(ranks, sig), sig->type,
				    sig->operator);
	}
}

#endif
