/* SPDX-License-Identifier: GPL-2.0 */
/* Computations of a given time, and random shares of it for hosts and iterations */
#ifndef COLLPERF_DELAY_H
#define COLLPERF_DELAY_H

/* Rounds of compute() that take a microsecond of this processor */
double delay_rounds_per_us(void);

/**
 * delay_share() - a random share
 * @seed: of all hosts
 * @rank: of this one
 * @iteration: which one of the series
 *
 * Return: from 0 to 1, always the same for the same arguments, on any machine.
 */
double delay_share(unsigned long long seed, unsigned int rank, unsigned long iteration);

#endif
