/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLLPERF_COMPUTE_H
#define COLLPERF_COMPUTE_H

/* Use the processor for a number of rounds of an empty loop, however long that lasts. */
void compute(unsigned long rounds);

#endif
