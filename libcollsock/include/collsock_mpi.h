/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Join a group that has the ranks of an MPI communicator. There is no library for this header: it
 * is compiled with the program's own MPI. (libcollsock-mpi(7) is for programs that call MPI only.)
 */
#ifndef COLLSOCK_MPI_H
#define COLLSOCK_MPI_H

#include <errno.h>
#include <limits.h>

#include <collsock.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A collsock_exchange; @comm points to the communicator. */
static inline int collsock_exchange_comm(void *comm, const void *mine, void *all, size_t bytes)
{
	if (bytes > INT_MAX)
		return -E2BIG;
	return MPI_Allgather((void *)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
			     *(MPI_Comm *)comm) == MPI_SUCCESS ? 0 : -EIO;
}

/*
 * collsock_join_with() with an exchange over @comm, an intracommunicator. All its ranks call
 * this, in the order of its other collectives. The socket does not need @comm afterwards.
 */
static inline int collsock_join_comm(struct collsock **joined,
				     const struct collsock_options *options, MPI_Comm comm)
{
	int rank, ranks, inter;

	if (MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
	    MPI_Comm_rank(comm, &rank) != MPI_SUCCESS ||
	    MPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
		return -EINVAL;
	return collsock_join_with(joined, options, (__u32)rank, (__u32)ranks,
				  collsock_exchange_comm, &comm);
}

#ifdef __cplusplus
}
#endif

#endif
