// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "reduce.h"
#include "signature.h"

static bool signature_operands_valid(const struct coll_signature *sig)
{
	switch (sig->operation) {
	case COLLSOCK_BARRIER:
		return !sig->type && !sig->op && !sig->count;
	case COLLSOCK_BROADCAST:
		return coll_type_bytes(sig->type) && !sig->op && sig->count;
	default:
		return coll_reduce_valid(sig->type, sig->op) && sig->count;
	}
}

/**
 * coll_signature_bytes() - bytes of the payload that a signature speaks of
 * @g: the group
 * @sig: the signature; may hold anything
 *
 * Return: the bytes; -EINVAL if it makes no sense in this group, -EMSGSIZE if the payload
 * is larger than the group allows. Context: any.
 */
int coll_signature_bytes(const struct coll_group *g, const struct coll_signature *sig)
{
	const struct coll_algorithm *a = &coll_algorithms[sig->schedule];
	u32 element;

	if (sig->schedule >= coll_algorithms_count || a->operation != sig->operation ||
	    !coll_plan_has(&g->plan, a) || sig->root >= (a->rooted ? g->ranks.size : 1) ||
	    !signature_operands_valid(sig))
		return -EINVAL;
	if (!sig->count)
		return 0;
	element = coll_type_bytes(sig->type);
	if (sig->count > g->payload.max_bytes / element)
		return -EMSGSIZE;
	return sig->count * element;
}

/**
 * coll_signature_of_post() - what does a post mean to this group?
 * @g: the group
 * @local: which rank of this host posts
 * @post: as user space gave it
 * @sig: out
 *
 * Return: bytes of the payload that this rank contributes; -EINVAL, or -EMSGSIZE
 * if the payload is larger than the group allows. Context: any; reads only what
 * init has set.
 */
int coll_signature_of_post(const struct coll_group *g, u32 local,
			   const struct collsock_post *post, struct coll_signature *sig)
{
	u32 rank = g->ranks.local[local].rank;
	const struct coll_algorithm *a;
	int bytes;

	if (post->size != sizeof(*post) || post->flags & ~COLLSOCK_QUIET || post->reserved)
		return -EINVAL;
	if (post->operation < COLLSOCK_BARRIER || post->operation > COLLSOCK_BROADCAST)
		return -EINVAL;
	memset(sig, 0, sizeof(*sig));
	sig->operation = post->operation;
	sig->type = post->type;
	sig->op = post->op;
	sig->count = post->count;
	sig->root = post->root;
	sig->schedule = g->plan.default_schedule[post->operation];
	if (post->algorithm != COLLSOCK_AUTO) {
		a = coll_algorithm_find(post->operation, post->algorithm);
		if (!a)
			return -EINVAL;
		sig->schedule = a - coll_algorithms;
	}
	bytes = coll_signature_bytes(g, sig);
	if (bytes >= 0 && post->flags & COLLSOCK_QUIET && coll_signature_receives(sig, rank))
		return -EINVAL;
	return bytes < 0 || coll_signature_contributes(sig, rank) ? bytes : 0;
}
