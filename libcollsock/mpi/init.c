// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* MPI_Init, MPI_Finalize, and what all ranks must know before the first collective. */
#include <stdio.h>
#include <stdlib.h>

#include "below.h"
#include "comm.h"
#include "export.h"
#include "kinds.h"
#include "op.h"
#include "progress.h"
#include "settings.h"

/**
 * struct announcement - of rank 0
 * @settings: which all ranks take
 * @valid: the environment made sense
 */
struct announcement {
	struct cm_settings	settings;
	uint32_t		valid;
};

static int announce(void)
{
	struct announcement a = { };
	MPI_Request request;
	char error[512];
	int rank, size, err;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!rank)
		a.valid = !cm_settings_read(&a.settings, error, sizeof(error));
	if (!rank && !a.valid)
		fprintf(stderr, "collsock: %s\n", error);
	err = below.Ibcast(&a, sizeof(a), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	if (!err)
		err = cm_await_below(&request, "settings", rank, size);
	if (err)
		return err;
	if (!a.valid)
		PMPI_Abort(MPI_COMM_WORLD, 2);
	cm_settings = a.settings;
	return MPI_SUCCESS;
}

static int begin(void)
{
	int err;

	cm_inside++;
	err = announce();
	if (!err && cm_settings.mode != CM_OFF) {
		cm_kinds_init();
		err = cm_progress_init();
		if (!err)
			err = cm_comm_init();
		if (!err && !cm_settings.after)
			cm_comm_join_world();
	}
	cm_inside--;
	return err;
}

static int init(int *argc, char ***argv)
{
	int err;

	cm_inside++;
	err = below.Init(argc, argv);
	cm_inside--;
	return err ? err : begin();
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err;

	cm_inside++;
	err = below.Init_thread(argc, argv, required, provided);
	cm_inside--;
	return err ? err : begin();
}

/* ---- the end ---- */

/**
 * struct leaving - a communicator that had joined
 * @comm: it
 * @barrier: of all its ranks, in the MPI below
 */
struct leaving {
	struct cm_comm	*comm;
	MPI_Request	barrier;
};

static unsigned int list_joined(struct leaving **all)
{
	unsigned int count = 0, i = 0;
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c; c = c->next)
		count += c->state == CM_JOINED && c->handle != MPI_COMM_NULL;
	*all = calloc(count ? count : 1, sizeof(**all));
	if (!*all)
		count = 0;
	for (c = cm_comm_all; c; c = c->next)
		if (i < count && c->state == CM_JOINED && c->handle != MPI_COMM_NULL)
			(*all)[i++].comm = c;
	cm_comm_unlock_all();
	return count;
}

/* What the program has posted is posted before it goes. */
static void drain(struct cm_comm *c)
{
	struct cm_pace pace = { };

	while (atomic_load(&c->queued)) {
		pthread_mutex_lock(&c->lock);
		cm_op_advance(c);
		pthread_mutex_unlock(&c->lock);
		cm_drive();
		cm_pace_sleep(&pace, NULL, 0);
	}
}

/* Of one that has failed somebody may be missing. */
static bool has_failed(const struct cm_comm *c)
{
	struct pollfd socket = { .fd = collsock_fd(c->socket) };

	return atomic_load(&c->failed) || (poll(&socket, 1, 0) > 0 && socket.revents & POLLERR);
}

static void await_barrier(struct leaving *l)
{
	struct cm_pace pace = { };
	int done = 0;

	while (!below.Test(&l->barrier, &done, MPI_STATUS_IGNORE) && !done &&
	       !has_failed(l->comm))
		cm_pace_sleep(&pace, NULL, 0);
}

/*
 * Hosts, or containers, may be gone when their last program has ended: nobody leaves while
 * others may need what it has posted.
 */
static void leave_all(void)
{
	struct leaving *all;
	unsigned int count = list_joined(&all), i;

	for (i = 0; i < count; i++)
		drain(all[i].comm);
	for (i = 0; i < count; i++) {
		all[i].barrier = MPI_REQUEST_NULL;
		if (!has_failed(all[i].comm))
			below.Ibarrier(all[i].comm->handle, &all[i].barrier);
	}
	for (i = 0; i < count; i++)
		await_barrier(&all[i]);
	cm_poster_stop();
	for (i = 0; i < count; i++) {
		collsock_close(all[i].comm->socket);
		all[i].comm->socket = NULL;
	}
	free(all);
}

static int finalize(void)
{
	int rank;

	cm_inside++;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	leave_all();
	if (cm_settings.summary && cm_settings.mode != CM_OFF && !rank)
		cm_summary_print();
	cm_comm_exit();
	cm_progress_exit();
	return below.Finalize();
}

EXPORT(Init, (int *argc, char ***argv), (argc, argv), init)
EXPORT(Init_thread, (int *argc, char ***argv, int required, int *provided),
       (argc, argv, required, provided), init_thread)
EXPORT(Finalize, (void), (), finalize)
