// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "progress.h"
#include "settings.h"

/* ---- the program's data ---- */

static int init_in(struct cm_op *op, const struct cm_data *in)
{
	int err;

	op->payload = in->buffer;
	op->payload_bytes = in->bytes;
	if (cm_data_plain(in))
		return MPI_SUCCESS;
	op->payload = op->scratch;
	err = cm_data_seen_from(in, op->scratch, &op->seen);
	return err ? err : cm_data_pack(in, op->scratch, op->seen);
}

/* Reductions bring and get elements of a predefined datatype; in a broadcast nobody does both. */
static int init_out(struct cm_op *op, const struct cm_data *out)
{
	op->out = *out;
	op->result = cm_data_plain(out) ? out->buffer : op->scratch;
	op->result_bytes = out->bytes;
	return cm_data_seen_from(out, op->scratch, &op->seen);
}

int cm_op_init(struct cm_op *op, struct cm_comm *c, const struct cm_data *in,
	       const struct cm_data *out)
{
	int err = MPI_SUCCESS;

	op->comm = c;
	op->seen = MPI_DATATYPE_NULL;
	op->post.size = sizeof(op->post);
	op->post.cookie = (uintptr_t)op;
	if ((in && !cm_data_plain(in)) || (out && !cm_data_plain(out))) {
		op->scratch = malloc(in ? in->bytes : out->bytes);
		if (!op->scratch)
			return MPI_ERR_NO_MEM;
	}
	if (in)
		err = init_in(op, in);
	if (!err && out)
		err = init_out(op, out);
	if (err)
		cm_op_release(op);
	return err;
}

void cm_op_release(struct cm_op *op)
{
	free(op->scratch);
	op->scratch = NULL;
	if (op->seen != MPI_DATATYPE_NULL)
		PMPI_Type_free(&op->seen);
}

int cm_op_finish(struct cm_op *op)
{
	int err = MPI_SUCCESS;

	if (!op->error && op->result_bytes && op->result == op->scratch)
		err = cm_data_unpack(&op->out, op->scratch, op->seen);
	cm_op_release(op);
	return err;
}

/* ---- completions ---- */

/* The result may be elsewhere. Whoever sees the state sees all of it. */
static void op_done(struct cm_op *op, int error, __u32 failed_rank, const void *result)
{
	op->error = error;
	op->failed_rank = failed_rank;
	if (!error && op->result_bytes && result != op->result)
		memcpy(op->result, result, op->result_bytes);
	if (error)
		atomic_store(&op->comm->failed, true);
	atomic_store_explicit(&op->state, CM_OP_DONE, memory_order_release);
}

static void op_complete(struct cm_op *op, const struct collsock_completion *completion,
			const void *result)
{
	atomic_fetch_sub(&op->comm->under_way, 1);
	op->completed_ns = completion->completed_ns;
	op_done(op, completion->error, completion->failed_rank, result);
}

/*
 * The kernel will not end this operation, because a call has failed that must not: this
 * rank would be one operation behind all others from now on. So it leaves.
 */
static void op_lost(struct cm_op *op, int err)
{
	cm_comm_break(op->comm, -err);
	op_done(op, atomic_load(&op->comm->broken), COLLSOCK_NO_RANK, NULL);
}

/* Posting fails, at the end of a group that has failed with the error of the group. */
static void op_refused(struct cm_op *op, int err)
{
	struct collsock_self self;

	if (err == -EPIPE && !collsock_self(op->comm->socket, &self, sizeof(self)) && self.error)
		op_done(op, self.error, self.failed_rank, NULL);
	else
		op_lost(op, err);
}

static bool op_is_done(const struct cm_op *op)
{
	return atomic_load_explicit(&op->state, memory_order_acquire) == CM_OP_DONE;
}

/* It leaves the queue, if it stands there. */
static void op_unqueue(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	struct cm_op **link = &c->queue;

	while (*link && *link != op)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = op->next;
	if (!*link)
		c->queue_end = link;
	atomic_store(&c->queued, c->queue);
}

/* Unless somebody has its completion in hand: he has the lock. */
static void op_lose(struct cm_op *op, int err)
{
	pthread_mutex_lock(&op->comm->lock);
	if (!op_is_done(op)) {
		op_unqueue(op);
		op_lost(op, err);
	}
	pthread_mutex_unlock(&op->comm->lock);
}

void cm_op_abandon(struct cm_op *op)
{
	struct cm_comm *c = op->comm;

	pthread_mutex_lock(&c->lock);
	op_unqueue(op);
	atomic_store(&c->under_way, 0);
	pthread_mutex_unlock(&c->lock);
}

static void take_completions(struct cm_comm *c)
{
	struct collsock_completion completion;

	while (atomic_load(&c->under_way) &&
	       !collsock_complete(c->socket, &completion, c->scratch, cm_settings.max_bytes))
		if (completion.cookie != COLLSOCK_COOKIE_GROUP)
			op_complete((struct cm_op *)(uintptr_t)completion.cookie, &completion,
				    c->scratch);
}

