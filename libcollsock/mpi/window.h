/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The operations of a communicator that has joined: those under way, and the queue of those
 * for which the group's window has no room yet. They are posted in the order of the calls.
 */
#ifndef COLLSOCK_MPI_WINDOW_H
#define COLLSOCK_MPI_WINDOW_H

#include "op.h"

/* Take all completions, and post what is queued and has room now. */
void cm_window_advance(struct cm_comm *c);

/*
 * Post a new operation, or put it behind those that are queued; never blocks. True if
 * the queue is not empty then, so that the window has to be advanced later.
 */
bool cm_window_post(struct cm_op *op);

/* Is the queue not empty? */
static inline bool cm_window_is_queued(const struct cm_comm *c)
{
	return atomic_load(&c->window.queued);
}

/* As cm_op_lost(), for an operation that other threads know. It may be done already. */
void cm_window_lose(struct cm_op *op, int err);

/*
 * The only operation will be freed before it is done, and the communicator will not use
 * its socket again.
 */
void cm_window_abandon(struct cm_op *op);

#endif
