// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "prefix.h"
#include "reduce.h"
#include "values.h"

/**
 * struct prefix - what a host folds in the last round
 * @messages: messages that it has received
 * @edge: their fold entries, in the order of rounds; the last one's buffer gets the fold of all
 * @below: how often messages are folded
 * @parts: that number, and how often the outcome is folded with a prefix of local ranks
 */
struct prefix {
	u32	messages;
	u8	edge[COLL_MAX_ROUNDS];
	u32	below;
	u32	parts;
};

static bool prefix_is_exclusive(const struct coll_op *op)
{
	return coll_operations[op->head.signature.operation].exclusive;
}

/*
 * Find what is to be folded. In an inclusive scan that is nothing for the last local rank, whose
 * result is the register.
 */
static void prefix_find(const struct coll_op *op, struct prefix *p)
{
	const struct coll_schedule *s = op->schedule;
	u32 i, locals = op->locals.contributors - 1;

	p->messages = 0;
	for (i = 0; i < s->folds; i++)
		if (s->fold[i].host != s->self)
			p->edge[p->messages++] = i;
	p->below = p->messages ? p->messages - 1 : 0;
	p->parts = p->messages && (locals || prefix_is_exclusive(op)) ? p->below + locals : 0;
}

/* The fold of what hosts below contribute, as far as it has been made */
static u8 *prefix_below(const struct coll_op *op, const struct prefix *p)
{
	return coll_values_early(op, p->edge[p->messages - 1]);
}

/* Fold a part of a lane, as far as one step goes. Returns true if that is all. */
static bool prefix_step(struct coll_op *op, const struct prefix *p, u32 index)
{
	struct coll_extent range = coll_values_segment(op, index);
	const struct coll_signature *sig = &op->head.signature;
	struct coll_lane *lane = &op->lanes[index];
	u32 element = coll_type_bytes(sig->type), first = range.first + lane->at;
	u32 count = min((range.bytes - lane->at) / element, op->group->work.unit);
	u8 *left = prefix_below(op, p) + first, *right;

	coll_work_do(op->group, count * coll_reduce_work(sig->type));
	if (lane->part < p->below) {
		right = coll_values_early(op, p->edge[p->below - 1 - lane->part]) + first;
		coll_reduce(left, left, right, count, sig->type, sig->operator);
	} else {
		right = coll_values_local(op, lane->part - p->below) + first;
		coll_reduce(right, left, right, count, sig->type, sig->operator);
	}
	lane->at += count * element;
	return lane->at == range.bytes;
}

/**
 * coll_prefix_fold() - make the prefixes of the ranks of this host in a lane
 * @op: RUNNING; all messages of the lane have come
 * @index: index of the lane
 *
 * Return: false if the event has done what it may, and something is left. Context: group lock
 * held.
 */
bool coll_prefix_fold(struct coll_op *op, u32 index)
{
	struct coll_lane *lane = &op->lanes[index];
	struct prefix p;

	prefix_find(op, &p);
	while (lane->part < p.parts) {
		if (coll_work_over(op->group))
			return false;
		if (!prefix_step(op, &p, index))
			continue;
		lane->part++;
		lane->at = 0;
	}
	lane->part = 0;
	return true;
}

/**
 * coll_prefix_result() - the prefix of a rank of this host
 * @op: RUNNING; its rounds are over
 * @local: which rank
 *
 * Return: where it is, or NULL if it is nothing. Context: group lock held.
 */
const u8 *coll_prefix_result(const struct coll_op *op, u32 local)
{
	struct prefix p;

	if (prefix_is_exclusive(op)) {
		if (local)
			return coll_values_local(op, local - 1);
		prefix_find(op, &p);
		return p.messages ? prefix_below(op, &p) : NULL;
	}
	if (local + 1 < op->locals.contributors)
		return coll_values_local(op, local);
	return coll_values_register(op, op->lanes[0].value, 0);
}
