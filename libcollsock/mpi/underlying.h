/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Functions of the underlying MPI besides PMPI_X: preload/ supplies them with the functions
 * that it interposes, component/ with those of the module before it. Collectives never come
 * back here. Functions that return an int return an MPI error code.
 */
#ifndef COLLSOCK_MPI_UNDERLYING_H
#define COLLSOCK_MPI_UNDERLYING_H

#include <stdbool.h>

#include <mpi.h>

struct cm_comm;

/*
 * Collectives of all ranks of the communicator, which block: nonblocking ones would mix with
 * those that Open MPI makes at any time to duplicate a communicator.
 */
int cm_underlying_allgather(const struct cm_comm *c, const void *own, int bytes, void *all);

/* In MPI_Init; not all ranks may answer. */
int cm_underlying_broadcast(const struct cm_comm *c, void *buffer, int bytes,
			    MPI_Request *request);
int cm_underlying_test(MPI_Request *request, int *done);

/* Let it make progress. */
void cm_underlying_progress(void);

/* End the program; may return before it has ended. */
void cm_underlying_abort(MPI_Comm comm, int status);

/*
 * Does MPI have a record of how a datatype was made? Those that Open MPI makes for itself have no
 * record, and MPI_Type_get_envelope and MPI_Type_create_hindexed do not work with them.
 */
bool cm_underlying_has_record(MPI_Datatype type);
int cm_underlying_hindexed(int blocks, const int counts[], const MPI_Aint places[],
			   MPI_Datatype of, MPI_Datatype *type);

/* An element to bytes, and back. Errors call none of the program's error handlers. */
int cm_underlying_pack(const void *element, MPI_Datatype type, void *packed, int bytes);
int cm_underlying_unpack(const void *packed, int bytes, void *element, MPI_Datatype type);

#endif
