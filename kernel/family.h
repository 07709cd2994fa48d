/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket family: the system calls on a socket (socket.h). Posting and completing are in
 * io.h.
 */
#ifndef COLL_FAMILY_H
#define COLL_FAMILY_H

#include <linux/types.h>

u32 coll_family_number(void);

int coll_family_init(void);
void coll_family_uninit(void);

#endif
