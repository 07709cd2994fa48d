// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "startup.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0
/* From the barrier in which hosts meet until all begin the first one of the group */
#define PAUSE_NS 20e6
#define QUIET_NS 10e6

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

static void sleep_until(double ns)
{
	struct timespec end = {
		.tv_sec = ns / NS_PER_SECOND,
		.tv_nsec = (unsigned long long)ns % NS_PER_SECOND,
	};
	int error;

	do
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	while (error == EINTR);
	if (error)
		errx(EXIT_FAILED, "sleep: %s", strerror(error));
}

/* Remove the hosts' entries from the ARP table; this host has none. */
static void forget_neighbours(const struct hosts *hosts)
{
	struct arpreq request = { };
	unsigned int i;
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err(EXIT_FAILED, "socket");
	for (i = 0; i < hosts->count; i++) {
		memcpy(&request.arp_pa, &hosts->address[i], sizeof(request.arp_pa));
		if (ioctl(fd, SIOCDARP, &request) && errno != ENXIO && errno != EINVAL)
			err(EXIT_FAILED, "--forget-neighbours");
	}
	close(fd);
}

/*
 * A barrier would look neighbours up. So hosts that left one together begin the next one at an
 * agreed time, when acknowledgments have been sent and all have forgotten their neighbours.
 */
static void pause_together(const struct options *options, const struct startup *startup)
{
	double begin = now_ns();

	sleep_until(begin + QUIET_NS);
	if (startup->forget_neighbours)
		forget_neighbours(&options->hosts);
	sleep_until(begin + PAUSE_NS);
}

/* The barriers of @work keep the hosts in step, and are not measured. */
static void start_one(struct times *sum, const struct options *options, const struct work *work,
		      const struct startup *startup, unsigned long number)
{
	struct collsock_stats stats;
	struct collsock *socket;
	double begin;

	work->barrier(work->context);
	begin = now_ns();
	socket = startup->open(startup->context, number);
	sum->join += now_ns() - begin;
	/* No host waits in the first barrier for one that has yet to join */
	work->barrier(work->context);
	pause_together(options, startup);
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
		start_one(&mean, options, work, startup, i);
	mean.join /= options->iterations;
	mean.first /= options->iterations;
	mean.later /= options->iterations;
	mean.peers /= options->iterations;
	measure_print_head(options, program);
	print(&mean, options);
}
