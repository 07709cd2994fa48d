// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "call.h"

const char *const cm_call_names[CM_CALLS] = {
	[CM_BARRIER] = "MPI_Barrier",
	[CM_BCAST] = "MPI_Bcast",
	[CM_REDUCE] = "MPI_Reduce",
	[CM_ALLREDUCE] = "MPI_Allreduce",
	[CM_ALLGATHER] = "MPI_Allgather",
	[CM_ALLGATHERV] = "MPI_Allgatherv",
	[CM_GATHER] = "MPI_Gather",
	[CM_SCATTER] = "MPI_Scatter",
	[CM_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block",
	[CM_SCAN] = "MPI_Scan",
	[CM_EXSCAN] = "MPI_Exscan",
	[CM_IBARRIER] = "MPI_Ibarrier",
	[CM_IBCAST] = "MPI_Ibcast",
	[CM_IREDUCE] = "MPI_Ireduce",
	[CM_IALLREDUCE] = "MPI_Iallreduce",
	[CM_IALLGATHER] = "MPI_Iallgather",
	[CM_IALLGATHERV] = "MPI_Iallgatherv",
	[CM_IGATHER] = "MPI_Igather",
	[CM_ISCATTER] = "MPI_Iscatter",
	[CM_IREDUCE_SCATTER_BLOCK] = "MPI_Ireduce_scatter_block",
	[CM_ISCAN] = "MPI_Iscan",
	[CM_IEXSCAN] = "MPI_Iexscan",
};
