// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <time.h>

#include "startup.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0

/**
 * struct times - mean times of a start, in ns
 * @join: socket and JOIN
 * @first: the first barrier
 * @later: the next one
 * @peers: connections of this host then
 */
struct times {
	double	join;
	double	first;
	double	later;
	double	peers;
};

static double now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		err(EXIT_FAILED, "clock");
	return (double)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static double barrier_ns(struct collsock *socket)
{
	struct collsock_completion completion;
	double begin = now_ns();
	int error = collsock_barrier(socket, &completion);

	if (error)
		errx(EXIT_FAILED, "barrier of a group that starts: error %d, rank %u", error,
		     completion.failed_rank);
	return now_ns() - begin;
}

/* The barriers of @work keep the hosts in step, and are not measured. */
static void start_one(struct times *sum, const struct work *work, const struct startup *startup,
		      unsigned long number)
{
	struct collsock_stats stats;
	struct collsock *socket;
	double begin;

	work->barrier(work->context);
	begin = now_ns();
	socket = startup->open(startup->context, number);
	sum->join += now_ns() - begin;
	sum->first += barrier_ns(socket);
	work->barrier(work->context);
	sum->later += barrier_ns(socket);
	work->barrier(work->context);
	if (collsock_stats(socket, &stats, sizeof(stats)))
		errx(EXIT_FAILED, "statistics of a group that starts");
	sum->peers += stats.peers;
	collsock_close(socket);
}

static void print(const struct times *mean, const struct options *options)
{
	if (options->json) {
		printf(", \"join_ns\": %.1f, \"first_ns\": %.1f", mean->join, mean->first);
		printf(", \"later_ns\": %.1f, \"peers\": %.2f", mean->later, mean->peers);
		return;
	}
	printf(": join %.2f us, first barrier %.2f, a later one %.2f, %.2f connections\n",
	       mean->join / NS_PER_US, mean->first / NS_PER_US, mean->later / NS_PER_US,
	       mean->peers);
}

void startup_measure(const struct options *options, const struct work *work,
		     const struct startup *startup, const char *program)
{
	struct times mean = { };
	unsigned long i;

	for (i = 1; i <= options->iterations; i++)
		start_one(&mean, work, startup, i);
	mean.join /= options->iterations;
	mean.first /= options->iterations;
	mean.later /= options->iterations;
	mean.peers /= options->iterations;
	measure_print_head(options, program);
	print(&mean, options);
}
