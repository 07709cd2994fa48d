// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Collectives whose vector is the same for all ranks */
#include "collectives.h"
#include "serve.h"

bool cm_collective_barrier(struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_BARRIER,
		.request	= request,
	};

	a.comm = cm_serve_comm(c, call);
	if (!a.comm || !cm_serve_takes(&a, CM_HANDLED))
		return false;
	*err = cm_serve(&a);
	return true;
}

bool cm_collective_bcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
			 struct cm_comm *c, enum cm_call call, MPI_Request *request, int *err)
{
	struct cm_collective a = {
		.call		= call,
		.post.operation	= COLLSOCK_BROADCAST,
		.post.root	= root,
		.post.type	= COLLSOCK_UINT8,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data data;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	if (cm_serve_is_rank(a.comm, root) && cm_data_describe(&data, buffer, count, datatype))
		obstacle = cm_serve_size_obstacle(data.bytes);
	if (!cm_serve_takes(&a, obstacle))
		return false;
	a.post.count = data.bytes;
	if (root == a.comm->rank) {
		a.in = &data;
		a.sent = data.bytes;
	} else {
		a.out = &data;
		a.received = data.bytes;
	}
	*err = cm_serve(&a);
	return true;
}

static inline enum cm_reason collective_reduction_obstacle(const struct cm_data *d,
							   enum collsock_operator op)
{
	enum cm_reason obstacle = cm_serve_operator_obstacle(d->predefined, op);

	return obstacle == CM_HANDLED ? cm_serve_size_obstacle(d->bytes) : obstacle;
}

/* The rest is the same with and without prefixes; @out is NULL on a rank that receives nothing. */
static inline bool collective_serve_reduction(struct cm_collective *a, enum cm_reason obstacle,
					      const struct cm_data *in, const struct cm_data *out,
					      int *err)
{
	if (!cm_serve_takes(a, obstacle))
		return false;
	a->post.type = in->predefined->type;
	a->in = in;
	a->sent = in->bytes;
	if (out) {
		a->out = out;
		a->received = out->bytes;
	}
	*err = cm_serve(a);
	return true;
}

bool cm_collective_reduction(const void *from, void *to, MPI_Count count,
			     MPI_Datatype datatype, MPI_Op op, int root, struct cm_comm *c,
			     enum cm_call call, MPI_Request *request, int *err)
{
	bool for_all = call == CM_ALLREDUCE || call == CM_IALLREDUCE, receives;
	struct cm_collective a = {
		.call		= call,
		.post.operation	= for_all ? COLLSOCK_ALLREDUCE : COLLSOCK_REDUCE,
		.post.root	= root,
		.post.op	= cm_type_operator(op),
		.post.count	= count,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	receives = for_all || root == a.comm->rank;
	if (cm_serve_is_rank(a.comm, root) &&
	    cm_data_describe(&in, receives && from == MPI_IN_PLACE ? to : from, count,
			     datatype) &&
	    (!receives || cm_data_elsewhere(&out, &in, to)))
		obstacle = collective_reduction_obstacle(&in, a.post.op);
	return collective_serve_reduction(&a, obstacle, &in, receives ? &out : NULL, err);
}

bool cm_collective_scan(const void *from, void *to, MPI_Count count, MPI_Datatype datatype,
			MPI_Op op, struct cm_comm *c, enum cm_call call, MPI_Request *request,
			int *err)
{
	bool inclusive = call == CM_SCAN || call == CM_ISCAN, receives;
	struct cm_collective a = {
		.call		= call,
		.post.operation	= inclusive ? COLLSOCK_SCAN : COLLSOCK_EXSCAN,
		.post.op	= cm_type_operator(op),
		.post.count	= count,
		.in_order	= true,
		.request	= request,
	};
	enum cm_reason obstacle = CM_ARGUMENTS;
	struct cm_data in, out;

	a.comm = cm_serve_comm(c, call);
	if (!a.comm)
		return false;
	receives = inclusive || a.comm->rank;
	if (cm_data_describe(&in, from == MPI_IN_PLACE ? to : from, count, datatype) &&
	    (!receives || cm_data_elsewhere(&out, &in, to)))
		obstacle = collective_reduction_obstacle(&in, a.post.op);
	return collective_serve_reduction(&a, obstacle, &in, receives ? &out : NULL, err);
}
