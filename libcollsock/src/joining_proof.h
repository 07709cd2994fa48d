/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Finding out whether ranks have the same key without showing it */
#ifndef COLLSOCK_JOINING_PROOF_H
#define COLLSOCK_JOINING_PROOF_H

#include "collsock.h"

/* A number that only who has @key can tell: a MAC of this instance of the group */
__u64 joining_proof(const __u8 key[COLLSOCK_KEY_BYTES], __u64 id, __u64 nonce);

#endif
