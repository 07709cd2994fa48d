// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "below.h"
#include "clock.h"
#include "progress.h"

#define SHORTEST_NAP_NS	50000L
#define LONGEST_NAP_NS	1000000L
#define MOST_DOUBLINGS	5
#define SUSPICIOUS_S	30
#define DRIVE_AGAIN_NS	1000000ULL

/*
 * Nobody ever sends over it. On another communicator MPICH drives nothing where it finds
 * a message that the program has not received yet, and on MPI_COMM_SELF nothing at all.
 */
MPI_Comm cm_own_comm = MPI_COMM_NULL;

static atomic_ullong driven_ns;

int cm_progress_init(int rank, int ranks)
{
	MPI_Request request;
	int err;

	err = PMPI_Comm_idup(MPI_COMM_WORLD, &cm_own_comm, &request);
	if (!err)
		err = cm_await_below(&request, "the first step", rank, ranks);
	return err ? err : PMPI_Comm_set_errhandler(cm_own_comm, MPI_ERRORS_RETURN);
}

void cm_progress_exit(void)
{
	if (cm_own_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&cm_own_comm);
}

void cm_drive(void)
{
	int found;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, cm_own_comm, &found, MPI_STATUS_IGNORE);
}

void cm_drive_sometimes(__u64 now_ns)
{
	if (now_ns < atomic_load_explicit(&driven_ns, memory_order_relaxed) + DRIVE_AGAIN_NS)
		return;
	atomic_store_explicit(&driven_ns, now_ns, memory_order_relaxed);
	cm_drive();
}

/* Did a socket wake us only to say that its group has failed, as it will each time? */
static bool woken_for_nothing(const struct pollfd *sockets, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (sockets[i].revents & POLLIN)
			return false;
	return true;
}

void cm_pace_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count)
{
	struct timespec nap = { .tv_nsec = SHORTEST_NAP_NS };

	if (pace->naps < MOST_DOUBLINGS)
		nap.tv_nsec <<= pace->naps++;
	else
		nap.tv_nsec = LONGEST_NAP_NS;
	if (ppoll(sockets, count, &nap, NULL) > 0 && woken_for_nothing(sockets, count))
		nanosleep(&nap, NULL);
}

int cm_await_below(MPI_Request *request, const char *what, int rank, int ranks)
{
	__u64 suspicious = cm_now_ns() + SUSPICIOUS_S * CM_NS_PER_S;
	struct cm_pace pace = { };
	int done, err;

	for (;;) {
		err = below.Test(request, &done, MPI_STATUS_IGNORE);
		if (err || done)
			return err;
		cm_pace_sleep(&pace, NULL, 0);
		if (suspicious && cm_now_ns() >= suspicious) {
			fprintf(stderr,
				"collsock: rank %d waits for %s of %d ranks since %d s. Is this library preloaded in all of them?\n",
				rank, what, ranks, SUSPICIOUS_S);
			suspicious = 0;
		}
	}
}
