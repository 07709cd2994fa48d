// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operation.h"

#define FENCE_BYTES 32
#define FENCE 0x5a
#define LARGE_BYTES 100000
#define TAG_CHECKSUM 32000

bool operations_are_own;

static const char *const kind_names[] = {
	"barrier", "bcast", "reduce", "allreduce", "scan", "exscan",
	"reduce_scatter_block",
};

static bool is_reduction(const struct operation *operation)
{
	return operation->kind >= KIND_REDUCE && operation->kind <= KIND_REDUCE_SCATTER_BLOCK;
}

static bool is_scattered(const struct operation *operation)
{
	return operation->kind == KIND_REDUCE_SCATTER_BLOCK;
}

/* For an operation with a root: is it this rank? */
static bool is_root(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;

	return in->rank == operation->root && (!in->is_inter || in->half == operation->root_half);
}

static bool is_contributing(const struct operation *operation)
{
	return operation->kind != KIND_REDUCE || !operation->communicator->is_inter ||
	       operation->communicator->half != operation->root_half;
}

static bool has_result(const struct operation *operation)
{
	if (operation->kind == KIND_EXSCAN)
		return operation->communicator->rank;
	return operation->kind != KIND_REDUCE || is_root(operation);
}

/* The number of ranks whose contributions are in the result: the first ones, or all */
static int combined_ranks(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;

	if (operation->kind == KIND_SCAN || operation->kind == KIND_EXSCAN)
		return in->rank + (operation->kind == KIND_SCAN);
	return in->is_inter ? in->remote_size : in->size;
}

static void wrong(const struct operation *operation, const char *what)
{
	const struct communicator *in = operation->communicator;
	char type[200] = "";

	if (is_reduction(operation) && operation->element)
		snprintf(type, sizeof(type), "%s of %u %s%s", operation->reducer->name,
			 operation->count, operation->element->name,
			 operation->in_place ? " in place" : "");
	else if (is_reduction(operation))
		snprintf(type, sizeof(type), "own operator on %u %s%s", operation->count,
			 operation->own.name, operation->in_place ? " in place" : "");
	else if (operation->kind == KIND_BCAST)
		snprintf(type, sizeof(type), "%u %s, %s here", operation->layout.elements,
			 operation->layout.signature->name, operation->layout.name);
	else if (operation->kind >= KIND_BLOCKS)
		blocks_describe(&operation->blocks, type, sizeof(type));
	fail("%s%s %s, root %d of half %d, on '%s' (rank %d of %d): %s",
	     operation->is_nonblocking ? "nonblocking " : "",
	     operation->kind < KIND_BLOCKS ? kind_names[operation->kind] : "", type,
	     operation->root, operation->root_half, in->name, in->rank, in->size, what);
}

/* ---- making one ---- */

static unsigned int random_count(struct random *random, unsigned int bytes)
{
	if (random_one_in(random, 25))
		return random_below(random, LARGE_BYTES / bytes + 1);
	if (random_one_in(random, 3))
		return random_below(random, 4);
	return random_below(random, 300);
}

static void choose_reduction(struct operation *operation, struct random *common)
{
	const struct communicator *in = operation->communicator;
	unsigned int extent;

	if (random_one_in(common, 5) && !is_scattered(operation)) {
		own_operator_make(&operation->own, common);
		operation->own_kept = true;
		extent = operation->own.extent * sizeof(__u32);
	} else {
		operation->element = element_random(common);
		operation->reducer = reducer_random(common, operation->element);
		extent = operation->element->bytes;
	}
	operation->count = random_count(common, extent);
	operation->vector = operation->count * (is_scattered(operation) ? in->size : 1);
	operation->bytes = (size_t)operation->vector * extent;
	operation->in_place = random_one_in(common, 3) && !in->is_inter && has_result(operation);
}

static void *with_fence(size_t bytes)
{
	unsigned char *buffer = allocate(bytes + FENCE_BYTES);

	memset(buffer, FENCE, bytes + FENCE_BYTES);
	return buffer;
}

