/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What a forked child does not inherit */
#ifndef COLLSOCK_FORK_H
#define COLLSOCK_FORK_H

#include "internal.h"

/*
 * Block fork() in other threads between the two, so that every socket of a child is in the
 * list, and is closed there.
 */
void collsock_hold_forks(void);
void collsock_release_forks(void);
void collsock_close_in_child(struct collsock *s);
void collsock_forget_child(struct collsock *s);

/* How many forks lie between this process and the first; changes in a child only */
unsigned int collsock_forks(void);

#endif
