/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests of nonblocking collectives: generalized requests of the MPI below, so that
 * everything that knows requests knows these. MPI learns that one is complete when the
 * program waits or tests; the operation itself makes progress without that.
 */
#ifndef COLLSOCK_MPI_REQUEST_H
#define COLLSOCK_MPI_REQUEST_H

#include "op.h"

/* A zeroed operation with a request to be; NULL without memory. */
struct cm_op *cm_request_new(struct cm_comm *c, enum cm_call call);

/* The operation has never been posted. */
void cm_request_discard(struct cm_op *op);

/* The program gets its request. An MPI error code. */
int cm_request_start(struct cm_op *op, MPI_Request *request);

/* Are there any? If not, nothing below needs to be called. */
bool cm_request_any(void);

/* NULL if the request is not one of ours. */
struct cm_op *cm_request_find(MPI_Request request);

/* The operation is done: MPI may know. */
void cm_request_tell(struct cm_op *op);

/* Has any operation with a request failed that the program has not been told of? */
bool cm_request_any_failed(void);

/*
 * The program has been given the end of requests: if one of ours has failed, its error
 * code and communicator; MPI_SUCCESS otherwise. Called until there is no more, by the thread
 * that has called MPI.
 */
int cm_request_failure(MPI_Request *request, MPI_Comm *comm);

#endif
