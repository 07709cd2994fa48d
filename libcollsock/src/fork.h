/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The list of sockets that a forked child closes */
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

#endif
