/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request to join: the argument of setsockopt(COLLSOCK_JOIN), copied, checked and with
 * its defaults filled in. Nothing else in the kernel sees it before that.
 */
#ifndef COLL_JOIN_H
#define COLL_JOIN_H

#include <linux/sockptr.h>

#include "core/base.h"

struct coll_net;

/**
 * struct coll_join - a request to join
 * @fixed: the fixed part
 * @members: the hosts; NULL once the tables have another owner
 * @host_of_rank: the host of each rank, likewise
 */
struct coll_join {
	struct collsock_join	fixed;
	struct collsock_member	*members;
	u32			*host_of_rank;
};

int coll_join_copy(struct coll_join *join, struct coll_net *cn, sockptr_t from,
		   unsigned int bytes);
void coll_join_drop(struct coll_join *join);

/* The host of the joining rank */
static inline u32 coll_join_self(const struct coll_join *join)
{
	return join->host_of_rank[join->fixed.rank];
}

#endif
