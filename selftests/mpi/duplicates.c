// SPDX-License-Identifier: GPL-2.0
/*
 * duplicates: a communicator is duplicated without blocking, while it is used. Ranks make
 * progress with that between other collectives than others do.
 */
#include <stdlib.h>

#include "common.h"

#define ROUNDS 20
#define CALLS 8		/* of a round */
#define MOST_LOOKS 20

static void add_ones(MPI_Comm comm)
{
	int one = 1, all = -1;

	CHECK_MPI(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
	if (all != world_size)
		fail("the sum is %d", all);
}

/* Each rank looks after the request at another time. */
static void look(MPI_Request *request, int call)
{
	int done, looks = call % world_size == world_rank ? MOST_LOOKS : 0;

	while (looks--)
		CHECK_MPI(MPI_Test(request, &done, MPI_STATUS_IGNORE));
}

static void duplicate(MPI_Comm comm)
{
	MPI_Request request;
	MPI_Comm other;
	int call;

	CHECK_MPI(MPI_Comm_idup(comm, &other, &request));
	for (call = 0; call < CALLS; call++) {
		look(&request, call);
		add_ones(comm);
	}
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	add_ones(other);
	CHECK_MPI(MPI_Comm_free(&other));
}

int main(int argc, char **argv)
{
	MPI_Comm comm;
	int i;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &comm));
	for (i = 0; i < ROUNDS; i++)
		duplicate(i % 2 ? comm : MPI_COMM_WORLD);
	CHECK_MPI(MPI_Comm_free(&comm));
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
