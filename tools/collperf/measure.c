// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "measure.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0
#define US_PER_SECOND 1000000
#define STRETCH 20
#define MAX_SHUFFLE_US 2000

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
	const __u64 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The smallest sample that @percent of all do not exceed. */
static __u64 percentile(const __u64 *sorted, unsigned long count, unsigned int percent)
{
	return sorted[(count * percent + 99) / 100 - 1];
}

void measure_in_step(const struct options *options, const struct work *work)
{
	work->operation(work->context);
	if (options_runs_ahead(options->operation))
		work->barrier(work->context);
}

static void measure_each(struct figures *figures, const struct options *options,
			 const struct work *work)
{
	unsigned long i, count = options->iterations;
	__u64 *samples;

	samples = malloc(count * sizeof(*samples));
	if (!samples)
		err(EXIT_FAILED, "%lu samples", count);
	for (i = 0; i < count; i++) {
		__u64 begin = now_ns();

		work->operation(work->context);
		samples[i] = now_ns() - begin;
		if (options_runs_ahead(options->operation))
			work->barrier(work->context);
	}
	qsort(samples, count, sizeof(*samples), by_size);
	figures->min_ns = samples[0];
	figures->p50_ns = percentile(samples, count, 50);
	figures->p99_ns = percentile(samples, count, 99);
	free(samples);
}

void measure_warm_up(const struct options *options, const struct work *work)
{
	unsigned long i;

	for (i = 0; i < options->warm_up; i++)
		measure_in_step(options, work);
}

/*
 * Use the CPU for a random time. The scheduler runs hosts that share a CPU in an order that
 * it keeps for long; this order determines how often a host finds its message already
 * received and need not sleep.
 */
static void use_cpu(void)
{
	clock_t end = clock() + random() % (MAX_SHUFFLE_US * (CLOCKS_PER_SEC / US_PER_SECOND) + 1);

	while (clock() < end)
		;
}

/* Time @count operations together. */
static __u64 measure_stretch(unsigned long count, const struct options *options,
			     const struct work *work)
{
	__u64 begin = now_ns();
	unsigned long i;

	for (i = 0; i < count; i++)
		measure_in_step(options, work);
	return now_ns() - begin;
}

void measure(struct figures *figures, const struct options *options, const struct work *work)
{
	unsigned long left = options->iterations, count;
	__u64 sum_ns = 0;

	*figures = (struct figures){ };
	srandom(options->rank + 1);
	for (; left; left -= count) {
		count = left;
		if (options->shuffle) {
			use_cpu();
			/*
			 * All hosts have returned, and delayed acknowledgments have been
			 * sent.
			 */
			measure_in_step(options, work);
			measure_in_step(options, work);
			if (count > STRETCH)
				count = STRETCH;
		}
		sum_ns += measure_stretch(count, options, work);
		/*
		 * No host continues before all have read the clock: that would be work,
		 * too.
		 */
		measure_in_step(options, work);
	}
	figures->mean_ns = (double)sum_ns / options->iterations;
	if (options->mean_only)
		return;
	measure_each(figures, options, work);
	measure_in_step(options, work);
}

void measure_print_head(const struct options *options, const char *program)
{
	const char *operation = options_operation_name(options->operation);
	const char *algorithm = options_algorithm_name(options->algorithm);

	if (options->json) {
		printf("{\"program\": \"%s\", \"operation\": \"%s\", \"algorithm\": \"%s\"",
		       program, operation, algorithm);
		if (options->degree)
			printf(", \"degree\": %u", options->degree);
		printf(", \"rank\": %u, \"hosts\": %u, \"iterations\": %lu, \"spin_us\": %u",
		       options->rank, options->hosts.count, options->iterations,
		       options->spin_us);
	} else {
		printf("%s: %s, %s", program, operation, algorithm);
		if (options->degree)
			printf(" of degree %u", options->degree);
		printf(", rank %u of %u, spinning %u us", options->rank, options->hosts.count,
		       options->spin_us);
	}
}

static void print_json(const struct figures *figures, const struct options *options)
{
	printf(", \"mean_ns\": %.1f", figures->mean_ns);
	if (!options->mean_only)
		printf(", \"min_ns\": %llu, \"p50_ns\": %llu, \"p99_ns\": %llu",
		       figures->min_ns, figures->p50_ns, figures->p99_ns);
}

void measure_print(const struct figures *figures, const struct options *options,
		   const char *program)
{
	measure_print_head(options, program);
	if (options->json) {
		print_json(figures, options);
		return;
	}
	printf(": mean %.2f us", figures->mean_ns / NS_PER_US);
	if (!options->mean_only)
		printf(", min %.2f, p50 %.2f, p99 %.2f", figures->min_ns / NS_PER_US,
		       figures->p50_ns / NS_PER_US, figures->p99_ns / NS_PER_US);
	printf("\n");
}
