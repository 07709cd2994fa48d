/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* This process as described by its launcher in the environment */
#ifndef COLLSOCK_LAUNCH_H
#define COLLSOCK_LAUNCH_H

#include "meeting_rendezvous.h"

#define LAUNCH_JOB_BYTES 256

/* The means by which ranks exchange blocks */
enum launch_by {
	LAUNCH_BY_MEETING,	/* TCP: of the rest of struct launch */
	LAUNCH_BY_PMIX,		/* libpmix, which knows the ranks */
	LAUNCH_BY_PMI,		/* PMI, likewise */
};

/**
 * struct launch - a process as its launcher describes it
 * @by: see there
 * @rendezvous: where ranks meet: HOST[:PORT]
 * @job: name of the job
 * @attempt: of the job
 * @rank: of the process
 * @ranks: number of ranks
 */
struct launch {
	enum launch_by	by;
	char	rendezvous[MEETING_HOST + 8];
	char	job[LAUNCH_JOB_BYTES];
	__u32	attempt;
	__u32	rank;
	__u32	ranks;
};

#endif
