// SPDX-License-Identifier: GPL-2.0
/*
 * What the MAC of a packet costs, and candidates for it: "mac" counts their instructions.
 * A packet has a prefix of 32 bytes, of which the state of SipHash is known, 32 bytes more
 * of header, and a payload. Universal hashes of the payload go into SipHash-2-4 with the
 * header and the length. The candidates take whole words only. The last lines are those of
 * the core. One of them, one length, and one number of calls for each run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <emmintrin.h>
#include <tmmintrin.h>
#include <wmmintrin.h>

#include "wire.h"

#define u128	unsigned __int128

#define PREFIX	32
#define HEADER	64
#define ROOM	8704

static u64 state[4] = { 1, 2, 3, 4 };
static u64 nh_key[ROOM / 8];
static u64 point[2] = { 0x0123456789abcdefULL & 0x0ffffffc0fffffffULL,
			0xfedcba9876543210ULL & 0x0ffffffc0ffffffcULL };

static inline u64 word(const u8 *at)
{
	u64 w;

	memcpy(&w, at, sizeof(w));
	return w;
}

static inline void sip_round(u64 v[4])
{
	SIPHASH_PERMUTATION(v[0], v[1], v[2], v[3]);
}

static inline void sip_word(u64 v[4], u64 m, int rounds)
{
	v[3] ^= m;
	sip_round(v);
	if (rounds > 1)
		sip_round(v);
	v[0] ^= m;
}

static inline u64 sip_end(u64 v[4], u64 last, int rounds, int final)
{
	sip_word(v, last, rounds);
	v[2] ^= 0xff;
	while (final--)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline u64 sip(const u8 *packet, u32 bytes, int rounds, int final)
{
	u64 v[4] = { state[0], state[1], state[2], state[3] };
	u32 at;

	for (at = PREFIX; at + 8 <= HEADER + bytes; at += 8)
		sip_word(v, word(packet + at), rounds);
	return sip_end(v, bytes, rounds, final);
}

static noinline u64 siphash_2_4(const u8 *packet, u32 bytes)
{
	return sip(packet, bytes, 2, 4);
}

static noinline u64 siphash_1_3(const u8 *packet, u32 bytes)
{
	return sip(packet, bytes, 1, 3);
}

/* SipHash-2-4 of the header and of a hash of the payload */
static inline void sip_header(u64 v[4], const u8 *packet)
{
	u32 at;

	memcpy(v, state, sizeof(state));
	for (at = PREFIX; at < HEADER; at += 8)
		sip_word(v, word(packet + at), 2);
}

static inline u128 nh(const u64 *key, const u8 *at, u32 bytes)
{
	u128 sum = 0;
	u32 i;

	for (i = 0; i < bytes; i += 16, key += 2)
		sum += (u128)(word(at + i) + key[0]) * (word(at + i + 8) + key[1]);
	return sum;
}

static inline u64 nh_blocks(const u8 *packet, u32 bytes, u32 block)
{
	u32 at, step;
	u128 sum;
	u64 v[4];

	sip_header(v, packet);
	for (at = 0; at < bytes; at += step) {
		step = bytes - at < block ? bytes - at : block;
		sum = nh(nh_key, packet + HEADER + at, step);
		sip_word(v, sum, 2);
		sip_word(v, sum >> 64, 2);
	}
	return sip_end(v, bytes, 2, 4);
}

static noinline u64 nh_whole(const u8 *packet, u32 bytes)
{
	return nh_blocks(packet, bytes, ROOM);
}

static noinline u64 nh_512(const u8 *packet, u32 bytes)
{
	return nh_blocks(packet, bytes, 512);
}

static noinline u64 nh_256(const u8 *packet, u32 bytes)
{
	return nh_blocks(packet, bytes, 256);
}

static noinline u64 nh_128(const u8 *packet, u32 bytes)
{
	return nh_blocks(packet, bytes, 128);
}

