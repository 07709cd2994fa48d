// SPDX-License-Identifier: GPL-2.0
/*
 * In a separate file, since the compiler could generate different loops for different
 * callers, and then the calibrated loop would not be the one that is run.
 */
#include "compute.h"

void compute(unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++)
		__asm__ volatile("" : : : "memory");
}
