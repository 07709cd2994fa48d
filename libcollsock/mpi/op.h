/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * An operation of a communicator that has joined, from the program's arguments to its result.
 *
 *	            posted             completed
 *	NEW ----------------> POSTED ------------> DONE
 *	 |                      ^                   ^
 *	 | no room              | posted            |
 *	 +----------> QUEUED ---+                   |
 *	                                            |
 *	NEW, QUEUED, POSTED ---------- lost --------+
 *
 * state   event                        next    moved by
 * NEW     the kernel accepts the post  POSTED  cm_op_post(), cm_op_run(): the caller of MPI
 * NEW     the window has no room       QUEUED  cm_op_queued(): the same, window locked
 * QUEUED  the kernel accepts the post  POSTED  cm_op_post(): any thread, window locked
 * POSTED  its completion is received   DONE    cm_op_complete(): the thread that gets it
 * each    the kernel cannot do it      DONE    cm_op_lost(): the thread that learns it
 *
 * It becomes POSTED just before the call that posts it, because another thread may receive
 * its completion before that call returns; if the kernel does not accept the post this is
 * undone. A NEW operation is known only to the thread that calls MPI. That thread frees a
 * DONE one, so other threads must not use an operation after making it DONE.
 */
#ifndef COLLSOCK_MPI_OP_H
#define COLLSOCK_MPI_OP_H

#include "comm.h"
#include "data.h"

enum cm_op_state {
	CM_OP_NEW,
	CM_OP_QUEUED,
	CM_OP_POSTED,
	CM_OP_DONE,
};

/**
 * struct cm_op - an operation
 * @comm: its communicator
 * @call: the MPI function that was called
 * @post: what is posted; its cookie is the address of this structure
 * @out: where the program wants the result; no bytes if it is received there
 * @payload: the payload as posted
 * @payload_bytes: length of the payload; more than the program's data is padding
 * @result: as collsock returns it; may be @out.buffer
 * @result_bytes: length of the result, 0 if this rank receives none; if it is neither
 *                received nor unpacked where the program wants it, it is discarded
 * @scratch: for data that must be packed or unpacked, or NULL
 * @parts: where the program wants the blocks of the result, or NULL if they are consecutive
 * @described: where it wants the result, relative to @scratch; MPI_DATATYPE_NULL if that
 *             follows from @out
 * @state: enum cm_op_state
 * @error: 0, or a positive errno; valid when DONE
 * @failed_rank: the rank that caused @error
 * @completed_ns: when it completed
 * @next: in the window's queue
 * @request: of a nonblocking operation
 * @told: the underlying MPI has been notified that the request is complete
 * @next_request: in the table or the list of requests
 */
struct cm_op {
	struct cm_comm		*comm;
	enum cm_call		call;
	struct collsock_post	post;
	struct cm_data		out;
	const void		*payload;
	size_t			payload_bytes;
	void			*result;
	size_t			result_bytes;
	void			*scratch;
	struct cm_parts		*parts;
	MPI_Datatype		described;
	atomic_int		state;
	int			error;
	__u32			failed_rank;
	__u64			completed_ns;
	struct cm_op		*next;

	MPI_Request		request;
	atomic_bool		told;
	struct cm_op		*next_request;
};

/* A zeroed operation with a request; NULL if there is no memory */
struct cm_op *cm_op_new(struct cm_comm *c, enum cm_call call);

/* Free it; it has not been posted, or is DONE and released. */
void cm_op_free(struct cm_op *op);

/*
 * Initialise an operation as NEW, but for what its request needs. @in is what this rank
 * contributes, @out what it wants, or NULL. The caller has set @op->call, @op->post but for
 * its size and cookie, both lengths, and @op->parts, which is freed with the operation.
 * Returns an MPI error code.
 */
int cm_op_init(struct cm_op *op, struct cm_comm *c, const struct cm_data *in,
	       const struct cm_data *out);

/*
 * NEW or QUEUED: post it. False if the window has no room for it, and then its state is
 * unchanged; otherwise it is POSTED, or DONE.
 */
bool cm_op_post(struct cm_op *op);

/* NEW: likewise, and wait in the kernel. It may still be POSTED when this returns true. */
bool cm_op_run(struct cm_op *op);

/* NEW: it has been put into the window's queue. */
void cm_op_queued(struct cm_op *op);

/* POSTED: its completion was received; the result is copied if it is not in @op->result. */
void cm_op_complete(struct cm_op *op, const struct collsock_completion *completion,
		    const void *result);

/*
 * Not DONE: the kernel cannot complete it, because a call that must not fail has failed
 * with @err, a negative errno. This rank would be out of step with all others, so it leaves
 * the group.
 */
void cm_op_lost(struct cm_op *op, int err);

static inline bool cm_op_is_new(const struct cm_op *op)
{
	return atomic_load(&op->state) == CM_OP_NEW;
}

static inline bool cm_op_is_posted(const struct cm_op *op)
{
	return atomic_load(&op->state) == CM_OP_POSTED;
}

/* If so, all that was written before it became DONE is visible. */
static inline bool cm_op_is_done(const struct cm_op *op)
{
	return atomic_load_explicit(&op->state, memory_order_acquire) == CM_OP_DONE;
}

/* Free what cm_op_init() allocated; cm_op_finish() does so, too. */
void cm_op_release(struct cm_op *op);

/* Part of cm_op_finish(), for results that are not where the program wants them. */
int cm_op_unpack(struct cm_op *op);

/* DONE: deliver the result to the program. Returns an MPI error code. */
static inline int cm_op_finish(struct cm_op *op)
{
	bool plain = !op->scratch && !op->parts && op->described == MPI_DATATYPE_NULL;

	return plain ? MPI_SUCCESS : cm_op_unpack(op);
}

#endif
