/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The underlying MPI, and profiling tools. This library exports each function that it
 * interposes under both names, MPI_X and PMPI_X, so a plain call of either would end up
 * here again: the underlying MPI's own function is called as cm_functions.X. All others
 * are called as PMPI_X.
 *
 * A tool that is loaded after this library has an MPI_X of its own and calls PMPI_X, which
 * is ours. cm_functions_tool.X is that MPI_X, or NULL.
 */
#ifndef COLLSOCK_MPI_FUNCTIONS_H
#define COLLSOCK_MPI_FUNCTIONS_H

#include <mpi.h>

/* Forms with counts of type MPI_Count are new in MPI 4.0. */
#if MPI_VERSION >= 4
#define CM_LARGE_COUNTS 1
#define CM_INTERPOSED_LARGE(X) \
	X(Bcast_c) X(Reduce_c) X(Allreduce_c) X(Ibcast_c) X(Ireduce_c) X(Iallreduce_c) \
	X(Allgather_c) X(Allgatherv_c) X(Gather_c) X(Scatter_c) X(Reduce_scatter_block_c) \
	X(Scan_c) X(Exscan_c) X(Iscan_c) X(Iexscan_c) \
	X(Iallgather_c) X(Iallgatherv_c) X(Igather_c) X(Iscatter_c) X(Ireduce_scatter_block_c)
#else
#define CM_LARGE_COUNTS 0
#define CM_INTERPOSED_LARGE(X)
#endif

#define CM_INTERPOSED(X) \
	X(Init) X(Init_thread) X(Comm_free) X(Comm_disconnect) \
	X(Barrier) X(Bcast) X(Reduce) X(Allreduce) \
	X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) \
	X(Allgather) X(Allgatherv) X(Gather) X(Scatter) X(Reduce_scatter_block) \
	X(Scan) X(Exscan) X(Iscan) X(Iexscan) \
	X(Iallgather) X(Iallgatherv) X(Igather) X(Iscatter) X(Ireduce_scatter_block) \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) \
	X(Test) X(Testall) X(Testany) X(Testsome) \
	X(Request_get_status) X(Request_free) \
	CM_INTERPOSED_LARGE(X)

#define CM_FUNCTIONS_MEMBER(name) __typeof__(&PMPI_##name) name;

struct cm_functions {
	CM_INTERPOSED(CM_FUNCTIONS_MEMBER)
};

extern struct cm_functions cm_functions;
extern struct cm_functions cm_functions_tool;

#endif