static bool is_fenced(const void *buffer, size_t bytes, size_t begin)
{
	const unsigned char *byte = buffer;
	size_t i;

	for (i = begin; i < bytes + FENCE_BYTES; i++)
		if (byte[i] != FENCE)
			return false;
	return true;
}

static void contribute_here(const struct operation *operation, void *buffer)
{
	if (operation->element)
		contribute(buffer, operation->element, operation->reducer, operation->vector,
			   operation->seed, world_rank);
	else
		own_contribute(buffer, &operation->own, operation->vector, operation->seed,
			       world_rank);
}

static void make_buffers(struct operation *operation)
{
	if (operation->kind == KIND_BCAST) {
		operation->send = allocate(operation->layout.bytes);
		if (is_root(operation))
			layout_fill(&operation->layout, operation->send, operation->seed);
		else
			layout_clear(&operation->layout, operation->send);
	} else if (is_reduction(operation)) {
		operation->receive = with_fence(operation->bytes);
		if (operation->in_place)
			contribute_here(operation, operation->receive);
		operation->send = with_fence(operation->bytes);
		contribute_here(operation, operation->send);
	}
}

/*
 * MPI allows each rank to describe the elements differently. Open MPI 4.1 cuts them into
 * pieces that depend on the description, so that its ranks do not agree.
 */
#ifdef OPEN_MPI
#define LAYOUTS_MAY_DIFFER strict
#else
#define LAYOUTS_MAY_DIFFER true
#endif

static enum operation_kind random_kind(const struct communicator *in, struct random *common)
{
	if (in->is_inter)
		return random_below(common, KIND_SCAN);
	if (operations_are_own)
		return KIND_SCAN + random_below(common, KINDS_OF_OPERATIONS - KIND_SCAN);
	return random_below(common, KINDS_OF_OPERATIONS);
}

void operation_make(struct operation *operation, const struct communicator *communicator,
		    struct random *common, struct random *own)
{
	const struct communicator *in = communicator;
	int lower = world_size / 2, sizes[] = { lower, world_size - lower };

	*operation = (struct operation){
		.communicator = communicator,
		.kind = random_kind(in, common),
		.is_nonblocking = random_below(common, 2),
		.seed = random_bits(common),
		.request = MPI_REQUEST_NULL,
	};
#ifdef MPICH_VERSION
	/* MPICH 4.0 delivers wrong data if elements have unusual offsets */
	if (operation->kind == KIND_BCAST && in->is_inter)
		operation->is_nonblocking = false;
#endif
	operation->root_half = random_below(common, 2);
	operation->root = random_below(common, in->is_inter ? sizes[operation->root_half] :
							      in->size);
	if (is_reduction(operation)) {
		choose_reduction(operation, common);
	} else if (operation->kind == KIND_BCAST) {
		const struct signature *signature = signature_random(common);

		layout_make(&operation->layout, signature, random_count(common, 16),
			    LAYOUTS_MAY_DIFFER ? own : common);
	} else if (operation->kind >= KIND_BLOCKS) {
		blocks_make(&operation->blocks, in, operation->kind - KIND_BLOCKS,
			    operation->root, common, own);
	}
	make_buffers(operation);
}

/* ---- calling MPI ---- */

/* In the root's own half only the root takes part. */
static int root_argument(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;

	if (!in->is_inter || in->half != operation->root_half)
		return operation->root;
	return is_root(operation) ? MPI_ROOT : MPI_PROC_NULL;
}

static void post_bcast(struct operation *operation)
{
	struct layout *layout = &operation->layout;
	int root = root_argument(operation);

	if (operation->is_nonblocking)
		CHECK_MPI(MPI_Ibcast(operation->send, layout->count, layout->type, root,
				     operation->communicator->comm, &operation->request));
	else
		CHECK_MPI(MPI_Bcast(operation->send, layout->count, layout->type, root,
				    operation->communicator->comm));
}

