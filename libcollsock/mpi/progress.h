/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Progress of the MPI below. Sends that have completed locally may still be queued there,
 * and others may wait for what this process has posted: whoever waits here drives it, or
 * correct programs deadlock.
 */
#ifndef COLLSOCK_MPI_PROGRESS_H
#define COLLSOCK_MPI_PROGRESS_H

#include <poll.h>
#include <linux/types.h>

#include <mpi.h>

/*
 * A communicator of all ranks that belongs to this library. Errors return: it is for
 * whatever is none of the program's error handlers' business.
 */
extern MPI_Comm cm_own_comm;

/* In MPI_Init and MPI_Finalize of all ranks. An MPI error code. */
int cm_progress_init(int rank, int ranks);
void cm_progress_exit(void);

/* Let the MPI below do what it has to do. */
void cm_drive(void);

/*
 * The same if it was not done for a while. Calls that need not wait make progress, too:
 * a program may have no others. @now_ns is when one has completed: it costs no call.
 */
void cm_drive_sometimes(__u64 now_ns);

/**
 * struct cm_pace - of one wait that sleeps now and then
 * @naps: so far
 * @looks: whether there is reason to sleep; for the caller
 */
struct cm_pace {
	unsigned int naps;
	unsigned int looks;
};

/*
 * Sleep until one of the sockets is ready, but not for long: 50 us the first time, up to
 * 1 ms later, for the MPI below wakes nobody.
 */
void cm_pace_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count);

/*
 * Wait for what was begun in the MPI below. If that takes 30 s, one line says that rank
 * @rank waits for @what of @ranks ranks, and it goes on. An MPI error code.
 */
int cm_await_below(MPI_Request *request, const char *what, int rank, int ranks);

#endif
