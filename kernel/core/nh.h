/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * NH, the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz and Rogaway, "UMAC: Fast
 * and Secure Message Authentication", 1999, §4), with words of 64 bits: under a random key
 * two different blocks of one length have the same hash with a probability of 2^-64.
 *
 * A hash alone proves nothing: it must stay secret, or enter a pseudorandom function, as in
 * wire.c. Pure; any context.
 */
#ifndef COLL_CORE_NH_H
#define COLL_CORE_NH_H

#include "base.h"

#define COLL_NH_BLOCK	512	/* bytes: the longest that is hashed */
#define COLL_NH_WORDS	(COLL_NH_BLOCK / 8)

/**
 * struct coll_nh_hash - a hash of 128 bits
 * @low: lower half
 * @high: upper half
 */
struct coll_nh_hash {
	u64	low;
	u64	high;
};

/* Add the product of two words, from the products of their halves. */
static inline void coll_nh_add_portable(struct coll_nh_hash *hash, u64 a, u64 b)
{
	u64 low = (u64)lower_32_bits(a) * lower_32_bits(b);
	u64 high = (u64)upper_32_bits(a) * upper_32_bits(b);
	u64 middle = (u64)upper_32_bits(a) * lower_32_bits(b) + upper_32_bits(low);
	u64 cross = (u64)lower_32_bits(a) * upper_32_bits(b) + lower_32_bits(middle);
	u64 product = cross << 32 | lower_32_bits(low);

	hash->low += product;
	hash->high += high + upper_32_bits(middle) + upper_32_bits(cross) +
		      (hash->low < product);
}

void coll_nh_derive(u64 key[COLL_NH_WORDS], const siphash_key_t *from);
struct coll_nh_hash coll_nh(const u64 *key, const u8 *block, u32 bytes);
struct coll_nh_hash coll_nh_copy(const u64 *key, u8 *block, u32 there, const u8 *from, u32 bytes);

#endif
