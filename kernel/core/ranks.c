// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ranks.h"

/**
 * coll_ranks_lowest() - the lowest rank of a host
 * @g: the group
 * @host: the host
 *
 * Without a table of the platform this searches all ranks; callers need it once in the
 * lifetime of a group.
 *
 * Return: the rank. Context: group lock held.
 */
u32 coll_ranks_lowest(const struct coll_group *g, u32 host)
{
	u32 rank = host;

	if (g->ranks.lowest)
		return g->ranks.lowest[host];
	while (coll_group_host(g, rank) != host)
		rank++;
	return rank;
}

/**
 * coll_ranks_join() - a rank of this host joins
 * @g: the group
 * @rank: its number in the group
 *
 * Return: its number among those of this host; -ENOENT if it belongs to another host,
 * -EEXIST if it has joined before. Context: group lock held.
 */
int coll_ranks_join(struct coll_group *g, u32 rank)
{
	struct coll_ranks *ranks = &g->ranks;
	u32 local = 0;

	while (local < ranks->locals && ranks->local[local].rank != rank)
		local++;
	if (local == ranks->locals)
		return -ENOENT;
	if (ranks->local[local].state != COLL_RANK_ABSENT)
		return -EEXIST;
	ranks->local[local].state = COLL_RANK_JOINED;
	ranks->joined++;
	ranks->leaving = false;
	return local;
}