/* Evaluated modulo 2^127 - 1, as in VMAC */
static noinline u64 polynomial_127(const u8 *packet, u32 bytes)
{
	u64 h0 = 0, h1 = 0, k0 = point[0], k1 = point[1] & 0x1fffffffffffffffULL, v[4];
	u32 at;

	sip_header(v, packet);
	for (at = 0; at < bytes; at += 16) {
		u128 low, middle, high, t = (u128)h1 << 64 | h0;
		u64 t0, t1;

		t += (u128)word(packet + HEADER + at + 8) << 64 | word(packet + HEADER + at);
		t0 = t;
		t1 = t >> 64;
		low = (u128)t0 * k0;
		middle = (u128)t0 * k1 + (u128)t1 * k0;
		high = (u128)t1 * k1 + (u64)(middle >> 64);
		low += (u128)(u64)middle << 64;
		high += low < (u128)(u64)middle << 64;
		t = (high << 1 | (u64)(low >> 127)) + (low & ~((u128)1 << 127));
		t = (t & ~((u128)1 << 127)) + (u64)(t >> 127);
		h0 = t;
		h1 = t >> 64;
	}
	sip_word(v, h0, 2);
	sip_word(v, h1, 2);
	return sip_end(v, bytes, 2, 4);
}

/* Modulo 2^130 - 5, words of 64 bits */
static noinline u64 poly1305(const u8 *packet, u32 bytes)
{
	u64 h0 = 0, h1 = 0, h2 = 0, r0 = point[0], r1 = point[1], s1 = r1 + (r1 >> 2), v[4];
	u32 at;

	sip_header(v, packet);
	for (at = 0; at < bytes; at += 16) {
		u128 d0, d1;

		d0 = (u128)h0 + word(packet + HEADER + at);
		d1 = (u128)h1 + (u64)(d0 >> 64) + word(packet + HEADER + at + 8);
		h0 = d0;
		h1 = d1;
		h2 += (u64)(d1 >> 64) + 1;
		d0 = (u128)h0 * r0 + (u128)h1 * s1;
		d1 = (u128)h0 * r1 + (u128)h1 * r0 + h2 * s1;
		h2 *= r0;
		d1 += (u64)(d0 >> 64);
		h0 = d0;
		h1 = d1;
		h2 += (u64)(d1 >> 64);
		d0 = (u128)h0 + (h2 >> 2) + (h2 & ~3ULL);
		h2 &= 3;
		h0 = d0;
		h1 += (u64)(d0 >> 64);
	}
	sip_word(v, h0, 2);
	sip_word(v, h1, 2);
	sip_word(v, h2, 2);
	return sip_end(v, bytes, 2, 4);
}

/* One carry-less product at a time; kernel_fpu_begin() is not counted */
static noinline __attribute__((target("pclmul,ssse3"))) u64 ghash(const u8 *packet, u32 bytes)
{
	const __m128i swap = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m128i x = _mm_setzero_si128(), k = _mm_loadu_si128((void *)point);
	const __m128i p = _mm_set_epi64x(0, -0x3e00000000000000LL);
	u64 v[4], h[2];
	u32 at;

	sip_header(v, packet);
	for (at = 0; at < bytes; at += 16) {
		__m128i lo, hi, mid, t;

		t = _mm_loadu_si128((void *)(packet + HEADER + at));
		x = _mm_xor_si128(x, _mm_shuffle_epi8(t, swap));
		lo = _mm_clmulepi64_si128(x, k, 0x00);
		hi = _mm_clmulepi64_si128(x, k, 0x11);
		mid = _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x10),
				    _mm_clmulepi64_si128(x, k, 0x01));
		lo = _mm_xor_si128(lo, _mm_slli_si128(mid, 8));
		hi = _mm_xor_si128(hi, _mm_srli_si128(mid, 8));
		t = _mm_clmulepi64_si128(lo, p, 0x00);
		lo = _mm_xor_si128(_mm_shuffle_epi32(lo, 78), t);
		t = _mm_clmulepi64_si128(lo, p, 0x00);
		x = _mm_xor_si128(hi, _mm_xor_si128(_mm_shuffle_epi32(lo, 78), t));
	}
	_mm_storeu_si128((void *)h, x);
	sip_word(v, h[0], 2);
	sip_word(v, h[1], 2);
	return sip_end(v, bytes, 2, 4);
}

static inline u32 rol32(u32 x, int n)
{
	return x << n | x >> (32 - n);
}

