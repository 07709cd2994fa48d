/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The thread that posts the operations for which windows had no room: a program that has
 * posted one may wait for something else as long as it likes. The thread calls no MPI
 * function, so programs need not know of threads. It starts when a window is full for the
 * first time.
 */
#ifndef COLLSOCK_MPI_POSTER_H
#define COLLSOCK_MPI_POSTER_H

/* Something has been queued. */
void cm_poster_wake(void);

void cm_poster_stop(void);

#endif
