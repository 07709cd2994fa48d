/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The library's thread, and the members that it drives. It works for members for which no thread
 * of the program waits: it receives their packets, and lets those whose handles are closed linger.
 * For all members it keeps times, and reads what the program sends to their descriptors. It begins
 * with the first JOIN, all signals are blocked in it, and it sleeps while there is nothing to do. A
 * forked child has no such thread, and its members are dead.
 *
 * The lock of the list is taken before those of members.
 */
#ifndef COLLSOCK_USER_THREAD_H
#define COLLSOCK_USER_THREAD_H

#include "user_member.h"
#include "user_report.h"

/* A NEW member, which the process has from now on */
void user_thread_add(struct user_member *m);

/* Drive the member from now on: begin the thread, if it is the first. 0, or a negative errno */
int user_thread_drive(struct user_member *m);

/*
 * A thread of the program drives the member from now on; or does so no more, and may do so again
 * soon. Its lock is held.
 */
void user_thread_hand_out(struct user_member *m);
void user_thread_take_back(struct user_member *m);

/*
 * A call has changed the member, which may now be due before the thread's timer; its lock is held.
 */
void user_thread_mind(struct user_member *m);

/*
 * The handle of a member is closed: it is freed, at once or when it is OVER. Its descriptor is the
 * caller's. One that is dead is freed.
 */
void user_thread_close(struct user_member *m);

/* Add all members to a report. */
void user_thread_report(struct user_report *report);

/* ---- fork: see pthread_atfork(3) ---- */

void user_thread_before_fork(void);
void user_thread_after_fork(void);
void user_thread_in_child(void);

#endif
