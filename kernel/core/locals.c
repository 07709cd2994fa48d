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
		.elements	= op->elements,
		.type		= sig->type,
		.operator	= sig->op,
		.low		= low,
		.level		= level,
	};
}

/**
 * coll_locals_fold() - fold a pair of values of local ranks
 * @fold: the pair
 *
 * Nothing else uses the values meanwhile.
 *
 * Context: any; without the group's lock, if it is large.
 */
void coll_locals_fold(const struct coll_fold *fold)
{
	coll_reduce(fold->result, fold->left, fold->right, fold->elements, fold->type,
		    fold->operator);
}

/* A small pair is folded at once; else it is left to the caller of the core: then false. */
static bool locals_fold_pair(struct coll_op *op, const struct coll_fold *fold)
{
	if (fold->elements <= op->group->work.unit && !coll_work_over(op->group)) {
		coll_work_do(op->group, fold->elements * coll_reduce_work(fold->type));
		coll_locals_fold(fold);
		return true;
	}
	op->group->work.fold = *fold;
	op->locals.folding++;
	op->head.unacked++;
	return false;
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

/**
 * coll_locals_contribute() - a rank of this host contributes
 * @op: RUNNING, with data
 * @local: which rank
 * @payload: what it contributes
 *
 * It may leave a pair to the caller of the core (coll_work.fold).
 *
 * Context: group lock held.
 */
void coll_locals_contribute(struct coll_op *op, u32 local, const void *payload)
{
	if (unlikely(op->own_in)) {
		coll_values_copy(op, coll_values_register(op, 0, 0) +
				     coll_values_own_block(op, local), payload, op->block);
		return;
	}
	if (op->locals.contributors == 1) {
		coll_values_copy(op, coll_values_register(op, 0, 0), payload, op->bytes);
		return;
	}
	coll_values_copy(op, coll_values_local(op, local), payload, op->bytes);
	locals_climb(op, local, 0);
}

/**
 * coll_locals_folded() - go on after a pair that was folded outside the lock
 * @op: RUNNING
 * @fold: that pair
 *
 * Context: group lock held.
 */
void coll_locals_folded(struct coll_op *op, const struct coll_fold *fold)
{
	locals_climb(op, fold->low, fold->level + 1);
}
