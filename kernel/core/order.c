// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "order.h"

/**
 * coll_order_same() - is the order of ranks the order of hosts?
 * @host_of: the host of each rank
 * @ranks: number of ranks
 */
bool coll_order_same(const u32 *host_of, u32 ranks)
{
	u32 rank;

	for (rank = 1; rank < ranks; rank++)
		if (host_of[rank] < host_of[rank - 1])
			return false;
	return true;
}

/**
 * coll_order_fill() - fill the tables
 * @order: @hosts and @ranks are set. @first has room for a number for each host, and one more,
 *	all 0; @position has room for one for each rank, or is NULL
 * @host_of: the host of each rank
 */
void coll_order_fill(struct coll_order *order, const u32 *host_of)
{
	u32 host, rank;

	for (rank = 0; rank < order->ranks; rank++)
		order->first[host_of[rank] + 1]++;
	for (host = 0; host < order->hosts; host++)
		order->first[host + 1] += order->first[host];
	if (!order->position)
		return;
	/* Each entry is moved past the ranks of its host, and then back. */
	for (rank = 0; rank < order->ranks; rank++)
		order->position[rank] = order->first[host_of[rank]]++;
	for (host = order->hosts; host; host--)
		order->first[host] = order->first[host - 1];
	order->first[0] = 0;
}

/**
 * coll_order_run() - ranks whose blocks are consecutive in both orders
 * @order: the tables
 * @rank: the first of them
 * @position: out: its block in host order
 *
 * Return: their number, at least 1.
 */
u32 coll_order_run(const struct coll_order *order, u32 rank, u32 *position)
{
	u32 end = rank + 1;

	if (!order->position) {
		*position = rank;
		return order->ranks - rank;
	}
	*position = order->position[rank];
	while (end < order->ranks && order->position[end] == *position + end - rank)
		end++;
	return end - rank;
}
