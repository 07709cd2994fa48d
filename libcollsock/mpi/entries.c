// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Exports the collectives that may be taken. */
#include <stddef.h>

#include "blocks.h"
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

/* @taken is the function of collectives.h or blocks.h. */
#define ENTRY(name, parameters, arguments, taken) \
	static int entry_##name parameters \
	{ \
		int err; \
		return taken ? err : cm_underlying.name arguments; \
	} \
	CM_EXPORT(name, parameters, arguments, entry_##name)

#define ENTRIES(suffix, number) \
	ENTRY(Scan##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm), \
	      (from, to, count, type, op, comm), \
	      cm_collective_scan(from, to, count, type, op, comm, CM_SCAN, NULL, \
				 &err)) \
	ENTRY(Exscan##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm), \
	      (from, to, count, type, op, comm), \
	      cm_collective_scan(from, to, count, type, op, comm, CM_EXSCAN, NULL, \
				 &err)) \
	ENTRY(Iscan##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm, MPI_Request *request), \
	      (from, to, count, type, op, comm, request), \
	      cm_collective_scan(from, to, count, type, op, comm, CM_ISCAN, request, \
				 &err)) \
	ENTRY(Iexscan##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm, MPI_Request *request), \
	      (from, to, count, type, op, comm, request), \
	      cm_collective_scan(from, to, count, type, op, comm, CM_IEXSCAN, request, \
				 &err)) \
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

/* ---- with a block for each rank ---- */

#define BLOCKS (&(struct cm_blocks){ from, from_count, from_type, to, to_count, to_type })
#define BLOCKS_V (&(struct cm_blocks){ from, from_count, from_type, to, 0, to_type })
#define PLACES (&(struct cm_places){ counts, places, sizeof(*(counts)) > sizeof(int) })

#define BLOCK_ENTRIES(suffix, number, place) \
	ENTRY(Allgather##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, MPI_Comm comm), \
	      (from, from_count, from_type, to, to_count, to_type, comm), \
	      cm_blocks_allgather(BLOCKS, comm, CM_ALLGATHER, NULL, &err)) \
	ENTRY(Allgatherv##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       const number counts[], const place places[], MPI_Datatype to_type, \
	       MPI_Comm comm), \
	      (from, from_count, from_type, to, counts, places, to_type, comm), \
	      cm_blocks_allgatherv(BLOCKS_V, PLACES, comm, CM_ALLGATHERV, NULL, &err)) \
	ENTRY(Gather##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, int root, MPI_Comm comm), \
	      (from, from_count, from_type, to, to_count, to_type, root, comm), \
	      cm_blocks_gather(BLOCKS, root, comm, CM_GATHER, NULL, &err)) \
	ENTRY(Scatter##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, int root, MPI_Comm comm), \
	      (from, from_count, from_type, to, to_count, to_type, root, comm), \
	      cm_blocks_scatter(BLOCKS, root, comm, CM_SCATTER, NULL, &err)) \
	ENTRY(Reduce_scatter_block##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm), \
	      (from, to, count, type, op, comm), \
	      cm_blocks_reduce_scatter(from, to, count, type, op, comm, \
				       CM_REDUCE_SCATTER_BLOCK, NULL, &err)) \
	ENTRY(Iallgather##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request), \
	      (from, from_count, from_type, to, to_count, to_type, comm, request), \
	      cm_blocks_allgather(BLOCKS, comm, CM_IALLGATHER, request, &err)) \
	ENTRY(Iallgatherv##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       const number counts[], const place places[], MPI_Datatype to_type, \
	       MPI_Comm comm, MPI_Request *request), \
	      (from, from_count, from_type, to, counts, places, to_type, comm, request), \
	      cm_blocks_allgatherv(BLOCKS_V, PLACES, comm, CM_IALLGATHERV, request, &err)) \
	ENTRY(Igather##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, int root, MPI_Comm comm, \
	       MPI_Request *request), \
	      (from, from_count, from_type, to, to_count, to_type, root, comm, request), \
	      cm_blocks_gather(BLOCKS, root, comm, CM_IGATHER, request, &err)) \
	ENTRY(Iscatter##suffix, \
	      (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	       number to_count, MPI_Datatype to_type, int root, MPI_Comm comm, \
	       MPI_Request *request), \
	      (from, from_count, from_type, to, to_count, to_type, root, comm, request), \
	      cm_blocks_scatter(BLOCKS, root, comm, CM_ISCATTER, request, &err)) \
	ENTRY(Ireduce_scatter_block##suffix, \
	      (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, \
	       MPI_Comm comm, MPI_Request *request), \
	      (from, to, count, type, op, comm, request), \
	      cm_blocks_reduce_scatter(from, to, count, type, op, comm, \
				       CM_IREDUCE_SCATTER_BLOCK, request, &err))

ENTRIES(, int)
BLOCK_ENTRIES(, int, int)
#if CM_LARGE_COUNTS
ENTRIES(_c, MPI_Count)
BLOCK_ENTRIES(_c, MPI_Count, MPI_Aint)
#endif
