/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers and the amount of work of a unit test. Each run of a program
 * takes a fresh seed and prints it; COLLSOCK_SEED in the environment repeats
 * that run. COLLSOCK_SOAK=n does n times the work.
 */
#ifndef COLL_UNIT_SEED_H
#define COLL_UNIT_SEED_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

/* The harness runs each test in a child: the environment reaches them all. */
static void __attribute__((constructor)) seed_choose(void)
{
	struct timespec now;
	char text[32];

	if (!getenv("COLLSOCK_SEED")) {
		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(text, sizeof(text), "0x%llx",
			 (now.tv_sec * 1000000000ULL + now.tv_nsec) ^ ((u64)getpid() << 44));
		setenv("COLLSOCK_SEED", text, 1);
	}
	fprintf(stderr, "# COLLSOCK_SEED=%s\n", getenv("COLLSOCK_SEED"));
}

static inline u64 seed_start(void)
{
	return strtoull(getenv("COLLSOCK_SEED"), NULL, 0);
}

static inline u64 seed_soak(void)
{
	const char *text = getenv("COLLSOCK_SOAK");
	u64 factor = text ? strtoull(text, NULL, 0) : 1;

	return factor ? factor : 1;
}

/* SplitMix64: all of its state is one number, and any number will do. */
static inline u64 seed_next(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

#endif
