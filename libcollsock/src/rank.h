/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The number of a socket's rank, and of the ranks of its group */
#ifndef COLLSOCK_RANK_H
#define COLLSOCK_RANK_H

#include "internal.h"

/* Read both from the kernel, once. 0, or -ENOTCONN before the socket has joined. */
int collsock_ask_rank(struct collsock *s);

#endif
