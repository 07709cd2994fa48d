/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The plan of a group, computed from the records of all ranks, and the same on all of them */
#ifndef COLLSOCK_JOINING_PLAN_H
#define COLLSOCK_JOINING_PLAN_H

#include "joining_record.h"

/**
 * struct joining_plan - hosts in the order of their lowest ranks, with one address each
 * @ranks: number of ranks
 * @host_of_rank: index of the host of each rank
 * @host_count: number of hosts
 * @hosts: for each host, the record of its lowest rank
 * @chosen: for each host, the index of its address
 * @sorted: scratch memory
 * @lowest: likewise
 */
struct joining_plan {
	unsigned int		ranks;
	unsigned int		*host_of_rank;
	unsigned int		host_count;
	const struct joining_host	**hosts;
	unsigned int		*chosen;
	struct plan_rank	*sorted;
	unsigned int		*lowest;
};

/* Allocate a plan. Returns 0 or -ENOMEM; joining_plan_free() is needed in either case. */
int joining_plan_init(struct joining_plan *plan, unsigned int ranks);
void joining_plan_free(struct joining_plan *plan);

/* Find the hosts of @records, which must outlive the plan. */
void joining_plan_make(struct joining_plan *plan, const struct joining_record *records);

/*
 * Choose the addresses. -EADDRNOTAVAIL if there are none by which all hosts reach each other: over
 * Ethernet, none in one network; with COLLSOCK_BEARER_AUTO, none with which they may have Ethernet.
 * Then @culprit receives the rank to blame. -ENOMEM
 */
int joining_plan_choose_addresses(struct joining_plan *plan,
				  const struct collsock_options *options, unsigned int *culprit);

const struct joining_address *joining_plan_address(const struct joining_plan *plan,
						   unsigned int rank);
const struct joining_address *joining_plan_address_of_host(const struct joining_plan *plan,
							   unsigned int host);

/* The UDP port of the host of @rank; 0: that of the options */
__u16 joining_plan_port(const struct joining_plan *plan, unsigned int rank);

/* Are ranks placed on hosts in their order? */
bool joining_plan_in_order(const struct joining_plan *plan);

/* Do two ranks have the same kernel, perhaps in containers with networks of their own? */
bool joining_plan_same_kernel(const struct joining_plan *plan, unsigned int one,
			      unsigned int other);

/* Number of ranks on the machine of @rank */
unsigned int joining_plan_local_ranks(const struct joining_plan *plan, unsigned int rank);

/* Number of ranks in user space */
unsigned int joining_plan_user_ranks(const struct joining_plan *plan);

#endif
