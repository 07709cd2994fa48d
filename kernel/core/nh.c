// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "nh.h"

/* Add the product of two words: most processors have an instruction for it. */
#if defined(__SIZEOF_INT128__) && (defined(CONFIG_ARCH_SUPPORTS_INT128) || !defined(__KERNEL__))
static inline void nh_add(struct coll_nh_hash *hash, u64 a, u64 b)
{
	unsigned __int128 sum = (unsigned __int128)hash->high << 64 | hash->low;

	sum += (unsigned __int128)a * b;
	hash->low = sum;
	hash->high = sum >> 64;
}
#else
static inline void nh_add(struct coll_nh_hash *hash, u64 a, u64 b)
{
	coll_nh_add_portable(hash, a, b);
}
#endif

static inline u64 nh_word(const u8 *at)
{
	__le64 word;

	memcpy(&word, at, sizeof(word));
	return le64_to_cpu(word);
}

static inline void nh_add_pair(struct coll_nh_hash *hash, const u64 *key, const u8 *block)
{
	nh_add(hash, nh_word(block) + key[0], nh_word(block + 8) + key[1]);
}

/* Add the rest of a block, fewer bytes than two words. No byte after it is read. */
static void nh_add_rest(struct coll_nh_hash *hash, const u64 *key, const u8 *at, u32 bytes)
{
	u8 last[16] = { };

	memcpy(last, at, bytes);
	nh_add_pair(hash, key, last);
}

/**
 * coll_nh_derive() - make a key
 * @key: out
 * @from: secret; if SipHash with it is used for anything else, not for 8 bytes
 *
 * Word i is the SipHash-2-4 of i, as 8 bytes in big-endian order.
 */
void coll_nh_derive(u64 key[COLL_NH_WORDS], const siphash_key_t *from)
{
	__be64 number;
	u32 i;

	for (i = 0; i < COLL_NH_WORDS; i++) {
		number = cpu_to_be64(i);
		key[i] = siphash(&number, sizeof(number), from);
	}
}

/**
 * coll_nh() - hash a block
 * @key: COLL_NH_WORDS words
 * @block: bytes of any alignment
 * @bytes: 1…COLL_NH_BLOCK; zeros are added to make it a multiple of 16
 */
struct coll_nh_hash coll_nh(const u64 *key, const u8 *block, u32 bytes)
{
	struct coll_nh_hash hash = { };

	/* Four products a turn, as the loop itself takes five instructions of thirteen */
	for (; bytes >= 64; bytes -= 64, block += 64, key += 8) {
		nh_add_pair(&hash, key, block);
		nh_add_pair(&hash, key + 2, block + 16);
		nh_add_pair(&hash, key + 4, block + 32);
		nh_add_pair(&hash, key + 6, block + 48);
	}
	for (; bytes >= 16; bytes -= 16, block += 16, key += 2)
		nh_add_pair(&hash, key, block);
	if (bytes)
		nh_add_rest(&hash, key, block, bytes);
	return hash;
}

/*
 * Copy a word, reading it once: the bytes written are those hashed, even if @from changes
 * meanwhile.
 */
static __always_inline u64 nh_copy_word(u8 *to, const u8 *from)
{
	__le64 word;

	memcpy(&word, from, sizeof(word));
	memcpy(to, &word, sizeof(word));
	return le64_to_cpu(word);
}

/* Called in a loop, for which the hash has to stay in registers */
static __always_inline void nh_copy_pair(struct coll_nh_hash *hash, const u64 *key, u8 *to,
					 const u8 *from)
{
	u64 first = nh_copy_word(to, from) + key[0];

	nh_add(hash, first, nh_copy_word(to + 8, from + 8) + key[1]);
}

/**
 * coll_nh_copy() - complete a block and hash it
 * @key: COLL_NH_WORDS words
 * @block: out, but for what is there
 * @there: how many bytes that are, up to @bytes
 * @from: the others; must not overlap @block
 * @bytes: of the block, 1…COLL_NH_BLOCK
 *
 * The same as a copy and coll_nh(), in one pass over the bytes.
 */
struct coll_nh_hash coll_nh_copy(const u64 *key, u8 *block, u32 there, const u8 *from, u32 bytes)
{
	/* Up to where words of @from are words of the block */
	u32 begin = min(round_up(there, 16), bytes);
	struct coll_nh_hash hash;

	memcpy(block + there, from, begin - there);
	hash = coll_nh(key, block, begin);
	from += begin - there;
	block += begin;
	bytes -= begin;
	key += begin / 8;
	for (; bytes >= 64; bytes -= 64, block += 64, from += 64, key += 8) {
		nh_copy_pair(&hash, key, block, from);
		nh_copy_pair(&hash, key + 2, block + 16, from + 16);
		nh_copy_pair(&hash, key + 4, block + 32, from + 32);
		nh_copy_pair(&hash, key + 6, block + 48, from + 48);
	}
	for (; bytes >= 16; bytes -= 16, block += 16, from += 16, key += 2)
		nh_copy_pair(&hash, key, block, from);
	if (bytes) {
		memcpy(block, from, bytes);
		nh_add_rest(&hash, key, block, bytes);
	}
	return hash;
}
