// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction of byte ranges; see reduce.h.
 *
 * Every number is processed as u64: integers are sign- or zero-extended, floats are bit
 * patterns. Only the lowest bytes of a result are stored: so integers of all sizes wrap,
 * without the undefined behaviour of signed types.
 */
#include "env.h"
#include "reduce.h"
#include "softfloat.h"
#include "vector.h"

/* ---- elements ---- */

static inline u64 reduce_integer_sum(u64 left, u64 right)
{
	return left + right;
}

static inline u64 reduce_integer_product(u64 left, u64 right)
{
	return left * right;
}

static inline u64 reduce_signed_min(u64 left, u64 right)
{
	return (s64)left < (s64)right ? left : right;
}

static inline u64 reduce_signed_max(u64 left, u64 right)
{
	return (s64)left > (s64)right ? left : right;
}

static inline u64 reduce_unsigned_min(u64 left, u64 right)
{
	return left < right ? left : right;
}

static inline u64 reduce_unsigned_max(u64 left, u64 right)
{
	return left > right ? left : right;
}

static inline u64 reduce_logical_and(u64 left, u64 right)
{
	return left && right;
}

static inline u64 reduce_logical_or(u64 left, u64 right)
{
	return left || right;
}

static inline u64 reduce_logical_xor(u64 left, u64 right)
{
	return !left != !right;
}

static inline u64 reduce_bitwise_and(u64 left, u64 right)
{
	return left & right;
}

static inline u64 reduce_bitwise_or(u64 left, u64 right)
{
	return left | right;
}

static inline u64 reduce_bitwise_xor(u64 left, u64 right)
{
	return left ^ right;
}

/*
 * Which operand's index belongs to the least value (@sign is 1) or the greatest (-1)?
 * Negative: the left one's; positive: the right one's; 0: the smaller index.
 */
static inline int reduce_signed_order(u64 left, u64 right, int sign)
{
	return sign * (((s64)left > (s64)right) - ((s64)left < (s64)right));
}

static inline int reduce_float_order(u64 left, u64 right, int sign)
{
	if (coll_float_is_nan(left))
		return -1;
	return coll_float_is_nan(right) ? 1 : sign * coll_float_compare(left, right);
}

static inline int reduce_double_order(u64 left, u64 right, int sign)
{
	if (coll_double_is_nan(left))
		return -1;
	return coll_double_is_nan(right) ? 1 : sign * coll_double_compare(left, right);
}

/* ---- vectors ---- */

struct vectors {
	u8		*result;
	const u8	*left;
	const u8	*right;
	u32		count;
};

static __always_inline u64 reduce_load(const u8 *from, u32 bytes, bool is_signed)
{
	u32 unused = 64 - 8 * bytes;
	u64 x64 = *from;
	u16 x16;
	u32 x32;

	switch (bytes) {
	case 2:
		memcpy(&x16, from, sizeof(x16));
		x64 = x16;
		break;
	case 4:
		memcpy(&x32, from, sizeof(x32));
		x64 = x32;
		break;
	case 8:
		memcpy(&x64, from, sizeof(x64));
		break;
	}
	return is_signed ? (s64)(x64 << unused) >> unused : x64;
}

static __always_inline void reduce_store(u8 *to, u64 x64, u32 bytes)
{
	u16 x16 = x64;
	u32 x32 = x64;

	switch (bytes) {
	case 1:
		*to = x64;
		break;
	case 2:
		memcpy(to, &x16, sizeof(x16));
		break;
	case 4:
		memcpy(to, &x32, sizeof(x32));
		break;
	case 8:
		memcpy(to, &x64, sizeof(x64));
		break;
	}
}

/*
 * Always inlined, as are its callers: only then does the compiler know @element and the
 * size, and the loop has no indirect calls, which mitigations make expensive.
 */
static __always_inline void reduce_each(const struct vectors *v, u32 bytes, bool is_signed,
					u64 (*element)(u64 left, u64 right))
{
	size_t at, end = (size_t)v->count * bytes;

	for (at = 0; at < end; at += bytes) {
		u64 left = reduce_load(v->left + at, bytes, is_signed);
		u64 right = reduce_load(v->right + at, bytes, is_signed);

		reduce_store(v->result + at, element(left, right), bytes);
	}
}

