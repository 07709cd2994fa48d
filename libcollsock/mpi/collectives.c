// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which collectives are taken, and serving them. */
#include <errno.h>

#include "collectives.h"
#include "comm.h"
#include "error.h"
#include "request.h"
#include "settings.h"

/**
 * struct arguments - of a collective
 * @call: which
 * @comm: as the program named it
 * @root: of it, or 0
 * @type: of the elements as collsock calls them
 * @op: the same of the operator
 * @in: what this rank brings, or NULL
 * @out: what it gets, or NULL
 * @count: elements of a payload
 * @request: where a nonblocking one goes
 */
struct arguments {
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

static enum collsock_operation operation_of(enum cm_call call)
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

static int op_prepare(struct cm_op *op, const struct arguments *a)
{
	op->call = a->call;
	op->post.operation = operation_of(a->call);
	op->post.type = a->type;
	op->post.op = a->op;
	op->post.root = a->root;
	op->post.count = a->count;
	return cm_op_init(op, a->comm, a->in, a->out);
}

/* This rank cannot post what all others have taken. */
static int give_up(const struct arguments *a, int err)
{
	cm_comm_break(a->comm, err == MPI_ERR_NO_MEM ? ENOMEM : EINVAL);
	return cm_raise(a->comm->handle, err);
}

static int run(const struct arguments *a)
{
	__u64 begin = cm_summary_begin();
	struct cm_op op = { };
	int err;

	err = op_prepare(&op, a);
	if (err)
		return give_up(a, err);
	cm_op_run(&op);
	err = cm_op_finish(&op);
	cm_summary_end(a->call, begin);
	if (op.error)
		err = cm_error_code(a->comm, a->call, op.error, op.failed_rank);
	return err ? cm_raise(a->comm->handle, err) : MPI_SUCCESS;
}

static int begin(const struct arguments *a)
{
	struct cm_op *op = cm_request_new(a->comm, a->call);
	int err;

	if (!op)
		return give_up(a, MPI_ERR_NO_MEM);
	err = op_prepare(op, a);
	if (!err) {
		err = cm_request_start(op, a->request);
		if (err)
			cm_op_release(op);
	}
	if (err) {
		cm_request_discard(op);
		return give_up(a, err);
	}
	cm_op_post(op);
	return MPI_SUCCESS;
}

static int serve(const struct arguments *a)
{
	int broken = atomic_load_explicit(&a->comm->broken, memory_order_relaxed);

	if (broken)
		return cm_raise(a->comm->handle,
				cm_error_code(a->comm, a->call, broken, COLLSOCK_NO_RANK));
	return cm_call_is_nonblocking(a->call) ? begin(a) : run(a);
}

/* ---- what can be taken ---- */

static enum cm_reason size_obstacle(const struct cm_data *d, bool rooted)
{
	if (!d->bytes)
		return CM_EMPTY;
	return d->bytes > (rooted ? cm_settings.max_rooted_bytes : cm_settings.max_bytes) ?
	       CM_LARGE : CM_TAKEN;
}

static enum cm_reason reduction_obstacle(const struct cm_data *d, enum collsock_operator op,
					 bool rooted)
{
	if (op == COLLSOCK_NOP)
		return CM_OPERATOR;
	if (!d->kind || !cm_kind_takes(d->kind, op))
		return CM_DATATYPE;
	return size_obstacle(d, rooted);
}

static bool is_rank(const struct cm_comm *c, int root)
{
	return root >= 0 && root < c->size;
}

bool cm_barrier_taken(MPI_Comm comm, enum cm_call call, MPI_Request *request, int *err)
{
	struct arguments a = { .call = call, .request = request };

	a.comm = cm_comm_find(comm, call);
	if (!a.comm || !cm_comm_take(a.comm, call, CM_TAKEN))
		return false;
	*err = serve(&a);
	return true;
}

bool cm_bcast_taken(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
		    MPI_Comm comm, enum cm_call call, MPI_Request *request, int *err)
{
	struct arguments a = {
		.call		= call,
		.root		= root,
		.type		= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data data;

	a.comm = cm_comm_find(comm, call);
	if (!a.comm)
		return false;
	if (is_rank(a.comm, root) && cm_data_describe(&data, buffer, count, datatype))
		obstacle = size_obstacle(&data, true);
	if (!cm_comm_take(a.comm, call, obstacle))
		return false;
	a.count = data.bytes;
	if (root == a.comm->rank)
		a.in = &data;
	else
		a.out = &data;
	*err = serve(&a);
	return true;
}

bool cm_reduction_taken(const void *from, void *to, MPI_Count count, MPI_Datatype datatype,
			MPI_Op op, int root, MPI_Comm comm, enum cm_call call,
			MPI_Request *request, int *err)
{
	bool for_all = call == CM_ALLREDUCE || call == CM_IALLREDUCE, gets;
	struct arguments a = { .call = call, .root = root, .request = request };
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_comm_find(comm, call);
	if (!a.comm)
		return false;
	a.op = cm_operator_of(op);
	gets = for_all || root == a.comm->rank;
	if (is_rank(a.comm, root) &&
	    cm_data_describe(&in, gets && from == MPI_IN_PLACE ? to : from, count, datatype) &&
	    (!gets || cm_data_describe(&out, to, count, datatype)))
		obstacle = reduction_obstacle(&in, a.op, !for_all);
	if (!cm_comm_take(a.comm, call, obstacle))
		return false;
	a.type = in.kind->type;
	a.count = count;
	a.in = &in;
	if (gets)
		a.out = &out;
	*err = serve(&a);
	return true;
}
