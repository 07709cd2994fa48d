// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <poll.h>

#include "poster.h"
#include "progress.h"
#include "run.h"
#include "underlying.h"
#include "window.h"

void cm_run_start(struct cm_op *op)
{
	if (cm_window_post(op))
		cm_poster_wake();
}

bool cm_run_test(struct cm_op *op, struct cm_comm **looked)
{
	struct cm_comm *c = op->comm;

	if (cm_op_is_done(op))
		return true;
	if (c == *looked)
		return false;
	*looked = c;
	if (cm_window_has_news(c))
		cm_window_advance(c);
	/* Unlike in a wait, the socket cannot report here that this rank has left. */
	if (atomic_load(&c->failure.left))
		cm_window_lose(op, -atomic_load(&c->failure.left));
	return cm_op_is_done(op);
}

/* Spin for its completion, for the time that is set on the socket. */
static void run_spin(struct cm_op *op)
{
	struct collsock_completion completion;
	int err;

	if (!cm_op_is_posted(op))
		return;
	err = collsock_wait(op->comm->socket, op->post.cookie, &completion, op->result,
			    op->result_bytes);
	if (!err)
		cm_op_complete(op, &completion, op->result);
	else if (err == -ENOMEM)
		/* Receiving all completions needs no memory. */
		cm_window_advance(op->comm);
	else if (err != -EAGAIN && err != -EINTR && err != -ENOENT)
		cm_window_lose(op, err);
	/* -ENOENT: another thread is receiving all completions. */
}

/* Completions left in the socket would keep us from sleeping. */
static void run_receive(struct cm_op *op)
{
	struct cm_comm *c = op->comm;

	if (!cm_window_has_news(c))
		return;
	if (cm_window_is_queued(c) || atomic_load(&c->window.under_way) > 1)
		cm_window_advance(c);
	else
		run_spin(op);
}

/*
 * Where ranks share processors, the first sleep comes before the underlying MPI is driven, which
 * would take time from the others; most operations end during the sleep.
 */
static void run_sleep(struct cm_op *op)
{
	struct pollfd socket = { .fd = collsock_fd(op->comm->socket), .events = POLLIN };
	struct cm_pace pace = { };

	for (;;) {
		if (cm_progress_sleep(&pace, &socket, 1))
			run_spin(op);
		if (cm_op_is_done(op))
			return;
		cm_underlying_progress();
		run_receive(op);
		if (cm_op_is_done(op))
			return;
	}
}

void cm_run_wait(struct cm_op *op)
{
	unsigned int spins;

	run_receive(op);
	for (spins = cm_spin_begin(&op->comm->spin); spins && !cm_op_is_done(op); spins--) {
		cm_underlying_progress();
		run_spin(op);
		run_receive(op);
	}
	if (cm_op_is_done(op)) {
		cm_spin_won(&op->comm->spin);
		return;
	}
	cm_spin_lost(&op->comm->spin);
	run_sleep(op);
}

void cm_run(struct cm_op *op)
{
	struct cm_comm *c = op->comm;

	if (cm_window_is_queued(c) || !cm_op_run(op))
		cm_run_start(op);
	if (cm_op_is_done(op)) {
		cm_spin_won(&c->spin);
		cm_progress_drive_sometimes(op->completed_ns);
		return;
	}
	cm_spin_lost(&c->spin);
	cm_run_wait(op);
}
