/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The MPI below, and the tools behind. What is interposed here is exported under both
 * names, MPI_X and PMPI_X, so a plain call of either would come back: the MPI's own is
 * reached through below.X. Everything else is called as PMPI_X.
 *
 * A tool that is loaded behind this library has an MPI_X of its own and calls PMPI_X,
 * which is ours. tool.X is that MPI_X, or NULL.
 */
#ifndef COLLSOCK_MPI_BELOW_H
#define COLLSOCK_MPI_BELOW_H

#include <mpi.h>

/* Forms with counts of type MPI_Count came with MPI-4. */
#if MPI_VERSION >= 4
#define CM_LARGE_COUNTS 1
#define CM_INTERPOSED_LARGE(X) \
	X(Bcast_c) X(Reduce_c) X(Allreduce_c) X(Ibcast_c) X(Ireduce_c) X(Iallreduce_c)
#else
#define CM_LARGE_COUNTS 0
#define CM_INTERPOSED_LARGE(X)
#endif

#define CM_INTERPOSED(X) \
	X(Init) X(Init_thread) X(Comm_free) X(Comm_disconnect) \
	X(Barrier) X(Bcast) X(Reduce) X(Allreduce) \
	X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) \
	X(Test) X(Testall) X(Testany) X(Testsome) \
	X(Request_get_status) X(Request_free) \
	CM_INTERPOSED_LARGE(X)

#define CM_BELOW_MEMBER(name) __typeof__(&PMPI_##name) name;

struct cm_below {
	CM_INTERPOSED(CM_BELOW_MEMBER)
};

extern struct cm_below below, tool;

#endif
