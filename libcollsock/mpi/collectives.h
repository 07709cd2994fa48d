/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A collective call of the program, with the arguments of MPI and the state of its
 * communicator, or NULL if that is not ours. Returns true if it has been handled, with an
 * MPI error code in @err, for which no error handler was called; false if it is to be passed
 * on. @request is NULL for blocking calls.
 */
#ifndef COLLSOCK_MPI_COLLECTIVES_H
#define COLLSOCK_MPI_COLLECTIVES_H

#include <stdbool.h>

#include <mpi.h>

#include "comm.h"

bool cm_collective_barrier(struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err);
bool cm_collective_bcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
			 struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err);
/* @root is 0 if all ranks receive the result. */
bool cm_collective_reduction(const void *from, void *to, MPI_Count count,
			     MPI_Datatype datatype, MPI_Op op, int root, struct cm_comm *c,
			     enum cm_call call, MPI_Request *request, int *err);

/* The first rank receives nothing of an exscan. */
bool cm_collective_scan(const void *from, void *to, MPI_Count count, MPI_Datatype datatype,
			MPI_Op op, struct cm_comm *c, enum cm_call call, MPI_Request *request,
			int *err);

#endif
