/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processor time that an operation takes when hosts are late: the experiment of the
 * paper on application-bypass reduction (Wagner, Buntinas, Brightwell, Panda; §VI).
 * Each iteration a host computes for a random time, runs the operation, computes
 * again for as long as the others may need (catch-up), and meets them in a barrier:
 *
 *	begin | delay | operation | catch-up | end | barrier
 *
 * The time from begin to end without the delays is the operation's: the waiting of
 * those that poll, and what softirq does in the middle of the computing. Delays
 * are numbers of rounds of an empty loop, so an interrupt makes it longer.
 * To subtract them exactly, all is run first without the operation.
 */
#ifndef COLLPERF_SKEW_H
#define COLLPERF_SKEW_H

#include "measure.h"

/**
 * struct skew_times - of one operation, on average
 * @wall_ns: by the clock on the wall
 * @cpu_ns: processor time of the process, softirq that interrupted it included
 * @machine_ns: processor time of the machine, softirq and everything included,
 *	barriers too: for all hosts that it is. Only on rank 0
 */
struct skew_times {
	double	wall_ns;
	double	cpu_ns;
	double	machine_ns;
};

/**
 * struct skew_figures - what came out
 * @alone: an iteration without the operation
 * @with: an iteration with it
 * @delay_ns: mean of the random delays, as it was calibrated
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
