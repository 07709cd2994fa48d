/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Failures of operations, as MPI's programs learn of them. */
#ifndef COLLSOCK_MPI_ERROR_H
#define COLLSOCK_MPI_ERROR_H

#include "op.h"

/* As collsock_strerror(), in words for programs of MPI. @error is positive. */
const char *cm_strerror(int error, __u32 failed_rank, char *text, size_t bytes);

/*
 * An error code for an operation that has failed with an errno because of a rank, or
 * COLLSOCK_NO_RANK; its string names the rank. Of a communicator it is always the first.
 */
int cm_error_code(struct cm_comm *c, enum cm_call call, int error, __u32 failed_rank);

/*
 * Call the communicator's error handler, and return what the call shall return. Of one
 * that has been freed (MPI_COMM_NULL) the program hears as of all the rest.
 */
int cm_raise(MPI_Comm handle, int code);

#endif
