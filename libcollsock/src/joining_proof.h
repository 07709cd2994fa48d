/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Numbers that only ranks with the key of the group can compute */
#ifndef COLLSOCK_JOINING_PROOF_H
#define COLLSOCK_JOINING_PROOF_H

#include <stddef.h>

#include "collsock.h"

/*
 * The nonce of a group: a MAC of the @records of its ranks, @bytes long. It is new if any part of
 * them is new, and without @key nobody can make records with the nonce of a former group.
 */
__u64 joining_nonce(const __u8 key[COLLSOCK_KEY_BYTES], const void *records, size_t bytes);

/*
 * Proof that @rank has @key and the records of @nonce: a MAC of these. COLLSOCK_NO_RANK: that any
 * rank has them
 */
__u64 joining_proof(const __u8 key[COLLSOCK_KEY_BYTES], __u64 nonce, __u32 rank);

#endif
