/* SPDX-License-Identifier: GPL-2.0 */
/* Measures an operation that is repeated, and prints the figures. */
#ifndef COLLPERF_MEASURE_H
#define COLLPERF_MEASURE_H

#include <linux/types.h>

#include "options.h"

/**
 * struct figures - what came out
 * @mean_ns: one clock around all operations
 * @min_ns: shortest; this and what follows come from as many operations again, with
 *	the clock around each
 * @p50_ns: median
 * @p99_ns: longer than 99 of 100
 */
struct figures {
	double		mean_ns;
	__u64	min_ns;
	__u64	p50_ns;
	__u64	p99_ns;
};

/**
 * struct work - what a program can do; exits if it fails
 * @operation: that is measured
 * @barrier: of the same hosts
 * @context: handed to both
 */
struct work {
	void	(*operation)(void *context);
	void	(*barrier)(void *context);
	void	*context;
};

/* Every host makes the same calls. */

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

/* The part of it that says what was measured. */
void measure_print_head(const struct options *options, const char *program);

#endif
