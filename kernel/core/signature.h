/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The signature of an operation: what all ranks must agree on. It is made from a post, is
 * in every message, and is checked against what the group allows before it is acted on.
 * Pure: reads only what coll_group_init() has set.
 */
#ifndef COLL_CORE_SIGNATURE_H
#define COLL_CORE_SIGNATURE_H

#include "reduce.h"
#include "state.h"

int coll_signature_of_post(const struct coll_group *g, u32 local,
			   const struct collsock_post *post, struct coll_signature *sig);
u32 coll_signature_result_bytes(const struct coll_group *g, u32 local,
				const struct coll_signature *sig);
u32 coll_signature_shared(const struct coll_group *g, const struct coll_signature *sig);
bool coll_signature_makes_sense(const struct coll_group *g, const struct coll_signature *sig);

/* Does a rank contribute to the operation, and does it receive the result? */
static inline bool coll_signature_contributes(const struct coll_signature *sig, u32 rank)
{
	return coll_operation_contributes(sig->operation, sig->root == rank);
}

/* Elements of the operation's vector, if the signature is valid in this group */
static inline u32 coll_signature_elements(const struct coll_group *g,
					  const struct coll_signature *sig)
{
	return coll_operations[sig->operation].blocks ? sig->count * g->ranks.size : sig->count;
}

static inline bool coll_signature_receives(const struct coll_signature *sig, u32 rank)
{
	return coll_operation_receives(sig->operation, sig->root == rank);
}

/*
 * If the platform must reorder vectors, because ranks contribute or receive whole ones in another
 * order than the core's (order.h): the bytes of a block; else 0
 */
static inline u32 coll_signature_reordered(const struct coll_group *g,
					   const struct coll_signature *sig)
{
	const struct coll_operation *operation = &coll_operations[sig->operation];

	if (likely(!operation->blocks) || operation->reduces || !g->ranks.order.position)
		return 0;
	return sig->count * coll_type_bytes(sig->type);
}

static inline bool coll_signature_equal(const struct coll_signature *a,
					const struct coll_signature *b)
{
	static_assert(sizeof(*a) == 16);
	return !memcmp(a, b, sizeof(*a));
}

#endif
