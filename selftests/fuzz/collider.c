// SPDX-License-Identifier: GPL-2.0
/*
 * Finds groups that an unseeded hash table of 1,024 buckets, by tag, puts into the bucket of
 * another group, as any user can: tags are public, and nonces are the user's choice.
 *
 *	collider TAG ID AMOUNT
 *
 * prints AMOUNT nonces, a line each; TAG is hexadecimal. The groups have a key of 16 bytes 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define BITS		10
#define GOLDEN_RATIO_64	0x61C8864680B583EBULL

/* As hash_64() of linux/hash.h; of the group's first host. */
static u64 collider_bucket(u64 tag)
{
	return tag * GOLDEN_RATIO_64 >> (64 - BITS);
}

int main(int argc, char *argv[])
{
	struct coll_secret secret;
	u8 key[16];
	u64 tag, id, nonce;
	long amount;

	if (argc != 4)
		return 1;
	tag = strtoull(argv[1], NULL, 16);
	id = strtoull(argv[2], NULL, 10);
	amount = strtol(argv[3], NULL, 10);
	memset(key, 1, sizeof(key));
	for (nonce = 1; amount > 0; nonce++) {
		coll_wire_derive(&secret, key, id, nonce, COLLSOCK_MAC_SIPHASH);
		if (collider_bucket(secret.tag) != collider_bucket(tag))
			continue;
		printf("%llu\n", (unsigned long long)nonce);
		amount--;
	}
	return 0;
}
