// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../../kernel/core/user_base.h"

#include "joining_proof.h"

/* Inputs are longer than those from which the kernel derives keys, so that no key is revealed. */
static __u64 proof_mac(const __u8 key[COLLSOCK_KEY_BYTES], const void *message, size_t bytes)
{
	siphash_key_t secret;
	__u64 mac;

	memcpy(&secret, key, sizeof(secret));
	mac = siphash(message, bytes, &secret);
	explicit_bzero(&secret, sizeof(secret));
	return mac;
}

__u64 joining_nonce(const __u8 key[COLLSOCK_KEY_BYTES], const void *records, size_t bytes)
{
	return proof_mac(key, records, bytes);
}

/* Every record is longer than this message, so no proof has the input of a nonce. */
__u64 joining_proof(const __u8 key[COLLSOCK_KEY_BYTES], __u64 nonce, __u32 rank)
{
	const struct {
		char	label[32];
		__u64	nonce;
		__u64	rank;
	} message = { "collsock: joining with a key", nonce, rank };

	return proof_mac(key, &message, sizeof(message));
}
