// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdint.h>

#include "settings.h"
#include "window.h"

static void window_lock(struct cm_comm *c)
{
	pthread_mutex_lock(&c->window.lock);
}

static void window_unlock(struct cm_comm *c)
{
	pthread_mutex_unlock(&c->window.lock);
}

/* ---- the queue; the lock is held ---- */

static void window_append(struct cm_comm *c, struct cm_op *op)
{
	cm_op_queued(op);
	op->next = NULL;
	*c->window.queue_end = op;
	c->window.queue_end = &op->next;
	atomic_store(&c->window.queued, true);
}

/* Remove the operation that @link points to. */
static void window_unlink(struct cm_comm *c, struct cm_op **link, struct cm_op *next)
{
	*link = next;
	if (!next)
		c->window.queue_end = link;
	atomic_store(&c->window.queued, c->window.queue);
}

static void window_remove(struct cm_op *op)
{
	struct cm_op **link = &op->comm->window.queue;

	while (*link && *link != op)
		link = &(*link)->next;
	if (*link)
		window_unlink(op->comm, link, op->next);
}

/* ---- advancing ---- */

static void window_take_completions(struct cm_comm *c)
{
	struct collsock_completion completion;

	while (atomic_load(&c->window.under_way) &&
	       !collsock_complete(c->socket, &completion, c->window.scratch,
				  cm_settings.max_bytes)) {
		if (completion.cookie == COLLSOCK_COOKIE_GROUP)
			atomic_fetch_add(&c->window.received, 1);
		else
			cm_op_complete((struct cm_op *)(uintptr_t)completion.cookie, &completion,
				       c->window.scratch);
	}
}

static void window_post_queued(struct cm_comm *c)
{
	struct cm_op *op, *next;

	while ((op = c->window.queue)) {
		next = op->next;
		if (!cm_op_post(op))
			return;
		/* Its thread may have freed it by now. */
		window_unlink(c, &c->window.queue, next);
	}
}

static void window_advance(struct cm_comm *c)
{
	window_take_completions(c);
	window_post_queued(c);
}

void cm_window_advance(struct cm_comm *c)
{
	window_lock(c);
	window_advance(c);
	window_unlock(c);
}

bool cm_window_has_news(const struct cm_comm *c)
{
	return !c->window.page || cm_window_is_queued(c) ||
	       collsock_ended(c->window.page) != atomic_load(&c->window.received);
}

bool cm_window_post(struct cm_op *op)
{
	struct cm_comm *c = op->comm;
	bool queued;

	window_lock(c);
	if (c->window.queue || !cm_op_post(op)) {
		window_append(c, op);
		/* Receiving completions may make room. */
		window_advance(c);
	}
	queued = c->window.queue;
	window_unlock(c);
	return queued;
}

/* ---- ends without a completion ---- */

void cm_window_lose(struct cm_op *op, int err)
{
	struct cm_comm *c = op->comm;

	window_lock(c);
	/* A thread that receives its completion holds the lock. */
	if (!cm_op_is_done(op)) {
		window_remove(op);
		cm_op_lost(op, err);
	}
	window_unlock(c);
}

void cm_window_abandon(struct cm_op *op)
{
	struct cm_comm *c = op->comm;

	window_lock(c);
	window_remove(op);
	atomic_store(&c->window.under_way, 0);
	window_unlock(c);
}
