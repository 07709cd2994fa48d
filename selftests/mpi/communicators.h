/* SPDX-License-Identifier: GPL-2.0 */
/* Communicators of many kinds, and their members. */
#ifndef MPI_TEST_COMMUNICATORS_H
#define MPI_TEST_COMMUNICATORS_H

#include "common.h"

struct communicator {
	const char *name;
	MPI_Comm comm;		/* MPI_COMM_NULL where this rank is no member */
	bool is_inter;
	int rank, size;
	int *world_ranks;	/* of the members, or of the own half */
	int remote_size;
	int *remote_world_ranks;
	/* Half 0 of two that talk to each other holds the lowest ranks */
	int half;
};

#define KINDS 8

/* All ranks of the world call this. The kinds are numbers below KINDS. */
void communicator_make(struct communicator *made, unsigned int kind);
void communicator_free(struct communicator *communicator);

#endif
