// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * IEEE 754 in integer code; see softfloat.h.
 *
 * A number consists of sign (1 bit), biased exponent, fraction. Without the sign, bit
 * patterns compare as the magnitudes do: infinity is above every number, and all above
 * infinity is NaN.
 *
 * The same code serves all formats: it is inlined into the functions at the end, where the
 * compiler knows the format, so that each has constants only.
 */
#include "softfloat.h"

/**
 * struct format - layout of a number
 * @bits: total number of bits
 * @fraction_bits: number of lowest bits that hold the fraction
 */
struct format {
	u32	bits;
	u32	fraction_bits;
};

static const struct format binary64 = { .bits = 64, .fraction_bits = 52 };
static const struct format binary32 = { .bits = 32, .fraction_bits = 23 };
static const struct format binary16 = { .bits = 16, .fraction_bits = 10 };
static const struct format bfloat16 = { .bits = 16, .fraction_bits = 7 };

/*
 * During a computation a significand has its hidden bit at bit 62, whatever the format: one
 * bit above it takes the carry, guard bits below it hold what will be rounded.
 */
#define CARRY_BIT	63

static __always_inline u32 soft_guard_bits(const struct format *f)
{
	return CARRY_BIT - 1 - f->fraction_bits;
}

static __always_inline u64 soft_sign_of(const struct format *f, u64 x)
{
	return x & BIT_ULL(f->bits - 1);
}

static __always_inline u64 soft_magnitude_of(const struct format *f, u64 x)
{
	return x & (BIT_ULL(f->bits - 1) - 1);
}

/* Leading one of a normal number */
static __always_inline u64 soft_hidden_bit(const struct format *f)
{
	return BIT_ULL(f->fraction_bits);
}

static __always_inline u64 soft_infinity(const struct format *f)
{
	return BIT_ULL(f->bits - 1) - soft_hidden_bit(f);
}

/* The exponent of 2^0 */
static __always_inline u32 soft_bias(const struct format *f)
{
	return BIT(f->bits - f->fraction_bits - 2) - 1;
}

/* The bit that makes a NaN quiet. With infinity's bits: the NaN produced from numbers. */
static __always_inline u64 soft_quiet_bit(const struct format *f)
{
	return soft_hidden_bit(f) >> 1;
}

static __always_inline bool soft_is_nan(const struct format *f, u64 x)
{
	return soft_magnitude_of(f, x) > soft_infinity(f);
}

/* The resulting NaN of two operands, at least one of them NaN */
static __always_inline u64 soft_pick_nan(const struct format *f, u64 left, u64 right)
{
	return (soft_is_nan(f, left) ? left : right) | soft_quiet_bit(f);
}

/* Exponent of a magnitude; subnormals have that of the least normal number. */
static __always_inline u32 soft_exponent_of(const struct format *f, u64 x)
{
	u32 biased = x >> f->fraction_bits;

	return biased + !biased;
}

static __always_inline u64 soft_significand_of(const struct format *f, u64 x)
{
	u64 hidden = x >= soft_hidden_bit(f) ? soft_hidden_bit(f) : 0;

	return ((x & (soft_hidden_bit(f) - 1)) | hidden) << soft_guard_bits(f);
}

/*
 * Bits shifted out are ORed into the lowest bit, so that rounding can distinguish a tie
 * from slightly more than a tie. A shift by 63 shifts out all of @x.
 */
static __always_inline u64 soft_shift_right_sticky(u64 x, u32 distance)
{
	u32 shift = min_t(u32, distance, 63);
	u64 lost = x & (BIT_ULL(shift) - 1);

	return (x >> shift) | (lost != 0);
}

/*
 * Rounds to nearest even. The hidden bit is added to the exponent field: hence exponent -
 * 1, a subnormal gets exponent 0, and a carry out of the fraction increments the exponent.
 */
static __always_inline u64 soft_round_and_pack(const struct format *f, u64 sign, u32 exponent,
					       u64 significand)
{
	u32 guard = soft_guard_bits(f);
	u64 odd = (significand >> guard) & 1;
	u64 rounded = (significand + BIT_ULL(guard - 1) - 1 + odd) >> guard;
	u64 packed = ((u64)(exponent - 1) << f->fraction_bits) + rounded;

	if (unlikely(packed > soft_infinity(f)))
		packed = soft_infinity(f);
	return sign | packed;
}

