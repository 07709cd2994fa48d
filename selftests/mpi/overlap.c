// SPDX-License-Identifier: GPL-2.0
/*
 * Does a reduction make progress while no rank calls MPI? All ranks post it, the last one
 * later, and compute; then the first MPI_Test finds it complete, or not.
 *
 *	overlap [--times N] [--delay MS] [--compute MS] [--require]
 *
 * Prints how often it was complete. With --require all compute longer and longer until it
 * is complete on all ranks, because the machine may be busy; the test fails if no time is
 * enough.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"

#define TAG_READY 1
#define TAG_FOUND 2

#define LONGEST 64	/* greatest multiple of the requested computing time */

/* Synchronise by messages, so that there is no other collective operation. */
static void meet(void)
{
	int i;

	if (world_rank) {
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_READY, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	for (i = 1; i < world_size; i++)
		MPI_Recv(NULL, 0, MPI_BYTE, i, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (i = 1; i < world_size; i++)
		MPI_Send(NULL, 0, MPI_BYTE, i, TAG_READY, MPI_COMM_WORLD);
}

static void compute(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		;
}

static int found_at_first_test(double delay, double seconds)
{
	long long contribution = world_rank + 1, sum = 0;
	MPI_Request request;
	int found;

	meet();
	if (world_rank == world_size - 1)
		usleep(delay * 1e6);
	CHECK_MPI(MPI_Iallreduce(&contribution, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD,
				 &request));
	compute(seconds);
	CHECK_MPI(MPI_Test(&request, &found, MPI_STATUS_IGNORE));
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (sum != (long long)world_size * (world_size + 1) / 2)
		fail("the sum is %lld", sum);
	return found;
}

/* The sum over all ranks. */
static int all_found(int found)
{
	int i, other;

	if (world_rank) {
		MPI_Send(&found, 1, MPI_INT, 0, TAG_FOUND, MPI_COMM_WORLD);
		MPI_Recv(&found, 1, MPI_INT, 0, TAG_FOUND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return found;
	}
	for (i = 1; i < world_size; i++) {
		MPI_Recv(&other, 1, MPI_INT, i, TAG_FOUND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		found += other;
	}
	for (i = 1; i < world_size; i++)
		MPI_Send(&found, 1, MPI_INT, i, TAG_FOUND, MPI_COMM_WORLD);
	return found;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "times", required_argument, NULL, 't' },
		{ "delay", required_argument, NULL, 'd' },
		{ "compute", required_argument, NULL, 'c' },
		{ "require", no_argument, NULL, 'r' },
		{ }
	};
	double delay = 0.02, seconds = 0.2;
	int times = 5, found = 0, option, longer, now_found, i;
	bool required = false;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 't')
			times = atoi(optarg);
		else if (option == 'd')
			delay = atof(optarg) / 1000;
		else if (option == 'c')
			seconds = atof(optarg) / 1000;
		else if (option == 'r')
			required = true;
		else
			fail("usage: overlap [--times N] [--delay MS] [--compute MS] [--require]");
	}
	for (i = 0; i < times; i++) {
		longer = 1;
		do {
			now_found = all_found(found_at_first_test(delay, longer * seconds));
			longer *= 2;
		} while (required && now_found != world_size && longer <= LONGEST);
		found += now_found;
	}
	if (!world_rank)
		printf("complete at the first MPI_Test: %d of %d\n", found, times * world_size);
	if (!world_rank && required && found != times * world_size)
		fail("a reduction made no progress while no rank called MPI");
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
