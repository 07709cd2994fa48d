/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of floats or doubles that are hard to add and to multiply, and the
 * checks of each pair. Operands are bit patterns, of either format in a u64.
 */
#ifndef COLL_UNIT_FLOATS_H
#define COLL_UNIT_FLOATS_H

#include "base.h"

struct __test_metadata;

#define DAY_SECONDS	86400	/* a soak takes as long as it is asked to */

/**
 * struct format - float or double
 * @sign: its bit
 * @fraction_bits: below the exponent
 * @largest_exponent: biased, of a finite number
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

/* The right operand is the left one with the other sign, give or take a bit. */
void draw_cancellation(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Around the least normal number: operands, sums, or both are subnormal. */
void draw_subnormals(const struct format *f, u64 *random, u64 *left, u64 *right);

/*
 * What of the right operand is below the last bit of the left is exactly one
 * half of that bit, or every other time a little more or less.
 */
void draw_ties(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Around the largest number: sums reach infinity, or just do not. */
void draw_overflow(const struct format *f, u64 *random, u64 *left, u64 *right);

/*
 * What a product cuts off is exactly one half of its last bit, or a little more
 * or less; in all its bits, not only in those next to the last.
 */
void draw_product_ties(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Products around the least numbers: subnormal, the least of them, zero. */
void draw_product_underflow(const struct format *f, u64 *random, u64 *left, u64 *right);

/* Products around the largest number */
void draw_product_overflow(const struct format *f, u64 *random, u64 *left, u64 *right);

/* ---- checking ---- */

struct operator {
	const char *name;
	u64 (*expected)(u64 left, u64 right);
	u64 (*seen)(u64 left, u64 right);
};

/* Both ways round: which operand comes first must matter to NaN alone. */
void check_pairs(struct __test_metadata *_metadata, const struct operator *operator,
		 const struct format *f, draw_function draw, u64 pairs);

/* Each magnitude stands for two numbers, with either sign. */
void check_special_pairs(struct __test_metadata *_metadata,
			 const struct operator *operator, const struct format *f,
			 const u64 *magnitudes, u32 count);

struct known {
	u64 left, right, expected;
};

/* Here the expected bits are written out, and no hardware is asked. */
void check_known(struct __test_metadata *_metadata, const char *name,
		 u64 (*function)(u64 left, u64 right),
		 const struct known *known, size_t count);

#endif
