/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The order of blocks in a vector with one block for each rank. Users see the order of ranks.
 * While blocks move between hosts, the vector is in host order: the blocks of the ranks of host
 * 0, in their order, then those of host 1, and so on. So the blocks of a host, and of
 * consecutive hosts, are one range. Where ranks are placed on hosts in their order, both
 * orders are the same.
 *
 * Built when a group is made; read without a lock. Any context.
 */
#ifndef COLL_CORE_ORDER_H
#define COLL_CORE_ORDER_H

#include "base.h"

/**
 * struct coll_order - the tables of a group
 * @hosts: number of hosts
 * @ranks: number of ranks
 * @first: in host order, the first block of each host, and the number of ranks; NULL if each
 *	host has one rank
 * @position: in host order, the block of each rank; NULL if both orders are the same
 */
struct coll_order {
	u32	hosts;
	u32	ranks;
	u32	*first;
	u32	*position;
};

bool coll_order_same(const u32 *host_of, u32 ranks);
void coll_order_fill(struct coll_order *order, const u32 *host_of);
u32 coll_order_run(const struct coll_order *order, u32 rank, u32 *position);

/* The first block of a host; of the number of hosts: the number of blocks */
static inline u32 coll_order_first(const struct coll_order *order, u32 host)
{
	return order->first ? order->first[host] : host;
}

#endif
