// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "functions.h"
#include "probe.h"
#include "progress.h"
#include "underlying.h"

/*
 * Nothing is ever sent over it, and errors on it are returned. On other communicators MPICH
 * makes no progress if there is a message that the program has not received yet, and on
 * MPI_COMM_SELF none at all.
 */
static MPI_Comm probe_comm = MPI_COMM_NULL;

int cm_probe_init(int rank, int ranks)
{
	MPI_Request request;
	int err;

	err = PMPI_Comm_idup(MPI_COMM_WORLD, &probe_comm, &request);
	if (!err)
		err = cm_progress_await(&request, "the first step", rank, ranks);
	return err ? err : PMPI_Comm_set_errhandler(probe_comm, MPI_ERRORS_RETURN);
}

void cm_probe_exit(void)
{
	if (probe_comm != MPI_COMM_NULL)
		cm_functions.Comm_free(&probe_comm);
}

void cm_underlying_progress(void)
{
	int found;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, probe_comm, &found, MPI_STATUS_IGNORE);
}

int cm_underlying_pack(const void *element, MPI_Datatype type, void *packed, int bytes)
{
	int position = 0;

	return PMPI_Pack(element, 1, type, packed, bytes, &position, probe_comm);
}

int cm_underlying_unpack(const void *packed, int bytes, void *element, MPI_Datatype type)
{
	int position = 0;

	return PMPI_Unpack(packed, bytes, &position, element, 1, type, probe_comm);
}
