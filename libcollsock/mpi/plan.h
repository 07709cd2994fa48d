/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The group that follows from the records of all ranks: the same plan on each of them. */
#ifndef COLLSOCK_MPI_PLAN_H
#define COLLSOCK_MPI_PLAN_H

#include "record.h"

/**
 * struct cm_plan - hosts, in the order of their lowest ranks, and an address of each
 * @ranks: number of ranks
 * @host_of_rank: index of the host of each
 * @host_count: number of hosts
 * @hosts: of each, the record of its lowest rank
 * @chosen: of each, the index of its address
 */
struct cm_plan {
	unsigned int		ranks;
	unsigned int		*host_of_rank;
	unsigned int		host_count;
	const struct cm_host	**hosts;
	unsigned int		*chosen;
};

/* The hosts of @records, which outlive the plan. False without memory. */
bool cm_plan_init(struct cm_plan *plan, const struct cm_record *records, unsigned int ranks);
void cm_plan_free(struct cm_plan *plan);

/* Choose the addresses. False if there are none by which all hosts reach each other. */
bool cm_plan_choose_addresses(struct cm_plan *plan);

const struct cm_address *cm_plan_address(const struct cm_plan *plan, unsigned int rank);

/* How many ranks the host of this one has */
unsigned int cm_plan_local_ranks(const struct cm_plan *plan, unsigned int rank);

#endif
