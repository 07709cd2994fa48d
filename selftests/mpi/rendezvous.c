// SPDX-License-Identifier: GPL-2.0
/*
 * A long message needs its sender until it is delivered, but the sender is in a collective
 * operation that the receiver enters only after receiving it: MPI must progress messages in
 * collectives. Tried with each operation, blocking and not, and with long messages to and
 * from rank 0.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define LONG_BYTES 0x100000
#define TAG 3
#define OPERATIONS 4

static const char *const names[OPERATIONS] = { "barrier", "bcast", "reduce", "allreduce" };

/* Rank 1 is the root: the others need it to complete, or it needs them. */
static void collective(int operation, bool nonblocking)
{
	int value = world_rank == 1 ? 77 : world_rank, result = -1;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Comm comm = MPI_COMM_WORLD;

	if (operation == 0 && nonblocking)
		CHECK_MPI(MPI_Ibarrier(comm, &request));
	else if (operation == 0)
		CHECK_MPI(MPI_Barrier(comm));
	else if (operation == 1 && nonblocking)
		CHECK_MPI(MPI_Ibcast(&value, 1, MPI_INT, 1, comm, &request));
	else if (operation == 1)
		CHECK_MPI(MPI_Bcast(&value, 1, MPI_INT, 1, comm));
	else if (operation == 2 && nonblocking)
		CHECK_MPI(MPI_Ireduce(&value, &result, 1, MPI_INT, MPI_MAX, 1, comm, &request));
	else if (operation == 2)
		CHECK_MPI(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_MAX, 1, comm));
	else if (nonblocking)
		CHECK_MPI(MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_MAX, comm, &request));
	else
		CHECK_MPI(MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_MAX, comm));
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (operation == 1 && value != 77)
		fail("bcast: the value is %d", value);
	if ((operation == 3 || (operation == 2 && world_rank == 1)) && result != 77)
		fail("%s: the result is %d", names[operation], result);
}

static void fill(unsigned char *bytes, int seed)
{
	int i;

	for (i = 0; i < LONG_BYTES; i++)
		bytes[i] = i * 7 + seed;
}

static void check(const unsigned char *bytes, int seed)
{
	int i;

	for (i = 0; i < LONG_BYTES; i++)
		if (bytes[i] != (unsigned char)(i * 7 + seed))
			fail("byte %d of the message is wrong", i);
}

/* Rank 0 only begins the message; rank 1 completes it before it enters the collective. */
static void one_turn(int operation, bool nonblocking, bool sends, unsigned char *bytes)
{
	MPI_Request request = MPI_REQUEST_NULL;

	if (!world_rank && sends) {
		fill(bytes, operation);
		CHECK_MPI(MPI_Isend(bytes, LONG_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request));
	} else if (!world_rank) {
		CHECK_MPI(MPI_Irecv(bytes, LONG_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request));
	} else if (world_rank == 1 && sends) {
		CHECK_MPI(MPI_Recv(bytes, LONG_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
				   MPI_STATUS_IGNORE));
	} else if (world_rank == 1) {
		fill(bytes, operation);
		CHECK_MPI(MPI_Send(bytes, LONG_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
	}
	collective(operation, nonblocking);
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (world_rank == sends)
		check(bytes, operation);
}

int main(int argc, char **argv)
{
	unsigned char *bytes;
	int operation, variant;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	bytes = allocate(LONG_BYTES);
	if (world_size < 2)
		fail("needs two ranks");
	for (operation = 0; operation < OPERATIONS; operation++)
		for (variant = 0; variant < 4; variant++)
			one_turn(operation, variant & 2, !(variant & 1), bytes);
	free(bytes);
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
