/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers of a unit test, and how much work it does. Each run of a program uses a
 * new seed and prints it; COLLSOCK_SEED in the environment repeats that run.
 * COLLSOCK_SOAK=n does n times the work.
 */
#ifndef COLL_UNIT_SEED_H
#define COLL_UNIT_SEED_H

#include "base.h"

/* The seed of the run: every call returns the same. */
u64 seed_start(void);

/* Factor of the work compared with a check, at least 1 */
u64 seed_soak(void);

/* SplitMix64: its state is one number, and any number is a valid seed. */
static inline u64 seed_next(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

#endif
