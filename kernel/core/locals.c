// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "locals.h"
#include "reduce.h"
#include "values.h"

/*
 * The tree of local ranks is fixed, so that results do not depend on the order of their
 * posts. The node of a level k whose lowest rank is r, a multiple of 2^k, covers 2^k ranks
 * from r on, or those that there are. Its value is in the buffer of r. It is combined with
 * the node beside it into one of the next level; if there is none beside it, it is that node
 * itself. The root is the operation's first value.
 */

/* Two nodes of a level are complete: claim them. */
static struct coll_fold locals_claim(struct coll_op *op, u32 low, u32 level)
{
	const struct coll_signature *sig = &op->head.signature;
	bool root = 2U << level >= op->locals.contributors;

	op->locals.post[low].level = 0;
	op->locals.post[low + (1U << level)].level = 0;
	return (struct coll_fold) {
		.op		= op,
		.result		= root ? coll_values_register(op, 0, 0) :
					 coll_values_local(op, low),
		.left		= coll_values_local(op, low),
		.right		= coll_values_local(op, low + (1U << level)),
		.elements	= op->layout.elements,
		.type		= sig->type,
		.operator	= sig->operator,
		.low		= low,
		.level		= level,
	};
}

/**
 * coll_locals_fold() - fold a pair of values of local ranks, or copy a long contribution
 * @fold: the pair
 *
 * Nothing else uses the values meanwhile.
 *
 * Context: any; without the group's lock, if it is large.
 */
void coll_locals_fold(const struct coll_fold *fold)
{
	if (!fold->right) {
		memcpy(fold->result, fold->left, fold->elements);
		return;
	}
	coll_reduce(fold->result, fold->left, fold->right, fold->elements, fold->type,
		    fold->operator);
}

/* Leave this to the caller of the core. */
static void locals_leave(struct coll_op *op, const struct coll_fold *fold)
{
	op->group->work.fold = *fold;
	op->locals.folding++;
	op->head.unacked++;
}

/*
 * Fold a pair at once if it is small, and the event may do so. Otherwise leave it to the caller of
 * the core, and return false.
 */
static __always_inline bool locals_fold_pair(struct coll_op *op, const struct coll_fold *fold)
{
	if (fold->elements <= op->group->work.unit && !coll_work_over(op->group)) {
		coll_work_do(op->group, fold->elements * coll_reduce_work(fold->type));
		coll_locals_fold(fold);
		return true;
	}
	locals_leave(op, fold);
	return false;
}

/* Copy a contribution that is not folded with others; a long one is left to the caller. */
static void locals_move(struct coll_op *op, u32 local, u8 *to, const void *payload, u32 bytes)
{
	struct coll_fold copy = {
		.op		= op,
		.result		= to,
		.left		= payload,
		.elements	= bytes,
		.low		= local,
	};

	if (likely(bytes <= op->group->work.unit * COLL_WORK_COPY))
		coll_values_copy(op, to, payload, bytes);
	else
		locals_leave(op, &copy);
}

/* The node of @level whose lowest rank is @low is complete. Go on towards the root. */
static void locals_climb(struct coll_op *op, u32 low, u32 level)
{
	struct coll_local_post *post = op->locals.post;
	struct coll_fold fold;

	for (; 1U << level < op->locals.contributors; level++) {
		u32 beside = low ^ 1U << level;

		if (beside >= op->locals.contributors)
			continue;
		if (post[beside].level != level + 1) {
			post[low].level = level + 1;
			return;
		}
		low = min(low, beside);
		fold = locals_claim(op, low, level);
		if (!locals_fold_pair(op, &fold))
			return;
	}
}

/*
 * For prefixes the contributions are folded in a row: the buffer of each rank gets the fold of
 * all up to it, and the last one is the operation's first value. So one pair is folded at a
 * time.
 */
enum locals_prefix {
	LOCALS_CONTRIBUTED = 1,	/* it has contributed, but not all before it */
	LOCALS_FOLDED,		/* its buffer has the fold of all up to it */
};

static struct coll_fold locals_claim_next(struct coll_op *op, u32 local)
{
	const struct coll_signature *sig = &op->head.signature;
	bool last = local + 1 == op->locals.contributors;

