// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "compute.h"
#include "delay.h"
#include "steps.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0

/*
 * The computations among which an efficiency is searched are the same on all hosts, so that none
 * has to tell another what to run next: powers of the square root of two, from 1 us to 16 ms.
 */
#define GRID 29

static double now_us(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		err(EXIT_FAILED, "clock");
	return ((double)now.tv_sec * NS_PER_SECOND + now.tv_nsec) / NS_PER_US;
}

/**
 * struct steps - a program
 * @options: of the command line
 * @work: the operation after each computation
 * @rounds_per_us: rounds of compute() per us
 * @count: number of steps
 * @us: mean computation of each
 */
struct steps {
	const struct options	*options;
	const struct work	*work;
	double			rounds_per_us;
	unsigned int		count;
	double			us[MAX_STEPS];
};

/* Uniform in the step's time plus or minus a percentage */
static double step_us(const struct steps *s, unsigned int step, unsigned long iteration)
{
	const struct options *o = s->options;
	double share = delay_share(o->seed, o->rank, iteration * s->count + step);

	return s->us[step] * (1 + (2 * share - 1) * o->vary / 100);
}

/* The mean time of the program, in us */
static double run_us(const struct steps *s)
{
	double begin, all;
	unsigned long i;
	unsigned int step;

	s->work->barrier(s->work->context);
	begin = now_us();
	for (i = 0; i < s->options->iterations; i++)
		for (step = 0; step < s->count; step++) {
			compute(step_us(s, step, i) * s->rounds_per_us);
			measure_in_step(s->options, s->work);
		}
	all = now_us() - begin;
	/* No host continues before all have read the clock: that would be work, too. */
	s->work->barrier(s->work->context);
	return all / s->options->iterations;
}

/* ---- a program ---- */

static void run_program(struct steps *s, const char *program)
{
	const struct options *o = s->options;
	double computes_us = 0, us;
	unsigned int i;

	s->count = o->steps;
	for (i = 0; i < o->steps; i++) {
		s->us[i] = o->step_us[i];
		computes_us += s->us[i];
	}
	us = run_us(s);
	measure_print_head(o, program);
	if (o->json)
		printf(", \"steps\": %u, \"vary\": %u, \"computes_us\": %.0f, \"us\": %.3f",
		       o->steps, o->vary, computes_us, us);
	else
		printf(": %u steps that compute %.0f us, +-%u %%: %.2f us, efficiency %.3f\n",
		       o->steps, computes_us, o->vary, us, computes_us / us);
}

/* ---- efficiency ---- */

/*
 * The least computation, in us, from which on the efficiency is reached, between the two of the
 * grid around it; 0 if it is not reached.
 */
static double least_us(const double compute_us[GRID], const double share[GRID], double wanted)
{
	int i = GRID;

	while (i && share[i - 1] >= wanted)
		i--;
	if (i == GRID)
		return 0;
	if (!i)
		return compute_us[0];
	return compute_us[i - 1] + (compute_us[i] - compute_us[i - 1]) *
	       (wanted - share[i - 1]) / (share[i] - share[i - 1]);
}

static void print_least(const struct options *o, unsigned int i, double us)
{
	if (o->json)
		printf("%s{\"percent\": %u, \"least_us\": %.3f}", i ? ", " : "", o->percent[i], us);
	else if (us > 0)
		printf("%s %u %% %.2f us", i ? "," : "", o->percent[i], us);
	else
		printf("%s %u %% more than 16 ms", i ? "," : "", o->percent[i]);
}

static void search(struct steps *s, const char *program)
{
	double compute_us[GRID], share[GRID];
	const struct options *o = s->options;
	unsigned int i;

	s->count = 1;
	for (i = 0; i < GRID; i++) {
		compute_us[i] = exp2(i / 2.0);
		s->us[0] = compute_us[i];
		share[i] = compute_us[i] / run_us(s);
	}
	measure_print_head(o, program);
	printf(o->json ? ", \"efficiency\": [" : ": least computation for an efficiency of");
	for (i = 0; i < o->percents; i++)
		print_least(o, i, least_us(compute_us, share, o->percent[i] / 100.0));
	printf(o->json ? "]" : "\n");
}

void steps_measure(const struct options *options, const struct work *work, const char *program)
{
	struct steps s = { .options = options, .work = work };

	s.rounds_per_us = delay_rounds_per_us();
	measure_warm_up(options, work);
	if (options->steps)
		run_program(&s, program);
	else
		search(&s, program);
}
