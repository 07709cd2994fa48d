/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Runs: all hosts, divided into runs of neighbours, which differ in length by one at most, the
 * longer ones first. The first host of each run is a partner in an exchange, to which the others
 * hand in. Pure; any context.
 */
#ifndef COLL_CORE_RUNS_H
#define COLL_CORE_RUNS_H

#include "base.h"

/**
 * struct coll_runs - runs of neighbours
 * @count: number of runs, at most that of hosts
 * @least: hosts of a run
 * @longer: runs with one more, the first ones
 */
struct coll_runs {
	u32	count;
	u32	least;
	u32	longer;
};

static inline struct coll_runs coll_runs_of(u32 hosts, u32 count)
{
	return (struct coll_runs) {
		.count	= count,
		.least	= hosts / count,
		.longer	= hosts % count,
	};
}

/* The first host of a run */
static inline u32 coll_runs_first(const struct coll_runs *r, u32 number)
{
	return number * r->least + min(number, r->longer);
}

static inline u32 coll_runs_length(const struct coll_runs *r, u32 number)
{
	return r->least + (number < r->longer);
}

/* The run of a host */
static inline u32 coll_runs_number(const struct coll_runs *r, u32 host)
{
	u32 in_longer = r->longer * (r->least + 1);

	if (host < in_longer)
		return host / (r->least + 1);
	return r->longer + (host - in_longer) / r->least;
}

#endif
