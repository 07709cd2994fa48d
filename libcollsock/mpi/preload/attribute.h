/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Finds the state of a communicator, which is an attribute of it. */
#ifndef COLLSOCK_MPI_ATTRIBUTE_H
#define COLLSOCK_MPI_ATTRIBUTE_H

#include "comm.h"

/* After MPI_Init and the exchange of settings; at the beginning of MPI_Finalize. */
int cm_attribute_init(void);
void cm_attribute_exit(void);

/*
 * The communicator of a handle, created on first use. NULL before cm_attribute_init(), after
 * cm_attribute_exit(), and if the handle is not valid.
 */
struct cm_comm *cm_attribute_find(MPI_Comm handle);

#endif
