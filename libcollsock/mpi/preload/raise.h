/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_MPI_RAISE_H
#define COLLSOCK_MPI_RAISE_H

#include <mpi.h>

/*
 * If @code is an error, call the communicator's error handler. Returns what the MPI call must
 * return. For a communicator that has been freed (MPI_COMM_NULL) the handler of
 * MPI_COMM_WORLD is called.
 */
int cm_raise(MPI_Comm handle, int code);

#endif
