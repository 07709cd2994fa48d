// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "processors.h"

#define WORDS (CM_PROCESSORS / 64)
#define MOST_WORDS (8192 / 64)	/* of a kernel */

void cm_processors_read(struct cm_processors *set)
{
	__u64 all[MOST_WORDS];
	/* Unlike the C library's function it says how much it has written. */
	long i, bytes = syscall(SYS_sched_getaffinity, 0, sizeof(all), all);

	memset(set, 0, sizeof(*set));
	for (i = 0; i < bytes / (long)sizeof(*all); i++)
		set->bits[i % WORDS] |= all[i];
}

static unsigned int processors_count(const struct cm_processors *set)
{
	unsigned int i, count = 0;

	for (i = 0; i < WORDS; i++)
		count += __builtin_popcountll(set->bits[i]);
	return count;
}

static bool processors_are_within(const struct cm_processors *set, const struct cm_processors *all)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		if (set->bits[i] & ~all->bits[i])
			return false;
	return true;
}

static bool processors_overlap(const struct cm_processors *one, const struct cm_processors *other)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		if (one->bits[i] & other->bits[i])
			return true;
	return false;
}

static void processors_add(struct cm_processors *set, const struct cm_processors *more)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		set->bits[i] |= more->bits[i];
}

bool cm_processors_are_shared(const struct cm_processors *sets, unsigned int ranks,
			      unsigned int own)
{
	struct cm_processors all, next = sets[own];
	unsigned int i, within;
	bool grows;

	do {
		all = next;
		within = 0;
		grows = false;
		for (i = 0; i < ranks; i++) {
			if (processors_are_within(&sets[i], &all)) {
				within++;
			} else if (processors_overlap(&sets[i], &all)) {
				processors_add(&next, &sets[i]);
				grows = true;
			}
		}
		if (within > processors_count(&all))
			return true;
	} while (grows);
	return false;
}
