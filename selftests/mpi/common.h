/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the test programs: reproducible random numbers, and failures */
#ifndef MPI_TEST_COMMON_H
#define MPI_TEST_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct random {
	__u64 state;
};

__u64 random_bits(struct random *random);
unsigned int random_below(struct random *random, unsigned int limit);
bool random_one_in(struct random *random, unsigned int times);

/* A number that depends only on the arguments */
__u64 mix(__u64 a, __u64 b, __u64 c);
__u64 checksum(const void *bytes, size_t count, __u64 before);

extern int world_rank, world_size;

/* Also test cases in which current MPI libraries fail; comments name them. */
extern bool strict;

/* Initialises MPI; fails when it cannot give the level of threads. */
void begin(int *argc, char ***argv, int threads);

/* Prints the rank and the message, and ends the whole job. */
void fail(const char *format, ...);

/* Rank 0 prints PASS when all ranks have called this, which needs no collective. */
void pass(void);

void check_mpi(int result, const char *call);

#define CHECK_MPI(call) check_mpi(call, #call)

double now(void);
void *allocate(size_t bytes);

#endif