	op->locals.post[local].level = 0;
	return (struct coll_fold) {
		.op		= op,
		.result		= last ? coll_values_register(op, 0, 0) :
					 coll_values_local(op, local),
		.left		= coll_values_local(op, local - 1),
		.right		= coll_values_local(op, local),
		.elements	= op->layout.elements,
		.type		= sig->type,
		.operator	= sig->operator,
		.low		= local,
	};
}

/* The fold up to rank @local is complete. Go on with ranks after it that have contributed. */
static void locals_go_on(struct coll_op *op, u32 local)
{
	struct coll_local_post *post = op->locals.post;
	struct coll_fold fold;

	while (local + 1 < op->locals.contributors) {
		post[local].level = LOCALS_FOLDED;
		if (post[++local].level != LOCALS_CONTRIBUTED)
			return;
		fold = locals_claim_next(op, local);
		if (!locals_fold_pair(op, &fold))
			return;
	}
	for (local = 0; local < op->locals.contributors; local++)
		post[local].level = 0;
}

/*
 * Use the memory of this host's only contribution as the first value, without a copy. If its rank
 * receives the result, that is made where its platform looks for it. Returns false if the
 * contribution is to be copied.
 */
static bool locals_exchange(struct coll_op *op, u32 local, const void *payload)
{
	struct coll_local_post *post = &op->locals.post[local];
	struct coll_op_vector *v = &op->vector;
	u8 *buffer = v->buffer, *with;

	if (op->layout.bytes < COLL_VALUES_LONG || v->first != buffer)
		return false;
	with = coll_env_exchange(op->group, local, post->token, payload, buffer);
	if (!with)
		return false;
	v->buffer = with;
	v->first = with;
	/*
	 * Charge this as a copy, so that the messages of a long vector leave in turns, not in a
	 * burst.
	 */
	coll_work_do(op->group, op->layout.bytes * COLL_WORK_BYTE);
	if (op->group->ranks.locals == 1 && post->receives && !op->layout.own_out) {
		v->last = buffer;
		v->last_value = coll_schedule_last_value(op->schedule);
	}
	return true;
}

/* Take the contribution of one of several ranks to prefixes. */
static void locals_contribute_prefix(struct coll_op *op, u32 local, const void *payload)
{
	coll_values_copy(op, coll_values_local(op, local), payload, op->layout.bytes);
	op->locals.post[local].level = LOCALS_CONTRIBUTED;
	if (!local)
		locals_go_on(op, 0);
	else if (op->locals.post[local - 1].level == LOCALS_FOLDED)
		locals_go_on(op, local - 1);
}

/* Take a contribution to an operation in which each rank has something of its own. */
static void locals_contribute_own(struct coll_op *op, u32 local, const void *payload)
{
	if (coll_operations[op->head.signature.operation].prefix)
		locals_contribute_prefix(op, local, payload);
	else
		locals_move(op, local, coll_values_register(op, 0, 0) +
				       coll_values_own_block(op, local), payload, op->layout.block);
}

/**
 * coll_locals_contribute() - a rank of this host contributes
 * @op: RUNNING, with data
 * @local: which rank
 * @payload: what it contributes
 *
 * It may leave a pair or a copy to the caller of the core (coll_work.fold).
 *
 * Context: group lock held.
 */
void coll_locals_contribute(struct coll_op *op, u32 local, const void *payload)
{
	if (unlikely(op->layout.own_in)) {
		locals_contribute_own(op, local, payload);
		return;
	}
	if (op->locals.contributors == 1) {
		if (!locals_exchange(op, local, payload))
			locals_move(op, local, coll_values_register(op, 0, 0), payload,
				    op->layout.bytes);
		return;
	}
	coll_values_copy(op, coll_values_local(op, local), payload, op->layout.bytes);
	locals_climb(op, local, 0);
}

/**
 * coll_locals_folded() - go on after a pair that was folded outside the lock, or a copy
 * @op: RUNNING
 * @fold: that pair
 *
 * Context: group lock held.
 */
void coll_locals_folded(struct coll_op *op, const struct coll_fold *fold)
{
	if (!fold->right)
		return;
	if (coll_operations[op->head.signature.operation].prefix)
		locals_go_on(op, fold->low);
	else
		locals_climb(op, fold->low, fold->level + 1);
}