/* ---- sum ---- */

/* @large + @small, magnitudes; the sum has the sign @sign. */
static __always_inline u64 soft_add_magnitudes(const struct format *f, u64 sign, u64 large,
					       u64 small)
{
	u32 exponent = soft_exponent_of(f, large);
	u32 distance = exponent - soft_exponent_of(f, small);
	u64 sum, carry;

	sum = soft_significand_of(f, large) +
	      soft_shift_right_sticky(soft_significand_of(f, small), distance);
	carry = sum >> CARRY_BIT;
	return soft_round_and_pack(f, sign, exponent + carry, (sum >> carry) | (sum & carry));
}

/* @large - @small, magnitudes; the difference has the sign @sign unless it is 0. */
static __always_inline u64 soft_subtract_magnitudes(const struct format *f, u64 sign, u64 large,
						    u64 small)
{
	u32 exponent = soft_exponent_of(f, large);
	u32 distance = exponent - soft_exponent_of(f, small);
	u32 shift;
	u64 rest;

	rest = soft_significand_of(f, large) -
	       soft_shift_right_sticky(soft_significand_of(f, small), distance);
	if (!rest)
		return 0;

	/* Shift back to the position of the hidden bit, or as far as the exponent allows. */
	shift = min_t(u32, CARRY_BIT - fls64(rest), exponent - 1);
	return soft_round_and_pack(f, sign, exponent - shift, rest << shift);
}

/* At least one operand is not finite. */
static __always_inline u64 soft_add_special(const struct format *f, u64 left, u64 right)
{
	if (soft_is_nan(f, left) || soft_is_nan(f, right))
		return soft_pick_nan(f, left, right);
	if (soft_magnitude_of(f, left) != soft_magnitude_of(f, right))
		return soft_magnitude_of(f, left) == soft_infinity(f) ? left : right;
	return left == right ? left : soft_infinity(f) | soft_quiet_bit(f);
}

static __always_inline u64 soft_add(const struct format *f, u64 left, u64 right)
{
	bool ordered = soft_magnitude_of(f, left) >= soft_magnitude_of(f, right);
	u64 large = ordered ? left : right;
	u64 small = ordered ? right : left;
	u64 sign = soft_sign_of(f, large);

	if (unlikely(soft_magnitude_of(f, large) >= soft_infinity(f)))
		return soft_add_special(f, left, right);
	large = soft_magnitude_of(f, large);
	small = soft_magnitude_of(f, small);
	if (soft_sign_of(f, left ^ right))
		return soft_subtract_magnitudes(f, sign, large, small);
	return soft_add_magnitudes(f, sign, large, small);
}

/* ---- product ---- */

/*
 * The upper half of the product, its lowest bit set if any bit of the lower half is. Not
 * every architecture has a 64 x 64 to 128 bit multiplication.
 */
static __always_inline u64 soft_multiply_upper_sticky(u64 a, u64 b)
{
	u64 low = (u64)(u32)a * (u32)b;
	u64 middle = (a >> 32) * (u32)b + (low >> 32);	/* cannot overflow */
	u64 other = (u64)(u32)a * (b >> 32) + (u32)middle;
	u64 lost = (u32)low | other << 32;

	return ((a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)) | (lost != 0);
}

/* At least one operand is not finite. */
static __always_inline u64 soft_multiply_special(const struct format *f, u64 sign, u64 left,
						 u64 right)
{
	if (soft_is_nan(f, left) || soft_is_nan(f, right))
		return soft_pick_nan(f, left, right);
	if (!soft_magnitude_of(f, left) || !soft_magnitude_of(f, right))
		return soft_infinity(f) | soft_quiet_bit(f);
	return sign | soft_infinity(f);
}

