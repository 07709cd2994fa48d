// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "measure.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The smallest sample that @percent of all do not exceed. */
static uint64_t percentile(const uint64_t *sorted, unsigned long count, unsigned int percent)
{
	return sorted[(count * percent + 99) / 100 - 1];
}

static void measure_each(struct figures *figures, const struct options *options,
			 void (*operation)(void *context), void *context)
{
	unsigned long i, count = options->iterations;
	uint64_t *samples;

	samples = malloc(count * sizeof(*samples));
	if (!samples)
		err(EXIT_FAILED, "%lu samples", count);
	for (i = 0; i < count; i++) {
		uint64_t begin = now_ns();

		operation(context);
		samples[i] = now_ns() - begin;
	}
	qsort(samples, count, sizeof(*samples), by_size);
	figures->min_ns = samples[0];
	figures->p50_ns = percentile(samples, count, 50);
	figures->p99_ns = percentile(samples, count, 99);
	free(samples);
}

void measure_warm_up(const struct options *options, void (*operation)(void *context),
		     void *context)
{
	unsigned long i;

	for (i = 0; i < options->warm_up; i++)
		operation(context);
}

void measure(struct figures *figures, const struct options *options,
	     void (*operation)(void *context), void *context)
{
	uint64_t begin;
	unsigned long i;

	*figures = (struct figures){ };
	begin = now_ns();
	for (i = 0; i < options->iterations; i++)
		operation(context);
	figures->mean_ns = (double)(now_ns() - begin) / options->iterations;
	if (!options->mean_only)
		measure_each(figures, options, operation, context);
	/* Nobody ends, which is work too, before everybody has looked at the clock */
	operation(context);
}

void measure_print(const struct figures *figures, const struct options *options,
		   const char *program, const char *operation)
{
	const char *algorithm = options_algorithm_name(options->algorithm);

	if (options->json) {
		printf("{\"program\": \"%s\", \"operation\": \"%s\", \"algorithm\": \"%s\", "
		       "\"hosts\": %u, \"rank\": %u, \"iterations\": %lu, \"spin_us\": %u, "
		       "\"mean_ns\": %.1f", program, operation, algorithm,
		       options->hosts.count, options->rank, options->iterations,
		       options->spin_us, figures->mean_ns);
		if (!options->mean_only)
			printf(", \"min_ns\": %llu, \"p50_ns\": %llu, \"p99_ns\": %llu",
			       (unsigned long long)figures->min_ns,
			       (unsigned long long)figures->p50_ns,
			       (unsigned long long)figures->p99_ns);
		return;
	}
	printf("%s: rank %u of %u: %s, %s, %s: mean %.2f us", program, options->rank,
	       options->hosts.count, operation, algorithm,
	       options->spin_us ? "spinning" : "sleeping", figures->mean_ns / NS_PER_US);
	if (!options->mean_only)
		printf(", min %.2f, p50 %.2f, p99 %.2f", figures->min_ns / NS_PER_US,
		       figures->p50_ns / NS_PER_US, figures->p99_ns / NS_PER_US);
	printf("\n");
}
