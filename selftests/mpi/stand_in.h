/* SPDX-License-Identifier: GPL-2.0 */
/* How a program tells the library that stands in for the kernel what is to fail. */
#ifndef MPI_TEST_STAND_IN_H
#define MPI_TEST_STAND_IN_H

#define STAND_IN_EVERY_RANK 0xffffffffU

enum stand_in_place {
	STAND_IN_NOWHERE,
	STAND_IN_SOCKET,	/* socket() of a rank */
	STAND_IN_JOIN,		/* joining, of a rank */
	STAND_IN_POST,		/* a rank's first attempt to post operation @number */
	STAND_IN_WAIT,		/* a rank's call number @number of COLLSOCK_WAIT */
	STAND_IN_END,		/* operation @number fails on all ranks and names @rank */
	STAND_IN_SILENT,	/* from operation @number on nothing arrives at @rank */
	STAND_IN_SLOW,		/* everything ends @number milliseconds late */
	STAND_IN_FULL,		/* no window ever has room */
};

/**
 * struct stand_in_fault - a fault
 * @place: where
 * @error: errno
 * @rank: that it concerns, in MPI_COMM_WORLD
 * @number: of the operation in its group; 0 is the barrier that tries out joining
 */
struct stand_in_fault {
	enum stand_in_place	place;
	unsigned int		error;
	unsigned int		rank;
	unsigned int		number;
};

/* All ranks call it, with equal arguments. Resets the count of stand_in_taken(). */
void stand_in_fail(const struct stand_in_fault *fault);

/* Completions that this rank has taken from its sockets */
unsigned long stand_in_taken(void);

#endif
