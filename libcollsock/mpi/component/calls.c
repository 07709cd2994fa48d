// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "calls.h"

#include <dlfcn.h>
#include <link.h>

#include "entries.h"
#include "error.h"
#include "ready.h"

/**
 * struct calls_code - the code of MPI_Ibarrier and the like
 * @begin: where it begins
 * @bytes: its length
 */
struct calls_code {
	uintptr_t	begin;
	size_t		bytes;
};

static struct calls_code calls_code[CM_CALLS];

static void calls_find_code(enum cm_call call, void *function)
{
	void *symbol = NULL;
	Dl_info info;

	if (!dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) || !symbol)
		return;
	calls_code[call].begin = (uintptr_t)info.dli_saddr;
	calls_code[call].bytes = ((const ElfW(Sym) *)symbol)->st_size;
}

/* NULL if calls are not handled yet, or no more. */
static struct cm_comm *calls_comm(mca_coll_base_module_t *super)
{
	return cm_ready() ? cm_module_of(super)->comm : NULL;
}

/*
 * For nonblocking calls, which return to @caller. Open MPI makes some itself, to duplicate a
 * communicator, while it makes progress: on each rank between other calls of the program. So
 * they must not be counted nor handled, and only those that return to MPI_Ibarrier and the like
 * are.
 */
static struct cm_comm *calls_programs_comm(mca_coll_base_module_t *super, enum cm_call call,
					   const void *caller)
{
	return (uintptr_t)caller - calls_code[call].begin < calls_code[call].bytes ?
	       calls_comm(super) : NULL;
}

/* The caller of a function of a module, in that function */
#define CALLER __builtin_return_address(0)

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

	return cm_collective_barrier(calls_programs_comm(super, CM_IBARRIER, CALLER),
				     CM_IBARRIER, request, &err) ?
	       calls_ended(comm, err) :
	       before->coll_ibarrier(comm, request, before->coll_ibarrier_module);
}

#define CALL(name, parameters, arguments, function, its, found, call, request) \
	static int calls_##name parameters \
	{ \
		const mca_coll_base_comm_coll_t *before = &cm_module_of(super)->before; \
		struct cm_comm *c = found; \
		int err; \
		return function(CM_ENTRY_LIST its, c, call, request, &err) ? \
		       calls_ended(comm, err) : before->coll_##name arguments; \
	}

#define CALLS(Name, name, NAME, parameters, arguments, function, its) \
	CALL(name, \
	     (CM_ENTRY_LIST parameters, MPI_Comm comm, mca_coll_base_module_t *super), \
	     (CM_ENTRY_LIST arguments, comm, before->coll_##name##_module), \
	     function, its, calls_comm(super), CM_##NAME, NULL) \
	CALL(i##name, \
	     (CM_ENTRY_LIST parameters, MPI_Comm comm, MPI_Request *request, \
	      mca_coll_base_module_t *super), \
	     (CM_ENTRY_LIST arguments, comm, request, before->coll_i##name##_module), \
	     function, its, calls_programs_comm(super, CM_I##NAME, CALLER), CM_I##NAME, request)

CM_ENTRIES(CALLS, int, int)

#define FIND_CODE(Name, name, NAME, ...) \
	calls_find_code(CM_I##NAME, (void *)(uintptr_t)PMPI_I##name);

void cm_calls_init(void)
{
	calls_find_code(CM_IBARRIER, (void *)(uintptr_t)PMPI_Ibarrier);
	CM_ENTRIES(FIND_CODE, int, int)
}

#define INSTALL(Name, name, ...) \
	module->super.coll_##name = calls_##name; \
	module->super.coll_i##name = calls_i##name;

void cm_calls_install(struct cm_module *module)
{
	module->super.coll_barrier = calls_barrier;
	module->super.coll_ibarrier = calls_ibarrier;
	CM_ENTRIES(INSTALL, int, int)
}
