// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Reduction with SSE2; see vector.h. Nothing else is compiled with vector instructions: this
 * file has no code that runs outside of a section, between coll_env_vector_begin() and _end().
 */
#include "vector.h"

/* sparse does not know the instructions. */
#if defined(__x86_64__) && !defined(__CHECKER__)

/* A register: its elements are what an instruction takes them for. */
typedef u64 __attribute__((vector_size(COLL_VECTOR_BYTES))) vector;
typedef double __attribute__((vector_size(COLL_VECTOR_BYTES))) doubles;
typedef float __attribute__((vector_size(COLL_VECTOR_BYTES))) floats;
typedef char __attribute__((vector_size(COLL_VECTOR_BYTES))) bytes;

typedef u8 __attribute__((vector_size(COLL_VECTOR_BYTES))) u8_vector;
typedef u16 __attribute__((vector_size(COLL_VECTOR_BYTES))) u16_vector;
typedef u32 __attribute__((vector_size(COLL_VECTOR_BYTES))) u32_vector;
typedef s8 __attribute__((vector_size(COLL_VECTOR_BYTES))) s8_vector;
typedef s16 __attribute__((vector_size(COLL_VECTOR_BYTES))) s16_vector;
typedef s32 __attribute__((vector_size(COLL_VECTOR_BYTES))) s32_vector;

/* The same in memory, at any address */
struct unaligned {
	vector	v;
} __packed __attribute__((may_alias));

/**
 * struct operator - what is done with each vector
 * @element: reduces its elements
 * @unordered: which elements of one of two vectors are NaN, or others that are left to the caller:
 *	all bits of them are set; NULL if none can be
 * @by_result: a result is NaN whenever an operand is, or as a result of numbers, so that the
 *	results of two vectors are examined at once; else operands are
 */
struct operator {
	vector	(*element)(vector left, vector right);
	vector	(*unordered)(vector a, vector b);
	bool	by_result;
};

/* ---- floats ---- */

static __always_inline vector vector_double_sum(vector left, vector right)
{
	return (vector)((doubles)left + (doubles)right);
}

static __always_inline vector vector_double_product(vector left, vector right)
{
	return (vector)((doubles)left * (doubles)right);
}

/*
 * With two zeros, or if one operand is NaN, the instruction returns the second one. So it is
 * applied in both orders: the sign of either zero makes the lesser one, and any NaN the minimum.
 */
static __always_inline vector vector_double_min(vector left, vector right)
{
	return (vector)__builtin_ia32_minpd((doubles)left, (doubles)right) |
	       (vector)__builtin_ia32_minpd((doubles)right, (doubles)left);
}

static __always_inline vector vector_double_max(vector left, vector right)
{
	return (vector)__builtin_ia32_maxpd((doubles)left, (doubles)right) &
	       (vector)__builtin_ia32_maxpd((doubles)right, (doubles)left);
}

static __always_inline vector vector_double_unordered(vector a, vector b)
{
	return (vector)__builtin_ia32_cmpunordpd((doubles)a, (doubles)b);
}

static __always_inline vector vector_float_sum(vector left, vector right)
{
	return (vector)((floats)left + (floats)right);
}

static __always_inline vector vector_float_product(vector left, vector right)
{
	return (vector)((floats)left * (floats)right);
}

static __always_inline vector vector_float_min(vector left, vector right)
{
	return (vector)__builtin_ia32_minps((floats)left, (floats)right) |
	       (vector)__builtin_ia32_minps((floats)right, (floats)left);
}

static __always_inline vector vector_float_max(vector left, vector right)
{
	return (vector)__builtin_ia32_maxps((floats)left, (floats)right) &
	       (vector)__builtin_ia32_maxps((floats)right, (floats)left);
}

static __always_inline vector vector_float_unordered(vector a, vector b)
{
	return (vector)__builtin_ia32_cmpunordps((floats)a, (floats)b);
}

