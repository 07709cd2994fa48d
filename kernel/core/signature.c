// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "reduce.h"
#include "signature.h"

/* How many bytes a vector may have, up to @most: those that its segments can carry */
static inline u32 signature_most(const struct coll_group *g, u8 type, u32 most)
{
	u32 segment = g->payload.segment_bytes;

	if (likely(type != COLLSOCK_EXACT))
		return most;
	return min(most, DIV_ROUND_UP(most, segment) * coll_reduce_segment(type, segment));
}

/* Bytes of the vector of an operation with elements, or -EINVAL, -EMSGSIZE */
static noinline int signature_typed_bytes(const struct coll_group *g,
					  const struct coll_operation *operation,
					  const struct coll_signature *sig)
{
	u32 element = coll_type_bytes(sig->type), most = g->payload.max_bytes;
	u64 bytes = (u64)sig->count * element;

	if (operation->reduces ? !coll_reduce_valid(sig->type, sig->operator) :
				 !element || sig->operator)
		return -EINVAL;
	if (!sig->count)
		return -EINVAL;
	if (unlikely(operation->blocks)) {
		bytes *= g->ranks.size;
		if (!operation->reduces)
			most = g->payload.max_result_bytes;
	}
	return bytes <= signature_most(g, sig->type, most) ? bytes : -EMSGSIZE;
}

/* Bytes of the vector of an operation with this signature, or -EINVAL, -EMSGSIZE */
static inline int signature_bytes(const struct coll_group *g,
				  const struct coll_operation *operation,
				  const struct coll_signature *sig)
{
	if (sig->root >= (operation->rooted ? g->ranks.size : 1))
		return -EINVAL;
	if (operation->typed)
		return signature_typed_bytes(g, operation, sig);
	return sig->type || sig->operator || sig->count ? -EINVAL : 0;
}

/* Does the algorithm exist, and can this group run it with this degree? */
static bool signature_runs(const struct coll_group *g, const struct coll_signature *sig)
{
	const struct coll_algorithm *a = coll_registry_find(sig->operation, sig->algorithm);

	return a && coll_menu_offers(&g->plan.menu, a, sig->degree);
}

/* Bytes that a rank contributes to a vector of @bytes */
static inline u32 signature_contributed(const struct coll_operation *operation,
					const struct coll_signature *sig, u32 rank, u32 bytes)
{
	if (!coll_signature_contributes(sig, rank))
		return 0;
	return likely(!operation->own_in) ? bytes : sig->count * coll_type_bytes(sig->type);
}

/**
 * coll_signature_result_bytes() - how long the result of a rank is
 * @g: the group
 * @local: which rank of this host posts
 * @sig: valid in this group
 *
 * Return: its bytes, 0 if the rank gets none. Context: any.
 */
u32 coll_signature_result_bytes(const struct coll_group *g, u32 local,
				const struct coll_signature *sig)
{
	const struct coll_operation *operation = &coll_operations[sig->operation];
	u32 rank = g->ranks.local[local].rank, block;

	if (!operation->typed || !coll_signature_receives(sig, rank) ||
	    (operation->exclusive && !rank))
		return 0;
	block = sig->count * coll_type_bytes(sig->type);
	return likely(!operation->blocks) || operation->own_out ? block : block * g->ranks.size;
}

/**
 * coll_signature_shared() - length of a result that ranks of this host share
 * @g: the group
 * @sig: valid in this group
 *
 * Return: its bytes: the blocks of all of them where each gets its own only; 0 if each has room
 * for its own result, or there is none. Context: any.
 */
u32 coll_signature_shared(const struct coll_group *g, const struct coll_signature *sig)
{
	u32 block = sig->count * coll_type_bytes(sig->type), bytes = block * g->ranks.size;
	bool own = coll_operations[sig->operation].own_out;

	if (!coll_operation_moves(sig->operation) ||
	    (own ? block : bytes) <= g->payload.max_bytes)
		return 0;
	return own ? block * g->ranks.locals : bytes;
}

/**
 * coll_signature_makes_sense() - is the signature valid in this group?
 * @g: the group
 * @sig: the signature; may hold anything
 *
 * Context: any.
 */
bool coll_signature_makes_sense(const struct coll_group *g, const struct coll_signature *sig)
{
	const struct coll_operation *operation = coll_operation_find(sig->operation);

	return operation && signature_runs(g, sig) &&
	       signature_bytes(g, operation, sig) >= 0;
}

static inline int signature_choose(struct coll_signature *sig, const struct coll_choice *choice)
{
	sig->algorithm = choice->algorithm;
	sig->degree = choice->degree;
	return 0;
}

static noinline int signature_search(const struct coll_group *g, const struct collsock_post *post,
				     u32 bytes, struct coll_signature *sig)
{
	struct coll_choice choice;

	return coll_menu_search(&g->plan.menu, post, bytes, &choice) ?:
	       signature_choose(sig, &choice);
}

/**
 * coll_signature_of_post() - the signature of a post
 * @g: the group
 * @local: which rank of this host posts
 * @post: from user space
 * @sig: out
 *
 * Return: bytes of the payload that this rank contributes; -EINVAL, -EMSGSIZE if the payload
 * is larger than the group allows, -ERANGE if the group has reserved nothing for the degree, or
 * -EOPNOTSUPP if its ranks are not placed as the operation wants. Context: any; reads only what
 * coll_group_init() has set.
 */
int coll_signature_of_post(const struct coll_group *g, u32 local,
			   const struct collsock_post *post, struct coll_signature *sig)
{
	const struct coll_operation *operation = coll_operation_find(post->operation);
	u32 rank = g->ranks.local[local].rank;
	const struct coll_choice *usual;
	int bytes, err;

	if (post->size != sizeof(*post) || post->flags & ~COLLSOCK_QUIET)
		return -EINVAL;
	if (!operation)
		return -EINVAL;
	memset(sig, 0, sizeof(*sig));
	sig->operation = post->operation;
	sig->type = post->type;
	sig->operator = post->op;
	sig->count = post->count;
	sig->root = post->root;
	bytes = signature_bytes(g, operation, sig);
	usual = coll_menu_usual(&g->plan.menu, post, bytes);
	err = likely(usual) ? signature_choose(sig, usual) : signature_search(g, post, bytes, sig);
	if (unlikely(err))
		return err;
	if (bytes >= 0 && post->flags & COLLSOCK_QUIET && coll_signature_receives(sig, rank))
		return -EINVAL;
	return bytes > 0 ? signature_contributed(operation, sig, rank, bytes) : bytes;
}