/* Pairs of a value of this size followed by an index */
static __always_inline void reduce_each_pair(const struct vectors *v, u32 bytes, bool is_signed,
					     u64 (*element)(u64 left, u64 right),
					     int (*order)(u64 left, u64 right, int sign), int sign)
{
	size_t at, end = (size_t)v->count * (bytes + COLL_INDEX_BYTES);

	for (at = 0; at < end; at += bytes + COLL_INDEX_BYTES) {
		u64 left = reduce_load(v->left + at, bytes, is_signed);
		u64 right = reduce_load(v->right + at, bytes, is_signed);
		s32 left_index = reduce_load(v->left + at + bytes, COLL_INDEX_BYTES, true);
		s32 right_index = reduce_load(v->right + at + bytes, COLL_INDEX_BYTES, true);
		int which = order(left, right, sign);

		if (!which)
			which = left_index < right_index ? -1 : 1;
		reduce_store(v->result + at, element(left, right), bytes);
		reduce_store(v->result + at + bytes, which < 0 ? left_index : right_index,
			     COLL_INDEX_BYTES);
	}
}

/*
 * Exact sums: add the words of both, the least significant one first; combine the special values
 * that either has met; and count the numbers that were added.
 */
static void reduce_exact_element(u8 *result, const u8 *left, const u8 *right)
{
	u32 at, end = offsetof(struct collsock_exact, special);
	u64 first, sum, total, carry = 0, special, count;

	for (at = 0; at < end; at += sizeof(u64)) {
		first = reduce_load(left + at, sizeof(u64), false);
		sum = first + reduce_load(right + at, sizeof(u64), false);
		total = sum + carry;
		carry = (sum < first) | (total < sum);
		reduce_store(result + at, total, sizeof(u64));
	}
	special = reduce_load(left + at, sizeof(u64), false) |
		  reduce_load(right + at, sizeof(u64), false);
	reduce_store(result + at, special, sizeof(u64));
	at += sizeof(u64);
	count = reduce_load(left + at, sizeof(u64), false) +
		reduce_load(right + at, sizeof(u64), false);
	reduce_store(result + at, count, sizeof(u64));
}

static void reduce_exact(const struct vectors *v)
{
	size_t at, end = v->count * sizeof(struct collsock_exact);

	for (at = 0; at < end; at += sizeof(struct collsock_exact))
		reduce_exact_element(v->result + at, v->left + at, v->right + at);
}

/* ---- operators ---- */

static __always_inline void reduce_integers(const struct vectors *v, u32 bytes, bool is_signed,
					    u8 op)
{
	switch (op) {
	case COLLSOCK_SUM:
		reduce_each(v, bytes, is_signed, reduce_integer_sum);
		break;
	case COLLSOCK_PRODUCT:
		reduce_each(v, bytes, is_signed, reduce_integer_product);
		break;
	case COLLSOCK_MIN:
		reduce_each(v, bytes, is_signed,
			    is_signed ? reduce_signed_min : reduce_unsigned_min);
		break;
	case COLLSOCK_MAX:
		reduce_each(v, bytes, is_signed,
			    is_signed ? reduce_signed_max : reduce_unsigned_max);
		break;
	case COLLSOCK_LOGICAL_AND:
		reduce_each(v, bytes, is_signed, reduce_logical_and);
		break;
	case COLLSOCK_LOGICAL_OR:
		reduce_each(v, bytes, is_signed, reduce_logical_or);
		break;
	case COLLSOCK_LOGICAL_XOR:
		reduce_each(v, bytes, is_signed, reduce_logical_xor);
		break;
	case COLLSOCK_BITWISE_AND:
		reduce_each(v, bytes, is_signed, reduce_bitwise_and);
		break;
	case COLLSOCK_BITWISE_OR:
		reduce_each(v, bytes, is_signed, reduce_bitwise_or);
		break;
	case COLLSOCK_BITWISE_XOR:
		reduce_each(v, bytes, is_signed, reduce_bitwise_xor);
		break;
	}
}

