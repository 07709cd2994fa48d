/* SPDX-License-Identifier: GPL-2.0 */
/* An operation that moves blocks: one for each rank, from all ranks, to all, or both. */
#ifndef MPI_TEST_BLOCKS_H
#define MPI_TEST_BLOCKS_H

#include "communicators.h"
#include "layouts.h"

enum blocks_kind {
	BLOCKS_ALLGATHER,
	BLOCKS_ALLGATHERV,
	BLOCKS_GATHER,
	BLOCKS_SCATTER,
	KINDS_OF_BLOCKS,
};

/* How one rank describes blocks, and its buffer for them */
struct blocks_side {
	struct layout unit;		/* a number of elements of a block */
	MPI_Aint stride;		/* from one unit to the next */
	unsigned int *units;		/* of each block */
	int *place;			/* of each block, in units */
	unsigned int blocks;
	unsigned char *buffer;
	size_t bytes;
};

struct blocks {
	const struct communicator *in;
	enum blocks_kind kind;
	bool is_in_place;
	bool is_large;			/* the form with counts of type MPI_Count */
	int root;
	__u64 seed;
	struct blocks_side from, to;
	void *counts;			/* arguments that MPI may use until completion */
	void *places;
};

void blocks_make(struct blocks *blocks, const struct communicator *in, enum blocks_kind kind,
		 int root, struct random *common, struct random *own);

/* @request: of a nonblocking call, or NULL */
void blocks_post(struct blocks *blocks, MPI_Request *request);

/* Datatypes, which MPI keeps as long as it needs them */
void blocks_free_types(struct blocks *blocks);

/* Is the result right? If not, @text says what is wrong. */
bool blocks_right(const struct blocks *blocks, char *text, size_t room);
void blocks_describe(const struct blocks *blocks, char *text, size_t room);
void blocks_free(struct blocks *blocks);

#endif
