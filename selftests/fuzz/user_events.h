/* SPDX-License-Identifier: GPL-2.0 */
/* For target_user.c: its scripts are a byte, then events, or with USER_JOINS a request. */
#ifndef COLL_FUZZ_USER_EVENTS_H
#define COLL_FUZZ_USER_EVENTS_H

#include <sys/types.h>
#include <time.h>

/* To which the linker redirects calls of target_user.c */
int __real_clock_gettime(clockid_t which, struct timespec *t);
int __wrap_clock_gettime(clockid_t which, struct timespec *t);
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned int flags);

#define USER_JOINS	1

/* Each is followed by its operands. */
enum user_event {
	USER_EVENT_POST,	/* cookie - 1, rank, count of a sum; 0: a barrier */
	USER_EVENT_MESSAGE,	/* rank, length in two factors, bytes */
	USER_EVENT_PACKET,	/* rank, length, sender, bytes */
	USER_EVENT_SEALED,	/* the same; incarnation, whether the sender knows the other's */
	USER_EVENT_ARRIVE,	/* rank */
	USER_EVENT_TIME,	/* logarithm of microseconds */
	USER_EVENT_RECEIVE,	/* rank, how; cookie - 1 */
	USER_EVENT_SHUTDOWN,	/* rank */
	USER_EVENT_CLOSE,	/* rank */
	USER_EVENTS,
};

#endif