/**
 * struct reals - arithmetic of a format of floats
 * @bytes: of a number
 * @add: its sum with another one
 * @multiply: likewise
 * @min: likewise
 * @max: likewise
 */
struct reals {
	u32	bytes;
	u64	(*add)(u64 left, u64 right);
	u64	(*multiply)(u64 left, u64 right);
	u64	(*min)(u64 left, u64 right);
	u64	(*max)(u64 left, u64 right);
};

#define REALS(name, size)							\
static const struct reals name##s = {						\
	size, coll_##name##_add, coll_##name##_multiply, coll_##name##_min, coll_##name##_max \
}

REALS(double, 8);
REALS(float, 4);
REALS(float16, 2);
REALS(bfloat16, 2);

/* Always inlined, as the compiler has to know @r. */
static __always_inline void reduce_reals(const struct vectors *v, const struct reals *r, u8 op)
{
	switch (op) {
	case COLLSOCK_SUM:
		reduce_each(v, r->bytes, false, r->add);
		break;
	case COLLSOCK_PRODUCT:
		reduce_each(v, r->bytes, false, r->multiply);
		break;
	case COLLSOCK_MIN:
		reduce_each(v, r->bytes, false, r->min);
		break;
	case COLLSOCK_MAX:
		reduce_each(v, r->bytes, false, r->max);
		break;
	}
}

static __always_inline void reduce_integer_pairs(const struct vectors *v, u32 bytes, u8 op)
{
	if (op == COLLSOCK_MINLOC)
		reduce_each_pair(v, bytes, true, reduce_signed_min, reduce_signed_order, 1);
	else
		reduce_each_pair(v, bytes, true, reduce_signed_max, reduce_signed_order, -1);
}

static __always_inline void reduce_float_pairs(const struct vectors *v, u8 op)
{
	if (op == COLLSOCK_MINLOC)
		reduce_each_pair(v, 4, false, coll_float_min, reduce_float_order, 1);
	else
		reduce_each_pair(v, 4, false, coll_float_max, reduce_float_order, -1);
}

static __always_inline void reduce_double_pairs(const struct vectors *v, u8 op)
{
	if (op == COLLSOCK_MINLOC)
		reduce_each_pair(v, 8, false, coll_double_min, reduce_double_order, 1);
	else
		reduce_each_pair(v, 8, false, coll_double_max, reduce_double_order, -1);
}

/**
 * coll_reduce_valid() - does a type have an operator?
 * @type: enum collsock_type, or any other number
 * @op: enum collsock_operator, likewise
 *
 * Return: true if so.
 */
bool coll_reduce_valid(u8 type, u8 op)
{
	bool real = type == COLLSOCK_FLOAT || type == COLLSOCK_DOUBLE ||
		    type == COLLSOCK_FLOAT16 || type == COLLSOCK_BFLOAT16;
	bool pair = type >= COLLSOCK_FLOAT_INT && type <= COLLSOCK_INT16_INT;

	if (!coll_type_bytes(type) || type == COLLSOCK_BYTE)
		return false;
	if (type == COLLSOCK_EXACT)
		return op == COLLSOCK_SUM;
	switch (op) {
	case COLLSOCK_SUM:
	case COLLSOCK_PRODUCT:
	case COLLSOCK_MIN:
	case COLLSOCK_MAX:
		return !pair;
	case COLLSOCK_LOGICAL_AND:
	case COLLSOCK_LOGICAL_OR:
	case COLLSOCK_LOGICAL_XOR:
	case COLLSOCK_BITWISE_AND:
	case COLLSOCK_BITWISE_OR:
	case COLLSOCK_BITWISE_XOR:
		return !pair && !real;
	case COLLSOCK_MINLOC:
	case COLLSOCK_MAXLOC:
		return pair;
	default:
		return false;
	}
}

