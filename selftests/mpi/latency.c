// SPDX-License-Identifier: GPL-2.0
/*
 * latency ITERATIONS OPERATION[:BYTES]...: latency of collectives on MPI_COMM_WORLD.
 * Operations are barrier, bcast, reduce, allreduce, scan and exscan, of doubles, those with a
 * block of these bytes for each rank, allgather, allgatherv (of rank 0 half as long), gather,
 * scatter and reduce_scatter_block, and those with a root, or an allreduce, followed by a barrier,
 * as bcast+barrier; every rank is the root in turn. Rank 0 prints one JSON object: medians and
 * means in nanoseconds, averaged over the ranks, the idle time of rank 0's machine in each, and the
 * packets and bytes that each rank's host sends for it, added up.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define MOST_WARM_UP 300
#define MOST_BYTES 65536
#define MOST_RANKS 64
#define DEVICE "eth0"
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

static void scan(int count, int root)
{
	(void)root;
	MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exscan(int count, int root)
{
	(void)root;
	MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(int count, int root)
{
	(void)root;
	MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void allgatherv(int count, int root)
{
	int counts[MOST_RANKS], places[MOST_RANKS], i;

	(void)root;
	for (i = 0; i < size; i++) {
		counts[i] = i ? count : count / 2;
		places[i] = i * count;
	}
	MPI_Allgatherv(in, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE,
		       MPI_COMM_WORLD);
}

static void gather(int count, int root)
{
	MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void scatter(int count, int root)
{
	MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void reduce_scatter_block(int count, int root)
{
	(void)root;
	MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct operation {
	const char	*name;
	void		(*run)(int count, int root);
	bool		with_blocks;
	bool		then_barrier;
} operations[] = {
	{ "barrier", .run = barrier },
	{ "bcast", .run = bcast },
	{ "reduce", .run = reduce },
	{ "allreduce", .run = allreduce },
	{ "scan", .run = scan },
	{ "exscan", .run = exscan },
	{ "allgather", .run = allgather, .with_blocks = true },
	{ "allgatherv", .run = allgatherv, .with_blocks = true },
	{ "gather", .run = gather, .with_blocks = true },
	{ "scatter", .run = scatter, .with_blocks = true },
	{ "reduce_scatter_block", .run = reduce_scatter_block, .with_blocks = true },
	{ "bcast+barrier", .run = bcast, .then_barrier = true },
	{ "reduce+barrier", .run = reduce, .then_barrier = true },
	{ "allreduce+barrier", .run = allreduce, .then_barrier = true },
	{ "gather+barrier", .run = gather, .with_blocks = true, .then_barrier = true },
	{ "scatter+barrier", .run = scatter, .with_blocks = true, .then_barrier = true },
};

static void run(const struct operation *operation, int count, int root)
{
	operation->run(count, root);
	if (operation->then_barrier)
		MPI_Barrier(MPI_COMM_WORLD);
}

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
	fail(word, "is none of the operations");
	return NULL;
}

static int bytes_of(const char *word, const struct operation *operation)
{
	int most = operation->with_blocks ? MOST_BYTES / size : MOST_BYTES;
	const char *colon = strchr(word, ':');
	int bytes = colon ? atoi(colon + 1) : 0;

	if (bytes < 0 || bytes > most || bytes % sizeof(double))
		fail(word, "must be whole doubles, up to 65536 bytes for all ranks");
	return bytes;
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static double total(double value)
{
	double sum;

	PMPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static double average(double value)
{
	return total(value) / size;
}

/* In hundredths of a second */
static double coarse_idle(void)
{
	FILE *file = fopen("/proc/uptime", "r");
	double up, seconds = 0;

	if (!file || fscanf(file, "%lf %lf", &up, &seconds) != 2)
		fail("/proc/uptime", "cannot be read");
	fclose(file);
	return seconds;
}

/* Idle time of all processors together, in seconds. Linux 7 has it in hundredths only. */
static double idle(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	double nanoseconds, sum = 0;
	bool found = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " .idle_sleeptime : %lf nsecs", &nanoseconds) == 1) {
			sum += nanoseconds;
			found = true;
		}
	if (file)
		fclose(file);
	return found ? sum / NS_PER_S : coarse_idle();
}

struct sent {
	double	packets;
	double	bytes;
};

/* By this host, since it began */
static struct sent sent(void)
{
	FILE *file = fopen("/proc/self/net/dev", "r");
	struct sent sent = { };
	char line[512];

	if (!file)
		fail("/proc/self/net/dev", "cannot be read");
	while (fgets(line, sizeof(line), file))
		/* What it has received comes first */
		if (sscanf(line, " " DEVICE ": %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf",
			   &sent.bytes, &sent.packets) == 2)
			break;
	fclose(file);
	return sent;
}

static void measure(const char *word, int iterations, double *times)
{
	const struct operation *operation = find(word);
	int i, count = bytes_of(word, operation) / sizeof(double);
	double begin, first, idle_before, median, mean, packets, bytes;
	struct sent before, after;

	for (i = 0; i < iterations && i < MOST_WARM_UP; i++)
		run(operation, count, i % size);
	idle_before = rank ? 0 : idle();
	before = sent();
	/* What rank 0 has read is not part of the times. */
	MPI_Barrier(MPI_COMM_WORLD);
	first = MPI_Wtime();
	for (i = 0; i < iterations; i++) {
		begin = MPI_Wtime();
		run(operation, count, i % size);
		times[i] = MPI_Wtime() - begin;
	}
	mean = (MPI_Wtime() - first) / iterations;
	after = sent();
	idle_before = rank ? 0 : idle() - idle_before;
	mean = average(mean);
	packets = total(after.packets - before.packets) / iterations;
	bytes = total(after.bytes - before.bytes) / iterations;
	qsort(times, iterations, sizeof(*times), compare);
	median = average(times[iterations / 2]);
	if (rank)
		return;
	printf("\"%s\": {\"p50_ns\": %.0f, \"mean_ns\": %.0f, \"idle_ns\": %.0f", word,
	       median * NS_PER_S, mean * NS_PER_S, idle_before / iterations * NS_PER_S);
	printf(", \"packets\": %.2f, \"bytes\": %.1f}", packets, bytes);
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
