/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which sockets a forked child closes. */
#ifndef COLLSOCK_FORK_H
#define COLLSOCK_FORK_H

#include "internal.h"

/*
 * Other threads do not fork in between, so a child has no socket that is not in the list. Then
 * it closes those that are.
 */
void collsock_hold_forks(void);
void collsock_release_forks(void);
void collsock_close_in_child(struct collsock *s);
void collsock_forget_child(struct collsock *s);

#endif
