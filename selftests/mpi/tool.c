// SPDX-License-Identifier: GPL-2.0
/*
 * A profiling tool: its functions MPI_X count calls and call PMPI_X. At the end rank 0 prints
 * the counts.
 */
#include <stdio.h>

#include <mpi.h>

static long barriers, allreduces, iallreduces, waits;

int MPI_Barrier(MPI_Comm comm)
{
	barriers++;
	return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
		  MPI_Comm comm)
{
	allreduces++;
	return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Iallreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
		   MPI_Comm comm, MPI_Request *request)
{
	iallreduces++;
	return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	waits++;
	return PMPI_Wait(request, status);
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		printf("tool: %ld barriers, %ld allreduces, %ld iallreduces, %ld waits\n",
		       barriers, allreduces, iallreduces, waits);
	return PMPI_Finalize();
}
