// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "calls.h"
#include "entries.h"
#include "error.h"
#include "ready.h"

/* NULL if calls are not taken yet, or no more. */
static struct cm_comm *calls_comm(mca_coll_base_module_t *super)
{
	return cm_ready() ? cm_module_of(super)->comm : NULL;
}

/* Open MPI calls the error handler. */
static int calls_ended(MPI_Comm comm, int err)
{
	if (err)
		cm_error_say_if_fatal(comm, err);
	return err;
}

static int calls_barrier(MPI_Comm comm, mca_coll_base_module_t *super)
{
	const mca_coll_base_comm_coll_t *before = &cm_module_of(super)->before;
	int err;

	return cm_collective_barrier(calls_comm(super), CM_BARRIER, NULL, &err) ?
	       calls_ended(comm, err) : before->coll_barrier(comm, before->coll_barrier_module);
}

static int calls_ibarrier(MPI_Comm comm, MPI_Request *request, mca_coll_base_module_t *super)
{
	const mca_coll_base_comm_coll_t *before = &cm_module_of(super)->before;
	int err;

	return cm_collective_barrier(calls_comm(super), CM_IBARRIER, request, &err) ?
	       calls_ended(comm, err) :
	       before->coll_ibarrier(comm, request, before->coll_ibarrier_module);
}

#define CALL(name, parameters, arguments, function, its, call, request) \
	static int calls_##name parameters \
	{ \
		const mca_coll_base_comm_coll_t *before = &cm_module_of(super)->before; \
		struct cm_comm *c = calls_comm(super); \
		int err; \
		return function(CM_ENTRY_LIST its, c, call, request, &err) ? \
		       calls_ended(comm, err) : before->coll_##name arguments; \
	}

#define CALLS(Name, name, NAME, parameters, arguments, function, its) \
	CALL(name, \
	     (CM_ENTRY_LIST parameters, MPI_Comm comm, mca_coll_base_module_t *super), \
	     (CM_ENTRY_LIST arguments, comm, before->coll_##name##_module), \
	     function, its, CM_##NAME, NULL) \
	CALL(i##name, \
	     (CM_ENTRY_LIST parameters, MPI_Comm comm, MPI_Request *request, \
	      mca_coll_base_module_t *super), \
	     (CM_ENTRY_LIST arguments, comm, request, before->coll_i##name##_module), \
	     function, its, CM_I##NAME, request)

CM_ENTRIES(CALLS, int, int)

#define INSTALL(Name, name, ...) \
	module->super.coll_##name = calls_##name; \
	module->super.coll_i##name = calls_i##name;

void cm_calls_install(struct cm_module *module)
{
	module->super.coll_barrier = calls_barrier;
	module->super.coll_ibarrier = calls_ibarrier;
	CM_ENTRIES(INSTALL, int, int)
}
