/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The outcome of a step of joining: on one rank, then the one that all ranks agree on. */
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

/* All ranks call it, and get the worst of their outcomes. */
struct cm_outcome cm_outcome_agree(const struct cm_comm *c, struct cm_outcome own);

/*
 * Rank 0 of the communicator prints in one line why it passes its calls. Once, or for
 * each communicator if the user wants to know: a process for which another one has printed
 * the reason does not repeat it as rank 0 of another communicator.
 */
void cm_outcome_report(const struct cm_comm *c, const struct cm_outcome *outcome);

#endif
