/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The operations of a communicator that has joined: those under way, and the queue of those
 * that wait for room in the group's window. They are posted in the order of the calls.
 */
#ifndef COLLSOCK_MPI_WINDOW_H
#define COLLSOCK_MPI_WINDOW_H

#include "op.h"

/* Receive all completions, and post queued operations for which there is room. */
void cm_window_advance(struct cm_comm *c);

/*
 * May cm_window_advance() find something? If the socket's page is mapped, this needs no call of
 * the kernel.
 */
bool cm_window_has_news(const struct cm_comm *c);

/*
 * Post a new operation, or append it to the queue; never blocks. True if the queue is not
 * empty then, so that the window must be advanced later.
 */
bool cm_window_post(struct cm_op *op);

/* Is the queue not empty? */
static inline bool cm_window_is_queued(const struct cm_comm *c)
{
	return atomic_load(&c->window.queued);
}

/* As cm_op_lost(), for an operation known to other threads. It may be done already. */
void cm_window_lose(struct cm_op *op, int err);

/*
 * Abandon the only operation, which is then freed before it is done. The communicator will
 * not use its socket again.
 */
void cm_window_abandon(struct cm_op *op);

#endif
