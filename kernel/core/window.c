// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "env.h"
#include "peers.h"
#include "reduce.h"
#include "window.h"
#include "work.h"

/* ---- opening slots ---- */

/* Number of ranks of this host without which an operation cannot begin */
static u32 window_contributors(const struct coll_group *g, const struct coll_signature *sig)
{
	if (coll_operation_contributes(sig->operation, false))
		return g->ranks.locals;
	return coll_group_host(g, sig->root) == g->self;
}

/*
 * The schedule of this host for an operation. One that depends on the root is built in the
 * slot.
 */
static const struct coll_schedule *window_schedule(struct coll_group *g, struct coll_op *op,
						   const struct coll_signature *sig)
{
	int position = coll_registry_position(sig->operation, sig->algorithm);
	const struct coll_algorithm *a = coll_registry[position];
	struct coll_op_rooted *own = &op->rooted;
	struct coll_shape shape;

	if (likely(g->plan.schedules[position]))
		return g->plan.schedules[position][sig->degree];
	shape = coll_group_shape(g, coll_group_host(g, sig->root), sig->degree);
	if (own->algorithm == a && own->root == shape.root && own->degree == shape.degree)
		return own->schedule;
	/* It was built for other roots, and so cannot fail for this one. */
	WARN_ON_ONCE(a->build(own->schedule, &shape));
	own->algorithm = a;
	own->root = shape.root;
	own->degree = shape.degree;
	return own->schedule;
}

/* Did the slot's former operation have the same signature? */
static inline bool window_remembers(const struct coll_op *op, const struct coll_signature *sig)
{
	return op->schedule && coll_signature_equal(&op->head.signature, sig);
}

/*
 * Set where the vector begins, and whether messages are received into it. A host that contributes
 * nothing receives all in one round.
 */
static void window_plan_vector(struct coll_op *op)
{
	bool moved = op->schedule->form == COLL_FORM_PLACES;

	op->vector.first = moved ? op->values : op->vector.buffer;
	op->vector.direct = moved || !op->locals.contributors;
}

/* Bytes of a block, if the vector is in parts: all but the last ones have as many elements. */
static u32 window_part_bytes(const struct coll_op *op)
{
	const struct coll_schedule *s = op->schedule;
	u32 element = coll_type_bytes(op->head.signature.type);

	if (s->form != COLL_FORM_PARTS)
		return 0;
	return DIV_ROUND_UP(op->layout.elements, s->blocks) * element;
}

/* Set what follows from a signature. */
static noinline void window_plan(struct coll_group *g, struct coll_op *op,
				 const struct coll_signature *sig)
{
	const struct coll_operation *operation = &coll_operations[sig->operation];

	op->schedule = window_schedule(g, op, sig);
	op->down_send = coll_group_multicasts(g) ? op->schedule->down_send : COLL_NO_DOWN;
	op->head.signature = *sig;
	op->head.type = COLL_PACKET_MESSAGE;
	op->head.carries_done = op->schedule->synchronising;
	op->layout.elements = coll_signature_elements(g, sig);
	op->layout.bytes = op->layout.elements * coll_type_bytes(sig->type);
	op->layout.block = operation->blocks ? op->layout.bytes / g->ranks.size : 0;
	op->layout.part_bytes = window_part_bytes(op);
	op->layout.own_in = operation->own_in || (operation->prefix && g->ranks.locals > 1);
	op->layout.own_out = operation->own_out || operation->prefix;
	op->result.bytes = coll_signature_shared(g, sig);
	op->layout.segment_bytes = coll_reduce_segment(sig->type, g->payload.segment_bytes);
	op->layout.segments = likely(op->layout.bytes <= op->layout.segment_bytes) ? 1 :
			      DIV_ROUND_UP(op->layout.bytes, op->layout.segment_bytes);
	op->head.several = op->layout.segments > 1;
	op->locals.contributors = window_contributors(g, sig);
	window_plan_vector(op);
}

/**
 * coll_window_open() - open a slot for an operation
 * @g: the group
 * @op: the slot; FREE
 * @number: of the operation
 * @sig: its signature, valid in this group
 * @source: host that posts it or sends a packet about it
 *
 * It is EARLY then, as no rank of this host has posted it. Most operations have the
 * signature of the slot's former one, so what follows from that is already set.
 *
 * Context: group lock held.
 */
void coll_window_open(struct coll_group *g, struct coll_op *op, u64 number,
		      const struct coll_signature *sig, u32 source)
{
	if (unlikely(!window_remembers(op, sig)))
		window_plan(g, op, sig);
	op->head.number = number;
	op->source = source;
	op->locals.unposted = g->ranks.locals;
	coll_engine_make(op);
}

