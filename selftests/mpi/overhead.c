// SPDX-License-Identifier: GPL-2.0
/*
 * overhead ITERATIONS: what a collective costs rank 1 of two in MPI, and by a socket of the same
 * two ranks. Rank 0 has posted by then, if rank 1 needs its data, and sleeps, so that neither
 * waits: calls are the same in the kernel. Rank 1 prints a JSON object: by operation the least
 * and the mean, in nanoseconds. The mean has timers of the kernel's, and the progress that the
 * library makes for MPI once in a millisecond.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <collsock_mpi.h>

#include "common.h"

#define NAP_NS 50000L
#define NS_PER_S 1000000000LL
#define COUNT 4
#define WINDOW 64	/* as the library's groups have it */
#define WARM_UP WINDOW

static struct collsock *sock;
static double in[COUNT], out[COUNT];

enum side {
	LIBRARY,
	SOCKET,
	SIDES,
};

static void check(int err, const char *call)
{
	if (err)
		fail("%s: %d", call, err);
}

#define CHECK(call) check(call, #call)

/* ---- rank 0 ---- */

static void begin_barrier(MPI_Request *request)
{
	if (request)
		CHECK_MPI(MPI_Ibarrier(MPI_COMM_WORLD, request));
	else
		CHECK(collsock_post_barrier(sock, 1));
}

static void begin_allreduce(MPI_Request *request)
{
	if (request)
		CHECK_MPI(MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
					 request));
	else
		CHECK(collsock_post_allreduce(sock, in, COUNT, COLLSOCK_DOUBLE, COLLSOCK_SUM, 1));
}

static void begin_reduce(MPI_Request *request)
{
	if (request)
		CHECK_MPI(MPI_Ireduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD,
				      request));
	else
		CHECK(collsock_post_reduce(sock, in, COUNT, COLLSOCK_DOUBLE, COLLSOCK_SUM, 0, 0,
					   1));
}

static void begin_bcast(MPI_Request *request)
{
	if (request)
		CHECK_MPI(MPI_Ibcast(in, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD, request));
	else
		CHECK(collsock_post_broadcast(sock, NULL, COUNT, COLLSOCK_DOUBLE, 1, 0, 1));
}

/* ---- rank 1 ---- */

static void run_barrier(enum side side)
{
	if (side == LIBRARY)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		CHECK(collsock_barrier(sock, NULL));
}

static void run_allreduce(enum side side)
{
	if (side == LIBRARY)
		MPI_Allreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else
		CHECK(collsock_allreduce(sock, in, out, COUNT, COLLSOCK_DOUBLE, COLLSOCK_SUM,
					 NULL));
}

static void run_reduce(enum side side)
{
	if (side == LIBRARY)
		MPI_Reduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	else
		CHECK(collsock_reduce(sock, in, out, COUNT, COLLSOCK_DOUBLE, COLLSOCK_SUM, 0,
				      NULL));
}

static void run_bcast(enum side side)
{
	if (side == LIBRARY)
		MPI_Bcast(in, COUNT, MPI_DOUBLE, 1, MPI_COMM_WORLD);
	else
		CHECK(collsock_broadcast(sock, in, COUNT, COLLSOCK_DOUBLE, 1, NULL));
}

static const struct operation {
	const char	*name;
	void		(*begin)(MPI_Request *request);
	void		(*run)(enum side side);
} operations[] = {
	{ "barrier", begin_barrier, run_barrier },
	{ "allreduce", begin_allreduce, run_allreduce },
	{ "reduce", begin_reduce, run_reduce },
	{ "bcast", begin_bcast, run_bcast },
};

/* ---- measuring ---- */

static void nap(int naps)
{
	const struct timespec time = { .tv_nsec = naps * NAP_NS };

	nanosleep(&time, NULL);
}

static long long clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void serve(const struct operation *o, enum side side)
{
	struct collsock_completion completion;
	MPI_Request request;

	o->begin(side == LIBRARY ? &request : NULL);
	nap(2);
	if (side == LIBRARY)
		CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	else
		CHECK(collsock_complete(sock, &completion, out, sizeof(out)));
}

static double once(const struct operation *o, enum side side)
{
	long long begin;

	CHECK(collsock_barrier(sock, NULL));
	if (!world_rank) {
		serve(o, side);
		return 0;
	}
	nap(1);
	begin = clock_ns();
	o->run(side);
	return clock_ns() - begin;
}

static void tell(const char *name, const double *times, int iterations)
{
	double least = times[0], sum = 0;
	int i;

	for (i = 0; i < iterations; i++) {
		least = times[i] < least ? times[i] : least;
		sum += times[i];
	}
	printf("\"%s\": {\"least_ns\": %.0f, \"mean_ns\": %.0f}", name, least,
	       sum / iterations);
}

static void measure(const struct operation *o, int iterations, double *times[SIDES])
{
	int i, side;

	for (i = -WARM_UP; i < iterations; i++)
		for (side = 0; side < SIDES; side++)
			times[side][i < 0 ? 0 : i] = once(o, side);
	if (!world_rank)
		return;
	printf("%s\"%s\": {", o == operations ? "" : ", ", o->name);
	tell("library", times[LIBRARY], iterations);
	printf(", ");
	tell("socket", times[SOCKET], iterations);
	printf("}");
}

int main(int argc, char **argv)
{
	const struct collsock_options options = { .size = sizeof(options), .window = WINDOW };
	const struct sched_param equal = { };
	double *times[SIDES];
	int iterations;
	size_t i;

	/* A woken process waits for its turn */
	sched_setscheduler(0, SCHED_BATCH, &equal);
	begin(&argc, &argv, MPI_THREAD_SINGLE);
	iterations = argc > 1 ? atoi(argv[1]) : 0;
	if (iterations < 1 || world_size != 2)
		fail("usage: overhead ITERATIONS, with two ranks");
	for (i = 0; i < SIDES; i++)
		times[i] = allocate(iterations * sizeof(**times));
	CHECK(collsock_join_comm(&sock, &options, MPI_COMM_WORLD));
	if (world_rank)
		printf("{");
	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		measure(&operations[i], iterations, times);
	if (world_rank)
		printf("}\n");
	collsock_close(sock);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
