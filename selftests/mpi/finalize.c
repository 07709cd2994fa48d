// SPDX-License-Identifier: GPL-2.0
/*
 * A rank that has done its part of a reduction or broadcast may finalize MPI at once: the
 * others finish later and lose no data.
 *
 *	finalize [--rounds N]
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"

#define PAUSE_US 300000

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rounds", required_argument, NULL, 'r' },
		{ }
	};
	int rounds = 100, i, option;
	long long sum = 0, value;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'r')
			fail("usage: finalize [--rounds N]");
		rounds = atoi(optarg);
	}
	/* Rank 0 is late for the reductions, and the last rank for the broadcasts */
	if (!world_rank)
		usleep(PAUSE_US);
	for (i = 0; i < rounds; i++) {
		value = (long long)(world_rank + 1) * i;
		CHECK_MPI(MPI_Reduce(&value, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
		if (!world_rank && sum != (long long)world_size * (world_size + 1) / 2 * i)
			fail("the sum of round %d is %lld", i, sum);
	}
	if (world_rank && world_rank == world_size - 1)
		usleep(PAUSE_US);
	for (i = 0; i < rounds; i++) {
		value = world_rank ? 0 : 5LL * i;
		CHECK_MPI(MPI_Bcast(&value, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
		if (value != 5LL * i)
			fail("the value of round %d is %lld", i, value);
	}
	if (!world_rank)
		usleep(PAUSE_US);
	for (i = 0; i < rounds; i++) {
		value = 1;
		CHECK_MPI(MPI_Reduce(&value, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
		if (!world_rank && sum != world_size)
			fail("the sum of round %d is %lld", i, sum);
	}
	MPI_Finalize();
	/* What was under way may end later than MPI does. */
	usleep(PAUSE_US);
	if (!world_rank)
		printf("PASS\n");
	return EXIT_SUCCESS;
}
