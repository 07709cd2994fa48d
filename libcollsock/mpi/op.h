/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * One operation of a communicator that has joined: from the program's arguments to its
 * end. Where the window has no room it stands in the communicator's queue, and a thread
 * of its own posts it when there is some: a program that has posted may then wait for
 * whatever it likes.
 */
#ifndef COLLSOCK_MPI_OP_H
#define COLLSOCK_MPI_OP_H

#include "comm.h"
#include "data.h"

enum cm_op_state {
	CM_OP_QUEUED,
	CM_OP_POSTED,
	CM_OP_DONE,	/* its result is there */
};

/**
 * struct cm_op - an operation
 * @comm: its communicator
 * @call: which function was called
 * @post: what is posted; its cookie is the address of this structure
 * @out: where the program wants the result
 * @payload: as it is posted
 * @payload_bytes: of it
 * @result: as collsock gives it; may be @out.buffer
 * @result_bytes: of it, 0 if this rank gets none
 * @scratch: for data that does not lie in memory as it travels, or NULL
 * @seen: derived elements, seen from @scratch, or MPI_DATATYPE_NULL
 * @state: enum cm_op_state
 * @error: 0, or a positive errno; valid when it is done
 * @failed_rank: whom @error speaks of
 * @completed_ns: when it did
 * @next: in the queue
 * @request: of a nonblocking one
 * @told: MPI knows that the request is complete
 * @next_request: in the table of requests
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
	MPI_Datatype		seen;
	atomic_int		state;
	int			error;
	__u32		failed_rank;
	__u64		completed_ns;
	struct cm_op		*next;

	MPI_Request		request;
	atomic_bool		told;
	struct cm_op		*next_request;
};

/*
 * @in is what this rank brings, @out what it gets, or NULL. The operation's kind, type,
 * operator, root and count are in @op->post. An MPI error code.
 */
int cm_op_init(struct cm_op *op, struct cm_comm *c, const struct cm_data *in,
	       const struct cm_data *out);

/* Post and wait. */
void cm_op_run(struct cm_op *op);

/* Post and go on; never blocks. */
void cm_op_post(struct cm_op *op);

/*
 * Has it ended? @looked is the communicator whose completions the caller has just taken, or
 * NULL at first.
 */
bool cm_op_test(struct cm_op *op, struct cm_comm **looked);

/* Wait, and drive the MPI below meanwhile. */
void cm_op_wait(struct cm_op *op);

/* Nobody waits for it any more, the only one: the communicator will not use its socket again. */
void cm_op_abandon(struct cm_op *op);

/* It is done: put the result where the program wants it. An MPI error code. */
int cm_op_finish(struct cm_op *op);

/* What cm_op_init() has made; cm_op_finish() does it, too. */
void cm_op_release(struct cm_op *op);

/* Take completions and post what is queued. The lock of @c is held. */
void cm_op_advance(struct cm_comm *c);

/* poster.c: something has been queued; the thread's end */
void cm_poster_kick(void);
void cm_poster_stop(void);

#endif
