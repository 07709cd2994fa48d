// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "below.h"
#include "comm.h"
#include "progress.h"

#define SHORTEST_NAP_NS	50000L
#define LONGEST_NAP_NS	1000000L
#define MOST_DOUBLINGS	5
#define SUSPICIOUS_S	30
#define DRIVE_AGAIN_NS	1000000ULL
#define NS_PER_S	1000000000ULL

static atomic_ullong driven_ns;

/*
 * A communicator of all ranks over which nobody ever sends. MPICH looks for messages to
 * oneself only on MPI_COMM_SELF, and drives nothing where it finds one that the program
 * has not received yet.
 */
static MPI_Comm quiet = MPI_COMM_NULL;

int cm_progress_init(void)
{
	return PMPI_Comm_dup(MPI_COMM_WORLD, &quiet);
}

void cm_progress_exit(void)
{
	if (quiet != MPI_COMM_NULL)
		PMPI_Comm_free(&quiet);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

void cm_drive(void)
{
	int found;

	cm_inside++;
	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, quiet, &found, MPI_STATUS_IGNORE);
	cm_inside--;
}

void cm_drive_sometimes(uint64_t now_ns)
{
	if (now_ns < atomic_load_explicit(&driven_ns, memory_order_relaxed) + DRIVE_AGAIN_NS)
		return;
	atomic_store_explicit(&driven_ns, now_ns, memory_order_relaxed);
	cm_drive();
}

void cm_pace_sleep(struct cm_pace *pace, struct pollfd *sockets, unsigned int count)
{
	struct timespec nap = { .tv_nsec = SHORTEST_NAP_NS };

	if (pace->naps < MOST_DOUBLINGS)
		nap.tv_nsec <<= pace->naps++;
	else
		nap.tv_nsec = LONGEST_NAP_NS;
	ppoll(sockets, count, &nap, NULL);
}

int cm_await_below(MPI_Request *request, const char *what, int rank, int ranks)
{
	uint64_t suspicious = now() + SUSPICIOUS_S * NS_PER_S;
	struct cm_pace pace = { };
	int done, err;

	cm_inside++;
	for (;;) {
		err = below.Test(request, &done, MPI_STATUS_IGNORE);
		if (err || done)
			break;
		cm_pace_sleep(&pace, NULL, 0);
		if (suspicious && now() >= suspicious) {
			fprintf(stderr,
				"collsock: rank %d waits for %s of %d ranks since %d s. Is this library preloaded in all of them?\n",
				rank, what, ranks, SUSPICIOUS_S);
			suspicious = 0;
		}
	}
	cm_inside--;
	return err;
}
