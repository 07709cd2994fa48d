/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processor time of an operation when hosts are late: the experiment of the paper on
 * application-bypass reduction (Wagner, Buntinas, Brightwell, Panda; §VI). In each
 * iteration a host computes for a random time, runs the operation, computes again for as
 * long as the others may need (catch-up), and enters a barrier:
 *
 *	begin | delay | operation | catch-up | end | barrier
 *
 * The time from begin to end without the delays is that of the operation: polling, and
 * softirqs that interrupt the computing. Delays are a number of rounds of an empty loop, so
 * that interrupts prolong them. To subtract them exactly, the series is first run without
 * the operation.
 */
#ifndef COLLPERF_SKEW_H
#define COLLPERF_SKEW_H

#include "measure.h"

/**
 * struct skew_times - average times of one operation
 * @wall_ns: wall-clock time
 * @cpu_ns: processor time of the process, including softirqs that interrupted it
 * @machine_ns: busy time of the machine, including softirqs and barriers, for all hosts on
 *	it. Only on rank 0
 */
struct skew_times {
	double	wall_ns;
	double	cpu_ns;
	double	machine_ns;
};

/**
 * struct skew_figures - result of a measurement
 * @alone: an iteration without the operation
 * @with: an iteration with it
 * @delay_ns: mean of the random delays as calibrated
 */
struct skew_figures {
	struct skew_times	alone;
	struct skew_times	with;
	double			delay_ns;
};

void skew_measure(struct skew_figures *figures, const struct options *options,
		  const struct work *work);

/* As measure_print(). */
void skew_print(const struct skew_figures *figures, const struct options *options,
		const char *program);

#endif
