// SPDX-License-Identifier: GPL-2.0
/*
 * nonblocking TIMES: every nonblocking collective of one int (of rank 0 two, in an allgatherv),
 * that many times on MPI_COMM_WORLD, after a barrier; all of one time are under way together.
 */
#include <stdlib.h>

#include "common.h"

#define MOST_RANKS 64

enum {
	BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLGATHERV, GATHER, SCATTER,
	REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, FORMS
};

static int own[FORMS][MOST_RANKS], all[FORMS][MOST_RANKS];
static int counts[MOST_RANKS], places[MOST_RANKS];
static MPI_Request requests[FORMS];
static MPI_Status statuses[FORMS];

static void fill(int time)
{
	int form, i;

	for (form = 0; form < FORMS; form++)
		for (i = 0; i < MOST_RANKS; i++) {
			own[form][i] = time + form + world_rank + i;
			all[form][i] = -1;
		}
	for (i = 0; i < MOST_RANKS; i++) {
		counts[i] = i ? 1 : 2;
		places[i] = i ? i + 1 : 0;
	}
}

#define START(call, form, ...) \
	CHECK_MPI(call(__VA_ARGS__, MPI_COMM_WORLD, &requests[form]))

static void start_all(void)
{
	CHECK_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &requests[BARRIER]));
	START(MPI_Ibcast, BCAST, world_rank ? all[BCAST] : own[BCAST], 1, MPI_INT, 0);
	START(MPI_Ireduce, REDUCE, own[REDUCE], all[REDUCE], 1, MPI_INT, MPI_SUM, 0);
	START(MPI_Iallreduce, ALLREDUCE, own[ALLREDUCE], all[ALLREDUCE], 1, MPI_INT, MPI_SUM);
	START(MPI_Iallgather, ALLGATHER, own[ALLGATHER], 1, MPI_INT, all[ALLGATHER], 1, MPI_INT);
	START(MPI_Iallgatherv, ALLGATHERV, own[ALLGATHERV], counts[world_rank], MPI_INT,
	      all[ALLGATHERV], counts, places, MPI_INT);
	START(MPI_Igather, GATHER, own[GATHER], 1, MPI_INT, all[GATHER], 1, MPI_INT, 0);
	START(MPI_Iscatter, SCATTER, own[SCATTER], 1, MPI_INT, all[SCATTER], 1, MPI_INT, 0);
	START(MPI_Ireduce_scatter_block, REDUCE_SCATTER_BLOCK, own[REDUCE_SCATTER_BLOCK],
	      all[REDUCE_SCATTER_BLOCK], 1, MPI_INT, MPI_SUM);
	START(MPI_Iscan, SCAN, own[SCAN], all[SCAN], 1, MPI_INT, MPI_SUM);
	START(MPI_Iexscan, EXSCAN, own[EXSCAN], all[EXSCAN], 1, MPI_INT, MPI_SUM);
}

static void expect(int form, int index, int wanted)
{
	if (all[form][index] != wanted)
		fail("form %d: %d at %d, not %d", form, all[form][index], index, wanted);
}

/* Of what the first ranks contribute, at one place */
static int sum_of(int form, int ranks, int time, int place)
{
	return ranks * (time + form + place) + ranks * (ranks - 1) / 2;
}

static void check_all(int time)
{
	int i;

	if (world_rank) {
		expect(BCAST, 0, time + BCAST);
		expect(EXSCAN, 0, sum_of(EXSCAN, world_rank, time, 0));
	} else {
		expect(REDUCE, 0, sum_of(REDUCE, world_size, time, 0));
	}
	expect(ALLREDUCE, 0, sum_of(ALLREDUCE, world_size, time, 0));
	for (i = 0; i < world_size; i++) {
		expect(ALLGATHER, i, time + ALLGATHER + i);
		expect(ALLGATHERV, places[i], time + ALLGATHERV + i);
		if (!world_rank)
			expect(GATHER, i, time + GATHER + i);
	}
	expect(ALLGATHERV, 1, time + ALLGATHERV + 1);
	expect(SCATTER, 0, time + SCATTER + world_rank);
	expect(REDUCE_SCATTER_BLOCK, 0,
	       sum_of(REDUCE_SCATTER_BLOCK, world_size, time, world_rank));
	expect(SCAN, 0, sum_of(SCAN, world_rank + 1, time, 0));
}

int main(int argc, char **argv)
{
	int times, time;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	if (argc != 2 || world_size >= MOST_RANKS)
		fail("usage: nonblocking TIMES");
	times = atoi(argv[1]);
	CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
	for (time = 0; time < times; time++) {
		fill(time);
		start_all();
		CHECK_MPI(MPI_Waitall(FORMS, requests, statuses));
		check_all(time);
	}
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
