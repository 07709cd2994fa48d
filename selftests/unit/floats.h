/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of floats or doubles that are hard to add and to multiply. Operands are bit
 * patterns, of either format in a u64.
 */
#ifndef COLL_UNIT_FLOATS_H
#define COLL_UNIT_FLOATS_H

#include "base.h"

/**
 * struct format - float or double
 * @sign: its sign bit
 * @fraction_bits: number of bits below the exponent
 * @largest_exponent: largest biased exponent of a finite number
 */
struct format {
	u64	sign;
	s64	fraction_bits;
	s64	largest_exponent;
};

u64 infinite(const struct format *f);
u64 quiet(const struct format *f);
bool either_is_nan(const struct format *f, u64 left, u64 right);
u64 nan_by_rule(const struct format *f, u64 left, u64 right);

/* ---- drawing ---- */

typedef void (*draw_function)(const struct format *f, u64 *random, u64 *left, u64 *right);

void draw_random_bits(const struct format *f, u64 *random, u64 *left, u64 *right);
void draw_near_exponents(const struct format *f, u64 *random, u64 *left, u64 *right);

/* The right operand is the left one with the opposite sign, up to one bit. */
void draw_cancellation(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Around the least normal number: operands, sums, or both are subnormal. */
void draw_subnormals(const struct format *f, u64 *random, u64 *left, u64 *right);

/*
 * The part of the right operand below the last bit of the left is exactly half of that bit,
 * or every other time slightly more or less.
 */
void draw_ties(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Around the largest number: sums reach infinity, or just do not. */
void draw_overflow(const struct format *f, u64 *random, u64 *left, u64 *right);

/*
 * The rounded part of a product is exactly half of its last bit, or slightly more or less;
 * in all its bits, not only in those next to the last.
 */
void draw_product_ties(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Products around the least numbers: subnormal, the least of them, zero. */
void draw_product_underflow(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Products around the largest number */
void draw_product_overflow(const struct format *f, u64 *random, u64 *left, u64 *right);

#endif
