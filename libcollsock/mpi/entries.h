/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The collectives with data that may be handled, in their blocking and their nonblocking form.
 *
 *	X(Name, name, NAME, parameters, arguments, function, its arguments)
 *
 * MPI_Name has these parameters, then a communicator, and MPI_Iname then a request.
 * @function, of collectives.h or blocks.h, has the same arguments or those that follow it, and
 * then the communicator, CM_NAME or CM_INAME, the request and the error code. @number is the
 * type of counts, @place that of distances.
 */
#ifndef COLLSOCK_MPI_ENTRIES_H
#define COLLSOCK_MPI_ENTRIES_H

#include "blocks.h"
#include "collectives.h"

#define CM_ENTRIES(X, number, place) \
	X(Bcast, bcast, BCAST, \
	  (void *buffer, number count, MPI_Datatype type, int root), \
	  (buffer, count, type, root), \
	  cm_collective_bcast, (buffer, count, type, root)) \
	X(Reduce, reduce, REDUCE, \
	  (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op, int root), \
	  (from, to, count, type, op, root), \
	  cm_collective_reduction, (from, to, count, type, op, root)) \
	X(Allreduce, allreduce, ALLREDUCE, \
	  (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op), \
	  (from, to, count, type, op), \
	  cm_collective_reduction, (from, to, count, type, op, 0)) \
	X(Scan, scan, SCAN, \
	  (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op), \
	  (from, to, count, type, op), \
	  cm_collective_scan, (from, to, count, type, op)) \
	X(Exscan, exscan, EXSCAN, \
	  (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op), \
	  (from, to, count, type, op), \
	  cm_collective_scan, (from, to, count, type, op)) \
	X(Allgather, allgather, ALLGATHER, \
	  (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	   number to_count, MPI_Datatype to_type), \
	  (from, from_count, from_type, to, to_count, to_type), \
	  cm_blocks_allgather, (CM_ENTRY_BLOCKS(to_count))) \
	X(Allgatherv, allgatherv, ALLGATHERV, \
	  (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	   const number counts[], const place places[], MPI_Datatype to_type), \
	  (from, from_count, from_type, to, counts, places, to_type), \
	  cm_blocks_allgatherv, (CM_ENTRY_BLOCKS(0), CM_ENTRY_PLACES)) \
	X(Gather, gather, GATHER, \
	  (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	   number to_count, MPI_Datatype to_type, int root), \
	  (from, from_count, from_type, to, to_count, to_type, root), \
	  cm_blocks_gather, (CM_ENTRY_BLOCKS(to_count), root)) \
	X(Scatter, scatter, SCATTER, \
	  (const void *from, number from_count, MPI_Datatype from_type, void *to, \
	   number to_count, MPI_Datatype to_type, int root), \
	  (from, from_count, from_type, to, to_count, to_type, root), \
	  cm_blocks_scatter, (CM_ENTRY_BLOCKS(to_count), root)) \
	X(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, \
	  (const void *from, void *to, number count, MPI_Datatype type, MPI_Op op), \
	  (from, to, count, type, op), \
	  cm_blocks_reduce_scatter, (from, to, count, type, op))

#define CM_ENTRY_BLOCKS(to_count) \
	(&(struct cm_blocks){ from, from_count, from_type, to, to_count, to_type })
#define CM_ENTRY_PLACES (&(struct cm_places){ counts, places, sizeof(*(counts)) > sizeof(int) })

/* The members of a list in parentheses */
#define CM_ENTRY_LIST(...) __VA_ARGS__

#endif
