// SPDX-License-Identifier: GPL-2.0
#include "mac.h"

#define HEADER	64
#define SHORT	80
#define BLOCK	512

static void nh_key(u64 words[BLOCK / 8], const siphash_key_t *key)
{
	__be64 number;
	u32 i;

	for (i = 0; i < BLOCK / 8; i++) {
		number = cpu_to_be64(i);
		words[i] = siphash(&number, sizeof(number), key);
	}
}

static u64 word_at(const u8 *bytes)
{
	u64 word = 0;
	int i;

	for (i = 7; i >= 0; i--)
		word = word << 8 | bytes[i];
	return word;
}

static void put(u8 *to, unsigned __int128 value, u32 bytes)
{
	while (bytes--) {
		*to++ = (u8)value;
		value >>= 8;
	}
}

/* 16 bytes, from a block of zeros behind @bytes bytes of the packet */
static void nh_of(u8 *hash, const u8 *at, u32 bytes, const u64 *key)
{
	unsigned __int128 sum = 0;
	u8 block[BLOCK] = {};
	u32 i;

	memcpy(block, at, bytes);
	for (i = 0; i < (bytes + 15) / 16 * 2; i += 2)
		sum += (unsigned __int128)(u64)(word_at(block + 8 * i) + key[i]) *
		       (u64)(word_at(block + 8 * i + 8) + key[i + 1]);
	put(hash, sum, 16);
}

__be64 mac_of(const u8 *packet, u32 bytes, const struct coll_mac *mac)
{
	u8 input[HEADER + (COLL_WIRE_MAX / BLOCK + 1) * 16 + 4];
	u32 end = bytes - COLL_WIRE_MAC, at, length = HEADER;
	u64 key[BLOCK / 8];

	if (end <= SHORT || mac->algorithm == COLLSOCK_MAC_SIPHASH)
		return cpu_to_be64(siphash(packet, end, &mac->key));
	nh_key(key, &mac->key);
	memcpy(input, packet, HEADER);
	for (at = HEADER; at < end; at += BLOCK, length += 16)
		nh_of(input + length, packet + at, min_t(u32, end - at, BLOCK), key);
	put(input + length, end, 4);
	return cpu_to_be64(siphash(input, length + 4, &mac->key));
}
