/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Collectives with a block for each rank, as collectives.h: true if the call has been handled.
 */
#ifndef COLLSOCK_MPI_BLOCKS_H
#define COLLSOCK_MPI_BLOCKS_H

#include <stdbool.h>

#include <mpi.h>

#include "comm.h"

/**
 * struct cm_blocks - arguments of a call of MPI
 * @from: what this rank sends, or MPI_IN_PLACE
 * @from_count: number of elements
 * @from_type: of each
 * @to: where it receives
 * @to_count: number of elements
 * @to_type: of each
 */
struct cm_blocks {
	const void	*from;
	MPI_Count	from_count;
	MPI_Datatype	from_type;
	void		*to;
	MPI_Count	to_count;
	MPI_Datatype	to_type;
};

/**
 * struct cm_places - the blocks of an allgather, one for each rank
 * @counts: numbers of elements, int or MPI_Count
 * @places: distances from the buffer in elements, int or MPI_Aint
 * @large: they are the latter
 */
struct cm_places {
	const void	*counts;
	const void	*places;
	bool		large;
};

bool cm_blocks_allgather(const struct cm_blocks *b, struct cm_comm *c, enum cm_call call,
			 MPI_Request *request, int *err);
/* @b->to_count is not used. */
bool cm_blocks_allgatherv(const struct cm_blocks *b, const struct cm_places *places,
			  struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err);
bool cm_blocks_gather(const struct cm_blocks *b, int root, struct cm_comm *c, enum cm_call call,
		      MPI_Request *request, int *err);
bool cm_blocks_scatter(const struct cm_blocks *b, int root, struct cm_comm *c, enum cm_call call,
		       MPI_Request *request, int *err);
bool cm_blocks_reduce_scatter(const void *from, void *to, MPI_Count count,
			      MPI_Datatype datatype, MPI_Op op, struct cm_comm *c,
			      enum cm_call call, MPI_Request *request, int *err);

#endif
