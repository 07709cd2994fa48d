/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Folding the contributions of a team, with the core's arithmetic and along the tree that it
 * has for the ranks of a host: the result has the same bits as that of ranks, and does not depend
 * on the order in which members arrive.
 */
#ifndef COLLSOCK_TEAM_FOLD_H
#define COLLSOCK_TEAM_FOLD_H

#include "team_memory.h"

/**
 * struct team_reduction - what an all-reduce is
 * @count: number of elements, at least 1
 * @bytes: length of all
 * @type: enum collsock_type
 * @op: enum collsock_operator
 */
struct team_reduction {
	__u32	count;
	__u32	bytes;
	__u32	type;
	__u32	op;
};

/* Check it, and fill in its bytes: 0, -EINVAL or -EMSGSIZE. */
int collsock_reduction_check(struct team_reduction *r, __u32 max_bytes);

/* One number that is equal for equal reductions alone */
__u64 collsock_reduction_signature(const struct team_reduction *r);

/* Replaces the contributions, of all members, by the result. */
void collsock_fold(const struct team_memory *memory, __u32 members,
		   const struct team_reduction *r);

#endif
