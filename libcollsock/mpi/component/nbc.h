/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of nonblocking collectives (request.h) are those of Open MPI, which calls back when
 * it makes progress; that completes them. The operations themselves make progress without
 * that.
 */
#ifndef COLLSOCK_MPI_NBC_H
#define COLLSOCK_MPI_NBC_H

/* Called in MPI_Init and in MPI_Finalize */
void cm_nbc_begin(void);
void cm_nbc_end(void);

#endif
