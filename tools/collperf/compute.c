// SPDX-License-Identifier: GPL-2.0
/*
 * In a file of its own, or the compiler makes loops of different instructions for
 * different callers, and what is calibrated is not what is run.
 */
#include "compute.h"

void compute(unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++)
		__asm__ volatile("" : : : "memory");
}
