/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The outcome of a step of joining: on one rank, then agreed by all ranks */
#ifndef COLLSOCK_MPI_OUTCOME_H
#define COLLSOCK_MPI_OUTCOME_H

#include "comm.h"

/**
 * struct cm_outcome - laid out as MPI_2INT
 * @error: 0, or a negative errno
 * @rank: the rank that caused it
 */
struct cm_outcome {
	int	error;
	int	rank;
};

/* Called on all ranks; returns the worst of their outcomes. */
struct cm_outcome cm_outcome_agree(const struct cm_comm *c, struct cm_outcome own);

/*
 * Rank 0 of the communicator prints in one line why its calls are passed on. It prints this
 * once, or for each communicator if the user wants verbose messages; a process for which
 * another one has printed the reason does not repeat it as rank 0 of another communicator.
 * @tried: all ranks have joined, and an operation that tried that out failed.
 */
void cm_outcome_report(const struct cm_comm *c, const struct cm_outcome *outcome, bool tried);

#endif