static __always_inline u64 soft_multiply(const struct format *f, u64 left, u64 right)
{
	u64 a = soft_magnitude_of(f, left), b = soft_magnitude_of(f, right);
	u64 sign = soft_sign_of(f, left ^ right);
	s32 exponent, carry, a_shift, b_shift;
	u64 product;

	if (unlikely(a >= soft_infinity(f) || b >= soft_infinity(f)))
		return soft_multiply_special(f, sign, left, right);
	if (!a || !b)
		return sign;

	/* With the leading ones of both at bit 63, that of the upper half is at 62 or 63. */
	exponent = soft_exponent_of(f, a) + soft_exponent_of(f, b) - soft_bias(f);
	a = soft_significand_of(f, a);
	b = soft_significand_of(f, b);
	a_shift = 64 - fls64(a);
	b_shift = 64 - fls64(b);
	product = soft_multiply_upper_sticky(a << a_shift, b << b_shift);
	carry = product >> CARRY_BIT;
	product = (product >> carry) | (product & carry);

	/* A normal operand has been shifted by one. */
	exponent += 2 + carry - a_shift - b_shift;
	if (exponent < 1) {
		product = soft_shift_right_sticky(product, 1 - exponent);
		exponent = 1;
	}
	return soft_round_and_pack(f, sign, exponent, product);
}

/* ---- order ---- */

/*
 * A signed number that compares as the operand does, -0 below +0: the bit pattern of a
 * negative operand grows with its magnitude, so all its bits but the sign are inverted.
 */
static __always_inline s64 soft_ordinal(const struct format *f, u64 x)
{
	return soft_sign_of(f, x) ? ~(s64)soft_magnitude_of(f, x) : (s64)x;
}

/* If any is negative, numbers are in the reverse order of their bit patterns, -0 below +0. */
static __always_inline bool soft_any_negative(const struct format *f, u64 left, u64 right)
{
	return soft_sign_of(f, left | right);
}

static __always_inline u64 soft_lesser(const struct format *f, u64 left, u64 right)
{
	if (unlikely(soft_is_nan(f, left) || soft_is_nan(f, right)))
		return soft_pick_nan(f, left, right);
	return soft_any_negative(f, left, right) ? max(left, right) : min(left, right);
}

static __always_inline u64 soft_greater(const struct format *f, u64 left, u64 right)
{
	if (unlikely(soft_is_nan(f, left) || soft_is_nan(f, right)))
		return soft_pick_nan(f, left, right);
	return soft_any_negative(f, left, right) ? min(left, right) : max(left, right);
}

/* Unlike soft_ordinal(), this treats -0 and +0 as equal. */
static __always_inline int soft_compare(const struct format *f, u64 left, u64 right)
{
	if (!soft_magnitude_of(f, left | right))
		return 0;
	return (soft_ordinal(f, left) > soft_ordinal(f, right)) -
	       (soft_ordinal(f, left) < soft_ordinal(f, right));
}

/* ---- double ---- */

/**
 * coll_double_add() - the sum of two doubles, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left + @right, rounded to nearest even.
 */
u64 coll_double_add(u64 left, u64 right)
{
	return soft_add(&binary64, left, right);
}

/**
 * coll_double_multiply() - the product of two doubles, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left * @right, rounded to nearest even.
 */
u64 coll_double_multiply(u64 left, u64 right)
{
	return soft_multiply(&binary64, left, right);
}

/**
 * coll_double_min() - the lesser of two doubles, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the lesser operand, -0 being less than +0; NaN if one of them is.
 */
u64 coll_double_min(u64 left, u64 right)
{
	return soft_lesser(&binary64, left, right);
}

/**
 * coll_double_max() - the greater of two doubles, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the greater operand, +0 being greater than -0; NaN if one of them is.
 */
u64 coll_double_max(u64 left, u64 right)
{
	return soft_greater(&binary64, left, right);
}

/**
 * coll_double_compare() - which of two doubles is the greater number?
 * @left: bit pattern of a number, not NaN
 * @right: the other
 *
 * Context: any.
 * Return: 1 if @left is, -1 if @right is, 0 if they are equal, as -0 and +0 are.
 */
int coll_double_compare(u64 left, u64 right)
{
	return soft_compare(&binary64, left, right);
}

