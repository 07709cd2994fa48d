// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"

/* ---- with a request ---- */

struct cm_op *cm_op_new(struct cm_comm *c, enum cm_call call)
{
	struct cm_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->call = call;
	op->comm = c;
	cm_comm_get(c);
	return op;
}

void cm_op_free(struct cm_op *op)
{
	cm_comm_put(op->comm);
	free(op);
}

/* ---- the program's data ---- */

/* Is the payload, or the result, as it is in memory? */
static bool op_sends_from(const struct cm_op *op, const struct cm_data *in)
{
	return cm_data_plain(in) && (size_t)in->bytes == op->payload_bytes;
}

static bool op_receives_into(const struct cm_op *op, const struct cm_data *out)
{
	return out && !op->parts && cm_data_plain(out);
}

/*
 * The payload and the result share it: a result is received after the payload has been
 * posted.
 */
static size_t op_scratch_bytes(const struct cm_op *op, const struct cm_data *in,
			       const struct cm_data *out)
{
	size_t payload = in && !op_sends_from(op, in) ? op->payload_bytes : 0;
	size_t result = op_receives_into(op, out) ? 0 : op->result_bytes;

	return payload > result ? payload : result;
}

static int op_init_in(struct cm_op *op, const struct cm_data *in)
{
	if (op_sends_from(op, in))
		return MPI_SUCCESS;
	op->payload = op->scratch;
	memset((char *)op->scratch + in->bytes, 0, op->payload_bytes - in->bytes);
	return cm_data_pack(in, op->scratch);
}

static int op_init_out(struct cm_op *op, const struct cm_data *out)
{
	if (op_receives_into(op, out))
		return MPI_SUCCESS;
	op->result = op->scratch;
	if (!out)
		return MPI_SUCCESS;
	op->out = *out;
	return cm_data_describe_from(out, op->parts, op->scratch, &op->described);
}

/* Some of the data is packed, unpacked or discarded. */
static int op_init_data(struct cm_op *op, const struct cm_data *in, const struct cm_data *out)
{
	size_t scratch = op_scratch_bytes(op, in, out);
	int err = MPI_SUCCESS;

	if (scratch) {
		op->scratch = malloc(scratch);
		if (!op->scratch)
			err = MPI_ERR_NO_MEM;
	}
	if (!err && in)
		err = op_init_in(op, in);
	if (!err)
		err = op_init_out(op, out);
	if (err)
		cm_op_release(op);
	return err;
}

int cm_op_init(struct cm_op *op, struct cm_comm *c, const struct cm_data *in,
	       const struct cm_data *out)
{
	op->comm = c;
	op->payload = in ? in->buffer : NULL;
	op->result = out ? out->buffer : NULL;
	op->out.bytes = 0;
	op->scratch = NULL;
	op->described = MPI_DATATYPE_NULL;
	op->completed_ns = 0;
	op->post.size = sizeof(op->post);
	op->post.cookie = (uintptr_t)op;
	atomic_init(&op->state, CM_OP_NEW);
	if ((!in || op_sends_from(op, in)) && (!op->result_bytes || op_receives_into(op, out)))
		return MPI_SUCCESS;
	return op_init_data(op, in, out);
}

void cm_op_release(struct cm_op *op)
{
	free(op->scratch);
	op->scratch = NULL;
	free(op->parts);
	op->parts = NULL;
	if (op->described != MPI_DATATYPE_NULL)
		PMPI_Type_free(&op->described);
}

int cm_op_unpack(struct cm_op *op)
{
	int err = MPI_SUCCESS;

	if (!op->error && op->out.bytes)
		err = cm_data_unpack(&op->out, op->parts, op->scratch, op->described);
	cm_op_release(op);
	return err;
}

/* ---- to DONE ---- */

static void op_done(struct cm_op *op, int error, __u32 failed_rank, const void *result)
{
	op->error = error;
	op->failed_rank = failed_rank;
	if (!error && op->result_bytes && result != op->result)
		memcpy(op->result, result, op->result_bytes);
	if (error)
		atomic_store(&op->comm->failure.seen, true);
	atomic_store_explicit(&op->state, CM_OP_DONE, memory_order_release);
}

void cm_op_complete(struct cm_op *op, const struct collsock_completion *completion,
		    const void *result)
{
	atomic_fetch_sub(&op->comm->window.under_way, 1);
	atomic_fetch_add(&op->comm->window.received, 1);
	op->completed_ns = completion->completed_ns;
	op_done(op, completion->error, completion->failed_rank, result);
}

void cm_op_lost(struct cm_op *op, int err)
{
	cm_comm_leave(op->comm, -err);
	op_done(op, atomic_load(&op->comm->failure.left), COLLSOCK_NO_RANK, NULL);
}

/* ---- to POSTED, or QUEUED ---- */

static void op_posting(struct cm_op *op)
{
	atomic_store(&op->state, CM_OP_POSTED);
	atomic_fetch_add(&op->comm->window.under_way, 1);
}

/* The kernel has not accepted the post. False if it may accept it later. */
static bool op_refused(struct cm_op *op, enum cm_op_state before, int err)
{
	struct collsock_self self;

	atomic_fetch_sub(&op->comm->window.under_way, 1);
	atomic_store(&op->state, before);
	if (err == -EAGAIN || err == -ENOBUFS || err == -EINTR)
		return false;
	/* In a group that has failed the socket accepts no posts: use the group's error. */
	if (err == -EPIPE && !collsock_self(op->comm->socket, &self, sizeof(self)) && self.error)
		op_done(op, self.error, self.failed_rank, NULL);
	else
		cm_op_lost(op, err);
	return true;
}

bool cm_op_post(struct cm_op *op)
{
	enum cm_op_state before = atomic_load(&op->state);
	int err;

	op_posting(op);
	err = collsock_post(op->comm->socket, &op->post, op->payload, op->payload_bytes);
	return !err || op_refused(op, before, err);
}

bool cm_op_run(struct cm_op *op)
{
	struct collsock_completion completion;
	int err;

	op_posting(op);
	err = collsock_run(op->comm->socket, &op->post, op->payload, op->payload_bytes,
			   &completion, op->result, op->result_bytes);
	if (!err)
		cm_op_complete(op, &completion, op->result);
	return !err || err == -EINPROGRESS || op_refused(op, CM_OP_NEW, err);
}

void cm_op_queued(struct cm_op *op)
{
	atomic_store(&op->state, CM_OP_QUEUED);
}