static void reduce_elements(const struct vectors *v, u8 type, u8 op)
{
	switch (type) {
	case COLLSOCK_INT8:
		return reduce_integers(v, 1, true, op);
	case COLLSOCK_INT16:
		return reduce_integers(v, 2, true, op);
	case COLLSOCK_INT32:
		return reduce_integers(v, 4, true, op);
	case COLLSOCK_INT64:
		return reduce_integers(v, 8, true, op);
	case COLLSOCK_UINT8:
		return reduce_integers(v, 1, false, op);
	case COLLSOCK_UINT16:
		return reduce_integers(v, 2, false, op);
	case COLLSOCK_UINT32:
		return reduce_integers(v, 4, false, op);
	case COLLSOCK_UINT64:
		return reduce_integers(v, 8, false, op);
	case COLLSOCK_FLOAT:
		return reduce_reals(v, &floats, op);
	case COLLSOCK_DOUBLE:
		return reduce_reals(v, &doubles, op);
	case COLLSOCK_INT16_INT:
		return reduce_integer_pairs(v, 2, op);
	case COLLSOCK_INT32_INT:
		return reduce_integer_pairs(v, 4, op);
	case COLLSOCK_INT64_INT:
		return reduce_integer_pairs(v, 8, op);
	case COLLSOCK_FLOAT_INT:
		return reduce_float_pairs(v, op);
	case COLLSOCK_DOUBLE_INT:
		return reduce_double_pairs(v, op);
	case COLLSOCK_EXACT:
		return reduce_exact(v);
	case COLLSOCK_FLOAT16:
		return reduce_reals(v, &float16s, op);
	case COLLSOCK_BFLOAT16:
		return reduce_reals(v, &bfloat16s, op);
	}
}

/* ---- with vector instructions ---- */

/* Reduce the elements in @bytes from @at on. */
static noinline void reduce_part(const struct vectors *v, u32 at, u32 bytes, u8 type, u8 op)
{
	const struct vectors part = {
		.result	= v->result + at,
		.left	= v->left + at,
		.right	= v->right + at,
		.count	= bytes / coll_type_bytes(type),
	};

	reduce_elements(&part, type, op);
}

/* Reduce the blocks that vector instructions have left. They are rare, so this is not inline. */
static noinline void reduce_blocks(const struct vectors *v, u32 at, u32 bytes, u64 blocks,
				   u8 type, u8 op)
{
	u32 block;

	for (; bytes; blocks >>= 1, at += block, bytes -= block) {
		block = min_t(u32, bytes, COLL_VECTOR_BLOCK);
		if (blocks & 1)
			reduce_part(v, at, block, type, op);
	}
}

/* Reduce a section with vector instructions, and what they leave after the section has ended. */
static void reduce_section(const struct vectors *v, u32 at, u32 bytes, u8 type, u8 op)
{
	u32 rest = bytes % COLL_VECTOR_BYTES;
	u64 blocks;

	if (!coll_env_vector_begin()) {
		reduce_part(v, at, bytes, type, op);
		return;
	}
	blocks = coll_vector_reduce(v->result + at, v->left + at, v->right + at, bytes - rest,
				    type, op);
	coll_env_vector_end();
	if (unlikely(blocks))
		reduce_blocks(v, at, bytes - rest, blocks, type, op);
	if (rest)
		reduce_part(v, at + bytes - rest, rest, type, op);
}

static void reduce_sections(const struct vectors *v, u32 bytes, u8 type, u8 op)
{
	u32 at;

	for (at = 0; at < bytes; at += COLL_VECTOR_SECTION)
		reduce_section(v, at, min_t(u32, bytes - at, COLL_VECTOR_SECTION), type, op);
}

void coll_reduce(void *result, const void *left, const void *right, u32 count,
		 u8 type, u8 op)
{
	const struct vectors v = { result, left, right, count };
	u32 bytes = count * coll_type_bytes(type);

	if (coll_vector_has(type, op) && bytes >= COLL_VECTOR_LEAST)
		reduce_sections(&v, bytes, type, op);
	else
		reduce_elements(&v, type, op);
}
