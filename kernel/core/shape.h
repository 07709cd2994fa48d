/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A shape: what a schedule depends on. And sets of hosts, bitmaps in which several
 * algorithms mark the hosts with which they exchange messages. Pure; any context.
 */
#ifndef COLL_CORE_SHAPE_H
#define COLL_CORE_SHAPE_H

#include "base.h"

/**
 * struct coll_shape - what a schedule depends on
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 * @root: the host of the operation's root; 0 if it has none
 * @degree: of the algorithm; 0 if it has none
 */
struct coll_shape {
	u32	hosts;
	u32	self;
	u32	root;
	u32	degree;
};

/* A set of hosts of a group: one bit each */
#define COLL_HOSTS_WORDS(hosts)	DIV_ROUND_UP(hosts, 64)

static inline void coll_hosts_add(u64 *set, u32 host)
{
	set[host / 64] |= BIT_ULL(host % 64);
}

static inline bool coll_hosts_has(const u64 *set, u32 host)
{
	return set[host / 64] & BIT_ULL(host % 64);
}

/* The first host of the set from @host on; @hosts, the size of the group, if there is none */
static inline u32 coll_hosts_next(const u64 *set, u32 hosts, u32 host)
{
	for (; host < hosts; host++) {
		if (!(set[host / 64] >> host % 64))
			host |= 63;
		else if (coll_hosts_has(set, host))
			return host;
	}
	return hosts;
}

#endif
