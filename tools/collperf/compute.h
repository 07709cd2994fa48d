/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLLPERF_COMPUTE_H
#define COLLPERF_COMPUTE_H

/* Run a number of rounds of an empty loop. */
void compute(unsigned long rounds);

#endif
