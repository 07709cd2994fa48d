// SPDX-License-Identifier: GPL-2.0
/*
 * Spawned programs: collectives in the world of the children, between them and their parents,
 * and of both as one communicator. Run on two hosts or more.
 */
#include <stdio.h>

#include <mpi.h>

#define CHILDREN 2
#define ROUNDS 20

static int failures;

static void expect(const char *what, int wanted, int got)
{
	if (wanted == got)
		return;
	printf("not right: %s is %d instead of %d\n", what, got, wanted);
	failures++;
}

static void work(const char *what, MPI_Comm comm)
{
	int i, rank, size, sum;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (i = 0; i < ROUNDS; i++) {
		int value = rank + i;

		MPI_Barrier(comm);
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
		expect(what, size * (size - 1) / 2 + i * size, sum);
	}
}

/* Each side gets the sum of the other. */
static void work_between(MPI_Comm between, int is_child)
{
	int local, remote, value, sum;

	MPI_Comm_size(between, &local);
	MPI_Comm_remote_size(between, &remote);
	value = is_child ? 1 : 10;
	MPI_Barrier(between);
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
	expect("the sum of the other side", is_child ? 10 * remote : remote, sum);
}

int main(int argc, char **argv)
{
	MPI_Comm parents, between, merged;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parents);
	work("the sum of a world", MPI_COMM_WORLD);
	if (parents == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &between, MPI_ERRCODES_IGNORE);
	else
		between = parents;
	work_between(between, parents != MPI_COMM_NULL);
	MPI_Intercomm_merge(between, parents != MPI_COMM_NULL, &merged);
	work("the sum of both worlds", merged);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&between);
	work("the sum of a world afterwards", MPI_COMM_WORLD);
	if (!rank && parents == MPI_COMM_NULL && !failures)
		printf("PASS\n");
	MPI_Finalize();
	return failures != 0;
}
