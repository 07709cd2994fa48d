// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Exact sums of doubles. A double is a whole number of units of 2^-1074, the least one that is
 * not 0, so a sum is an integer (struct collsock_exact), and is rounded once, at the end. It is
 * the long accumulator of Kulisch.
 */
#include <stdbool.h>
#include <string.h>

#include "internal.h"

#define WORD_BITS	64
#define SUM_BITS	(COLLSOCK_EXACT_WORDS * WORD_BITS)

/**
 * struct format - a format of IEEE 754
 * @fraction_bits: bits after the leading one
 * @exponent: of infinity and NaN
 * @unit: its least number is this power of two, in units of the sum
 */
struct format {
	unsigned int	fraction_bits;
	unsigned int	exponent;
	unsigned int	unit;
};

static const struct format double_format = { 52, 0x7ff, 0 };
static const struct format float_format = { 23, 0xff, 1074 - 149 };
static const struct format float16_format = { 10, 0x1f, 1074 - 24 };
static const struct format bfloat16_format = { 7, 0xff, 1074 - 133 };

static __u64 format_infinity(const struct format *f)
{
	return (__u64)f->exponent << f->fraction_bits;
}

/* Quiet, positive */
static __u64 format_nan(const struct format *f)
{
	return format_infinity(f) | 1ULL << (f->fraction_bits - 1);
}

static __u64 format_sign(const struct format *f)
{
	return (__u64)(f->exponent + 1) << f->fraction_bits;
}

/* ---- words ---- */

/* Carry to the next word; a carry out of the last word is lost. */
static void words_add(__u64 *word, unsigned int at, unsigned __int128 value)
{
	for (; value && at < COLLSOCK_EXACT_WORDS; at++) {
		unsigned __int128 sum = word[at];

		sum += (__u64)value;
		word[at] = sum;
		value = (value >> WORD_BITS) + (sum >> WORD_BITS);
	}
}

static void words_subtract(__u64 *word, unsigned int at, unsigned __int128 value)
{
	for (; value && at < COLLSOCK_EXACT_WORDS; at++) {
		__u64 part = value;
		bool borrow = word[at] < part;

		word[at] -= part;
		value = (value >> WORD_BITS) + borrow;
	}
}

static void words_negate(__u64 *word)
{
	unsigned int i;

	for (i = 0; i < COLLSOCK_EXACT_WORDS; i++)
		word[i] = ~word[i];
	words_add(word, 0, 1);
}

/* Number of bits up to the highest one that is set */
static unsigned int words_bits(const __u64 *word)
{
	unsigned int i = COLLSOCK_EXACT_WORDS;

	while (i--)
		if (word[i])
			return (i + 1) * WORD_BITS - __builtin_clzll(word[i]);
	return 0;
}

static bool words_bit(const __u64 *word, unsigned int bit)
{
	return word[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

/* 64 bits from @bit on, which is one of the sum */
static __u64 words_from(const __u64 *word, unsigned int bit)
{
	unsigned int i = bit / WORD_BITS, offset = bit % WORD_BITS;
	__u64 low = word[i] >> offset;

	if (!offset || i + 1 == COLLSOCK_EXACT_WORDS)
		return low;
	return low | word[i + 1] << (WORD_BITS - offset);
}

static bool words_any_below(const __u64 *word, unsigned int bit)
{
	unsigned int i;

	for (i = 0; i < bit / WORD_BITS; i++)
		if (word[i])
			return true;
	return word[i] << 1 << (WORD_BITS - 1 - bit % WORD_BITS);
}

/* ---- add ---- */

static __u64 special_of(double number, bool finite)
{
	if (finite)
		return number || !__builtin_signbit(number) ? COLLSOCK_EXACT_NOT_MINUS_ZERO : 0;
	if (__builtin_isnan(number))
		return COLLSOCK_EXACT_NAN;
	return number < 0 ? COLLSOCK_EXACT_MINUS_INFINITY : COLLSOCK_EXACT_INFINITY;
}

COLLSOCK_PUBLIC void collsock_exact_add(struct collsock_exact *sum, double number)
{
	bool finite = __builtin_isfinite(number);
	unsigned int exponent;
	__u64 bits, fraction;
	unsigned __int128 value;

	sum->count++;
	sum->special |= special_of(number, finite);
	if (!finite)
		return;
	memcpy(&bits, &number, sizeof(bits));
	fraction = bits & ((1ULL << double_format.fraction_bits) - 1);
	exponent = bits >> double_format.fraction_bits & double_format.exponent;
	if (exponent) {
		fraction |= 1ULL << double_format.fraction_bits;
		exponent--;
	}
	value = fraction;
	value <<= exponent % WORD_BITS;
	if (__builtin_signbit(number))
		words_subtract(sum->word, exponent / WORD_BITS, value);
	else
		words_add(sum->word, exponent / WORD_BITS, value);
}

/* ---- round ---- */

/*
 * The bits of a magnitude that is not 0, rounded to nearest even. As a number of the format has its
 * fraction below its exponent, a fraction that is rounded up to a power of two is also right.
 */
static __u64 magnitude_round(const __u64 *word, const struct format *f)
{
	unsigned int bits = words_bits(word), drop = f->unit;
	__u64 fraction, rounded;

	if (bits > drop + f->fraction_bits + 1)
		drop = bits - f->fraction_bits - 1;
	fraction = words_from(word, drop);
	if (drop && words_bit(word, drop - 1))
		fraction += fraction & 1 || words_any_below(word, drop - 1);
	rounded = ((__u64)(drop - f->unit) << f->fraction_bits) + fraction;
	return rounded < format_infinity(f) ? rounded : format_infinity(f);
}

static __u64 finite_round(const struct collsock_exact *sum, const struct format *f)
{
	bool minus = words_bit(sum->word, SUM_BITS - 1);
	struct collsock_exact magnitude = *sum;

	if (minus)
		words_negate(magnitude.word);
	if (!words_bits(magnitude.word))
		return sum->count && !(sum->special & COLLSOCK_EXACT_NOT_MINUS_ZERO) ?
		       format_sign(f) : 0;
	return (minus ? format_sign(f) : 0) | magnitude_round(magnitude.word, f);
}

static __u64 exact_round(const struct collsock_exact *sum, const struct format *f)
{
	bool plus = sum->special & COLLSOCK_EXACT_INFINITY;
	bool minus = sum->special & COLLSOCK_EXACT_MINUS_INFINITY;

	if (sum->special & COLLSOCK_EXACT_NAN || (plus && minus))
		return format_nan(f);
	if (plus || minus)
		return (minus ? format_sign(f) : 0) | format_infinity(f);
	return finite_round(sum, f);
}

COLLSOCK_PUBLIC double collsock_exact_round(const struct collsock_exact *sum)
{
	__u64 bits = exact_round(sum, &double_format);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

COLLSOCK_PUBLIC float collsock_exact_round_float(const struct collsock_exact *sum)
{
	__u32 bits = exact_round(sum, &float_format);
	float number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

COLLSOCK_PUBLIC __u16 collsock_exact_round_float16(const struct collsock_exact *sum)
{
	return exact_round(sum, &float16_format);
}

COLLSOCK_PUBLIC __u16 collsock_exact_round_bfloat16(const struct collsock_exact *sum)
{
	return exact_round(sum, &bfloat16_format);
}
