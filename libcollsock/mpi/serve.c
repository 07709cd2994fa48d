// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>

#include "error.h"
#include "join.h"
#include "request.h"
#include "run.h"
#include "serve.h"

/* ---- is it handled? ---- */

/*
 * The first blocking call from the agreed number on joins. Nonblocking calls never do,
 * since they must not wait for other ranks.
 */
static enum cm_reason serve_count(struct cm_comm *c, enum cm_call call)
{
	if (++c->calls < cm_settings.after || cm_call_is_nonblocking(call))
		return CM_NOT_YET;
	cm_join(c);
	return c->state == CM_COUNTING ? CM_NOT_YET : c->reason;
}

bool cm_serve_takes(const struct cm_collective *a, enum cm_reason obstacle)
{
	if (a->comm->state == CM_COUNTING && obstacle == CM_HANDLED)
		obstacle = serve_count(a->comm, a->call);
	if (obstacle == CM_HANDLED && a->in_order && a->comm->scattered)
		obstacle = CM_SCATTERED;
	cm_summary_count(a->call, obstacle);
	return obstacle == CM_HANDLED;
}

/* ---- serving it ---- */

static int serve_init_op(struct cm_op *op, const struct cm_collective *a)
{
	op->call = a->call;
	op->post = a->post;
	op->payload_bytes = a->sent;
	op->result_bytes = a->received;
	op->parts = a->parts;
	return cm_op_init(op, a->comm, a->in, a->out);
}

int cm_serve_refuse(const struct cm_collective *a, int err)
{
	cm_comm_leave(a->comm, err == MPI_ERR_NO_MEM ? ENOMEM : EINVAL);
	return err;
}

static int serve_run(const struct cm_collective *a)
{
	__u64 begin = cm_summary_begin();
	struct cm_op op;
	int err;

	err = serve_init_op(&op, a);
	if (err)
		return cm_serve_refuse(a, err);
	cm_run(&op);
	err = cm_op_finish(&op);
	cm_summary_end(a->call, begin);
	return op.error ? cm_error_code(a->comm, a->call, op.error, op.failed_rank) : err;
}

static int serve_begin(const struct cm_collective *a)
{
	struct cm_op *op = cm_op_new(a->comm, a->call);
	int err;

	if (!op) {
		free(a->parts);
		return cm_serve_refuse(a, MPI_ERR_NO_MEM);
	}
	err = serve_init_op(op, a);
	if (!err) {
		err = cm_request_start(op);
		if (err)
			cm_op_release(op);
	}
	if (err) {
		cm_op_free(op);
		return cm_serve_refuse(a, err);
	}
	*a->request = op->request;
	cm_run_start(op);
	return MPI_SUCCESS;
}

int cm_serve(const struct cm_collective *a)
{
	int left = atomic_load_explicit(&a->comm->failure.left, memory_order_relaxed);

	if (left) {
		free(a->parts);
		return cm_error_code(a->comm, a->call, left, COLLSOCK_NO_RANK);
	}
	return cm_call_is_nonblocking(a->call) ? serve_begin(a) : serve_run(a);
}