static inline void half_round(u32 v[4])
{
	v[0] += v[1], v[1] = rol32(v[1], 5), v[1] ^= v[0], v[0] = rol32(v[0], 16);
	v[2] += v[3], v[3] = rol32(v[3], 8), v[3] ^= v[2];
	v[0] += v[3], v[3] = rol32(v[3], 7), v[3] ^= v[0];
	v[2] += v[1], v[1] = rol32(v[1], 13), v[1] ^= v[2], v[2] = rol32(v[2], 16);
}

/* A key of 64 bits, and 64 bits of output */
static noinline u64 halfsiphash_2_4(const u8 *packet, u32 bytes)
{
	u32 v[4] = { state[0], state[1], state[2], state[3] }, at, m, i;
	u64 code = 0;

	for (at = PREFIX; at < HEADER + bytes; at += 4) {
		memcpy(&m, packet + at, 4);
		v[3] ^= m;
		half_round(v);
		half_round(v);
		v[0] ^= m;
	}
	v[3] ^= bytes << 24;
	half_round(v);
	half_round(v);
	v[0] ^= bytes << 24;
	v[2] ^= 0xee;
	for (i = 0; i < 8; i++) {
		half_round(v);
		if (i % 4 == 3) {
			code = code << 32 | (v[1] ^ v[3]);
			v[1] ^= 0xdd;
		}
	}
	return code;
}

/* ---- the core ---- */

static const struct coll_prefix prefix = { .tag = 1, .incarnation = 2, .source = 3 };
static struct coll_secret secret;
static struct coll_wire_side side;

static void set_algorithm(u8 algorithm)
{
	static const u8 key[16] = "sixteen byte key";

	coll_wire_derive(&secret, key, 1, 2, algorithm);
	coll_wire_side_set(&side, &prefix, &secret.mac);
}

static noinline u64 core_siphash(const u8 *packet, u32 bytes)
{
	return coll_wire_authentic(packet, HEADER + bytes + COLL_WIRE_MAC, &side);
}

static noinline u64 core_nh_siphash(const u8 *packet, u32 bytes)
{
	return coll_wire_authentic(packet, HEADER + bytes + COLL_WIRE_MAC, &side);
}

/* While the payload is copied into the packet, as its sender does */
static noinline u64 core_nh_siphash_copy(const u8 *payload, u32 bytes)
{
	struct coll_body body = { .payload = payload, .payload_bytes = bytes };
	static u8 packet[HEADER + ROOM + COLL_WIRE_MAC] __aligned(16);

	coll_wire_finish(packet, packet + HEADER, &side, &body);
	return packet[HEADER + bytes];
}

static const struct candidate {
	const char *name;
	u64 (*mac)(const u8 *packet, u32 bytes);
} candidates[] = {
#define CANDIDATE(name) { #name, name }
	CANDIDATE(siphash_2_4),
	CANDIDATE(siphash_1_3),
	CANDIDATE(halfsiphash_2_4),
	CANDIDATE(poly1305),
	CANDIDATE(polynomial_127),
	CANDIDATE(ghash),
	CANDIDATE(nh_128),
	CANDIDATE(nh_256),
	CANDIDATE(nh_512),
	CANDIDATE(nh_whole),
	CANDIDATE(core_siphash),
	CANDIDATE(core_nh_siphash),
	CANDIDATE(core_nh_siphash_copy),
};

int main(int argc, char **argv)
{
	static u8 packet[HEADER + ROOM + COLL_WIRE_MAC] __aligned(16);
	u32 bytes, calls, i;
	u64 sum = 0;

	if (argc < 4) {
		for (i = 0; i < ARRAY_SIZE(candidates); i++)
			puts(candidates[i].name);
		return argc > 1;
	}
	bytes = atoi(argv[2]);
	calls = atoi(argv[3]);
	for (i = 0; i < ARRAY_SIZE(candidates) && strcmp(argv[1], candidates[i].name); i++)
		;
	if (i == ARRAY_SIZE(candidates) || bytes > ROOM)
		return 1;
	set_algorithm(strcmp(argv[1], "core_siphash") ? COLLSOCK_MAC_NH_SIPHASH :
							COLLSOCK_MAC_SIPHASH);
	while (calls--)
		sum += candidates[i].mac(packet, bytes);
	return sum == ~0ULL;
}
