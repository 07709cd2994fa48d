/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLLPERF_COMPUTE_H
#define COLLPERF_COMPUTE_H

/* Use the processor for so many rounds of an empty loop, however long that takes. */
void compute(unsigned long rounds);

#endif