/**
 * coll_window_make_early() - open a slot for a message or probe of another host
 * @g: the group
 * @op: its slot; FREE
 * @source: that host
 * @body: number, within the window, and signature
 * @now: time in ns
 *
 * If no rank of this host contributes, the operation begins. That cannot make it DONE,
 * since no rank of this host has posted it.
 *
 * Return: false if the signature is not valid in this group. Context: event context
 * (env.h).
 */
bool coll_window_make_early(struct coll_group *g, struct coll_op *op, u32 source,
			    const struct coll_body *body, u64 now)
{
	if (!window_remembers(op, &body->signature) &&
	    !coll_signature_makes_sense(g, &body->signature))
		return false;
	coll_window_open(g, op, body->operation, &body->signature, source);
	if (!op->locals.contributors &&
	    !(g->failure.known && coll_after(op->head.number, g->failure.what.limit)))
		coll_engine_begin(op, now);
	return true;
}

/* ---- freeing slots ---- */

/**
 * coll_window_free_slots() - free the slots of operations that no host needs
 * @g: the group, whose window can advance
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_window_free_slots(struct coll_group *g, u64 now)
{
	do {
		coll_group_slot(g, g->window.oldest++)->state = COLL_OP_FREE;
	} while (coll_window_advances(g));
	coll_env_writable(g);
	if (unlikely(g->peers.refusals))
		coll_peers_tell_room(g, now);
}

/* ---- what all hosts have completed ---- */

/*
 * By completing @operation this host learns that all hosts have completed the operations up
 * to @through. Each host that completes it learns the same (the minimum is over the same
 * posts), and frees the slots up to @through. So once all hosts have completed an earlier
 * @operation, all have the room that its @through gave them. Without this a host that only
 * receives from another, as in dissemination, would have to send its credit in packets of
 * its own.
 */
static void window_learn_credit(struct coll_group *g, u64 operation, u64 through, u64 now)
{
	struct coll_credit *credit = &g->credit;

	if (coll_before(through, credit->floor_operation) ||
	    coll_after(through, g->window.completed))
		return;
	credit->common = credit->floor + g->window.size;
	credit->floor_operation = operation;
	credit->floor = through;
	if (unlikely(g->peers.held))
		coll_peers_push(g, now);
}

/**
 * coll_window_forget() - forget messages after coll_engine_forget_later()
 * @g: the group
 * @now: time in ns
 *
 * If the event has done what it may, the rest waits for the next turn, and with it messages
 * that may not be sent before.
 *
 * Context: group lock held.
 */
void coll_window_forget(struct coll_group *g, u64 now)
{
	const struct coll_window *w = &g->window;
	u32 i;

	g->work.rest |= COLL_WORK_MESSAGES;
	for (i = 0; i <= w->mask; i++) {
		if (w->slots[i].forget.in_turns && !coll_engine_forget_rest(&w->slots[i], now)) {
			coll_work_leave(g, COLL_WORK_MESSAGES);
			return;
		}
	}
	g->work.rest &= ~COLL_WORK_MESSAGES;
	if (g->work.rest & COLL_WORK_PEERS)
		coll_peers_catch_up(g, now);
}

/* Every host has received the messages of an operation. True if they are forgotten in turns. */
static inline bool window_acknowledge(struct coll_op *op, u64 now)
{
	if (!op->head.unacked)
		return false;
	if (unlikely(op->layout.segments > 1 || coll_work_over(op->group))) {
		coll_engine_forget_later(op, true);
		return true;
	}
	coll_engine_forget(op, now);
	return false;
}

/* Every host has completed the operations up to @through. */
static void window_acknowledge_through(struct coll_group *g, u64 through, u64 now)
{
	bool later = false;
	u64 number;

	/* The minimum cannot exceed what this host has completed, unless some host lies. */
	if (!coll_after(through, g->credit.acknowledged) ||
	    coll_after(through, g->window.completed))
		return;
	g->credit.acknowledged = through;
	for (number = g->window.oldest; !coll_after(number, through); number++)
		later |= window_acknowledge(coll_group_slot(g, number), now);
	if (unlikely(later))
		coll_window_forget(g, now);
}

/**
 * coll_window_completed() - an operation has ended
 * @g: the group
 * @op: the operation; DONE
 * @now: time in ns
 *
 * When a synchronising operation completes, every host has reported, directly or through
 * others, what it has completed: operations up to the minimum are acknowledged.
 *
 * Context: group lock held.
 */
void coll_window_completed(struct coll_group *g, struct coll_op *op, u64 now)
{
	struct coll_window *w = &g->window;

	if (op->schedule->synchronising && coll_engine_finished(op)) {
		window_acknowledge_through(g, op->head.done, now);
		window_learn_credit(g, op->head.number, op->head.done, now);
	}
	while (w->completed + 1 != w->next) {
		op = coll_group_slot(g, w->completed + 1);
		if (op->head.number != w->completed + 1 || op->state != COLL_OP_DONE ||
		    !coll_engine_finished(op))
			break;
		w->completed++;
	}
}
