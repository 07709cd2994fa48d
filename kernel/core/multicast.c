// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "multicast.h"
#include "work.h"

/**
 * coll_multicast_init() - a group with multicast is made
 * @g: the group, with its table of hosts
 *
 * The epoch is the incarnation, which is random. It need not be secret.
 */
void coll_multicast_init(struct coll_group *g)
{
	const struct coll_prefix prefix = {
		.tag		= g->secret.tag,
		.descriptor	= g->descriptor,
		.incarnation	= g->incarnation,
		.epoch		= g->incarnation,
		.source		= g->self,
		.destination	= COLL_WIRE_ALL,
	};

	coll_wire_side_set(&g->multicast.tx, &prefix, &g->secret.mac);
	g->multicast.host[g->self].epoch = g->incarnation;
	g->multicast.pause = COLL_MULTICAST_PATIENCE;
}

/* ---- sending ---- */

/*
 * Is multicast worth trying? If no host reports that it receives copies, it is tried after pauses
 * that double.
 */
static bool multicast_is_useful(struct coll_multicast *mc)
{
	if (mc->silent < COLL_MULTICAST_PATIENCE) {
		if (++mc->silent == COLL_MULTICAST_PATIENCE)
			mc->skip = mc->pause;
		return true;
	}
	if (mc->skip) {
		mc->skip--;
		return false;
	}
	mc->pause = min(2 * mc->pause, (u32)COLL_MULTICAST_PAUSE);
	mc->skip = mc->pause;
	return true;
}

/* May each child get the message at once? Also: is one of them to acknowledge it at once? */
static bool multicast_children_admit(struct coll_op *op, const struct coll_message *m, bool *ask,
				     u64 now)
{
	const struct coll_schedule *s = op->schedule;
	u32 i;

	for (i = s->down_send; i < s->sends; i++) {
		struct coll_peer *peer = coll_peers_get(op->group, s->send[i].host, now);

		if (!peer || !coll_peer_may_send(peer, m, peer->send.ahead))
			return false;
		*ask |= coll_ahead_asks(peer, m);
	}
	return true;
}

/*
 * Do all hosts have room, as far as is known? For a synchronising operation their common credit
 * shows that; in others nothing that would be held for a child is sent to all. If an operation has
 * several segments, no more copies are in flight than each child's window allows.
 */
static bool multicast_has_room(struct coll_op *op, const struct coll_message *m, bool *ask,
			       u64 now)
{
	bool synchronising = op->schedule->synchronising;

	if (synchronising && coll_after(op->head.number, op->group->credit.common))
		return false;
	return (synchronising && !op->head.several) || multicast_children_admit(op, m, ask, now);
}

static void multicast_lose(struct coll_group *g, const struct coll_body *body)
{
	g->stats.memory_short++;
	coll_env_drop(g, g->self, COLL_WIRE_ALL, body, COLL_DROP_MEMORY_SHORT);
}

/* Send a segment to all. */
static bool multicast_transmit(struct coll_group *g, const struct coll_message *m, bool ask,
			       u64 now)
{
	struct coll_body body = {
		.type		= COLL_PACKET_MULTICAST,
		.number		= ++g->multicast.number,
		.operation	= m->head->number,
		.signature	= m->head->signature,
		.segment	= m->segment,
		.done		= coll_peer_done(g, m->head, now),
		.credit		= COLL_NOTHING_DONE,
		.ack_now	= ask,
		.payload	= m->payload,
		.payload_bytes	= m->bytes,
	};
	struct coll_blank blank;

	coll_work_do(g, COLL_WORK_PACKET);
	blank = coll_env_packet(g, coll_wire_bytes(&body));
	if (!blank.data) {
		multicast_lose(g, &body);
		return false;
	}
	coll_wire_write(blank.data, &g->multicast.tx, &body);
	g->stats.copies_sent++;
	coll_env_multicast(g, blank.packet);
	return true;
}

/* The source is about to send a segment along its first edge: send it to all first, if it may. */
static noinline bool multicast_try(struct coll_op *op, const struct coll_message *m, u64 now)
{
	struct coll_multicast *mc = &op->group->multicast;
	bool ask = false;

	if (!m->segment)
		mc->useful = multicast_is_useful(mc);
	if (!mc->useful || !multicast_has_room(op, m, &ask, now))
		return false;
	return multicast_transmit(op->group, m, ask, now);
}

/**
 * coll_multicast_send() - send along an edge of a downward phase
 * @op: the operation
 * @lane: of it
 * @edge: index of the edge
 * @peer: destination
 * @m: the message, with its head, position and payload set
 * @now: time in ns
 */
void coll_multicast_send(struct coll_op *op, u32 lane, u32 edge, struct coll_peer *peer,
			 struct coll_message *m, u64 now)
{
	const struct coll_multicast *mc = &op->group->multicast;
	const struct coll_schedule *s = op->schedule;

	if (s->source == s->self && edge == s->down_send)
		op->lanes[lane].copied = multicast_try(op, m, now);
	coll_ahead_send(peer, m, op->lanes[lane].copied, mc->host[s->source].epoch, now);
}

/* ---- receiving ---- */

/**
 * coll_multicast_hear() - process a packet's report about multicast
 * @peer: its sender
 * @body: authenticated, not repeated
 */
void coll_multicast_hear(struct coll_peer *peer, const struct coll_body *body)
{
	struct coll_multicast *mc = &peer->group->multicast;

	if (body->type != COLL_PACKET_MESSAGE && body->type != COLL_PACKET_ACK)
		return;
	if (body->flags & COLL_FLAGS_COPIED) {
		mc->silent = 0;
		mc->pause = COLL_MULTICAST_PATIENCE;
	}
	coll_ahead_hear(peer, body);
}

/**
 * coll_multicast_stored() - a message along an edge is stored
 * @op: its operation, which has a downward phase
 * @peer: its sender
 * @edge: its fold entry
 * @body: the message, which did not come by multicast before
 * @now: time in ns
 *
 * Messages of hosts below report whether multicast reaches hosts there. That of the parent had
 * not come by multicast, and carries the epoch of the source.
 */
void coll_multicast_stored(struct coll_op *op, struct coll_peer *peer, u32 edge,
			   const struct coll_body *body, u64 now)
{
	struct coll_multicast *mc = &op->group->multicast;
	u32 epoch = coll_wire_epoch(peer->conn.rx.prefix);

	if (edge != op->schedule->down_fold) {
		if (body->flags & COLL_FLAGS_COPIED)
			op->head.copied |= COLL_FLAG_COPIED_BELOW;
		return;
	}
	op->lanes[body->segment].copied = false;
	mc->copied = 0;
	if (epoch && peer->conn.knows_us)
		mc->host[op->schedule->source].epoch = epoch;
	coll_ahead_remember(peer, op->head.number, body->round, body->segment, now);
}
