// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Decides which collectives are taken, and serves them. */
#include <errno.h>

#include "collectives.h"
#include "comm.h"
#include "error.h"
#include "join.h"
#include "request.h"
#include "run.h"
#include "settings.h"
#include "summary.h"

/**
 * struct collective - a call and its arguments
 * @call: the function
 * @comm: its communicator
 * @root: its root, or 0
 * @type: collsock's type of its elements
 * @op: collsock's operator
 * @in: what this rank contributes, or NULL
 * @out: what it receives, or NULL
 * @count: elements of a payload
 * @request: where to store the request of a nonblocking call
 */
struct collective {
	enum cm_call		call;
	struct cm_comm		*comm;
	int			root;
	enum collsock_type	type;
	enum collsock_operator	op;
	const struct cm_data	*in;
	const struct cm_data	*out;
	__u32		count;
	MPI_Request		*request;
};

/* ---- is it taken? ---- */

/* NULL if all its calls are passed on */
static struct cm_comm *collective_comm(MPI_Comm handle, enum cm_call call)
{
	struct cm_comm *c = cm_comm_find(handle);

	if (!c || c->state != CM_PASSING)
		return c;
	cm_summary_count(call, c->reason);
	return NULL;
}

/*
 * The first blocking call from the agreed number on joins. Nonblocking calls never do,
 * since they must not wait for other ranks.
 */
static enum cm_reason collective_count(struct cm_comm *c, enum cm_call call)
{
	if (++c->calls < cm_settings.after || cm_call_is_nonblocking(call))
		return CM_NOT_YET;
	cm_join(c);
	return c->state == CM_COUNTING ? CM_NOT_YET : c->reason;
}

/* @obstacle is why it cannot be taken, or CM_TAKEN. */
static bool collective_is_taken(const struct collective *a, enum cm_reason obstacle)
{
	if (a->comm->state == CM_COUNTING && obstacle == CM_TAKEN)
		obstacle = collective_count(a->comm, a->call);
	cm_summary_count(a->call, obstacle);
	return obstacle == CM_TAKEN;
}

static enum cm_reason collective_size_obstacle(const struct cm_data *d, bool rooted)
{
	if (!d->bytes)
		return CM_EMPTY;
	return d->bytes > (rooted ? cm_settings.max_rooted_bytes : cm_settings.max_bytes) ?
	       CM_LARGE : CM_TAKEN;
}

static enum cm_reason collective_reduction_obstacle(const struct cm_data *d,
						    enum collsock_operator op, bool rooted)
{
	if (op == COLLSOCK_NOP)
		return CM_OPERATOR;
	if (!d->predefined || !cm_type_has(d->predefined, op))
		return CM_DATATYPE;
	return collective_size_obstacle(d, rooted);
}

static bool collective_is_rank(const struct cm_comm *c, int root)
{
	return root >= 0 && root < c->size;
}

/* ---- serving it ---- */

static enum collsock_operation collective_operation(enum cm_call call)
{
	switch (call) {
	case CM_BCAST:
	case CM_IBCAST:
		return COLLSOCK_BROADCAST;
	case CM_REDUCE:
	case CM_IREDUCE:
		return COLLSOCK_REDUCE;
	case CM_ALLREDUCE:
	case CM_IALLREDUCE:
		return COLLSOCK_ALLREDUCE;
	default:
		return COLLSOCK_BARRIER;
	}
}

static int collective_init_op(struct cm_op *op, const struct collective *a)
{
	op->call = a->call;
	op->post.operation = collective_operation(a->call);
	op->post.type = a->type;
	op->post.op = a->op;
	op->post.root = a->root;
	op->post.count = a->count;
	return cm_op_init(op, a->comm, a->in, a->out);
}

/* This rank cannot post an operation that all other ranks have taken. */
static int collective_leave(const struct collective *a, int err)
{
	cm_comm_leave(a->comm, err == MPI_ERR_NO_MEM ? ENOMEM : EINVAL);
	return cm_error_raise(a->comm->handle, err);
}

static int collective_run(const struct collective *a)
{
	__u64 begin = cm_summary_begin();
	struct cm_op op = { };
	int err;

	err = collective_init_op(&op, a);
	if (err)
		return collective_leave(a, err);
	cm_run(&op);
	err = cm_op_finish(&op);
	cm_summary_end(a->call, begin);
	if (op.error)
		err = cm_error_code(a->comm, a->call, op.error, op.failed_rank);
	return err ? cm_error_raise(a->comm->handle, err) : MPI_SUCCESS;
}

static int collective_begin(const struct collective *a)
{
	struct cm_op *op = cm_request_new(a->comm, a->call);
	int err;

	if (!op)
		return collective_leave(a, MPI_ERR_NO_MEM);
	err = collective_init_op(op, a);
	if (!err) {
		err = cm_request_start(op, a->request);
		if (err)
			cm_op_release(op);
	}
	if (err) {
		cm_request_discard(op);
		return collective_leave(a, err);
	}
	cm_run_start(op);
	return MPI_SUCCESS;
}

static int collective_serve(const struct collective *a)
{
	int left = atomic_load_explicit(&a->comm->failure.left, memory_order_relaxed);

	if (left)
		return cm_error_raise(a->comm->handle,
				      cm_error_code(a->comm, a->call, left, COLLSOCK_NO_RANK));
	return cm_call_is_nonblocking(a->call) ? collective_begin(a) : collective_run(a);
}

/* ---- the collectives ---- */

bool cm_collective_barrier(MPI_Comm comm, enum cm_call call, MPI_Request *request, int *err)
{
	struct collective a = { .call = call, .request = request };

	a.comm = collective_comm(comm, call);
	if (!a.comm || !collective_is_taken(&a, CM_TAKEN))
		return false;
	*err = collective_serve(&a);
	return true;
}

bool cm_collective_bcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
			 MPI_Comm comm, enum cm_call call, MPI_Request *request, int *err)
{
	struct collective a = {
		.call		= call,
		.root		= root,
		.type		= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data data;

	a.comm = collective_comm(comm, call);
	if (!a.comm)
		return false;
	if (collective_is_rank(a.comm, root) && cm_data_describe(&data, buffer, count, datatype))
		obstacle = collective_size_obstacle(&data, true);
	if (!collective_is_taken(&a, obstacle))
		return false;
	a.count = data.bytes;
	if (root == a.comm->rank)
		a.in = &data;
	else
		a.out = &data;
	*err = collective_serve(&a);
	return true;
}

bool cm_collective_reduction(const void *from, void *to, MPI_Count count,
			     MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
			     enum cm_call call, MPI_Request *request, int *err)
{
	bool for_all = call == CM_ALLREDUCE || call == CM_IALLREDUCE, receives;
	struct collective a = { .call = call, .root = root, .request = request };
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = collective_comm(comm, call);
	if (!a.comm)
		return false;
	a.op = cm_type_operator(op);
	receives = for_all || root == a.comm->rank;
	if (collective_is_rank(a.comm, root) &&
	    cm_data_describe(&in, receives && from == MPI_IN_PLACE ? to : from, count,
			     datatype) &&
	    (!receives || cm_data_describe(&out, to, count, datatype)))
		obstacle = collective_reduction_obstacle(&in, a.op, !for_all);
	if (!collective_is_taken(&a, obstacle))
		return false;
	a.type = in.predefined->type;
	a.count = count;
	a.in = &in;
	if (receives)
		a.out = &out;
	*err = collective_serve(&a);
	return true;
}
