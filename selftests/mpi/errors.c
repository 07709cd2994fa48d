// SPDX-License-Identifier: GPL-2.0
/*
 * Invalid arguments are refused with the error class that MPI specifies, and operations fail
 * after a rank was killed.
 *
 *	errors [--victim RANK [--fatal] | --differ]
 *
 * With a victim each other rank prints the errors it gets, from blocking calls and one that is
 * not, and all end without MPI_Finalize; or errors end the program. The errors are those of a
 * communicator; others are fatal. They end likewise if the root of a gather is to send a
 * shorter block than it receives.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"

#define OPERATIONS_BEFORE 5
#define OPERATIONS_AFTER 3

static void expect_class(const char *call, int result, int wanted)
{
	int class;

	MPI_Error_class(result, &class);
	if (class != wanted)
		fail("%s: class %d of error, not %d", call, class, wanted);
}

#define EXPECT(class, call) expect_class(#call, call, class)

static void refused_arguments(MPI_Comm comm)
{
	int value = 1, result = 0, *blocks = allocate(world_size * sizeof(*blocks));
	MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL;
	MPI_Request request;

	EXPECT(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
	EXPECT(MPI_ERR_COMM, MPI_Comm_free(&none));
	if (!world_rank)
		EXPECT(MPI_ERR_COMM, MPI_Comm_free(&world));
	EXPECT(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, world_size, comm));
	EXPECT(MPI_ERR_ROOT, MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, -9, comm));
	EXPECT(MPI_ERR_COUNT, MPI_Bcast(&value, -1, MPI_INT, 0, comm));
	EXPECT(MPI_ERR_TYPE, MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm));
	EXPECT(MPI_ERR_ROOT, MPI_Gather(&value, 1, MPI_INT, blocks, 1, MPI_INT, -9, comm));
	EXPECT(MPI_ERR_ROOT, MPI_Scatter(blocks, 1, MPI_INT, &value, 1, MPI_INT, -9, comm));
	EXPECT(MPI_ERR_TYPE, MPI_Allgather(&value, 1, MPI_INT, blocks, 1, MPI_DATATYPE_NULL, comm));
	EXPECT(MPI_ERR_COUNT, MPI_Allgather(&value, 1, MPI_INT, blocks, -1, MPI_INT, comm));
	EXPECT(MPI_ERR_ROOT, MPI_Ibcast(&value, 1, MPI_INT, world_size, comm, &request));
#ifdef MPICH_VERSION
	/* Open MPI uses such addresses, and crashes */
	EXPECT(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
	EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(&value, NULL, 1, MPI_INT, MPI_SUM, comm));
	EXPECT(MPI_ERR_BUFFER, MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
#else
	/* MPICH 4.0 writes beyond the end of an array when it reports these errors */
	EXPECT(MPI_ERR_COUNT, MPI_Allreduce(&value, &result, -1, MPI_INT, MPI_SUM, comm));
	EXPECT(MPI_ERR_COUNT, MPI_Reduce_scatter_block(blocks, &result, -1, MPI_INT, MPI_SUM,
						       comm));
	EXPECT(MPI_ERR_OP, MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, comm));
	EXPECT(MPI_ERR_OP, MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, comm,
					  &request));
#endif
	free(blocks);
}

static int next_sum(MPI_Comm comm)
{
	int value = world_rank, sum = -1, result;

	result = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (result == MPI_SUCCESS && sum != world_size * (world_size - 1) / 2)
		fail("the sum is %d", sum);
	return result;
}

static int next_sum_nonblocking(MPI_Comm comm)
{
	int value = world_rank, sum = -1, result;
	MPI_Request request;

	result = MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
}

static void tell(int number, int result)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int class, length;

	MPI_Error_class(result, &class);
	MPI_Error_string(result, text, &length);
	printf("rank %d: operation %d: class %d%s: %s\n", world_rank, number, class,
	       class == MPI_SUCCESS ? " (MPI_SUCCESS)" :
	       class == MPI_ERR_TRUNCATE ? " (MPI_ERR_TRUNCATE)" : "", text);
	fflush(stdout);
}

static int gather_unevenly(MPI_Comm comm)
{
	int value = world_rank, *blocks = allocate(2 * world_size * sizeof(*blocks)), result;

	result = MPI_Gather(&value, 1, MPI_INT, blocks, 2, MPI_INT, 0, comm);
	free(blocks);
	return result;
}

/* The root has left, and waits for messages of those who have learned of it. */
static void await_others(int operation)
{
	int rank;

	for (rank = 1; !world_rank && operation == 0 && rank < world_size; rank++)
		CHECK_MPI(MPI_Recv(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	if (world_rank && operation == 1)
		CHECK_MPI(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "victim", required_argument, NULL, 'v' },
		{ "differ", no_argument, NULL, 'd' },
		{ "fatal", no_argument, NULL, 'f' },
		{ }
	};
	int victim = -1, option, i;
	bool differ = false, fatal = false;
	MPI_Comm comm;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'v')
			victim = atoi(optarg);
		else if (option == 'd')
			differ = true;
		else if (option == 'f')
			fatal = true;
		else
			fail("usage: errors [--victim RANK [--fatal] | --differ]");
	}
	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	if (!fatal)
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	for (i = 0; i < OPERATIONS_BEFORE; i++)
		CHECK_MPI(next_sum(comm));
	if (victim < 0 && !differ) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		CHECK_MPI(next_sum(MPI_COMM_WORLD));
		refused_arguments(comm);
		CHECK_MPI(next_sum(comm));
		CHECK_MPI(next_sum(MPI_COMM_WORLD));
		CHECK_MPI(MPI_Comm_free(&comm));
		pass();
		MPI_Finalize();
		return EXIT_SUCCESS;
	}
	if (world_rank == victim)
		raise(SIGKILL);
	for (i = 0; i < OPERATIONS_AFTER; i++) {
		tell(i, differ && !i ? gather_unevenly(comm) :
			i == 1 ? next_sum_nonblocking(comm) : next_sum(comm));
		if (differ)
			await_others(i);
	}
	_exit(EXIT_SUCCESS);
}
