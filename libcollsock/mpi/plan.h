/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The plan of a group, computed from the records of all ranks, and the same on all of them */
#ifndef COLLSOCK_MPI_PLAN_H
#define COLLSOCK_MPI_PLAN_H

#include "record.h"

/**
 * struct cm_plan - hosts in the order of their lowest ranks, with one address each
 * @ranks: number of ranks
 * @host_of_rank: index of the host of each rank
 * @host_count: number of hosts
 * @hosts: for each host, the record of its lowest rank
 * @chosen: for each host, the index of its address
 */
struct cm_plan {
	unsigned int		ranks;
	unsigned int		*host_of_rank;
	unsigned int		host_count;
	const struct cm_host	**hosts;
	unsigned int		*chosen;
};

/* Find the hosts of @records, which must outlive the plan. False if there is no memory. */
bool cm_plan_init(struct cm_plan *plan, const struct cm_record *records, unsigned int ranks);
void cm_plan_free(struct cm_plan *plan);

/*
 * Choose the addresses. False if there are none by which all hosts reach each other: over
 * Ethernet, none in one network.
 */
bool cm_plan_choose_addresses(struct cm_plan *plan);

const struct cm_address *cm_plan_address(const struct cm_plan *plan, unsigned int rank);
const struct cm_address *cm_plan_address_of_host(const struct cm_plan *plan, unsigned int host);

/* Are ranks placed on hosts in their order? */
bool cm_plan_in_order(const struct cm_plan *p);

/* Number of ranks on the host of @rank */
unsigned int cm_plan_local_ranks(const struct cm_plan *plan, unsigned int rank);

#endif
