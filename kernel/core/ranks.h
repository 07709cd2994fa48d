/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The ranks of a group: the host of each, and the states of those of this host: ABSENT,
 * JOINED, LEFT. The ranks of this host are counted from 0 in the order of their numbers
 * ("local"). Each joins, posts and leaves separately; the network sees hosts only.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_RANKS_H
#define COLL_CORE_RANKS_H

#include "state.h"

int coll_ranks_join(struct coll_group *g, u32 rank);
u32 coll_ranks_lowest(const struct coll_group *g, u32 host);

/* The rank has posted its next operation. */
static inline void coll_ranks_advance(struct coll_group *g, struct coll_rank *rank)
{
	if (rank->next++ == g->window.next)
		g->window.next++;
}

#endif
