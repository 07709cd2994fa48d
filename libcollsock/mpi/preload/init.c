// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "announce.h"
#include "attribute.h"
#include "export.h"
#include "fatal.h"
#include "finalize.h"
#include "join.h"
#include "probe.h"
#include "settings.h"
#include "types.h"

/* The name with which the MPI for which this is built identifies itself */
#ifdef MPICH_VERSION
#define CM_LIBRARY "MPICH"
#else
#define CM_LIBRARY "Open MPI"
#endif

static void init_join_world(void)
{
	struct cm_comm *c = cm_attribute_find(MPI_COMM_WORLD);

	if (c && c->state == CM_COUNTING)
		cm_join(c);
}

static int init_begin(void)
{
	struct cm_comm world = { .handle = MPI_COMM_WORLD };
	int err;

	PMPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &world.size);
	err = cm_announce(&world);
	if (err || cm_settings.mode == CM_OFF)
		return err;
	cm_types_init();
	err = cm_probe_init(world.rank, world.size);
	if (!err)
		err = cm_finalize_attach();
	if (!err)
		err = cm_attribute_init();
	if (!err && !cm_settings.after)
		init_join_world();
	return err;
}

/* Another MPI has handles of a different size. */
static void init_check_library(void)
{
	/* The other MPI's version may be longer than this one's can be. */
	static char version[8192];
	char *blank;
	int length;

	PMPI_Get_library_version(version, &length);
	if (!strncmp(version, CM_LIBRARY, strlen(CM_LIBRARY)))
		return;
	/* MPICH's has several lines. */
	version[strcspn(version, "\n")] = '\0';
	for (blank = version; *blank; blank++)
		if (*blank == '\t')
			*blank = ' ';
	cm_fatal_say("collsock: this library is for " CM_LIBRARY ", the program runs on %.60s\n",
		     version);
	exit(2);
}

static int init_plain(int *argc, char ***argv)
{
	int err;

	init_check_library();
	err = cm_functions.Init(argc, argv);
	return err ? err : init_begin();
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err;

	init_check_library();
	err = cm_functions.Init_thread(argc, argv, required, provided);
	return err ? err : init_begin();
}

CM_EXPORT(Init, (int *argc, char ***argv), (argc, argv), init_plain)
CM_EXPORT(Init_thread, (int *argc, char ***argv, int required, int *provided),
	  (argc, argv, required, provided), init_thread)
