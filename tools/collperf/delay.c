// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdint.h>
#include <time.h>

#include "compute.h"
#include "delay.h"
#include "status.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_US 1000.0
#define CALIBRATION_ROUNDS 1000000UL
#define CALIBRATION_REPEATS 5

static double used_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now))
		err(EXIT_FAILED, "clock of the process");
	return (double)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* The best of several runs, as the others were interrupted. */
double delay_rounds_per_us(void)
{
	double best = 0;
	int i;

	for (i = 0; i < CALIBRATION_REPEATS; i++) {
		double begin = used_ns(), ns;

		compute(CALIBRATION_ROUNDS);
		ns = used_ns() - begin;
		if (!i || ns < best)
			best = ns;
	}
	return CALIBRATION_ROUNDS / (best / NS_PER_US);
}

/* splitmix64: independent streams for hosts and seeds, the same on all machines. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

double delay_share(unsigned long long seed, unsigned int rank, unsigned long iteration)
{
	uint64_t state = seed;

	state = next_random(&state) + rank;
	state = next_random(&state) + iteration;
	return (double)(next_random(&state) >> 11) / (1ULL << 53);
}