/**
 * coll_double_is_nan() - is this double NaN?
 * @x: bit pattern of a double
 *
 * Context: any.
 * Return: whether @x is NaN.
 */
bool coll_double_is_nan(u64 x)
{
	return soft_is_nan(&binary64, x);
}

/* ---- float ---- */

/**
 * coll_float_add() - the sum of two floats, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left + @right, rounded to nearest even.
 */
u64 coll_float_add(u64 left, u64 right)
{
	return soft_add(&binary32, left, right);
}

/**
 * coll_float_multiply() - the product of two floats, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left * @right, rounded to nearest even.
 */
u64 coll_float_multiply(u64 left, u64 right)
{
	return soft_multiply(&binary32, left, right);
}

/**
 * coll_float_min() - the lesser of two floats, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the lesser operand, -0 being less than +0; NaN if one of them is.
 */
u64 coll_float_min(u64 left, u64 right)
{
	return soft_lesser(&binary32, left, right);
}

/**
 * coll_float_max() - the greater of two floats, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the greater operand, +0 being greater than -0; NaN if one of them is.
 */
u64 coll_float_max(u64 left, u64 right)
{
	return soft_greater(&binary32, left, right);
}

/**
 * coll_float_compare() - which of two floats is the greater number?
 * @left: bit pattern of a number, not NaN
 * @right: the other
 *
 * Context: any.
 * Return: 1 if @left is, -1 if @right is, 0 if they are equal, as -0 and +0 are.
 */
int coll_float_compare(u64 left, u64 right)
{
	return soft_compare(&binary32, left, right);
}

/**
 * coll_float_is_nan() - is this float NaN?
 * @x: bit pattern of a float
 *
 * Context: any.
 * Return: whether @x is NaN.
 */
bool coll_float_is_nan(u64 x)
{
	return soft_is_nan(&binary32, x);
}

/* ---- float16 ---- */

/**
 * coll_float16_add() - the sum of two numbers of float16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left + @right, rounded to nearest even.
 */
u64 coll_float16_add(u64 left, u64 right)
{
	return soft_add(&binary16, left, right);
}

/**
 * coll_float16_multiply() - the product of two numbers of float16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left * @right, rounded to nearest even.
 */
u64 coll_float16_multiply(u64 left, u64 right)
{
	return soft_multiply(&binary16, left, right);
}

/**
 * coll_float16_min() - the lesser of two numbers of float16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the lesser operand, -0 being less than +0; NaN if one of them is.
 */
u64 coll_float16_min(u64 left, u64 right)
{
	return soft_lesser(&binary16, left, right);
}

/**
 * coll_float16_max() - the greater of two numbers of float16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the greater operand, +0 being greater than -0; NaN if one of them is.
 */
u64 coll_float16_max(u64 left, u64 right)
{
	return soft_greater(&binary16, left, right);
}

/* ---- bfloat16 ---- */

/**
 * coll_bfloat16_add() - the sum of two numbers of bfloat16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left + @right, rounded to nearest even.
 */
u64 coll_bfloat16_add(u64 left, u64 right)
{
	return soft_add(&bfloat16, left, right);
}

/**
 * coll_bfloat16_multiply() - the product of two numbers of bfloat16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: @left * @right, rounded to nearest even.
 */
u64 coll_bfloat16_multiply(u64 left, u64 right)
{
	return soft_multiply(&bfloat16, left, right);
}

/**
 * coll_bfloat16_min() - the lesser of two numbers of bfloat16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the lesser operand, -0 being less than +0; NaN if one of them is.
 */
u64 coll_bfloat16_min(u64 left, u64 right)
{
	return soft_lesser(&bfloat16, left, right);
}

/**
 * coll_bfloat16_max() - the greater of two numbers of bfloat16, as bit patterns
 * @left: operand of the lower rank, preferred if both are NaN
 * @right: operand of the higher rank
 *
 * Context: any.
 * Return: the greater operand, +0 being greater than -0; NaN if one of them is.
 */
u64 coll_bfloat16_max(u64 left, u64 right)
{
	return soft_greater(&bfloat16, left, right);
}