static void post_prefix(struct operation *operation, const void *send, void *receive,
			MPI_Datatype type, MPI_Op op)
{
	MPI_Comm comm = operation->communicator->comm;
	MPI_Request *request = &operation->request;
	int count = operation->count;

	if (operation->kind == KIND_SCAN && operation->is_nonblocking)
		CHECK_MPI(MPI_Iscan(send, receive, count, type, op, comm, request));
	else if (operation->kind == KIND_SCAN)
		CHECK_MPI(MPI_Scan(send, receive, count, type, op, comm));
	else if (operation->is_nonblocking)
		CHECK_MPI(MPI_Iexscan(send, receive, count, type, op, comm, request));
	else
		CHECK_MPI(MPI_Exscan(send, receive, count, type, op, comm));
}

static void post_scattered(struct operation *operation, const void *send, void *receive)
{
	MPI_Comm comm = operation->communicator->comm;

	if (operation->is_nonblocking)
		CHECK_MPI(MPI_Ireduce_scatter_block(send, receive, operation->count,
						    operation->element->type,
						    operation->reducer->op, comm,
						    &operation->request));
	else
		CHECK_MPI(MPI_Reduce_scatter_block(send, receive, operation->count,
						   operation->element->type,
						   operation->reducer->op, comm));
}

static void post_reduction(struct operation *operation, const void *send, void *receive)
{
	MPI_Datatype type = operation->element ? operation->element->type : operation->own.type;
	MPI_Op op = operation->element ? operation->reducer->op : operation->own.op;
	MPI_Comm comm = operation->communicator->comm;
	int count = operation->count, root = root_argument(operation);

	if (operation->kind == KIND_REDUCE && operation->is_nonblocking)
		CHECK_MPI(MPI_Ireduce(send, receive, count, type, op, root, comm,
				      &operation->request));
	else if (operation->kind == KIND_REDUCE)
		CHECK_MPI(MPI_Reduce(send, receive, count, type, op, root, comm));
	else if (operation->kind == KIND_SCAN || operation->kind == KIND_EXSCAN)
		post_prefix(operation, send, receive, type, op);
	else if (is_scattered(operation))
		post_scattered(operation, send, receive);
	else if (operation->is_nonblocking)
		CHECK_MPI(MPI_Iallreduce(send, receive, count, type, op, comm,
					 &operation->request));
	else
		CHECK_MPI(MPI_Allreduce(send, receive, count, type, op, comm));
}

void operation_post(struct operation *operation, struct random *own)
{
	MPI_Comm comm = operation->communicator->comm;

	if (operation->kind == KIND_BARRIER && operation->is_nonblocking) {
		CHECK_MPI(MPI_Ibarrier(comm, &operation->request));
	} else if (operation->kind == KIND_BARRIER) {
		CHECK_MPI(MPI_Barrier(comm));
	} else if (operation->kind == KIND_BCAST) {
		post_bcast(operation);
		/* MPI keeps a type as long as an operation needs it */
		if (random_one_in(own, 2))
			layout_free_type(&operation->layout);
	} else if (operation->kind >= KIND_BLOCKS) {
		blocks_post(&operation->blocks,
			    operation->is_nonblocking ? &operation->request : NULL);
		if (random_one_in(own, 2))
			blocks_free_types(&operation->blocks);
	} else {
		/* MPICH 4.0 refuses no buffer at the first rank of an exscan */
		bool unused = !has_result(operation) && random_one_in(own, 2) &&
			      (operation->kind != KIND_EXSCAN || strict);

		post_reduction(operation, operation->in_place ? MPI_IN_PLACE : operation->send,
			       unused ? NULL : operation->receive);
		if (!operation->element && random_one_in(own, 2)) {
			own_operator_free(&operation->own);
			operation->own_kept = false;
		}
	}
}

/* ---- checking the result ---- */

