/* SPDX-License-Identifier: GPL-2.0 */
/* One collective operation on one communicator, from its making to the check of its result. */
#ifndef MPI_TEST_OPERATION_H
#define MPI_TEST_OPERATION_H

#include "blocks.h"
#include "communicators.h"
#include "elements.h"
#include "layouts.h"
#include "operators.h"

enum operation_kind {
	KIND_BARRIER,
	KIND_BCAST,
	KIND_REDUCE,
	KIND_ALLREDUCE,
	KIND_SCAN,
	KIND_EXSCAN,
	KIND_REDUCE_SCATTER_BLOCK,
	KIND_BLOCKS,			/* as blocks.h says */
	KINDS_OF_OPERATIONS = KIND_BLOCKS + KINDS_OF_BLOCKS,
};

struct operation {
	enum operation_kind kind;
	const struct communicator *communicator;
	bool is_nonblocking;
	bool in_place;
	int root;			/* its rank, in half root_half if there are two */
	int root_half;
	unsigned int count;		/* of elements; in a reduce_scatter_block of a block */
	unsigned int vector;		/* of elements in all blocks */
	__u64 seed;
	const struct element *element;	/* NULL: an operator of its own */
	const struct reducer *reducer;
	struct own_operator own;
	bool own_kept;			/* not freed yet */
	struct layout layout;		/* of a broadcast */
	struct blocks blocks;
	void *send, *receive;
	size_t bytes;			/* of a reduction's buffers, without their fence */
	MPI_Request request;
};

/* Only operations in which each rank has a block or a prefix, where there are such */
extern bool operations_are_own;

/*
 * Chooses all parameters: the first random numbers are the same on all ranks, the others
 * are specific to this rank.
 */
void operation_make(struct operation *operation, const struct communicator *communicator,
		    struct random *common, struct random *own);

/*
 * Posts it; a blocking one is complete then. Handles that MPI does not need until
 * completion are freed here.
 */
void operation_post(struct operation *operation, struct random *own);

/* Fails when the result is not right, and frees everything. */
void operation_check(struct operation *operation);

#endif
