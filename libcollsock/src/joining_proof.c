// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../../kernel/core/user_base.h"

#include "joining_proof.h"

/* Longer than what the kernel derives from a key, so that none of that is shown. */
__u64 joining_proof(const __u8 key[COLLSOCK_KEY_BYTES], __u64 id, __u64 nonce)
{
	struct {
		char	label[32];
		__u64	id;
		__u64	nonce;
	} message = { "collsock: joining with a key", id, nonce };
	siphash_key_t secret;
	__u64 proof;

	memcpy(&secret, key, sizeof(secret));
	proof = siphash(&message, sizeof(message), &secret);
	explicit_bzero(&secret, sizeof(secret));
	return proof;
}
