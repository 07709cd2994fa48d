/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which communicators get a module */
#ifndef COLLSOCK_MPI_SELECT_H
#define COLLSOCK_MPI_SELECT_H

#include "ompi.h"

/*
 * Called for each new communicator, on all its ranks. NULL for those that this component
 * leaves alone: with one rank, inter-communicators, and with ranks of another
 * MPI_COMM_WORLD; and all, if libcollsock-mpi is preloaded.
 */
mca_coll_base_module_t *cm_select_query(MPI_Comm comm, int *priority);

/* The rank of this process, or -1 if MPI_COMM_WORLD has no module */
int cm_select_world_rank(void);

#endif
