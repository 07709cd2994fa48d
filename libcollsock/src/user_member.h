/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The events of a member: each is user_member_begin(), a function of core/group.h, and
 * user_member_settle(), which does what the core has asked for. Events are posts, packets, messages
 * of the program to its descriptor, times, and the end; user_wait.h and user_thread.h look for
 * them. The member's lock is held, except in user_member_new() and user_member_free().
 */
#ifndef COLLSOCK_USER_MEMBER_H
#define COLLSOCK_USER_MEMBER_H

#include "user_state.h"

#define USER_ALWAYS_NS	(COLL_NEVER / 8)
#define USER_CLOSE_LINGER_MS	60000	/* for what is under way when a handle is closed */
#define USER_EXIT_LINGER_MS	2000	/* the same at the end of a process */
#define USER_TELL_LINGER_MS	2000	/* then until others are notified */

/* A NEW member, with its program's descriptor. 0, or a negative errno */
int user_member_new(struct user_member **made, bool nonblocking);
/* All but the program's descriptor. It is used by nobody else. */
void user_member_free(struct user_member *m);
/* The same in a forked child, whose handle remains: it is dead */
void user_member_die(struct user_member *m);

/* CLOCK_MONOTONIC in ns */
u64 user_clock_ns(void);

/* Begin an event: returns its time in ns. */
u64 user_member_begin(struct user_member *m);
/* End it: do what the core has asked for, and let others see it. */
void user_member_settle(struct user_member *m);

/* Receive packets that have come, and do what is due. */
void user_member_progress(struct user_member *m);
/* The same for the packet that user_udp_sleep() has received */
void user_member_arrive(struct user_member *m, u32 bytes);
/* Read what the program has sent to its descriptor, and do what is due. */
void user_member_attend(struct user_member *m);

/* Does it have a group, or what is left of one? */
static inline bool user_member_is_alive(const struct user_member *m)
{
	return m->state != USER_NEW && m->state != USER_OVER;
}

/* When one of them must be called next, in ns, if nothing comes before. It is alive. */
u64 user_member_due(struct user_member *m);

/*
 * The handle is closed, or the process ends: the member LINGERS, for @linger_ms at most, and leaves
 * its group when all that the program has sent to its descriptor is posted.
 */
void user_member_abandon(struct user_member *m, u32 linger_ms);

#endif
