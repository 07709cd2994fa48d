/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The request that a program gets for a nonblocking call. preload/ supplies a generalized one,
 * component/ one of Open MPI's own.
 */
#ifndef COLLSOCK_MPI_REQUEST_H
#define COLLSOCK_MPI_REQUEST_H

#include "op.h"

/* Create @op->request, which then owns the operation. Returns an MPI error code. */
int cm_request_start(struct cm_op *op);

#endif
