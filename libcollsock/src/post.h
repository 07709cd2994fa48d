/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_POST_H
#define COLLSOCK_POST_H

#include "collsock.h"

/* Bytes of @count elements of a payload, -EINVAL if there is no such type, or -EMSGSIZE. */
int collsock_payload_bytes(enum collsock_type type, __u32 count);

/* The same for a block, which may be longer where blocks are only moved. */
int collsock_block_bytes(enum collsock_type type, __u32 count);

#endif
