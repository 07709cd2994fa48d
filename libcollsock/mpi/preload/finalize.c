// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "attribute.h"
#include "clock.h"
#include "finalize.h"
#include "functions.h"
#include "poster.h"
#include "probe.h"
#include "progress.h"
#include "settings.h"
#include "summary.h"
#include "underlying.h"
#include "window.h"

/* Time-out of the final barrier once the socket reports that a rank is missing */
#define GRACE_S 3

/**
 * struct leaving - a communicator that had joined
 * @comm: the communicator
 * @barrier: of all its ranks, in the underlying MPI
 */
struct leaving {
	struct cm_comm	*comm;
	MPI_Request	barrier;
};

static bool finalize_is_joined(const struct cm_comm *c)
{
	return c->state == CM_JOINED && c->handle != MPI_COMM_NULL;
}

static unsigned int finalize_list_joined(struct leaving **all)
{
	unsigned int count = 0, i = 0;
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c; c = c->next)
		count += finalize_is_joined(c);
	*all = calloc(count ? count : 1, sizeof(**all));
	if (!*all)
		count = 0;
	for (c = cm_comm_all; c; c = c->next)
		if (i < count && finalize_is_joined(c))
			(*all)[i++].comm = c;
	cm_comm_unlock_all();
	return count;
}

/* Operations that the program has started are posted before it ends. */
static void finalize_post_queued(struct cm_comm *c)
{
	struct cm_pace pace = { };

	while (cm_window_is_queued(c)) {
		cm_window_advance(c);
		cm_underlying_progress();
		cm_progress_sleep(&pace, NULL, 0);
	}
}

/* Is a rank missing? */
static bool finalize_has_failed(const struct cm_comm *c)
{
	struct collsock_self self;

	return atomic_load(&c->failure.seen) ||
	       (!collsock_self(c->socket, &self, sizeof(self)) && self.error);
}

/*
 * If an operation has failed, a rank may never enter the barrier. If only the socket
 * reports that a rank is missing, that rank may have passed the barrier already, and only
 * messages in flight need to be waited for: until @end, for all communicators together; 0
 * until it is needed.
 */
static bool finalize_is_hopeless(const struct cm_comm *c, __u64 *end)
{
	if (atomic_load(&c->failure.seen))
		return true;
	if (!finalize_has_failed(c))
		return false;
	if (!*end)
		*end = cm_clock_ns() + GRACE_S * CM_NS_PER_S;
	return cm_clock_ns() >= *end;
}

static void finalize_await_barrier(struct leaving *l, __u64 *end)
{
	struct cm_pace pace = { };
	int done = 0;

	while (!cm_functions.Test(&l->barrier, &done, MPI_STATUS_IGNORE) && !done &&
	       !finalize_is_hopeless(l->comm, end))
		cm_progress_sleep(&pace, NULL, 0);
}

static void finalize_leave_all(void)
{
	struct leaving *all;
	unsigned int count = finalize_list_joined(&all), i;
	__u64 end = 0;

	for (i = 0; i < count; i++)
		finalize_post_queued(all[i].comm);
	for (i = 0; i < count; i++) {
		all[i].barrier = MPI_REQUEST_NULL;
		if (!finalize_has_failed(all[i].comm))
			cm_functions.Ibarrier(all[i].comm->handle, &all[i].barrier);
	}
	for (i = 0; i < count; i++)
		finalize_await_barrier(&all[i], &end);
	cm_poster_stop();
	for (i = 0; i < count; i++) {
		collsock_close(all[i].comm->socket);
		all[i].comm->socket = NULL;
		all[i].comm->window.page = NULL;
	}
	free(all);
}

static void finalize_print_summary(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (cm_settings.summary && !rank)
		cm_summary_print();
}

static int finalize_detached(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	finalize_leave_all();
	finalize_print_summary();
	cm_attribute_exit();
	cm_probe_exit();
	return MPI_SUCCESS;
}

/*
 * MPI_Finalize frees MPI_COMM_SELF first, while MPI can still be used, and deletes its
 * first attribute last, after the program's own callbacks, which may wait for requests.
 */
int cm_finalize_attach(void)
{
	int key, err;

	err = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_detached, &key, NULL);
	if (!err)
		err = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	return err ? err : PMPI_Comm_free_keyval(&key);
}
