// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "module.h"

#include <opal/runtime/opal_progress.h>
#include <ompi/datatype/ompi_datatype.h>
#include <ompi/runtime/mpiruntime.h>

#include "underlying.h"

int cm_underlying_broadcast(const struct cm_comm *c, void *buffer, int bytes,
			    MPI_Request *request)
{
	const mca_coll_base_comm_coll_t *before = &c->module->before;

	return before->coll_ibcast(buffer, bytes, MPI_BYTE, 0, c->handle, request,
				   before->coll_ibcast_module);
}

int cm_underlying_allgather(const struct cm_comm *c, const void *own, int bytes, void *all)
{
	const mca_coll_base_comm_coll_t *before = &c->module->before;

	return before->coll_allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, c->handle,
				      before->coll_allgather_module);
}

int cm_underlying_test(MPI_Request *request, int *done)
{
	return ompi_request_test(request, done, MPI_STATUS_IGNORE);
}

void cm_underlying_progress(void)
{
	opal_progress();
}

/* PMPI_Abort does not work in MPI_Init. */
void cm_underlying_abort(MPI_Comm comm, int status)
{
	ompi_mpi_abort(comm, status);
}

int cm_underlying_pack(const void *element, MPI_Datatype type, void *packed, int bytes)
{
	return ompi_datatype_sndrcv(element, 1, type, packed, bytes, MPI_PACKED);
}

int cm_underlying_unpack(const void *packed, int bytes, void *element, MPI_Datatype type)
{
	return ompi_datatype_sndrcv(packed, bytes, MPI_PACKED, element, 1, type);
}

bool cm_underlying_has_record(MPI_Datatype type)
{
	return type->args;
}

int cm_underlying_hindexed(int blocks, const int counts[], const MPI_Aint places[],
			   MPI_Datatype of, MPI_Datatype *type)
{
	return ompi_datatype_create_hindexed(blocks, counts, places, of, type);
}
