// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "fold.h"
#include "prefix.h"
#include "reduce.h"
#include "values.h"

/* ---- messages ---- */

/**
 * coll_fold_keep() - keep the message that is folded next, until its turn
 * @op: EARLY or RUNNING
 *
 * The event that received the message ends before all of it is folded.
 */
void coll_fold_keep(struct coll_op *op)
{
	struct coll_op_arrival *a = &op->arrival;

	if (!a->payload)
		return;
	memcpy(coll_values_early(op, a->edge) + a->first, a->payload, a->bytes);
	a->payload = NULL;
}

/*
 * Does the present event fold this message next, because the round of its lane waits for nothing
 * else? Prefixes read messages of several rounds.
 */
static bool fold_is_next(const struct coll_op *op, const struct coll_body *body)
{
	const struct coll_lane *lane = &op->lanes[body->segment];

	return body->segment < op->begun && body->round == lane->round && lane->missing == 1 &&
	       op->schedule->form != COLL_FORM_PREFIXES && !coll_work_waits(op->group);
}

/**
 * coll_fold_receive() - keep the payload of a message until its round
 * @op: EARLY or RUNNING, with data
 * @edge: the fold entry of the message
 * @body: the message
 *
 * If it is long and folded next it is not copied: it stays in its packet, and either
 * coll_engine_advance() of its lane or coll_fold_keep() must follow in the same event.
 *
 * Context: group lock held.
 */
void coll_fold_receive(struct coll_op *op, u32 edge, const struct coll_body *body)
{
	struct coll_extent range = coll_values_range(op, body->segment, &op->schedule->fold[edge]);
	u32 bytes = body->payload_bytes;
	u8 *to;

	if (!op->vector.direct) {
		if (bytes >= COLL_VALUES_LONG && fold_is_next(op, body))
			op->arrival = (struct coll_op_arrival) {
				body->payload, range.first, bytes, edge
			};
		else
			memcpy(coll_values_early(op, edge) + range.first, body->payload, bytes);
		return;
	}
	bytes -= range.rest;
	to = coll_values_register(op, 0, 0) + range.first;
	memcpy(to, body->payload, bytes);
	memcpy(to + bytes + range.gap, body->payload + bytes, range.rest);
}

/* ---- fold lists ---- */

/*
 * A step in applying a fold list: an action, and the bytes that it concerns. The operand is folded
 * with the value.
 */
struct fold_step {
	u8		*result;
	const u8	*value;
	const u8	*operand;
	u32		bytes;
	u8		action;
};

static void fold_take_step(struct coll_op *op, const struct fold_step *step)
{
	const struct coll_signature *sig = &op->head.signature;
	u32 count;

	if (step->action == COLL_PLACE) {
		coll_values_copy(op, step->result, step->operand, step->bytes);
		return;
	}
	count = step->bytes / coll_type_bytes(sig->type);
	coll_work_do(op->group, count * coll_reduce_work(sig->type));
	if (step->action == COLL_FOLD_LEFT)
		coll_reduce(step->result, step->operand, step->value, count, sig->type,
			    sig->operator);
	else
		coll_reduce(step->result, step->value, step->operand, count, sig->type,
			    sig->operator);
}

/*
 * The operand of a fold entry, from the @first byte of the vector on: a message, or the register's
 * former value
 */
static inline const u8 *fold_operand(const struct coll_op *op, const struct coll_lane *lane,
				     u32 edge, u32 first)
{
	const struct coll_edge *e = &op->schedule->fold[edge];

	if (e->host == op->schedule->self)
		return coll_values_register(op, lane->value, e->reg) + first;
	if (op->arrival.payload && op->arrival.edge == edge)
		return op->arrival.payload + (first - op->arrival.first);
	return coll_values_early(op, edge) + first;
}

/* Index of the value that the round makes. In a schedule of parts the value changes in place. */
static inline u32 fold_next(const struct coll_op *op, const struct coll_lane *lane)
{
	return lane->value + (op->schedule->form != COLL_FORM_PARTS);
}

/*
 * Is a long operand placed only so that the next entry folds onto it? Then it need not be copied. A
 * short operand is copied in less time than this check takes.
 */
static inline bool fold_is_value(const struct coll_op *op, const struct coll_round *r, u32 edge)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_edge *e = &s->fold[edge];

	return op->layout.bytes >= COLL_VALUES_LONG && e->action == COLL_PLACE &&
	       edge + 1 < r->fold_first + r->folds && e[1].action != COLL_PLACE &&
	       e[1].reg == e->reg && !coll_schedule_has_blocks(s);
}

