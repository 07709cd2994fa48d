/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share. A target is one function that is called with any
 * bytes and aborts when a promise is broken; libFuzzer calls it with bytes of its
 * own, replay.c with those of files.
 */
#ifndef COLL_FUZZ_H
#define COLL_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base.h"

int fuzz_target(const u8 *data, size_t bytes);

/* A broken promise, with both values. */
#define FUZZ_EXPECT(condition, format, ...) do { \
	if (!(condition)) { \
		fprintf(stderr, "# %s:%d: %s: " format "\n", __FILE__, __LINE__, #condition, \
			##__VA_ARGS__); \
		abort(); \
	} \
} while (0)

#define FUZZ_EQUAL(a, b, what) ({ \
	u64 _a = (a), _b = (b); \
	FUZZ_EXPECT(_a == _b, "%s: is %llu, expected %llu", what, (unsigned long long)_a, \
		    (unsigned long long)_b); \
})

/**
 * struct fuzz_input - the bytes that are left
 * @at: next one
 * @end: behind the last one
 */
struct fuzz_input {
	const u8	*at;
	const u8	*end;
};

static inline u32 fuzz_left(const struct fuzz_input *in)
{
	return in->end - in->at;
}

/* The next byte; 0 when there is none any more. */
static inline u8 fuzz_byte(struct fuzz_input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static inline u32 fuzz_below(struct fuzz_input *in, u32 limit)
{
	return fuzz_byte(in) % limit;
}

static inline u32 fuzz_word(struct fuzz_input *in)
{
	u32 i, word = 0;

	for (i = 0; i < 4; i++)
		word = word << 8 | fuzz_byte(in);
	return word;
}

/* A number that is mostly near @base. */
static inline u64 fuzz_near(struct fuzz_input *in, u64 base)
{
	u8 b = fuzz_byte(in);

	return b == 0x80 ? fuzz_word(in) * 0x100000001ULL : base + (s8)b;
}

/* Fill what is there; the rest stays as it is. */
static inline u32 fuzz_copy(struct fuzz_input *in, void *to, u32 bytes)
{
	bytes = min(bytes, fuzz_left(in));
	if (bytes)
		memcpy(to, in->at, bytes);
	in->at += bytes;
	return bytes;
}

/* Memory of exactly so many bytes, so that the sanitizer sees who reads beyond them. */
static inline u8 *fuzz_exact(const void *from, u32 bytes)
{
	u8 *copy = malloc(bytes ?: 1);

	if (!copy)
		abort();
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

#endif
