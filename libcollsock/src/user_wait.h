/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Threads of the program that wait for a member. One of them drives it: it sleeps until packets
 * come, and handles them itself, so that nobody is woken in between. The others sleep until what
 * they wait for has happened, or until nobody drives.
 */
#ifndef COLLSOCK_USER_WAIT_H
#define COLLSOCK_USER_WAIT_H

#include "user_state.h"

/**
 * struct user_wait - what a call waits for
 * @ready: is it there? The member's lock is held
 * @what: its second argument
 * @option: SO_RCVTIMEO or SO_SNDTIMEO of the program's descriptor: for how long
 * @spin_us: how long to look for packets before sleeping, or before giving up
 */
struct user_wait {
	bool		(*ready)(struct user_member *m, void *what);
	void		*what;
	int		option;
	unsigned int	spin_us;
};

/*
 * Wait; the lock is held before and after. 0; -EAGAIN if the descriptor does not block, or its
 * time-out is over; -EINTR if a signal was handled.
 */
int user_wait(struct user_member *m, const struct user_wait *wait);

#endif