/* Apply one fold entry, as far as one step goes. True if that is all. */
static bool fold_entry(struct coll_op *op, u32 index, u32 edge)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_edge *e = &s->fold[edge];
	struct coll_extent range = coll_values_range(op, index, e);
	struct coll_lane *lane = &op->lanes[index];
	const struct coll_round *r = &s->round[lane->round];
	u32 first = range.first + lane->at;
	struct fold_step step = {
		.result		= coll_values_register(op, fold_next(op, lane), e->reg) + first,
		.operand	= fold_operand(op, lane, edge, first),
		.bytes		= range.bytes - lane->at,
		.action		= e->action,
	};

	if (fold_is_value(op, r, edge))
		return true;
	step.value = edge > r->fold_first && fold_is_value(op, r, edge - 1) ?
		     fold_operand(op, lane, edge - 1, first) : step.result;
	/* An element has at least one byte. */
	if (unlikely(step.bytes > op->group->work.unit && e->action != COLL_PLACE))
		step.bytes = min(step.bytes, op->group->work.unit *
					     coll_type_bytes(op->head.signature.type));
	fold_take_step(op, &step);
	lane->at += step.bytes;
	return lane->at == range.bytes;
}

/* Copy a register to its next value, as the round may not fold into it. */
static void fold_keep_register(struct coll_op *op, u32 index, u32 reg)
{
	struct coll_extent range = coll_values_segment(op, index);
	u32 value = op->lanes[index].value;

	coll_values_copy(op, coll_values_register(op, value + 1, reg) + range.first,
			 coll_values_register(op, value, reg) + range.first, range.bytes);
}

/*
 * The usual fold list of a short payload: one operand is placed and the other one folded
 * with it, in a single step and without a copy.
 */
static bool fold_two(struct coll_op *op, struct coll_lane *lane, const struct coll_round *r)
{
	const struct coll_signature *sig = &op->head.signature;
	const struct coll_schedule *s = op->schedule;
	const struct coll_edge *e = &s->fold[r->fold_first];
	const u8 *placed, *other;
	u8 *result;

	if (r->folds != 2 || s->registers > 1 || s->blocks > 1 || op->layout.segments > 1 ||
	    lane->part || op->layout.bytes > op->group->work.unit ||
	    e[0].action != COLL_PLACE || e[1].action == COLL_PLACE)
		return false;
	placed = fold_operand(op, lane, r->fold_first, 0);
	other = fold_operand(op, lane, r->fold_first + 1, 0);
	result = coll_values_register(op, lane->value + 1, 0);
	coll_work_do(op->group, op->layout.elements * coll_reduce_work(sig->type));
	if (e[1].action == COLL_FOLD_LEFT)
		coll_reduce(result, other, placed, op->layout.elements, sig->type,
			    sig->operator);
	else
		coll_reduce(result, placed, other, op->layout.elements, sig->type,
			    sig->operator);
	lane->value++;
	return true;
}

/**
 * coll_fold_round() - apply the fold list of a lane's round, in its order
 * @op: begun, with data
 * @index: index of the lane; its round has a fold list, whose messages have arrived
 *
 * Results go into separate buffers, so that what this round has sent stays unchanged until it is
 * acknowledged; in parts the schedule sees to that.
 *
 * Return: false if the event has done what it may, and something is left. Context: group lock held.
 */
bool coll_fold_round(struct coll_op *op, u32 index)
{
	const struct coll_schedule *s = op->schedule;
	struct coll_lane *lane = &op->lanes[index];
	const struct coll_round *r = &s->round[lane->round];
	/* A single register is overwritten. */
	u32 kept = s->registers > 1 ? s->registers : 0;

	/* Messages have been received into the vector. */
	if (op->vector.direct || fold_two(op, lane, r))
		return true;
	if (unlikely(s->form == COLL_FORM_PREFIXES) && s->fold[r->fold_first].action == COLL_PREFIX)
		return coll_prefix_fold(op, index);
	while (lane->part < kept + r->folds) {
		if (coll_work_over(op->group))
			return false;
		if (lane->part < kept)
			fold_keep_register(op, index, lane->part);
		else if (!fold_entry(op, index, r->fold_first + lane->part - kept))
			continue;
		lane->part++;
		lane->at = 0;
	}
	lane->part = 0;
	lane->value = fold_next(op, lane);
	return true;
}