/* The result has one block, which is that of this rank. */
static void check_block(const struct operation *operation, const int *ranks, int count)
{
	const unsigned int first = operation->communicator->rank * operation->count;
	const size_t bytes = operation->bytes / operation->communicator->size;
	char *vector = allocate(operation->bytes), text[300];
	unsigned int i;

	memcpy(vector + first * operation->element->bytes, operation->receive, bytes);
	for (i = first; i < first + operation->count; i++)
		if (!result_right(vector, operation->element, operation->reducer, i,
				  operation->seed, ranks, count, text, sizeof(text)))
			wrong(operation, text);
	free(vector);
	if (!operation->in_place && !is_fenced(operation->receive, operation->bytes, bytes))
		wrong(operation, "a block of another rank in the result");
}

static void check_elements(const struct operation *operation, const int *ranks, int count)
{
	char text[300];
	unsigned int i;

	if (is_scattered(operation)) {
		check_block(operation, ranks, count);
		return;
	}
	if (!operation->element) {
		if (!own_result_right(operation->receive, &operation->own, operation->count,
				      operation->seed, ranks, count, text, sizeof(text)))
			wrong(operation, text);
		return;
	}
	for (i = 0; i < operation->count; i++)
		if (!result_right(operation->receive, operation->element, operation->reducer, i,
				  operation->seed, ranks, count, text, sizeof(text)))
			wrong(operation, text);
}

/* All ranks have the same bits, even of fractions, whose rounding depends on the order. */
static void check_sameness(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;
	__u64 own, first;
	int i;

	own = elements_checksum(operation->receive, operation->element, operation->count);
	if (in->rank) {
		CHECK_MPI(MPI_Send(&own, 1, MPI_UINT64_T, in->world_ranks[0], TAG_CHECKSUM,
				   MPI_COMM_WORLD));
		return;
	}
	for (i = 1; i < in->size; i++) {
		CHECK_MPI(MPI_Recv(&first, 1, MPI_UINT64_T, in->world_ranks[i], TAG_CHECKSUM,
				   MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (first != own)
			wrong(operation, "the bits of the result differ between ranks");
	}
}

/* MPI must not write to an input buffer. */
static void check_untouched(const struct operation *operation)
{
	void *again = with_fence(operation->bytes);

	contribute_here(operation, again);
	if (memcmp(again, operation->send, operation->bytes))
		wrong(operation, "the contribution has changed");
	free(again);
	if (!is_fenced(operation->send, operation->bytes, operation->bytes) ||
	    !is_fenced(operation->receive, operation->bytes, operation->bytes))
		wrong(operation, "the memory after a buffer has changed");
}

static void check_reduction(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;

	if (is_contributing(operation))
		check_untouched(operation);
	if (!has_result(operation)) {
		if (!operation->in_place && !is_fenced(operation->receive, operation->bytes, 0))
			wrong(operation, "a result on a rank that receives none");
		return;
	}
	check_elements(operation, in->is_inter ? in->remote_world_ranks : in->world_ranks,
		       combined_ranks(operation));
	if (operation->kind == KIND_ALLREDUCE && operation->element)
		check_sameness(operation);
}

static void check_blocks(const struct operation *operation)
{
	char text[200];

	if (!blocks_right(&operation->blocks, text, sizeof(text)))
		wrong(operation, text);
}

static void check_bcast(const struct operation *operation)
{
	const struct communicator *in = operation->communicator;
	const struct layout *layout = &operation->layout;
	char text[200];

	/* The root's own half receives nothing */
	if (in->is_inter && in->half == operation->root_half && !is_root(operation))
		return;
	if (!layout_right(layout, operation->send, operation->seed, text, sizeof(text)))
		wrong(operation, text);
}

void operation_check(struct operation *operation)
{
	if (operation->request != MPI_REQUEST_NULL)
		wrong(operation, "the request is not null when the operation is complete");
	if (operation->kind == KIND_BCAST) {
		check_bcast(operation);
		layout_free(&operation->layout);
	} else if (operation->kind >= KIND_BLOCKS) {
		check_blocks(operation);
		blocks_free(&operation->blocks);
	} else if (is_reduction(operation)) {
		check_reduction(operation);
		if (operation->own_kept)
			own_operator_free(&operation->own);
	}
	free(operation->send);
	free(operation->receive);
}
