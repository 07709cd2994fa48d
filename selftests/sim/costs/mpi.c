// SPDX-License-Identifier: GPL-2.0
/*
 * mpi: cost of calls of an MPI that do not wait, in ns, as one JSON object: a message to
 * itself, and, of two ranks, the reduce of the one that receives no result.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#define CALLS 301
#define WARM_UP 20
#define TAG 1
#define NS_PER_SECOND 1e9

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double median(double *ns)
{
	qsort(ns, CALLS, sizeof(*ns), compare);
	return ns[CALLS / 2];
}

int main(int argc, char **argv)
{
	const struct sched_param equal = { };
	double clock[CALLS], to_self[CALLS], reduce[CALLS], one = 1, sum, begin;
	int i, at, rank, size;

	/* A woken process waits for its turn */
	sched_setscheduler(0, SCHED_BATCH, &equal);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (i = -WARM_UP; i < CALLS; i++) {
		at = i < 0 ? 0 : i;
		begin = MPI_Wtime();
		clock[at] = (MPI_Wtime() - begin) * NS_PER_SECOND;
		begin = MPI_Wtime();
		MPI_Sendrecv(NULL, 0, MPI_BYTE, rank, TAG, NULL, 0, MPI_BYTE, rank, TAG,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		to_self[at] = (MPI_Wtime() - begin) * NS_PER_SECOND;
		begin = MPI_Wtime();
		MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
		reduce[at] = (MPI_Wtime() - begin) * NS_PER_SECOND;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == size - 1)
		printf("{\"to_self\": %.1f, \"reduce\": %.1f}\n",
		       median(to_self) - median(clock), median(reduce));
	MPI_Finalize();
	return 0;
}
