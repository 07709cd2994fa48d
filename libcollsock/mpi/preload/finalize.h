/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * MPI_Finalize. A host or a container may disappear when its last program has ended, so no
 * rank leaves while others may need what it has posted.
 */
#ifndef COLLSOCK_MPI_FINALIZE_H
#define COLLSOCK_MPI_FINALIZE_H

/* Called in MPI_Init: makes MPI_Finalize shut this library down. Returns an MPI error code. */
int cm_finalize_attach(void);

#endif
