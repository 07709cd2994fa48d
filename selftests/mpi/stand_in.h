/* SPDX-License-Identifier: GPL-2.0 */
/* How a program selects the faults of the library that replaces the kernel */
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
	STAND_IN_SILENT,	/* from operation @number on no message arrives at @rank */
	STAND_IN_SLOW,		/* everything ends @number milliseconds late */
	STAND_IN_FULL,		/* no window ever has room */
	STAND_IN_LOOKS,		/* a rank sees the end of an operation at its look @number */
};

/**
 * struct stand_in_fault - a fault
 * @place: place of the fault
 * @error: errno
 * @rank: affected rank in MPI_COMM_WORLD
 * @number: of the operation in its group; 0 is the barrier that tries out joining
 */
struct stand_in_fault {
	enum stand_in_place	place;
	unsigned int		error;
	unsigned int		rank;
	unsigned int		number;
};

/* Called on all ranks, with equal arguments. Resets the count of stand_in_taken(). */
void stand_in_fail(const struct stand_in_fault *fault);

/* Number of completions that this rank has received from its sockets */
unsigned long stand_in_taken(void);

/*
 * Number of times that the thread of this rank has slept since the last call, until a socket would
 * be ready. @longest: out: the longest time that it allowed, in nanoseconds
 */
unsigned long stand_in_slept(unsigned long *longest);

/* Number of sockets of this rank that are still there */
unsigned long stand_in_open(void);

#endif
