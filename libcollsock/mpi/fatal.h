/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Messages after which the program ends. Launchers may end it without reading what is left of
 * its output.
 */
#ifndef COLLSOCK_MPI_FATAL_H
#define COLLSOCK_MPI_FATAL_H

#include <mpi.h>

/* Print to stderr, and wait until the launcher has read it, but no longer than 1 s. */
[[gnu::format(printf, 1, 2)]]
void cm_fatal_say(const char *format, ...);

/* The same, and end the program with @status by aborting @comm. */
[[gnu::format(printf, 3, 4)]]
void cm_fatal_abort(MPI_Comm comm, int status, const char *format, ...);

#endif
