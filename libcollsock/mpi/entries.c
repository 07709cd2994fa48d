// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The collectives that may be taken, each under both names. */
#include <stddef.h>

#include "below.h"
#include "collectives.h"
#include "export.h"

static int barrier(MPI_Comm comm)
{
	int err;

	return cm_barrier_taken(comm, CM_BARRIER, NULL, &err) ? err : below.Barrier(comm);
}

static int ibarrier(MPI_Comm comm, MPI_Request *request)
{
	int err;

	return cm_barrier_taken(comm, CM_IBARRIER, request, &err) ? err :
	       below.Ibarrier(comm, request);
}

CM_EXPORT(Barrier, (MPI_Comm comm), (comm), barrier)
CM_EXPORT(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), ibarrier)

/* A function with a request or without, for counts of one width. */
#define COLLECTIVE(name, parameters, arguments, taken) \
	static int serve_##name parameters \
	{ \
		int err; \
		return taken ? err : below.name arguments; \
	} \
	CM_EXPORT(name, parameters, arguments, serve_##name)

#define COLLECTIVES(suffix, number) \
	COLLECTIVE(Bcast##suffix, \
		   (void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm), \
		   (buffer, count, type, root, comm), \
		   cm_bcast_taken(buffer, count, type, root, comm, CM_BCAST, NULL, &err)) \
	COLLECTIVE(Ibcast##suffix, \
		   (void *buffer, number count, MPI_Datatype type, int root, MPI_Comm comm, \
		    MPI_Request *request), \
		   (buffer, count, type, root, comm, request), \
		   cm_bcast_taken(buffer, count, type, root, comm, CM_IBCAST, request, &err)) \
	COLLECTIVE(Reduce##suffix, \
		   (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
		    int root, MPI_Comm comm), \
		   (from, to, count, type, op, root, comm), \
		   cm_reduction_taken(from, to, count, type, op, root, comm, CM_REDUCE, NULL, &err)) \
	COLLECTIVE(Ireduce##suffix, \
		   (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
		    int root, MPI_Comm comm, MPI_Request *request), \
		   (from, to, count, type, op, root, comm, request), \
		   cm_reduction_taken(from, to, count, type, op, root, comm, CM_IREDUCE, request, \
				   &err)) \
	COLLECTIVE(Allreduce##suffix, \
		   (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
		    MPI_Comm comm), \
		   (from, to, count, type, op, comm), \
		   cm_reduction_taken(from, to, count, type, op, 0, comm, CM_ALLREDUCE, NULL, &err)) \
	COLLECTIVE(Iallreduce##suffix, \
		   (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
		    MPI_Comm comm, MPI_Request *request), \
		   (from, to, count, type, op, comm, request), \
		   cm_reduction_taken(from, to, count, type, op, 0, comm, CM_IALLREDUCE, request, \
				   &err))

COLLECTIVES(, int)
#if CM_LARGE_COUNTS
COLLECTIVES(_c, MPI_Count)
#endif
