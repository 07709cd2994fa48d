// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "call.h"

const char *const cm_call_names[CM_CALLS] = {
	[CM_BARRIER] = "MPI_Barrier",		[CM_BCAST] = "MPI_Bcast",
	[CM_REDUCE] = "MPI_Reduce",		[CM_ALLREDUCE] = "MPI_Allreduce",
	[CM_IBARRIER] = "MPI_Ibarrier",		[CM_IBCAST] = "MPI_Ibcast",
	[CM_IREDUCE] = "MPI_Ireduce",		[CM_IALLREDUCE] = "MPI_Iallreduce",
};
