/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The signature of an operation: what all ranks must agree on. It is made from a post,
 * stands in every message, and is checked against what the group allows before anything
 * is done for it. Pure: reads what coll_group_init() has set.
 */
#ifndef COLL_CORE_SIGNATURE_H
#define COLL_CORE_SIGNATURE_H

#include "state.h"

/* The signature of a post; bytes of the payload that this rank contributes, or -errno. */
int coll_signature_of_post(const struct coll_group *g, u32 local,
			   const struct collsock_post *post, struct coll_signature *sig);

/* Bytes of the payload that a signature speaks of, or -EINVAL, -EMSGSIZE. */
int coll_signature_bytes(const struct coll_group *g, const struct coll_signature *sig);

/* Does a rank contribute to the operation, whatever the algorithm? */
static inline bool coll_signature_contributes(const struct coll_signature *sig, u32 rank)
{
	return sig->operation != COLLSOCK_BROADCAST || sig->root == rank;
}

/* Does a rank receive the result of the operation? */
static inline bool coll_signature_receives(const struct coll_signature *sig, u32 rank)
{
	bool root = sig->root == rank;

	return sig->operation == COLLSOCK_BROADCAST ? !root :
	       sig->operation != COLLSOCK_REDUCE || root;
}

static inline bool coll_signature_equal(const struct coll_signature *a,
					const struct coll_signature *b)
{
	static_assert(sizeof(*a) == 12);
	return !memcmp(a, b, sizeof(*a));
}

#endif
