// SPDX-License-Identifier: GPL-2.0
/*
 * latency ITERATIONS OPERATION[:BYTES]...: latency of collectives on MPI_COMM_WORLD.
 * Operations are barrier, bcast, reduce and allreduce, of doubles, and bcast+barrier,
 * reduce+barrier; every rank is the root in turn. Rank 0 prints one JSON object: medians
 * and means in nanoseconds, averaged over the ranks, and the idle time of rank 0's machine
 * in each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define MOST_WARM_UP 300
#define MOST_BYTES 65536
#define NS_PER_S 1e9
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static double in[MOST_BYTES / sizeof(double)], out[MOST_BYTES / sizeof(double)];
static int rank, size;

static void barrier(int count, int root)
{
	(void)count;
	(void)root;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int count, int root)
{
	MPI_Bcast(in, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void reduce(int count, int root)
{
	MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void allreduce(int count, int root)
{
	(void)root;
	MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast_barrier(int count, int root)
{
	bcast(count, root);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void reduce_barrier(int count, int root)
{
	reduce(count, root);
	MPI_Barrier(MPI_COMM_WORLD);
}

static const struct operation {
	const char	*name;
	void		(*run)(int count, int root);
} operations[] = {
	{ "barrier", barrier },
	{ "bcast", bcast },
	{ "reduce", reduce },
	{ "allreduce", allreduce },
	{ "bcast+barrier", bcast_barrier },
	{ "reduce+barrier", reduce_barrier },
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "latency: %s: %s\n", what, why);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

static const struct operation *find(const char *word)
{
	size_t i, length = strcspn(word, ":");

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (strlen(operations[i].name) == length &&
		    !strncmp(word, operations[i].name, length))
			return &operations[i];
	fail(word, "must be barrier, bcast, reduce, allreduce, bcast+barrier or reduce+barrier");
	return NULL;
}

static int bytes_of(const char *word)
{
	const char *colon = strchr(word, ':');
	int bytes = colon ? atoi(colon + 1) : 0;

	if (bytes < 0 || bytes > MOST_BYTES || bytes % sizeof(double))
		fail(word, "must be whole doubles, up to 65536 bytes");
	return bytes;
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double average(double value)
{
	double sum;

	PMPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum / size;
}

/* Idle time of all processors together, in seconds */
static double idle(void)
{
	FILE *file = fopen("/proc/uptime", "r");
	double up, seconds = 0;

	if (!file || fscanf(file, "%lf %lf", &up, &seconds) != 2)
		fail("/proc/uptime", "cannot be read");
	fclose(file);
	return seconds;
}

static void measure(const char *word, int iterations, double *times)
{
	const struct operation *operation = find(word);
	int i, count = bytes_of(word) / sizeof(double);
	double begin, first, idle_before, median, mean;

	for (i = 0; i < iterations && i < MOST_WARM_UP; i++)
		operation->run(count, i % size);
	idle_before = idle();
	first = MPI_Wtime();
	for (i = 0; i < iterations; i++) {
		begin = MPI_Wtime();
		operation->run(count, i % size);
		times[i] = MPI_Wtime() - begin;
	}
	mean = average((MPI_Wtime() - first) / iterations);
	idle_before = idle() - idle_before;
	qsort(times, iterations, sizeof(*times), compare);
	median = average(times[iterations / 2]);
	if (!rank)
		printf("\"%s\": {\"p50_ns\": %.0f, \"mean_ns\": %.0f, \"idle_ns\": %.0f}", word,
		       median * NS_PER_S, mean * NS_PER_S, idle_before / iterations * NS_PER_S);
}

int main(int argc, char **argv)
{
	int iterations = argc > 2 ? atoi(argv[1]) : 0, i;
	double *times;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (iterations < 1)
		fail("usage", "latency ITERATIONS OPERATION[:BYTES]...");
	times = calloc(iterations, sizeof(*times));
	if (!times)
		fail(argv[1], "no memory for the samples");
	for (i = 2; i < argc; i++) {
		if (!rank)
			printf(i == 2 ? "{" : ", ");
		measure(argv[i], iterations, times);
	}
	if (!rank)
		printf("}\n");
	free(times);
	MPI_Finalize();
	return 0;
}
