// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "timewait.h"

/**
 * coll_timewait_set() - fill in a time-wait entry, valid for twice the liveness time
 * @g: quiet
 * @t: out
 * @now: time in ns
 *
 * Context: group lock held, unless the group has ended.
 */
void coll_timewait_set(const struct coll_group *g, struct coll_timewait *t, u64 now)
{
	t->secret = g->secret;
	t->descriptor = g->descriptor;
	t->self = g->self;
	t->incarnation = g->incarnation;
	t->last = g->failure.goodbye.number;
	t->completed = g->window.completed;
	t->window = g->window.size;
	t->packet_bytes = g->payload.packet_bytes;
	t->goodbye = g->failure.goodbye.signature;
	t->until_ns = now + 2 * g->timing.liveness;
}

/* The answer to an authentic packet; @side is out, and holds a state of the MAC. */
static u32 timewait_write(const struct coll_timewait *t, const struct coll_prefix *theirs,
			  u64 number, struct coll_wire_side *side, u8 *answer)
{
	struct coll_body body = {
		.type		= COLL_PACKET_GOODBYE,
		.number		= COLL_NUMBER_TIMEWAIT | number,
		.done		= t->completed,
		.credit		= t->last + t->window,
		.operation	= t->last,
		.signature	= t->goodbye,
		.acknowledges	= true,
		.ack_number	= number,
		.ack_bits	= 1,
	};
	struct coll_prefix prefix = {
		.tag		= t->secret.tag,
		.descriptor	= t->descriptor,
		.incarnation	= t->incarnation,
		.known		= theirs->incarnation,
		.source		= t->self,
		.destination	= theirs->source,
	};

	coll_wire_side_set(side, &prefix, &t->secret.mac);
	coll_wire_write(answer, side, &body);
	return coll_wire_bytes(&body);
}

/* As coll_timewait_answer(), but a state of the MAC stays in @side. */
static enum coll_refusal timewait_answer(const struct coll_timewait *t, const u8 *packet,
					 u32 bytes, struct coll_wire_side *side, u8 *answer,
					 u32 *answer_bytes)
{
	struct coll_prefix prefix;
	struct coll_body body;

	coll_wire_read_prefix(packet, &prefix);
	coll_wire_side_set(side, &prefix, &t->secret.mac);
	if (!coll_wire_authentic(packet, bytes, side))
		return COLL_FORGED;
	if (prefix.descriptor != t->descriptor)
		return COLL_WRONG_DESCRIPTOR;
	coll_wire_read_body(packet, bytes, &body);
	/*
	 * Acknowledgments and answers are not answered, or two time-wait entries would answer each
	 * other indefinitely. Multicast packets are never answered.
	 */
	if (body.type == COLL_PACKET_ACK || body.type == COLL_PACKET_ANSWER ||
	    body.type == COLL_PACKET_MULTICAST ||
	    body.number >= COLL_NUMBER_TIMEWAIT ||
	    (prefix.known && prefix.known != t->incarnation))
		return COLL_ACCEPTED;
	*answer_bytes = timewait_write(t, &prefix, body.number, side, answer);
	return COLL_ACCEPTED;
}

/**
 * coll_timewait_answer() - answer a late packet
 * @t: the time-wait entry of the packet's tag and destination
 * @packet: well-formed
 * @bytes: its length
 * @answer: buffer for the answer, COLL_TIMEWAIT_ANSWER bytes
 * @answer_bytes: out: its length, 0 for none
 *
 * A message, a goodbye or a probe gets an acknowledgment, and the goodbye with it. The
 * number of the answer follows from that of the packet: a replayed packet gets the same
 * answer, which its sender drops. Every message that is acknowledged here was either
 * stored before (its operation is complete) or belongs to an operation that the goodbye
 * ends.
 *
 * Return: what was wrong with the packet. Context: any.
 */
enum coll_refusal coll_timewait_answer(const struct coll_timewait *t, const u8 *packet,
				       u32 bytes, u8 *answer, u32 *answer_bytes)
{
	struct coll_wire_side side;
	enum coll_refusal refusal;

	*answer_bytes = 0;
	refusal = timewait_answer(t, packet, bytes, &side, answer, answer_bytes);
	memzero_explicit(&side, sizeof(side));
	return refusal;
}