/* ---- posting ---- */

static bool has_no_room(int err)
{
	return err == -EAGAIN || err == -ENOBUFS || err == -EINTR;
}

/* The lock is held, or nobody else knows the operation. */
static int op_try(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	int err;

	atomic_store(&op->state, CM_OP_POSTED);
	atomic_fetch_add(&c->under_way, 1);
	err = collsock_post(c->socket, &op->post, op->payload, op->payload_bytes);
	if (!err)
		return 0;
	atomic_fetch_sub(&c->under_way, 1);
	atomic_store(&op->state, CM_OP_QUEUED);
	return err;
}

static void post_queued(struct cm_comm *c)
{
	struct cm_op *op;
	int err;

	while ((op = c->queue)) {
		struct cm_op *next = op->next;

		err = op_try(op);
		if (has_no_room(err))
			return;
		/* Whoever waits for it may have freed it by now, unless that has failed. */
		c->queue = next;
		if (!next) {
			c->queue_end = &c->queue;
			atomic_store(&c->queued, false);
		}
		if (err)
			op_refused(op, err);
	}
}

static void op_queue(struct cm_op *op)
{
	struct cm_comm *c = op->comm;

	op->next = NULL;
	*c->queue_end = op;
	c->queue_end = &op->next;
	atomic_store(&c->queued, true);
}

void cm_op_advance(struct cm_comm *c)
{
	take_completions(c);
	post_queued(c);
}

/* As posting, but those that stand in the queue are first. */
void cm_op_post(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	bool queued;
	int err = -EAGAIN;

	pthread_mutex_lock(&c->lock);
	if (!c->queue)
		err = op_try(op);
	if (has_no_room(err)) {
		op_queue(op);
		/* Perhaps there are completions to be taken. */
		cm_op_advance(c);
	} else if (err) {
		op_refused(op, err);
	}
	queued = c->queue;
	pthread_mutex_unlock(&c->lock);
	if (queued)
		cm_poster_kick();
}

/* ---- waiting ---- */

static void advance(struct cm_comm *c)
{
	pthread_mutex_lock(&c->lock);
	cm_op_advance(c);
	pthread_mutex_unlock(&c->lock);
}

/* Spin for its completion. */
static void op_take(struct cm_op *op)
{
	struct collsock_completion completion;
	int err;

	if (atomic_load(&op->state) != CM_OP_POSTED)
		return;
	err = collsock_wait(op->comm->socket, op->post.cookie, &completion, op->result,
			    op->result_bytes);
	if (!err)
		op_complete(op, &completion, op->result);
	else if (err == -ENOMEM)
		/* That takes all completions, and needs none. */
		advance(op->comm);
	else if (err != -EAGAIN && err != -EINTR && err != -ENOENT)
		op_lose(op, err);
	/* -ENOENT: somebody takes all completions just now. */
}

bool cm_op_test(struct cm_op *op, struct cm_comm **looked)
{
	if (op_is_done(op))
		return true;
	if (op->comm == *looked)
		return false;
	*looked = op->comm;
	advance(op->comm);
	/* Whoever waits notices by itself. */
	if (atomic_load(&op->comm->broken))
		op_lose(op, -atomic_load(&op->comm->broken));
	return op_is_done(op);
}

void cm_op_wait(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	struct pollfd socket = { .fd = collsock_fd(c->socket), .events = POLLIN };
	unsigned int spins = c->spins;
	struct cm_pace pace = { };

	while (!op_is_done(op)) {
		cm_drive();
		/* Completions that nobody takes would keep us from sleeping. */
		if (atomic_load(&c->queued) || atomic_load(&c->under_way) > 1)
			advance(c);
		if (op_is_done(op))
			return;
		if (spins)
			spins--;
		else
			cm_pace_sleep(&pace, &socket, 1);
		op_take(op);
	}
}

void cm_op_run(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	struct collsock_completion completion;
	int err;

	if (atomic_load(&c->queued)) {
		cm_op_post(op);
		cm_op_wait(op);
		return;
	}
	atomic_store(&op->state, CM_OP_POSTED);
	atomic_fetch_add(&c->under_way, 1);
	err = collsock_run(c->socket, &op->post, op->payload, op->payload_bytes, &completion,
			   op->result, op->result_bytes);
	if (!err) {
		op_complete(op, &completion, op->result);
		cm_drive_sometimes(op->completed_ns);
		return;
	}
	if (err == -EINPROGRESS) {
		cm_op_wait(op);
		return;
	}
	atomic_fetch_sub(&c->under_way, 1);
	atomic_store(&op->state, CM_OP_QUEUED);
	if (has_no_room(err)) {
		cm_op_post(op);
		cm_op_wait(op);
	} else {
		op_lost(op, err);
	}
}
