/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of nonblocking collectives are generalized requests of the underlying MPI, so
 * that all its functions accept them (request.h). It is notified that one is complete when
 * the program waits or tests; the operation itself makes progress without that.
 */
#ifndef COLLSOCK_MPI_GREQUEST_H
#define COLLSOCK_MPI_GREQUEST_H

#include "op.h"

/* Are there any requests? If not, no function below needs to be called. */
bool cm_grequest_any(void);

/* NULL if the request is not one of ours. */
struct cm_op *cm_grequest_find(MPI_Request request);

/* The operation is done: notify the underlying MPI, once. */
void cm_grequest_tell(struct cm_op *op);

/* Has an operation with a request failed, and not been reported to the program yet? */
bool cm_grequest_any_failed(void);

/*
 * The underlying MPI has completed requests. If one of ours has failed, returns its error
 * code, the request and the communicator; otherwise MPI_SUCCESS. The thread that made the call
 * repeats this until there are no more.
 */
int cm_grequest_failure(MPI_Request *request, MPI_Comm *comm);

#endif