static const struct operator double_operators[] = {
	[COLLSOCK_SUM]		= { vector_double_sum, vector_double_unordered, true },
	[COLLSOCK_PRODUCT]	= { vector_double_product, vector_double_unordered, true },
	[COLLSOCK_MIN]		= { vector_double_min, vector_double_unordered, true },
	[COLLSOCK_MAX]		= { vector_double_max, vector_double_unordered, false },
};

static const struct operator float_operators[] = {
	[COLLSOCK_SUM]		= { vector_float_sum, vector_float_unordered, true },
	[COLLSOCK_PRODUCT]	= { vector_float_product, vector_float_unordered, true },
	[COLLSOCK_MIN]		= { vector_float_min, vector_float_unordered, true },
	[COLLSOCK_MAX]		= { vector_float_max, vector_float_unordered, false },
};

/* ---- integers ---- */

/* The elements of @yes where all bits of @which are set, of @no where none is */
static __always_inline vector vector_select(vector which, vector yes, vector no)
{
	return (yes & which) | (no & ~which);
}

/* The order of integers of a type */
#define VECTOR_ORDER(type)							\
static __always_inline vector vector_##type##_min(vector left, vector right)	\
{										\
	vector less = (vector)((type##_vector)left < (type##_vector)right);	\
										\
	return vector_select(less, left, right);				\
}										\
										\
static __always_inline vector vector_##type##_max(vector left, vector right)	\
{										\
	vector less = (vector)((type##_vector)left < (type##_vector)right);	\
										\
	return vector_select(less, right, left);				\
}										\
										\
static const struct operator type##_order[] = {					\
	[COLLSOCK_MIN]	= { .element = vector_##type##_min },			\
	[COLLSOCK_MAX]	= { .element = vector_##type##_max },			\
}

VECTOR_ORDER(u8);
VECTOR_ORDER(u16);
VECTOR_ORDER(u32);
VECTOR_ORDER(s8);
VECTOR_ORDER(s16);
VECTOR_ORDER(s32);

/* Functions that are the same for signed integers and others */
#define VECTOR_INTEGERS(type)							\
static __always_inline vector vector_##type##_sum(vector left, vector right)	\
{										\
	return (vector)((type##_vector)left + (type##_vector)right);		\
}										\
										\
static __always_inline vector vector_##type##_product(vector left, vector right) \
{										\
	return (vector)((type##_vector)left * (type##_vector)right);		\
}										\
										\
/* 1 for what is not 0 */							\
static __always_inline vector vector_##type##_truth(vector x)			\
{										\
	return (vector)(((type##_vector)x != 0) & 1);				\
}										\
										\
static __always_inline vector vector_##type##_and(vector left, vector right)	\
{										\
	return vector_##type##_truth(left) & vector_##type##_truth(right);	\
}										\
										\
static __always_inline vector vector_##type##_or(vector left, vector right)	\
{										\
	return vector_##type##_truth(left | right);				\
}										\
										\
static __always_inline vector vector_##type##_xor(vector left, vector right)	\
{										\
	return vector_##type##_truth(left) ^ vector_##type##_truth(right);	\
}										\
										\
static const struct operator type##_operators[] = {				\
	[COLLSOCK_SUM]		= { .element = vector_##type##_sum },		\
	[COLLSOCK_PRODUCT]	= { .element = vector_##type##_product },	\
	[COLLSOCK_LOGICAL_AND]	= { .element = vector_##type##_and },		\
	[COLLSOCK_LOGICAL_OR]	= { .element = vector_##type##_or },		\
	[COLLSOCK_LOGICAL_XOR]	= { .element = vector_##type##_xor },		\
}

VECTOR_INTEGERS(u8);
VECTOR_INTEGERS(u16);
VECTOR_INTEGERS(u32);

static __always_inline vector vector_u64_sum(vector left, vector right)
{
	return left + right;
}

static const struct operator u64_operators[] = {
	[COLLSOCK_SUM]		= { .element = vector_u64_sum },
};

static __always_inline vector vector_and(vector left, vector right)
{
	return left & right;
}

static __always_inline vector vector_or(vector left, vector right)
{
	return left | right;
}

static __always_inline vector vector_xor(vector left, vector right)
{
	return left ^ right;
}

static const struct operator bitwise_operators[] = {
	[COLLSOCK_BITWISE_AND]	= { .element = vector_and },
	[COLLSOCK_BITWISE_OR]	= { .element = vector_or },
	[COLLSOCK_BITWISE_XOR]	= { .element = vector_xor },
};

/* ---- 16-bit floats ---- */

#define HALF_SIGN		0x8000
#define HALF_MAGNITUDE		0x7fff
#define FLOAT16_INFINITY	0x7c00
#define BFLOAT16_INFINITY	0x7f80
/* Bits of the number with the odd index, of two in 32 bits */
#define ODD_HALF		0xffff0000

/*
 * Sums and products are those of floats, rounded again. Of operands with p bits of precision a
 * format with 2 p + 2 bits has all that matters: a float has 24, float16 has 11, bfloat16 8. Where
 * results are subnormal, floats have the sums of bfloat16 without rounding, and a product is too
 * short to be next to a tie of both formats. test_halves.c tries all.
 */

/* Elements whose magnitude is greater, in either vector */
static __always_inline vector vector_half_above(vector a, vector b, s16 magnitude)
{
	s16_vector x = (s16_vector)a & HALF_MAGNITUDE, y = (s16_vector)b & HALF_MAGNITUDE;

	return (vector)((x > magnitude) | (y > magnitude));
}

/* Integers in the order of the numbers, -0 below +0; and back. See soft_ordinal(). */
static __always_inline vector vector_half_ordinal(vector x)
{
	return x ^ (vector)(((s16_vector)x >> 15) & HALF_MAGNITUDE);
}

static __always_inline vector vector_half_min(vector left, vector right)
{
	return vector_half_ordinal(vector_s16_min(vector_half_ordinal(left),
						  vector_half_ordinal(right)));
}

static __always_inline vector vector_half_max(vector left, vector right)
{
	return vector_half_ordinal(vector_s16_max(vector_half_ordinal(left),
						  vector_half_ordinal(right)));
}

static __always_inline floats vector_bfloat16_even(vector x)
{
	return (floats)((u32_vector)x << 16);
}

static __always_inline floats vector_bfloat16_odd(vector x)
{
	return (floats)((u32_vector)x & ODD_HALF);
}

/*
 * Round to bfloat16, in the upper half. The lower half of a NaN is 0, so nothing is carried and it
 * stays one.
 */
static __always_inline u32_vector vector_bfloat16_round(floats x)
{
	u32_vector bits = (u32_vector)x;

	return bits + 0x7fff + ((bits >> 16) & 1);
}

static __always_inline vector vector_bfloat16_narrow(floats even, floats odd)
{
	return (vector)((vector_bfloat16_round(even) >> 16) |
			(vector_bfloat16_round(odd) & ODD_HALF));
}

static __always_inline vector vector_bfloat16_sum(vector left, vector right)
{
	return vector_bfloat16_narrow(vector_bfloat16_even(left) + vector_bfloat16_even(right),
				      vector_bfloat16_odd(left) + vector_bfloat16_odd(right));
}

static __always_inline vector vector_bfloat16_product(vector left, vector right)
{
	return vector_bfloat16_narrow(vector_bfloat16_even(left) * vector_bfloat16_even(right),
				      vector_bfloat16_odd(left) * vector_bfloat16_odd(right));
}

static __always_inline vector vector_bfloat16_unordered(vector a, vector b)
{
	return vector_half_above(a, b, BFLOAT16_INFINITY);
}

/* Elements of float16 as floats: those with even indices and with odd ones */
struct wide {
	floats	even;
	floats	odd;
};

/*
 * Widen finite numbers; -0 becomes +0. The bits of the significand are added to those of a power of
 * two whose last bit, as a float, is worth as much as that of the number. Then the power of two is
 * subtracted. So no float is subnormal, which is slow on some processors.
 */
static __always_inline struct wide vector_float16_widen(vector x)
{
	const s16_vector biased = (s16_vector)x & FLOAT16_INFINITY;
	/* The exponent less one; subnormal numbers have the exponent of the least normal one. */
	const s16_vector exponent = biased - ((biased > 0) & 0x0400);
	const u32_vector significand = (u32_vector)(((s16_vector)x & HALF_MAGNITUDE) - exponent);
	const u32_vector power = (u32_vector)(((exponent >> 3) + 0x3f00) |
					      ((s16_vector)x & (s16)HALF_SIGN));
	const u32_vector even = power << 16, odd = power & ODD_HALF;

	return (struct wide){
		.even = (floats)(even | (significand & 0xffff)) - (floats)even,
		.odd = (floats)(odd | (significand >> 16)) - (floats)odd,
	};
}

/*
 * Round the magnitude of a finite float to a float16. Adding a power of two cuts off what is to be
 * rounded: the last bit of a float with this exponent is worth as much as that of a float16 with
 * the exponent of @x, or of a subnormal one. The bits added to those of the power are the
 * significand, which begins with the hidden bit: this is added to the exponent. Magnitudes above
 * 2^16 count as 2^16, which follows the largest float16 and has the bits of infinity.
 */
static __always_inline u32_vector vector_float16_round(floats x)
{
	const u32_vector least = (u32_vector){ } + ((127 - 14) << 23);
	const u32_vector infinity = (u32_vector){ } + ((127 + 16) << 23);
	u32_vector magnitude = (u32_vector)x & 0x7fffffff, power, sum;

	magnitude = (u32_vector)__builtin_ia32_minps((floats)magnitude, (floats)infinity);
	power = (u32_vector)__builtin_ia32_maxps((floats)(magnitude & 0x7f800000),
						(floats)least);
	power += 13 << 23;
	sum = (u32_vector)((floats)magnitude + (floats)power);
	return (sum - power) + (power >> 13) - (126 << 10);
}

/* Numbers of these magnitudes, with the signs of @signs */
static __always_inline vector vector_float16_narrow(struct wide x, vector signs)
{
	return (vector)(vector_float16_round(x.even) | (vector_float16_round(x.odd) << 16)) |
	       (vector)((u16_vector)signs & HALF_SIGN);
}

/* The sum of two negative numbers is negative, also if both are -0. */
static __always_inline vector vector_float16_sum(vector left, vector right)
{
	const struct wide a = vector_float16_widen(left), b = vector_float16_widen(right);
	const struct wide sum = { .even = a.even + b.even, .odd = a.odd + b.odd };
	const u32_vector signs = ((u32_vector)sum.even >> 16) | ((u32_vector)sum.odd & ODD_HALF);

	return vector_float16_narrow(sum, (vector)signs | (left & right));
}

static __always_inline vector vector_float16_product(vector left, vector right)
{
	const struct wide a = vector_float16_widen(left), b = vector_float16_widen(right);
	const struct wide product = { .even = a.even * b.even, .odd = a.odd * b.odd };

	return vector_float16_narrow(product, left ^ right);
}

static __always_inline vector vector_float16_unordered(vector a, vector b)
{
	return vector_half_above(a, b, FLOAT16_INFINITY);
}

/*
 * Blocks with an infinity are rare, and left to the caller: widening it would slow down all blocks.
 */
static __always_inline vector vector_float16_infinite(vector a, vector b)
{
	return vector_half_above(a, b, FLOAT16_INFINITY - 1);
}

static const struct operator float16_operators[] = {
	[COLLSOCK_SUM]		= { vector_float16_sum, vector_float16_infinite, false },
	[COLLSOCK_PRODUCT]	= { vector_float16_product, vector_float16_infinite, false },
	[COLLSOCK_MIN]		= { vector_half_min, vector_float16_unordered, false },
	[COLLSOCK_MAX]		= { vector_half_max, vector_float16_unordered, false },
};

static const struct operator bfloat16_operators[] = {
	[COLLSOCK_SUM]		= { vector_bfloat16_sum, vector_bfloat16_unordered, true },
	[COLLSOCK_PRODUCT]	= { vector_bfloat16_product, vector_bfloat16_unordered, true },
	[COLLSOCK_MIN]		= { vector_half_min, vector_bfloat16_unordered, false },
	[COLLSOCK_MAX]		= { vector_half_max, vector_bfloat16_unordered, false },
};

/* ---- blocks ---- */

#define BLOCK_VECTORS	(COLL_VECTOR_BLOCK / COLL_VECTOR_BYTES)

/* Where the vectors of a reduction are */
struct place {
	u8		*result;
	const u8	*left;
	const u8	*right;
};

static __always_inline vector vector_load(const u8 *from, u32 i)
{
	return ((const struct unaligned *)from)[i].v;
}

/*
 * Reduce @count vectors at @at, a constant. If one has a NaN, nothing is stored, as the result
 * may be an operand: false.
 */
static __always_inline bool vector_block(const struct place *p, u32 at, u32 count,
					 const struct operator *op)
{
	vector results[BLOCK_VECTORS], nan = { };
	u32 i;

#pragma GCC unroll 4
	for (i = 0; i < count; i++) {
		vector left = vector_load(p->left + at, i);
		vector right = vector_load(p->right + at, i);

		results[i] = op->element(left, right);
		if (op->unordered && !op->by_result)
			nan |= op->unordered(left, right);
	}
	if (op->by_result)
#pragma GCC unroll 4
		for (i = 0; i < count; i += 2)
			nan |= op->unordered(results[i], results[i + 1 < count ? i + 1 : i]);
	if (op->unordered && unlikely(__builtin_ia32_pmovmskb128((bytes)nan)))
		return false;
#pragma GCC unroll 4
	for (i = 0; i < count; i++)
		((struct unaligned *)(p->result + at))[i].v = results[i];
	return true;
}

/* Reduce the last block, unless it is whole. */
static __always_inline bool vector_last(const struct place *p, u32 at, u32 count,
					const struct operator *op)
{
	switch (count) {
	case 1:
		return vector_block(p, at, 1, op);
	case 2:
		return vector_block(p, at, 2, op);
	case 3:
		return vector_block(p, at, 3, op);
	default:
		return true;
	}
}

/* Always inlined, so that the compiler knows @op, as its callers do. */
static __always_inline u64 vector_each(const struct place *p, u32 bytes,
				       const struct operator *op)
{
	u32 last = bytes % COLL_VECTOR_BLOCK, end = bytes - last, at;
	u64 left = 0;

	for (at = 0; at < end; at += COLL_VECTOR_BLOCK)
		if (unlikely(!vector_block(p, at, BLOCK_VECTORS, op)))
			left |= BIT_ULL(at / COLL_VECTOR_BLOCK);
	if (unlikely(!vector_last(p, end, last / COLL_VECTOR_BYTES, op)))
		left |= BIT_ULL(end / COLL_VECTOR_BLOCK);
	return left;
}

/* ---- types ---- */

/* Always inlined, so that the compiler knows @ops, which are those of one type. */
static __always_inline u64 vector_floats(const struct place *p, u32 bytes, u8 op,
					 const struct operator *ops)
{
	switch (op) {
	case COLLSOCK_SUM:
		return vector_each(p, bytes, &ops[COLLSOCK_SUM]);
	case COLLSOCK_PRODUCT:
		return vector_each(p, bytes, &ops[COLLSOCK_PRODUCT]);
	case COLLSOCK_MIN:
		return vector_each(p, bytes, &ops[COLLSOCK_MIN]);
	default:
		return vector_each(p, bytes, &ops[COLLSOCK_MAX]);
	}
}

static u64 vector_bits(const struct place *p, u32 bytes, u8 op)
{
	switch (op) {
	case COLLSOCK_BITWISE_AND:
		return vector_each(p, bytes, &bitwise_operators[COLLSOCK_BITWISE_AND]);
	case COLLSOCK_BITWISE_OR:
		return vector_each(p, bytes, &bitwise_operators[COLLSOCK_BITWISE_OR]);
	default:
		return vector_each(p, bytes, &bitwise_operators[COLLSOCK_BITWISE_XOR]);
	}
}

static __always_inline u64 vector_order(const struct place *p, u32 bytes, u8 op,
					const struct operator *ops)
{
	if (op == COLLSOCK_MIN)
		return vector_each(p, bytes, &ops[COLLSOCK_MIN]);
	return vector_each(p, bytes, &ops[COLLSOCK_MAX]);
}

static __always_inline u64 vector_integers(const struct place *p, u32 bytes, u8 op,
					   const struct operator *ops)
{
	switch (op) {
	case COLLSOCK_SUM:
		return vector_each(p, bytes, &ops[COLLSOCK_SUM]);
	case COLLSOCK_PRODUCT:
		return vector_each(p, bytes, &ops[COLLSOCK_PRODUCT]);
	case COLLSOCK_LOGICAL_AND:
		return vector_each(p, bytes, &ops[COLLSOCK_LOGICAL_AND]);
	case COLLSOCK_LOGICAL_OR:
		return vector_each(p, bytes, &ops[COLLSOCK_LOGICAL_OR]);
	case COLLSOCK_LOGICAL_XOR:
		return vector_each(p, bytes, &ops[COLLSOCK_LOGICAL_XOR]);
	default:
		return vector_bits(p, bytes, op);
	}
}

static u64 vector_ordered(const struct place *p, u32 bytes, u8 type, u8 op)
{
	switch (type) {
	case COLLSOCK_INT8:
		return vector_order(p, bytes, op, s8_order);
	case COLLSOCK_INT16:
		return vector_order(p, bytes, op, s16_order);
	case COLLSOCK_INT32:
		return vector_order(p, bytes, op, s32_order);
	case COLLSOCK_UINT8:
		return vector_order(p, bytes, op, u8_order);
	case COLLSOCK_UINT16:
		return vector_order(p, bytes, op, u16_order);
	default:
		return vector_order(p, bytes, op, u32_order);
	}
}

/**
 * coll_vector_reduce() - result[i] = left[i] op right[i], but for blocks with NaN
 * @result: may be @left or @right, else must not overlap them; of any alignment
 * @left: operand of the lower rank
 * @right: operand of the higher rank
 * @bytes: multiple of COLL_VECTOR_BYTES, at most COLL_VECTOR_SECTION
 * @type: enum collsock_type, coll_vector_has() for @op
 * @op: enum collsock_operator
 *
 * Context: between coll_env_vector_begin() and coll_env_vector_end().
 * Return: bit i is set if block i, of COLL_VECTOR_BLOCK bytes or what there is, is left to the
 * caller; its result is unchanged.
 */
u64 coll_vector_reduce(void *result, const void *left, const void *right, u32 bytes,
		       u8 type, u8 op)
{
	const struct place p = { result, left, right };

	switch (type) {
	case COLLSOCK_DOUBLE:
		return vector_floats(&p, bytes, op, double_operators);
	case COLLSOCK_FLOAT:
		return vector_floats(&p, bytes, op, float_operators);
	case COLLSOCK_FLOAT16:
		return vector_floats(&p, bytes, op, float16_operators);
	case COLLSOCK_BFLOAT16:
		return vector_floats(&p, bytes, op, bfloat16_operators);
	}
	if (op == COLLSOCK_MIN || op == COLLSOCK_MAX)
		return vector_ordered(&p, bytes, type, op);
	switch (type) {
	case COLLSOCK_INT8:
	case COLLSOCK_UINT8:
		return vector_integers(&p, bytes, op, u8_operators);
	case COLLSOCK_INT16:
	case COLLSOCK_UINT16:
		return vector_integers(&p, bytes, op, u16_operators);
	case COLLSOCK_INT32:
	case COLLSOCK_UINT32:
		return vector_integers(&p, bytes, op, u32_operators);
	default:
		if (op == COLLSOCK_SUM)
			return vector_each(&p, bytes, &u64_operators[COLLSOCK_SUM]);
		return vector_bits(&p, bytes, op);
	}
}

#endif
