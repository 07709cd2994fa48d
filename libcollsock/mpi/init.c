// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* MPI_Init: what all ranks must agree on before the first collective */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "export.h"
#include "fatal.h"
#include "finalize.h"
#include "join.h"
#include "types.h"
#include "progress.h"
#include "settings.h"

/* The name with which the MPI for which this is built identifies itself */
#ifdef MPICH_VERSION
#define CM_LIBRARY "MPICH"
#else
#define CM_LIBRARY "Open MPI"
#endif

/*
 * Version of what ranks must do alike: the settings here, their records (record.h), and
 * which calls are taken
 */
#define VERSION 0xc0110002U
#define ANNOUNCEMENT_BYTES 256	/* in all versions */

/**
 * union announcement - sent by rank 0
 * @version: VERSION, at the same offset in all versions
 * @valid: the environment is valid
 * @settings: for all ranks
 * @bytes: as it is sent
 */
union announcement {
	struct {
		__u32			version;
		__u32			valid;
		struct cm_settings	settings;
	};
	__u8			bytes[ANNOUNCEMENT_BYTES];
};

_Static_assert(sizeof(union announcement) == ANNOUNCEMENT_BYTES, "settings do not fit");

static void init_read_settings(union announcement *a)
{
	char error[512];

	a->version = VERSION;
	a->valid = !cm_settings_read(&a->settings, error, sizeof(error));
	if (!a->valid)
		cm_fatal_say("collsock: %s\n", error);
}

static int init_announce(int rank, int size)
{
	union announcement a = { };
	MPI_Request request;
	int err;

	if (!rank)
		init_read_settings(&a);
	err = cm_underlying.Ibcast(&a, sizeof(a), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	if (!err)
		err = cm_progress_await(&request, "settings", rank, size);
	if (err)
		return err;
	if (a.version != VERSION)
		cm_fatal_abort(MPI_COMM_WORLD, 2,
			       "collsock: libcollsock-mpi of rank %d has another version than that of rank 0: install the same one on all hosts\n",
			       rank);
	/* Rank 0 has said why. */
	if (!a.valid)
		PMPI_Abort(MPI_COMM_WORLD, 2);
	cm_settings = a.settings;
	return MPI_SUCCESS;
}

static void init_join_world(void)
{
	struct cm_comm *c = cm_comm_find(MPI_COMM_WORLD);

	if (c && c->state == CM_COUNTING)
		cm_join(c);
}

static int init_begin(void)
{
	int rank, size, err;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	err = init_announce(rank, size);
	if (err || cm_settings.mode == CM_OFF)
		return err;
	cm_types_init();
	err = cm_progress_init(rank, size);
	if (!err)
		err = cm_finalize_attach();
	if (!err)
		err = cm_comm_init();
	if (!err && !cm_settings.after)
		init_join_world();
	return err;
}

/* Another MPI has handles of a different size. */
static void init_check_library(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length;

	PMPI_Get_library_version(version, &length);
	if (!strncmp(version, CM_LIBRARY, strlen(CM_LIBRARY)))
		return;
	cm_fatal_say("collsock: this library is for " CM_LIBRARY ", the program runs on %.40s\n",
		     version);
	exit(2);
}

static int init(int *argc, char ***argv)
{
	int err;

	init_check_library();
	err = cm_underlying.Init(argc, argv);
	return err ? err : init_begin();
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err;

	init_check_library();
	err = cm_underlying.Init_thread(argc, argv, required, provided);
	return err ? err : init_begin();
}

CM_EXPORT(Init, (int *argc, char ***argv), (argc, argv), init)
CM_EXPORT(Init_thread, (int *argc, char ***argv, int required, int *provided),
	  (argc, argv, required, provided), init_thread)
