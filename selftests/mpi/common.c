// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common.h"

#define TAG_PASS 32001

int world_rank, world_size;
bool strict;

static __u64 scrambled(__u64 bits)
{
	bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
	bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
	return bits ^ (bits >> 31);
}

__u64 random_bits(struct random *random)
{
	random->state += 0x9e3779b97f4a7c15;
	return scrambled(random->state);
}

unsigned int random_below(struct random *random, unsigned int limit)
{
	return (random_bits(random) >> 32) * limit >> 32;
}

bool random_one_in(struct random *random, unsigned int times)
{
	return !random_below(random, times);
}

__u64 mix(__u64 a, __u64 b, __u64 c)
{
	return scrambled(scrambled(scrambled(a + 1) + b) + c);
}

__u64 checksum(const void *bytes, size_t count, __u64 before)
{
	const unsigned char *byte = bytes;

	while (count--)
		before = (before ^ *byte++) * 0x100000001b3;
	return before;
}

void begin(int *argc, char ***argv, int threads)
{
	int provided;

	check_mpi(MPI_Init_thread(argc, argv, threads, &provided), "MPI_Init_thread");
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world_size);
	if (provided < threads)
		fail("threads: level %d provided, %d needed", provided, threads);
}

void fail(const char *format, ...)
{
	va_list args;
	char text[1000];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("FAIL rank %d: %s\n", world_rank, text);
	fflush(stdout);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	abort();
}

void pass(void)
{
	int i;

	if (world_rank) {
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_PASS, MPI_COMM_WORLD);
		return;
	}
	for (i = 1; i < world_size; i++)
		MPI_Recv(NULL, 0, MPI_BYTE, i, TAG_PASS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	printf("PASS\n");
	fflush(stdout);
}

void check_mpi(int result, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	if (result == MPI_SUCCESS)
		return;
	MPI_Error_string(result, text, &length);
	fail("%s: %s", call, text);
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

void *allocate(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		fail("no memory for %zu bytes", bytes);
	return memory;
}
