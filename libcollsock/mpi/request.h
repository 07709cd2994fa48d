/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of nonblocking collectives are generalized requests of the underlying MPI, so
 * that all its functions accept them. It is notified that one is complete when the program
 * waits or tests; the operation itself makes progress without that.
 */
#ifndef COLLSOCK_MPI_REQUEST_H
#define COLLSOCK_MPI_REQUEST_H

#include "op.h"

/* A zeroed operation for which a request will be created; NULL if there is no memory */
struct cm_op *cm_request_new(struct cm_comm *c, enum cm_call call);

/* Free an operation that has not been posted. */
void cm_request_discard(struct cm_op *op);

/* Create the request for the program. Returns an MPI error code. */
int cm_request_start(struct cm_op *op, MPI_Request *request);

/* Are there any requests? If not, no function below needs to be called. */
bool cm_request_any(void);

/* NULL if the request is not one of ours. */
struct cm_op *cm_request_find(MPI_Request request);

/* The operation is done: notify the underlying MPI, once. */
void cm_request_tell(struct cm_op *op);

/* Has an operation with a request failed, and not been reported to the program yet? */
bool cm_request_any_failed(void);

/*
 * The underlying MPI has completed requests. If one of ours has failed, returns its error
 * code, the request and the communicator; otherwise MPI_SUCCESS. The thread that made the call
 * repeats this until there are no more.
 */
int cm_request_failure(MPI_Request *request, MPI_Comm *comm);

#endif
