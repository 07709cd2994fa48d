// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Exports the collectives that may be taken. */
#include <stddef.h>

#include "collectives.h"
#include "export.h"

static int entry_barrier(MPI_Comm comm)
{
	int err;

	return cm_collective_barrier(comm, CM_BARRIER, NULL, &err) ? err :
	       cm_underlying.Barrier(comm);
}

static int entry_ibarrier(MPI_Comm comm, MPI_Request *request)
{
	int err;

	return cm_collective_barrier(comm, CM_IBARRIER, request, &err) ? err :
	       cm_underlying.Ibarrier(comm, request);
}

CM_EXPORT(Barrier, (MPI_Comm comm), (comm), entry_barrier)
CM_EXPORT(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), entry_ibarrier)

/* @taken is the function of collectives.h. */
#define ENTRY(name, parameters, arguments, taken) \
	static int entry_##name parameters \
	{ \
		int err; \
		return taken ? err : cm_underlying.name arguments; \
	} \
	CM_EXPORT(name, parameters, arguments, entry_##name)

#define ENTRIES(suffix, number) \
	ENTRY(Bcast##suffix, \
	      (void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm), \
	      (buffer, count, type, root, comm), \
	      cm_collective_bcast(buffer, count, type, root, comm, CM_BCAST, NULL, &err)) \
	ENTRY(Ibcast##suffix, \
	      (void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm, \
	       MPI_Request *request), \
	      (buffer, count, type, root, comm, request), \
	      cm_collective_bcast(buffer, count, type, root, comm, CM_IBCAST, request, &err)) \
	ENTRY(Reduce##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       int root, MPI_Comm comm), \
	      (from, to, count, type, op, root, comm), \
	      cm_collective_reduction(from, to, count, type, op, root, comm, CM_REDUCE, \
				      NULL, &err)) \
	ENTRY(Ireduce##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       int root, MPI_Comm comm, MPI_Request *request), \
	      (from, to, count, type, op, root, comm, request), \
	      cm_collective_reduction(from, to, count, type, op, root, comm, CM_IREDUCE, \
				      request, &err)) \
	ENTRY(Allreduce##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm), \
	      (from, to, count, type, op, comm), \
	      cm_collective_reduction(from, to, count, type, op, 0, comm, CM_ALLREDUCE, \
				      NULL, &err)) \
	ENTRY(Iallreduce##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm, MPI_Request *request), \
	      (from, to, count, type, op, comm, request), \
	      cm_collective_reduction(from, to, count, type, op, 0, comm, CM_IALLREDUCE, \
				      request, &err))

ENTRIES(, int)
#if CM_LARGE_COUNTS
ENTRIES(_c, MPI_Count)
#endif
