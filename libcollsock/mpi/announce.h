/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Agreement of all ranks on version and settings before the first collective */
#ifndef COLLSOCK_MPI_ANNOUNCE_H
#define COLLSOCK_MPI_ANNOUNCE_H

#include "comm.h"

/*
 * Called in MPI_Init of all ranks: rank 0 of @world sends its version and its settings.
 * Returns an MPI error code. If a rank has another version, or if the settings are invalid,
 * the program is aborted.
 */
int cm_announce(const struct cm_comm *world);

#endif
