/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The end. A host, or a container, may be gone when its last program has ended: no rank
 * leaves while others may need what it has posted.
 */
#ifndef COLLSOCK_MPI_FINALIZE_H
#define COLLSOCK_MPI_FINALIZE_H

/* In MPI_Init, before the program: MPI_Finalize will end this library. An MPI error code. */
int cm_finalize_attach(void);

#endif
