/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_MPI_RAISE_H
#define COLLSOCK_MPI_RAISE_H

#include <mpi.h>

/*
 * Call the communicator's error handler; if it has been freed (MPI_COMM_NULL), that of
 * MPI_COMM_WORLD. Returns the return value for the MPI call.
 */
int cm_raise_error(MPI_Comm handle, int code);

/* The same, if @code is an error. */
static inline int cm_raise(MPI_Comm handle, int code)
{
	return code == MPI_SUCCESS ? code : cm_raise_error(handle, code);
}

#endif
