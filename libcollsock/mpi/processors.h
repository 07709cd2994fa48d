/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * On which processors ranks may run: by binding, task sets and cgroups a rank may have fewer than
 * its machine, and ranks may have the same ones or others.
 */
#ifndef COLLSOCK_MPI_PROCESSORS_H
#define COLLSOCK_MPI_PROCESSORS_H

#include <stdbool.h>
#include <linux/types.h>

#define CM_PROCESSORS 1024

/**
 * struct cm_processors - a set of processors
 * @bits: one for each; numbers from CM_PROCESSORS on begin with the first bit again
 */
struct cm_processors {
	__u64	bits[CM_PROCESSORS / 64];
};

/* Those on which this thread may run; none if the kernel does not tell. */
void cm_processors_read(struct cm_processors *set);

/**
 * cm_processors_are_shared() - do ranks with the same kernel share the processors of one of them?
 * @sets: for each of these ranks
 * @ranks: number of ranks
 * @own: index of the rank in question
 *
 * They do if more ranks can run on its processors only than these are. Otherwise the processors of
 * ranks that may run on some of them are added, and so on.
 */
bool cm_processors_are_shared(const struct cm_processors *sets, unsigned int ranks,
			      unsigned int own);

#endif
