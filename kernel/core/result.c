// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "result.h"
#include "values.h"

/* Bytes that are copied in one step */
#define RESULT_STEP	16384

/**
 * coll_result_take() - a rank that receives a shared result has posted
 * @op: RUNNING
 * @local: which rank
 * @token: of its post
 *
 * The first one of a host has reserved the memory.
 */
void coll_result_take(struct coll_op *op, u32 local, void *token)
{
	if (op->result.to)
		return;
	op->result.to = coll_env_result_take(op->group, local, token, op->result.bytes);
	op->result.copied = 0;
}

/**
 * coll_result_copy() - copy what is shared
 * @op: RUNNING; its rounds are over, and it has memory for its result
 *
 * Return: false if the event has done what it may, and something is left.
 */
bool coll_result_copy(struct coll_op *op)
{
	const u8 *from = coll_values_register(op, 0, 0);
	struct coll_op_result *result = &op->result;
	u32 step;

	if (op->layout.own_out)
		from += coll_values_own_block(op, 0);
	while (result->copied < result->bytes) {
		if (coll_work_over(op->group))
			return false;
		step = min(result->bytes - result->copied, (u32)RESULT_STEP);
		coll_values_copy(op, result->to->data + result->copied, from + result->copied,
				 step);
		result->copied += step;
	}
	return true;
}

/**
 * coll_result_drop() - an operation does not need its shared result
 * @op: DONE, or the group ends
 */
void coll_result_drop(struct coll_op *op)
{
	if (!op->result.to)
		return;
	coll_env_result_put(op->group, op->result.to);
	op->result.to = NULL;
}

/**
 * coll_result_part() - the part of a shared result that a rank receives
 * @op: with a shared result
 * @local: which rank of this host
 *
 * Return: all of it, or its own block.
 */
struct coll_extent coll_result_part(const struct coll_op *op, u32 local)
{
	if (!op->layout.own_out)
		return (struct coll_extent) { .bytes = op->layout.bytes };
	return (struct coll_extent) {
		.first = local * op->layout.block,
		.bytes = op->layout.block,
	};
}
