// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdatomic.h>
#include <stdio.h>

#include "clock.h"
#include "progress.h"
#include "underlying.h"

#define SHORTEST_NAP_NS	50000L
#define LONGEST_NAP_NS	1000000L
#define MOST_DOUBLINGS	5
#define SUSPICIOUS_S	30
#define DRIVE_AGAIN_NS	1000000ULL

/*
 * Used for MPI_Iprobe; nothing is ever sent over it. On other communicators MPICH makes no
 * progress if there is a message that the program has not received yet, and on
 * MPI_COMM_SELF none at all.
 */
MPI_Comm cm_progress_comm = MPI_COMM_NULL;

static atomic_ullong progress_driven_ns;

int cm_progress_init(int rank, int ranks)
{
	MPI_Request request;
	int err;

	err = PMPI_Comm_idup(MPI_COMM_WORLD, &cm_progress_comm, &request);
	if (!err)
		err = cm_progress_await(&request, "the first step", rank, ranks);
	return err ? err : PMPI_Comm_set_errhandler(cm_progress_comm, MPI_ERRORS_RETURN);
}

void cm_progress_exit(void)
{
	if (cm_progress_comm != MPI_COMM_NULL)
		cm_underlying.Comm_free(&cm_progress_comm);
}

void cm_progress_drive(void)
{
	int found;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, cm_progress_comm, &found, MPI_STATUS_IGNORE);
}

void cm_progress_drive_sometimes(__u64 now_ns)
{
	__u64 last_ns = atomic_load_explicit(&progress_driven_ns, memory_order_relaxed);

	if (now_ns < last_ns + DRIVE_AGAIN_NS)
		return;
	atomic_store_explicit(&progress_driven_ns, now_ns, memory_order_relaxed);
	cm_progress_drive();
}

void cm_progress_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count)
{
	struct timespec nap = { .tv_nsec = SHORTEST_NAP_NS };

	if (pace->naps < MOST_DOUBLINGS)
		nap.tv_nsec <<= pace->naps++;
	else
		nap.tv_nsec = LONGEST_NAP_NS;
	ppoll(sockets, count, &nap, NULL);
}

int cm_progress_await(MPI_Request *request, const char *what, int rank, int ranks)
{
	__u64 suspicious = cm_clock_ns() + SUSPICIOUS_S * CM_NS_PER_S;
	struct cm_pace pace = { };
	int done, err;

	for (;;) {
		err = cm_underlying.Test(request, &done, MPI_STATUS_IGNORE);
		if (err || done)
			return err;
		cm_progress_sleep(&pace, NULL, 0);
		if (suspicious && cm_clock_ns() >= suspicious) {
			fprintf(stderr,
				"collsock: rank %d has waited %d s for %s of %d ranks. Is this library preloaded in all of them?\n",
				rank, SUSPICIOUS_S, what, ranks);
			suspicious = 0;
		}
	}
}
