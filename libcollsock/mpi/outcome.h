/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Reports of how joining ended */
#ifndef COLLSOCK_MPI_OUTCOME_H
#define COLLSOCK_MPI_OUTCOME_H

#include "../src/joining.h"
#include "comm.h"

/*
 * Rank 0 of the communicator prints in one line why its calls are passed on. It prints this
 * once, or for each communicator if the user wants verbose messages; a process for which
 * another one has printed the reason does not repeat it as rank 0 of another communicator.
 * @tried: all ranks have joined, and the first barrier failed.
 */
void cm_outcome_report(const struct cm_comm *c, const struct joining *j,
		       struct joining_outcome outcome, bool tried);

/* If the user wants verbose messages, report that UDP is used instead, and why. @tried: likewise */
void cm_outcome_fall_back(const struct cm_comm *c, const struct joining *j,
			  struct joining_outcome outcome, bool tried);

#endif
