/* SPDX-License-Identifier: GPL-2.0 */
/* Measuring a repeated operation, and printing the figures */
#ifndef COLLPERF_MEASURE_H
#define COLLPERF_MEASURE_H

#include <linux/types.h>

#include "options.h"

/**
 * struct figures - result of a measurement
 * @mean_ns: mean of all operations, timed together
 * @min_ns: shortest; this and the following come from a second series, with each operation
 *	timed
 * @p50_ns: median
 * @p99_ns: 99th percentile
 */
struct figures {
	double		mean_ns;
	__u64	min_ns;
	__u64	p50_ns;
	__u64	p99_ns;
};

/**
 * struct work - operations of a program, which exit if they fail
 * @operation: the operation to measure
 * @barrier: a barrier of the same hosts
 * @context: argument of both
 */
struct work {
	void	(*operation)(void *context);
	void	(*barrier)(void *context);
	void	*context;
};

/* Every host must make the same calls. */

/*
 * Run the operation. In one with a root, or a scan, some hosts do not wait: a barrier after it
 * keeps them from running ahead.
 */
void measure_in_step(const struct options *options, const struct work *work);

/* Run the operation as often as @options say, before it is measured. */
void measure_warm_up(const struct options *options, const struct work *work);

/* Run the operation as often as @options say, and measure its time. */
void measure(struct figures *figures, const struct options *options, const struct work *work);

/*
 * Print @figures for a reader, or as the first members of a JSON object, which is
 * left open: "{...".
 */
void measure_print(const struct figures *figures, const struct options *options,
		   const char *program);

/* Only the part that describes what was measured */
void measure_print_head(const struct options *options, const char *program);

#endif
