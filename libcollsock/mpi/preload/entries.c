// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Exports the collectives that may be handled. */
#include <stddef.h>

#include "attribute.h"
#include "entries.h"
#include "export.h"
#include "raise.h"

static int entry_barrier(MPI_Comm comm)
{
	int err;

	return cm_collective_barrier(cm_attribute_find(comm), CM_BARRIER, NULL, &err) ?
	       cm_raise(comm, err) : cm_functions.Barrier(comm);
}

static int entry_ibarrier(MPI_Comm comm, MPI_Request *request)
{
	int err;

	return cm_collective_barrier(cm_attribute_find(comm), CM_IBARRIER, request, &err) ?
	       cm_raise(comm, err) : cm_functions.Ibarrier(comm, request);
}

CM_EXPORT(Barrier, (MPI_Comm comm), (comm), entry_barrier)
CM_EXPORT(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), entry_ibarrier)

#define ENTRY(name, parameters, arguments, function, its, call, request) \
	static int entry_##name parameters \
	{ \
		struct cm_comm *c = cm_attribute_find(comm); \
		int err; \
		return function(CM_ENTRY_LIST its, c, call, request, &err) ? \
		       cm_raise(comm, err) : cm_functions.name arguments; \
	} \
	CM_EXPORT(name, parameters, arguments, entry_##name)

#define BLOCKING(name, parameters, arguments, function, its, call) \
	ENTRY(name, (CM_ENTRY_LIST parameters, MPI_Comm comm), (CM_ENTRY_LIST arguments, comm), \
	      function, its, call, NULL)

#define NONBLOCKING(name, parameters, arguments, function, its, call) \
	ENTRY(name, (CM_ENTRY_LIST parameters, MPI_Comm comm, MPI_Request *request), \
	      (CM_ENTRY_LIST arguments, comm, request), function, its, call, request)

#define WITH_INT(Name, name, NAME, parameters, arguments, function, its) \
	BLOCKING(Name, parameters, arguments, function, its, CM_##NAME) \
	NONBLOCKING(I##name, parameters, arguments, function, its, CM_I##NAME)

CM_ENTRIES(WITH_INT, int, int)

#if CM_LARGE_COUNTS
#define WITH_COUNT(Name, name, NAME, parameters, arguments, function, its) \
	BLOCKING(Name##_c, parameters, arguments, function, its, CM_##NAME) \
	NONBLOCKING(I##name##_c, parameters, arguments, function, its, CM_I##NAME)

CM_ENTRIES(WITH_COUNT, MPI_Count, MPI_Aint)
#endif
