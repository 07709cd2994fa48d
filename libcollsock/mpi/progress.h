/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Progress of the underlying MPI. Sends that have completed locally may still be queued in
 * it while other ranks wait for them: a call that waits in this library must progress the
 * underlying MPI, or correct programs deadlock.
 */
#ifndef COLLSOCK_MPI_PROGRESS_H
#define COLLSOCK_MPI_PROGRESS_H

#include <poll.h>
#include <stdbool.h>
#include <linux/types.h>

#include <mpi.h>

/*
 * Progress it, unless that was done recently. For calls that need not wait, as a program may
 * make no others. @now_ns is the time of a completion, which saves reading the clock.
 */
void cm_progress_drive_sometimes(__u64 now_ns);

/**
 * struct cm_pace - pace of one wait that sleeps now and then
 * @naps: number of sleeps so far
 */
struct cm_pace {
	unsigned int naps;
};

/*
 * Sleep until one of the sockets is ready, but only 50 us the first time and up to 1 ms
 * later, since the underlying MPI cannot wake us. Returns whether one is ready.
 */
bool cm_progress_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count);

/*
 * Wait for a request of the underlying MPI. If that takes 30 s, print once that rank @rank
 * has waited for @what of @ranks ranks, and continue. Returns an MPI error code.
 */
int cm_progress_await(MPI_Request *request, const char *what, int rank, int ranks);

#endif
