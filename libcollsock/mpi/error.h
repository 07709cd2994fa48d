/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reporting failures of operations to programs */
#ifndef COLLSOCK_MPI_ERROR_H
#define COLLSOCK_MPI_ERROR_H

#include "comm.h"

/* As collsock_strerror(), but worded for MPI programs. @error is positive. */
const char *cm_error_text(int error, __u32 failed_rank, char *text, size_t bytes);

/*
 * The MPI error code of a failed operation; its string names the rank that caused it, unless
 * that is COLLSOCK_NO_RANK. Each communicator has one code, that of its first failure.
 */
int cm_error_code(struct cm_comm *c, enum cm_call call, int error, __u32 failed_rank);

/*
 * Print the string of a code for which the communicator's error handler is about to be
 * called, if that will end the program: launchers may lose what an MPI prints then. If another
 * rank prints the same, this one waits first, to be ended by it.
 */
void cm_error_say_if_fatal(MPI_Comm handle, int code);

#endif
