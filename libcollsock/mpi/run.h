/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Running operations: start one, test it, wait for it, or all of these */
#ifndef COLLSOCK_MPI_RUN_H
#define COLLSOCK_MPI_RUN_H

#include "op.h"

/* Post a new operation as soon as there is room; never blocks. */
void cm_run_start(struct cm_op *op);

/*
 * Is it done? @looked is the communicator whose completions the caller has just received,
 * or NULL at first.
 */
bool cm_run_test(struct cm_op *op, struct cm_comm **looked);

/* Wait until it is done, and progress the underlying MPI meanwhile. */
void cm_run_wait(struct cm_op *op);

/* Post a new operation and wait. */
void cm_run(struct cm_op *op);

#endif
