// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * SipHash-2-4 outside the kernel: siphash() as in <linux/siphash.h>, bit for bit. The
 * module uses the kernel's own and does not contain this file.
 *
 * Reference: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
 */
#include "base.h"

struct sip {
	u64 v0, v1, v2, v3;
};

static inline u64 sip_rotate_left(u64 x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_rounds(struct sip *s, unsigned int rounds)
{
	while (rounds--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = sip_rotate_left(s->v1, 13) ^ s->v0;
		s->v3 = sip_rotate_left(s->v3, 16) ^ s->v2;
		s->v0 = sip_rotate_left(s->v0, 32);

		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = sip_rotate_left(s->v1, 17) ^ s->v2;
		s->v3 = sip_rotate_left(s->v3, 21) ^ s->v0;
		s->v2 = sip_rotate_left(s->v2, 32);
	}
}

static inline void sip_compress(struct sip *s, u64 word)
{
	s->v3 ^= word;
	sip_rounds(s, 2);
	s->v0 ^= word;
}

/* @bytes may be less than a word; the rest of the word is zero. */
static inline u64 sip_load(const u8 *data, size_t bytes)
{
	u64 word = 0;

	memcpy(&word, data, bytes);
	return le64toh(word);
}

/**
 * siphash() - SipHash-2-4 of a byte range
 * @data: bytes, of any alignment
 * @len: number of bytes
 * @key: secret; two words in the byte order of the host
 *
 * Return: the hash.
 */
u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	const u8 *end = (const u8 *)data + len - len % sizeof(u64);
	struct sip s = {
		.v0 = key->key[0] ^ 0x736f6d6570736575ULL,
		.v1 = key->key[1] ^ 0x646f72616e646f6dULL,
		.v2 = key->key[0] ^ 0x6c7967656e657261ULL,
		.v3 = key->key[1] ^ 0x7465646279746573ULL,
	};
	const u8 *p;

	for (p = data; p != end; p += sizeof(u64))
		sip_compress(&s, sip_load(p, sizeof(u64)));
	sip_compress(&s, (u64)len << 56 | sip_load(p, len % sizeof(u64)));

	s.v2 ^= 0xff;
	sip_rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
