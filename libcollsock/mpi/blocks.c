// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Collectives with a block for each rank. In all but the last blocks are only moved, so that
 * they travel as bytes: their length is equal on all ranks, their datatype need not be.
 */
#include <stdlib.h>

#include "blocks.h"
#include "serve.h"

/* The limits are those of the whole vector. */
static enum cm_reason blocks_size_obstacle(const struct cm_comm *c, MPI_Count block)
{
	if (block > COLLSOCK_MAX_PAYLOAD)
		return CM_LARGE;
	return cm_serve_size_obstacle(block * c->size);
}

/* The block of @rank. Returns an MPI error code. */
static int blocks_choose(struct cm_data *block, int rank)
{
	MPI_Aint extent;
	int err;

	err = cm_data_extent(block->datatype, &extent);
	if (!err)
		cm_data_move(block, (size_t)block->count * rank * extent);
	return err;
}

/* This rank's contribution; if in place, it is its own block of the receive buffer. */
static bool blocks_describe_own(struct cm_data *in, const struct cm_blocks *b,
				const struct cm_data *first, int rank)
{
	if (b->from != MPI_IN_PLACE)
		return cm_data_describe(in, b->from, b->from_count, b->from_type);
	*in = *first;
	return !blocks_choose(in, rank);
}

/*
 * All ranks describe what they receive. MPI requires it to be as long as what they send, but
 * MPI libraries accept programs in which it is not: those are left to them.
 */
bool cm_blocks_allgather(const struct cm_blocks *b, struct cm_comm *c, enum cm_call call,
			 MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_ALLGATHER,
		.post.type	= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	if (cm_data_describe(&out, b->to, b->to_count, b->to_type) &&
	    blocks_describe_own(&in, b, &out, a.comm->rank) && in.bytes == out.bytes)
		obstacle = blocks_size_obstacle(a.comm, out.bytes);
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.count = out.bytes;
	a.in = &in;
	a.sent = in.bytes;
	cm_data_repeat(&out, a.comm->size);
	a.out = &out;
	a.received = out.bytes;
	*err = cm_serve(&a);
	return true;
}

/* ---- blocks of different lengths ---- */

static MPI_Count blocks_count(const struct cm_places *p, int rank)
{
	return p->large ? ((const MPI_Count *)p->counts)[rank] : ((const int *)p->counts)[rank];
}

static MPI_Aint blocks_place(const struct cm_places *p, int rank)
{
	return p->large ? ((const MPI_Aint *)p->places)[rank] : ((const int *)p->places)[rank];
}

/* The largest count, or -1 if one is invalid */
static MPI_Count blocks_largest(const struct cm_places *p, int ranks)
{
	MPI_Count count, largest = 0;
	int rank;

	for (rank = 0; rank < ranks; rank++) {
		count = blocks_count(p, rank);
		if (count < 0)
			return -1;
		if (count > largest)
			largest = count;
	}
	return largest;
}

/*
 * The parts of @out, whose count and bytes are of the largest block and become those of all
 * blocks. NULL if there is no memory, or no extent.
 */
static struct cm_parts *blocks_part(const struct cm_places *p, struct cm_data *out, int ranks)
{
	const MPI_Count largest = out->count;
	struct cm_parts *parts;
	MPI_Aint extent;
	int rank;

	parts = malloc(sizeof(*parts) + ranks * sizeof(parts->part[0]));
	if (!parts || cm_data_extent(out->datatype, &extent)) {
		free(parts);
		return NULL;
	}
	parts->ranks = ranks;
	parts->block = out->bytes;
	out->count = 0;
	out->bytes = 0;
	for (rank = 0; rank < ranks; rank++) {
		parts->part[rank].count = blocks_count(p, rank);
		parts->part[rank].bytes = parts->block / largest * parts->part[rank].count;
		parts->part[rank].place = blocks_place(p, rank) * extent;
		out->count += parts->part[rank].count;
		out->bytes += parts->part[rank].bytes;
	}
	return parts;
}

/* This rank's contribution, which must be as long as its part */
static bool blocks_describe_own_part(struct cm_data *in, const struct cm_blocks *b,
				     const struct cm_places *p, int rank)
{
	struct cm_data own;
	MPI_Aint extent;

	if (!cm_data_describe(&own, b->to, blocks_count(p, rank), b->to_type))
		return false;
	if (b->from != MPI_IN_PLACE)
		return cm_data_describe(in, b->from, b->from_count, b->from_type) &&
		       in->bytes == own.bytes;
	*in = own;
	if (cm_data_extent(in->datatype, &extent))
		return false;
	cm_data_move(in, blocks_place(p, rank) * extent);
	return true;
}

