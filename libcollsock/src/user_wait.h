/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Threads of the program that wait for a member. One of them drives it: it sleeps until packets
 * come, and handles them itself, so that no other thread is woken in between. The others sleep
 * until what they wait for has happened, or until no thread drives the member.
 */
#ifndef COLLSOCK_USER_WAIT_H
#define COLLSOCK_USER_WAIT_H

#include "user_state.h"

/*
 * Wait; the lock is held before and after. 0; -EAGAIN if the descriptor does not block, or its
 * time-out has expired; -EINTR if a signal was handled.
 */
int user_wait(struct user_member *m, const struct user_wait *wait);

/* How long the program's descriptor lets a call wait, in ns: COLL_NEVER if it is not limited */
u64 user_wait_patience(const struct user_member *m, int option);

#endif
