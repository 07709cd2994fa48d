// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads of each rank, each with a separate communicator and a random mix of
 * operations on it, all at the same time.
 *
 *	threads [--seed S] [--rounds N]
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define THREADS 4
#define COUNT_MAX 200

struct thread {
	pthread_t thread;
	MPI_Comm comm;
	int number;
	unsigned int rounds;
	struct random random;		/* the same on all ranks */
};

static long long contribution(__u64 seed, int rank, int i)
{
	return (long long)(mix(seed, rank, i) >> 16);
}

static void check(const struct thread *thread, const char *operation, const long long *result,
		  int count, __u64 seed, int only)
{
	int i, rank;

	for (i = 0; i < count; i++) {
		long long wanted = 0;

		for (rank = 0; rank < world_size; rank++)
			if (only < 0 || rank == only)
				wanted += contribution(seed, rank, i);
		if (result[i] != wanted)
			fail("thread %d: %s of %d: element %d is %lld, not %lld", thread->number,
			     operation, count, i, result[i], wanted);
	}
}

static void run_round(struct thread *thread)
{
	int kind = random_below(&thread->random, 7);
	int count = random_below(&thread->random, COUNT_MAX);
	int root = random_below(&thread->random, world_size), i;
	long long send[COUNT_MAX], result[COUNT_MAX];
	__u64 seed = random_bits(&thread->random);
	MPI_Request request = MPI_REQUEST_NULL;

	for (i = 0; i < count; i++)
		send[i] = contribution(seed, world_rank, i);
	switch (kind) {
	case 0:
		CHECK_MPI(MPI_Barrier(thread->comm));
		return;
	case 1:
		CHECK_MPI(MPI_Bcast(send, count, MPI_LONG_LONG, root, thread->comm));
		break;
	case 2:
		CHECK_MPI(MPI_Ibcast(send, count, MPI_LONG_LONG, root, thread->comm, &request));
		break;
	case 3:
		CHECK_MPI(MPI_Reduce(send, result, count, MPI_LONG_LONG, MPI_SUM, root,
				     thread->comm));
		break;
	case 4:
		CHECK_MPI(MPI_Ireduce(send, result, count, MPI_LONG_LONG, MPI_SUM, root,
				      thread->comm, &request));
		break;
	case 5:
		CHECK_MPI(MPI_Allreduce(send, result, count, MPI_LONG_LONG, MPI_SUM, thread->comm));
		break;
	default:
		CHECK_MPI(MPI_Iallreduce(send, result, count, MPI_LONG_LONG, MPI_SUM, thread->comm,
					 &request));
	}
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (kind <= 2)
		check(thread, "bcast", send, count, seed, root);
	else if (kind >= 5 || world_rank == root)
		check(thread, kind >= 5 ? "allreduce" : "reduce", result, count, seed, -1);
}

static void *run_thread(void *argument)
{
	struct thread *thread = argument;

	while (thread->rounds--)
		run_round(thread);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ }
	};
	struct thread threads[THREADS];
	unsigned int rounds = 30;
	__u64 seed = 1;
	int option, i;

	begin(&argc, &argv, MPI_THREAD_MULTIPLE);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else
			fail("usage: threads [--seed S] [--rounds N]");
	}
	for (i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){ .number = i, .rounds = rounds,
					      .random = { mix(seed, i, 2) } };
		CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
	}
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]))
			fail("no thread %d", i);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		CHECK_MPI(MPI_Comm_free(&threads[i].comm));
	}
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
