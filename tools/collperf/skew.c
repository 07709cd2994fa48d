// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "compute.h"
#include "delay.h"
#include "skew.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0

static double read_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		err(EXIT_FAILED, "clock %d", (int)clock);
	return (double)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* Busy time of all processors since boot */
static double machine_busy_ns(void)
{
	unsigned long long user, nice, system, idle, iowait;
	double processors = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *file = fopen("/proc/stat", "re");

	if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
			    &iowait) != 5)
		err(EXIT_FAILED, "/proc/stat");
	fclose(file);
	/* Derived from idle time, since the other values are only sampled */
	return processors * read_ns(CLOCK_MONOTONIC) -
	       (double)(idle + iowait) * NS_PER_SECOND / sysconf(_SC_CLK_TCK);
}

/**
 * struct series - a series of iterations
 * @options: of the command line
 * @work: the work to measure
 * @rounds_per_us: rounds of compute() per us
 * @operates: iterations include the operation
 * @delay_ns: sum of the random delays
 */
struct series {
	const struct options	*options;
	const struct work	*work;
	double			rounds_per_us;
	bool			operates;
	double			delay_ns;
};

static void run_iteration(struct series *series, unsigned long iteration,
			  struct skew_times *sum)
{
	const struct options *options = series->options;
	double delay_us = delay_share(options->seed, options->rank, iteration) * options->skew_us;
	unsigned long catch_up = options->catch_up_us * series->rounds_per_us;
	double wall_ns = read_ns(CLOCK_MONOTONIC), cpu_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);

	compute(delay_us * series->rounds_per_us);
	if (series->operates)
		series->work->operation(series->work->context);
	compute(catch_up);
	sum->cpu_ns += read_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	sum->wall_ns += read_ns(CLOCK_MONOTONIC) - wall_ns;
	series->delay_ns += delay_us * NS_PER_US;
	series->work->barrier(series->work->context);
}

static struct skew_times run_series(struct series *series)
{
	unsigned long i, count = series->options->iterations;
	bool looks = !series->options->rank;
	struct skew_times times = { };
	double begin = 0;

	series->delay_ns = 0;
	series->work->barrier(series->work->context);
	if (looks)
		begin = machine_busy_ns();
	for (i = 0; i < count; i++)
		run_iteration(series, i, &times);
	if (looks)
		times.machine_ns = machine_busy_ns() - begin;
	times.wall_ns /= count;
	times.cpu_ns /= count;
	times.machine_ns /= count;
	return times;
}

void skew_measure(struct skew_figures *figures, const struct options *options,
		  const struct work *work)
{
	struct series series = { .options = options, .work = work };

	series.rounds_per_us = delay_rounds_per_us();
	figures->alone = run_series(&series);
	series.operates = true;
	figures->with = run_series(&series);
	figures->delay_ns = series.delay_ns / options->iterations;
	/* No host exits before rank 0 has read the clocks: that would be work, too. */
	work->barrier(work->context);
}

static void print_json(const struct skew_figures *figures, const struct options *options)
{
	const struct skew_times *alone = &figures->alone, *with = &figures->with;

	printf(", \"count\": %u, \"skew_us\": %ld, \"catch_up_us\": %ld, \"seed\": %llu",
	       options->count, options->skew_us, options->catch_up_us, options->seed);
	printf(", \"delay_ns\": %.1f, \"wall_ns\": %.1f, \"cpu_ns\": %.1f", figures->delay_ns,
	       with->wall_ns - alone->wall_ns, with->cpu_ns - alone->cpu_ns);
	printf(", \"alone_wall_ns\": %.1f, \"alone_cpu_ns\": %.1f", alone->wall_ns, alone->cpu_ns);
	if (!options->rank)
		printf(", \"machine_ns\": %.1f, \"alone_machine_ns\": %.1f",
		       with->machine_ns - alone->machine_ns, alone->machine_ns);
}

void skew_print(const struct skew_figures *figures, const struct options *options,
		const char *program)
{
	const struct skew_times *alone = &figures->alone, *with = &figures->with;

	measure_print_head(options, program);
	if (options->json) {
		print_json(figures, options);
		return;
	}
	printf(", %u elements, late by up to %ld us (on average %.2f): processor time %.2f us",
	       options->count, options->skew_us, figures->delay_ns / NS_PER_US,
	       (with->cpu_ns - alone->cpu_ns) / NS_PER_US);
	printf(", wall time %.2f", (with->wall_ns - alone->wall_ns) / NS_PER_US);
	if (!options->rank)
		printf(", all of this machine %.2f",
		       (with->machine_ns - alone->machine_ns) / NS_PER_US);
	printf("\n");
}
