// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "select.h"

#include <dlfcn.h>
#include <ompi/group/group.h>
#include <ompi/proc/proc.h>

#include "announce.h"
#include "calls.h"
#include "join.h"
#include "nbc.h"
#include "parameters.h"
#include "progress.h"
#include "settings.h"

/* libcollsock-mpi exports this name. */
#define PRELOADED "collsock_mpi_preloaded"

static int select_world_rank = -1;

int cm_select_world_rank(void)
{
	return select_world_rank;
}

/* Does it contain ranks of other programs, whose settings may differ? */
static bool select_spans_worlds(MPI_Comm comm)
{
	int rank, size = ompi_comm_size(comm);

	for (rank = 0; rank < size; rank++)
		if (ompi_group_get_proc_name(comm->c_local_group, rank).jobid !=
		    OMPI_PROC_MY_NAME->jobid)
			return true;
	return false;
}

/*
 * Rank 0 does not learn from the announcement whether others read it, and joining blocks. In
 * MPI_Init no other nonblocking collectives are matched with this one.
 */
static int select_meet(const struct cm_comm *world)
{
	const mca_coll_base_comm_coll_t *before = &world->module->before;
	MPI_Request request;
	int err = before->coll_ibarrier(world->handle, &request, before->coll_ibarrier_module);

	return err ? err : cm_progress_await(&request, "the first step", world->rank, world->size);
}

/*
 * MPI_COMM_WORLD is the first, in MPI_Init. All ranks are there, and the modules before this
 * one work.
 */
static int select_begin(struct cm_comm *world)
{
	int err = cm_announce(world);

	if (!err)
		err = select_meet(world);
	select_world_rank = world->rank;
	cm_calls_init();
	cm_nbc_begin();
	if (!err && !cm_settings.after)
		cm_join(world);
	return err;
}

static int select_enable(mca_coll_base_module_t *super, MPI_Comm comm)
{
	struct cm_module *module = cm_module_of(super);
	struct cm_comm *c;

	if (!cm_module_keep(module, comm->c_coll))
		return OMPI_ERR_NOT_FOUND;
	c = cm_comm_new(comm, ompi_comm_rank(comm), ompi_comm_size(comm));
	if (!c)
		return OMPI_ERR_OUT_OF_RESOURCE;
	c->module = module;
	module->comm = c;
	return comm == MPI_COMM_WORLD ? select_begin(c) : OMPI_SUCCESS;
}

mca_coll_base_module_t *cm_select_query(MPI_Comm comm, int *priority)
{
	struct cm_module *module;

	if (cm_parameters_priority() <= 0 || OMPI_COMM_IS_INTER(comm) ||
	    ompi_comm_size(comm) < 2 || select_spans_worlds(comm) ||
	    dlsym(RTLD_DEFAULT, PRELOADED))
		return NULL;
	module = OBJ_NEW(cm_module_t);
	if (!module)
		return NULL;
	*priority = cm_parameters_priority();
	module->super.coll_module_enable = select_enable;
	cm_calls_install(module);
	return &module->super;
}
