/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The communicator of all ranks that belongs to this library. MPI_Iprobe on it makes the
 * underlying MPI progress, and data are packed with it (underlying.h).
 */
#ifndef COLLSOCK_MPI_PROBE_H
#define COLLSOCK_MPI_PROBE_H

/* Called in MPI_Init and MPI_Finalize of all ranks. Returns an MPI error code. */
int cm_probe_init(int rank, int ranks);
void cm_probe_exit(void);

#endif
