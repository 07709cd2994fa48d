/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A thread that posts queued operations: a program that has started one may wait for
 * something else, without calling MPI, for any time. The thread calls no MPI function, so
 * MPI_THREAD_MULTIPLE is not needed. It is created when a window is full for the first
 * time.
 */
#ifndef COLLSOCK_MPI_POSTER_H
#define COLLSOCK_MPI_POSTER_H

/* An operation has been queued. */
void cm_poster_wake(void);

void cm_poster_stop(void);

#endif
