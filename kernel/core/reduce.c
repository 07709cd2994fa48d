// SPDX-License-Identifier: GPL-2.0
/* Reduction of byte ranges; see reduce.h. */
#include "reduce.h"
#include "softfloat.h"

#define KIND(type, op)	((type) << 8 | (op))

/*
 * Every element is 8 bytes and travels as u64: unsigned sums wrap where signed
 * ones would be undefined, and the sum of int64 and of uint64 is the same.
 */
static inline u64 integer_sum(u64 left, u64 right)
{
	return left + right;
}

static inline u64 int64_min(u64 left, u64 right)
{
	return (s64)left < (s64)right ? left : right;
}

static inline u64 int64_max(u64 left, u64 right)
{
	return (s64)left > (s64)right ? left : right;
}

static inline u64 uint64_min(u64 left, u64 right)
{
	return left < right ? left : right;
}

static inline u64 uint64_max(u64 left, u64 right)
{
	return left > right ? left : right;
}

/*
 * Always inlined: only then is @element known to the compiler, and the loop
 * free of indirect calls, which mitigations make expensive.
 */
static __always_inline void each(u64 *result, const u64 *left, const u64 *right,
				 u32 count, u64 (*element)(u64 left, u64 right))
{
	u32 i;

	for (i = 0; i < count; i++)
		result[i] = element(left[i], right[i]);
}

u32 coll_type_bytes(u8 type)
{
	switch (type) {
	case COLLSOCK_INT64:
	case COLLSOCK_UINT64:
	case COLLSOCK_DOUBLE:
		return sizeof(u64);
	default:
		return 0;
	}
}

bool coll_reduce_valid(u8 type, u8 op)
{
	switch (op) {
	case COLLSOCK_SUM:
	case COLLSOCK_MIN:
	case COLLSOCK_MAX:
		return coll_type_bytes(type);
	default:
		return false;
	}
}

void coll_reduce(void *result, const void *left, const void *right, u32 count,
		 u8 type, u8 op)
{
	switch (KIND(type, op)) {
	case KIND(COLLSOCK_INT64, COLLSOCK_SUM):
	case KIND(COLLSOCK_UINT64, COLLSOCK_SUM):
		each(result, left, right, count, integer_sum);
		break;
	case KIND(COLLSOCK_INT64, COLLSOCK_MIN):
		each(result, left, right, count, int64_min);
		break;
	case KIND(COLLSOCK_INT64, COLLSOCK_MAX):
		each(result, left, right, count, int64_max);
		break;
	case KIND(COLLSOCK_UINT64, COLLSOCK_MIN):
		each(result, left, right, count, uint64_min);
		break;
	case KIND(COLLSOCK_UINT64, COLLSOCK_MAX):
		each(result, left, right, count, uint64_max);
		break;
	case KIND(COLLSOCK_DOUBLE, COLLSOCK_SUM):
		each(result, left, right, count, coll_double_add);
		break;
	case KIND(COLLSOCK_DOUBLE, COLLSOCK_MIN):
		each(result, left, right, count, coll_double_min);
		break;
	case KIND(COLLSOCK_DOUBLE, COLLSOCK_MAX):
		each(result, left, right, count, coll_double_max);
		break;
	}
}