/*
 * All ranks know all lengths, which may be 0, and pad their blocks to the largest. So they
 * all know how long that is.
 */
bool cm_blocks_allgatherv(const struct cm_blocks *b, const struct cm_places *places,
			  struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_ALLGATHER,
		.post.type	= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	if (places->counts && places->places &&
	    cm_data_describe(&out, b->to, blocks_largest(places, a.comm->size), b->to_type) &&
	    blocks_describe_own_part(&in, b, places, a.comm->rank))
		obstacle = blocks_size_obstacle(a.comm, out.bytes);
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.count = out.bytes;
	a.sent = out.bytes;
	a.received = out.bytes * a.comm->size;
	a.parts = blocks_part(places, &out, a.comm->size);
	a.in = &in;
	a.out = &out;
	*err = a.parts ? cm_serve(&a) : cm_serve_refuse(&a, MPI_ERR_NO_MEM);
	return true;
}

/* ---- from all, or to all ---- */

/*
 * If the two blocks of the root differ in length, it cannot know which is that of the others,
 * and it is too late to pass the call on.
 */
static int blocks_serve_rooted(const struct cm_collective *a, MPI_Count own)
{
	return own == a->post.count ? cm_serve(a) : cm_serve_refuse(a, MPI_ERR_TRUNCATE);
}

bool cm_blocks_gather(const struct cm_blocks *b, int root, struct cm_comm *c, enum cm_call call,
		      MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_GATHER,
		.post.root	= root,
		.post.type	= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;
	bool receives;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	receives = root == a.comm->rank;
	if (cm_serve_is_rank(a.comm, root) &&
	    (receives ? cm_data_describe(&out, b->to, b->to_count, b->to_type) &&
			blocks_describe_own(&in, b, &out, root) :
			cm_data_describe(&in, b->from, b->from_count, b->from_type)))
		obstacle = blocks_size_obstacle(a.comm, receives ? out.bytes : in.bytes);
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.count = receives ? out.bytes : in.bytes;
	a.in = &in;
	a.sent = a.post.count;
	if (receives) {
		cm_data_repeat(&out, a.comm->size);
		a.out = &out;
		a.received = out.bytes;
	}
	*err = blocks_serve_rooted(&a, in.bytes);
	return true;
}

/* The root may leave its own block in place, but collsock sends it the block, too. */
bool cm_blocks_scatter(const struct cm_blocks *b, int root, struct cm_comm *c, enum cm_call call,
		       MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_SCATTER,
		.post.root	= root,
		.post.type	= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;
	bool sends, wants;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	sends = root == a.comm->rank;
	wants = !sends || b->to != MPI_IN_PLACE;
	if (cm_serve_is_rank(a.comm, root) &&
	    (!sends || cm_data_describe(&in, b->from, b->from_count, b->from_type)) &&
	    (!wants || cm_data_describe(&out, b->to, b->to_count, b->to_type)))
		obstacle = blocks_size_obstacle(a.comm, sends ? in.bytes : out.bytes);
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.count = sends ? in.bytes : out.bytes;
	a.received = a.post.count;
	if (wants)
		a.out = &out;
	if (sends) {
		cm_data_repeat(&in, a.comm->size);
		a.in = &in;
		a.sent = in.bytes;
	}
	*err = blocks_serve_rooted(&a, wants ? out.bytes : a.post.count);
	return true;
}

/* ---- combined ---- */

bool cm_blocks_reduce_scatter(const void *from, void *to, MPI_Count count,
			      MPI_Datatype datatype, MPI_Op op, struct cm_comm *c,
			      enum cm_call call, MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_REDUCE_SCATTER_BLOCK,
		.post.op	= cm_type_operator(op),
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	if (cm_data_describe(&in, from == MPI_IN_PLACE ? to : from, count, datatype) &&
	    cm_data_elsewhere(&out, &in, to)) {
		obstacle = cm_serve_operator_obstacle(out.predefined, a.post.op);
		if (obstacle == CM_HANDLED)
			obstacle = blocks_size_obstacle(a.comm, out.bytes);
	}
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.type = out.predefined->type;
	a.post.count = count;
	cm_data_repeat(&in, a.comm->size);
	a.in = &in;
	a.sent = in.bytes;
	a.out = &out;
	a.received = out.bytes;
	*err = cm_serve(&a);
	return true;
}
