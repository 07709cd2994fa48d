// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "comm.h"
#include "functions.h"
#include "underlying.h"

int cm_underlying_broadcast(const struct cm_comm *c, void *buffer, int bytes,
			    MPI_Request *request)
{
	return cm_functions.Ibcast(buffer, bytes, MPI_BYTE, 0, c->handle, request);
}

int cm_underlying_allgather(const struct cm_comm *c, const void *own, int bytes, void *all)
{
	return cm_functions.Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, c->handle);
}

int cm_underlying_test(MPI_Request *request, int *done)
{
	return cm_functions.Test(request, done, MPI_STATUS_IGNORE);
}

void cm_underlying_abort(MPI_Comm comm, int status)
{
	PMPI_Abort(comm, status);
}

bool cm_underlying_has_record(MPI_Datatype type)
{
	(void)type;
	return true;
}

int cm_underlying_hindexed(int blocks, const int counts[], const MPI_Aint places[],
			   MPI_Datatype of, MPI_Datatype *type)
{
	return PMPI_Type_create_hindexed(blocks, counts, places, of, type);
}
