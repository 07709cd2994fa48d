// SPDX-License-Identifier: GPL-2.0
#include "floats.h"
#include "seed.h"

static u64 fraction_mask(const struct format *f)
{
	return BIT_ULL(f->fraction_bits) - 1;
}

u64 infinite(const struct format *f)
{
	return (u64)(f->largest_exponent + 1) << f->fraction_bits;
}

u64 quiet(const struct format *f)
{
	return BIT_ULL(f->fraction_bits - 1);
}

static bool is_nan(const struct format *f, u64 x)
{
	return (x & ~f->sign) > infinite(f);
}

bool either_is_nan(const struct format *f, u64 left, u64 right)
{
	return is_nan(f, left) || is_nan(f, right);
}

u64 nan_by_rule(const struct format *f, u64 left, u64 right)
{
	return (is_nan(f, left) ? left : right) | quiet(f);
}

/* ---- drawing ---- */

/* Fractions with long runs of ones and zeros carry and round in more ways. */
static u64 draw_fraction(const struct format *f, u64 *random)
{
	u64 x = seed_next(random);
	u64 choice = seed_next(random);

	switch (choice & 3) {
	case 0:
		break;
	case 1:
		x &= seed_next(random) & seed_next(random);
		break;
	case 2:
		x |= seed_next(random) | seed_next(random);
		break;
	case 3:
		x = ~0ULL << (choice >> 2) % 64;
		x ^= ~0ULL << (choice >> 8) % 64;
		break;
	}
	return x & fraction_mask(f);
}

/* A finite number whose biased exponent is @exponent, kept in range. */
static u64 draw_finite(const struct format *f, u64 *random, s64 exponent)
{
	exponent = clamp(exponent, (s64)0, f->largest_exponent);
	return (seed_next(random) & f->sign) | (u64)exponent << f->fraction_bits |
	       draw_fraction(f, random);
}

static u64 draw_exponent(const struct format *f, u64 *random)
{
	return seed_next(random) % (f->largest_exponent + 1);
}

void draw_random_bits(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	*left = seed_next(random) & (f->sign | (f->sign - 1));
	*right = seed_next(random) & (f->sign | (f->sign - 1));
}

void draw_near_exponents(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	s64 exponent = draw_exponent(f, random);
	s64 distance = seed_next(random) % 131 - 65;

	*left = draw_finite(f, random, exponent);
	*right = draw_finite(f, random, exponent + distance);
}

void draw_cancellation(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	u64 difference = draw_fraction(f, random) >> seed_next(random) % (f->fraction_bits + 1);

	*left = draw_finite(f, random, draw_exponent(f, random));
	*right = *left & ~f->sign;
	if (seed_next(random) & 1)
		difference = -difference;
	*right = ((*right + difference) & (f->sign - 1)) | (~*left & f->sign);
}

static u64 draw_tiny(const struct format *f, u64 *random, s64 reach)
{
	u64 x = draw_finite(f, random, seed_next(random) % reach);

	if (seed_next(random) & 1)
		return x;
	return (x & f->sign) | (x & fraction_mask(f)) >> seed_next(random) % (f->fraction_bits + 1);
}

void draw_subnormals(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	*left = draw_tiny(f, random, 4);
	*right = draw_tiny(f, random, seed_next(random) & 1 ? 4 : f->fraction_bits + 8);
}

void draw_ties(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	s64 distance = 1 + seed_next(random) % (f->fraction_bits + 1);
	s64 exponent = distance + 1 + seed_next(random) % (f->largest_exponent - distance);
	u64 tie;

	*left = draw_finite(f, random, exponent);
	*right = draw_finite(f, random, exponent - distance);
	tie = distance == f->fraction_bits + 1 ? *right & ~fraction_mask(f) :
	      (*right >> distance << distance) | BIT_ULL(distance - 1);
	switch (seed_next(random) % 4) {
	case 0:
		*right = tie + 1;
		break;
	case 1:
		*right = tie - 1;
		break;
	default:
		*right = tie;
		break;
	}
}

void draw_overflow(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	s64 distance = seed_next(random) % (f->fraction_bits + 4);

	*left = draw_finite(f, random, f->largest_exponent - (seed_next(random) & 1));
	*right = draw_finite(f, random, f->largest_exponent - distance);
	if (seed_next(random) & 1)
		*left = (*left & f->sign) | (infinite(f) - 1 - (seed_next(random) & 3));
	if (seed_next(random) & 1)
		*right = (*left & f->sign) | (*right & ~f->sign);
}

/* The inverse of @odd modulo a power of two: each step of Newton doubles the bits. */
static u64 inverse(u64 odd)
{
	u64 x = odd;
	u32 i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

void draw_product_ties(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	u64 hidden = fraction_mask(f) + 1, cut = hidden << (seed_next(random) & 1);
	u64 a = draw_fraction(f, random) | hidden | 1, b;

	b = (inverse(a) * (cut / 2 + seed_next(random) % 3 - 1)) & (cut - 1);
	*left = draw_finite(f, random, draw_exponent(f, random) | 1);
	*right = draw_finite(f, random, f->largest_exponent / 2 + seed_next(random) % 3 - 1);
	*left = (*left & ~fraction_mask(f)) | (a & fraction_mask(f));
	*right = (*right & ~fraction_mask(f)) | (b & fraction_mask(f));
}

/* Fractions of few bits: many products are exact, or exactly between two numbers. */
static u64 draw_short(const struct format *f, u64 *random, s64 exponent)
{
	u64 x = draw_finite(f, random, exponent);
	u32 cut = seed_next(random) % (f->fraction_bits + 1);

	return x >> cut << cut;
}

void draw_product_underflow(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	s64 sum = f->largest_exponent / 2 - f->fraction_bits - 4 +
		  seed_next(random) % (f->fraction_bits + 8);
	s64 exponent = seed_next(random) % (f->largest_exponent / 2);

	*left = draw_short(f, random, exponent);
	*right = draw_short(f, random, sum - exponent);
	if (!(seed_next(random) & 3))
		*left = draw_tiny(f, random, 1);
}

void draw_product_overflow(const struct format *f, u64 *random, u64 *left, u64 *right)
{
	s64 sum = f->largest_exponent / 2 + f->largest_exponent - 1 + seed_next(random) % 4;
	s64 exponent = f->largest_exponent / 2 + seed_next(random) % (f->largest_exponent / 2);

	*left = draw_finite(f, random, exponent);
	*right = draw_finite(f, random, sum - exponent);
}
