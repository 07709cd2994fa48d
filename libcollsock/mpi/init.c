// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The beginning, the end, and what all ranks must know before the first collective. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "below.h"
#include "clock.h"
#include "comm.h"
#include "export.h"
#include "kinds.h"
#include "op.h"
#include "progress.h"
#include "settings.h"

/* What the MPI for which this is built calls itself */
#ifdef MPICH_VERSION
#define CM_LIBRARY "MPICH"
#else
#define CM_LIBRARY "Open MPI"
#endif

/* Of what ranks tell each other: settings here, and where they live */
#define VERSION 0xc0110001U
#define ANNOUNCEMENT_BYTES 256	/* in all versions */

/* For the barrier at the end, where it seems that somebody is missing */
#define GRACE_S 3

/**
 * union announcement - of rank 0
 * @version: VERSION, at this place in all versions
 * @valid: the environment made sense
 * @settings: which all ranks take
 * @bytes: as it travels
 */
union announcement {
	struct {
		__u32			version;
		__u32			valid;
		struct cm_settings	settings;
	};
	__u8			bytes[ANNOUNCEMENT_BYTES];
};

_Static_assert(sizeof(union announcement) == ANNOUNCEMENT_BYTES, "they do not fit");

static int rank, size;

static void fill_announcement(union announcement *a)
{
	char error[512];

	a->version = VERSION;
	a->valid = !cm_settings_read(&a->settings, error, sizeof(error));
	if (!a->valid)
		fprintf(stderr, "collsock: %s\n", error);
}

static int announce(void)
{
	union announcement a = { };
	MPI_Request request;
	int err;

	if (!rank)
		fill_announcement(&a);
	err = below.Ibcast(&a, sizeof(a), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	if (!err)
		err = cm_await_below(&request, "settings", rank, size);
	if (err)
		return err;
	if (a.version != VERSION)
		fprintf(stderr,
			"collsock: libcollsock-mpi of rank %d is of another version than that of rank 0: install the same on all hosts\n",
			rank);
	if (a.version != VERSION || !a.valid)
		PMPI_Abort(MPI_COMM_WORLD, 2);
	cm_settings = a.settings;
	return MPI_SUCCESS;
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

/* Somebody may be missing. */
static bool has_ended(const struct cm_comm *c)
{
	struct collsock_self self;

	return atomic_load(&c->failed) ||
	       (!collsock_self(c->socket, &self, sizeof(self)) && self.error);
}

/*
 * Of a group that has failed somebody may never come. Whoever has left it may be gone, too, or
 * through the barrier before us: then there is no more to wait for than messages on their way.
 * @end is when that has been long enough, for all communicators together.
 */
static bool is_hopeless(const struct cm_comm *c, __u64 *end)
{
	if (atomic_load(&c->failed))
		return true;
	if (!has_ended(c))
		return false;
	if (!*end)
		*end = cm_now_ns() + GRACE_S * CM_NS_PER_S;
	return cm_now_ns() >= *end;
}

static void await_barrier(struct leaving *l, __u64 *end)
{
	struct cm_pace pace = { };
	int done = 0;

	while (!below.Test(&l->barrier, &done, MPI_STATUS_IGNORE) && !done &&
	       !is_hopeless(l->comm, end))
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
	__u64 end = 0;

	for (i = 0; i < count; i++)
		drain(all[i].comm);
	for (i = 0; i < count; i++) {
		all[i].barrier = MPI_REQUEST_NULL;
		if (!has_ended(all[i].comm))
			below.Ibarrier(all[i].comm->handle, &all[i].barrier);
	}
	for (i = 0; i < count; i++)
		await_barrier(&all[i], &end);
	cm_poster_stop();
	for (i = 0; i < count; i++) {
		collsock_close(all[i].comm->socket);
		all[i].comm->socket = NULL;
	}
	free(all);
}

/*
 * MPI_Finalize frees MPI_COMM_SELF first, while MPI can still be used. What was attached
 * to it first goes last: the program's own, which may wait for requests, are over.
 */
static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	leave_all();
	if (cm_settings.summary && !rank)
		cm_summary_print();
	cm_comm_exit();
	cm_progress_exit();
	return MPI_SUCCESS;
}

/* ---- the beginning ---- */

static int attach_end(void)
{
	int key, err;

	err = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
	if (!err)
		err = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	return err ? err : PMPI_Comm_free_keyval(&key);
}

static int begin(void)
{
	int err;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	err = announce();
	if (err || cm_settings.mode == CM_OFF)
		return err;
	cm_kinds_init();
	err = cm_progress_init(rank, size);
	if (!err)
		err = attach_end();
	if (!err)
		err = cm_comm_init();
	if (!err && !cm_settings.after)
		cm_comm_join_world();
	return err;
}

/* Handles of another MPI are of another size. */
static void check_library(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length;

	PMPI_Get_library_version(version, &length);
	if (!strncmp(version, CM_LIBRARY, strlen(CM_LIBRARY)))
		return;
	fprintf(stderr, "collsock: this library is for " CM_LIBRARY ", the program runs on %.40s\n",
		version);
	exit(2);
}

static int init(int *argc, char ***argv)
{
	int err;

	check_library();
	err = below.Init(argc, argv);
	return err ? err : begin();
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err;

	check_library();
	err = below.Init_thread(argc, argv, required, provided);
	return err ? err : begin();
}

static int comm_free(MPI_Comm *comm)
{
	return cm_comm_free(comm, below.Comm_free);
}

static int comm_disconnect(MPI_Comm *comm)
{
	return cm_comm_free(comm, below.Comm_disconnect);
}

CM_EXPORT(Init, (int *argc, char ***argv), (argc, argv), init)
CM_EXPORT(Init_thread, (int *argc, char ***argv, int required, int *provided),
	  (argc, argv, required, provided), init_thread)
CM_EXPORT(Comm_free, (MPI_Comm *comm), (comm), comm_free)
CM_EXPORT(Comm_disconnect, (MPI_Comm *comm), (comm), comm_disconnect)
