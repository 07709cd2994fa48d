// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "copy.h"
#include "signature.h"

/* ---- who sent it ---- */

/* Does its source use that epoch, as far as is known? */
static bool copy_is_known(const struct coll_group *g, u32 source, u32 epoch)
{
	return coll_group_multicasts(g) && g->multicast.host[source].epoch == epoch;
}

/* Authenticate a packet whose prefix differs from that of the packet before. */
static noinline enum coll_refusal copy_introduce(struct coll_group *g, const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_ACCEPTED;
	struct coll_prefix prefix;
	struct coll_wire_side side;

	coll_wire_read_prefix(packet, &prefix);
	if (prefix.source >= g->hosts || prefix.source == g->self)
		return COLL_WRONG_SOURCE;
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	if (!coll_wire_authentic(packet, bytes, &side))
		refusal = COLL_FORGED;
	else if (prefix.descriptor != g->descriptor)
		refusal = COLL_WRONG_DESCRIPTOR;
	else if (copy_is_known(g, prefix.source, prefix.epoch))
		g->multicast.rx = side;
	memzero_explicit(&side, sizeof(side));
	return refusal;
}

/*
 * Authenticate a packet. Usually its prefix is that of the packet before, which was of this group.
 */
static enum coll_refusal copy_authenticate(struct coll_group *g, const u8 *packet, u32 bytes)
{
	if (unlikely(!coll_wire_same_side(packet, &g->multicast.rx)))
		return copy_introduce(g, packet, bytes);
	return coll_wire_authentic(packet, bytes, &g->multicast.rx) ? COLL_ACCEPTED : COLL_FORGED;
}

/**
 * coll_copy_read() - is a packet by multicast one of this group?
 * @g: the group
 * @packet: well-formed, coll_wire_is_multicast(); its tag is that of @g
 * @bytes: its length
 * @copy: out: its body, source, and whether the epoch is known
 *
 * Return: what is wrong with it.
 */
enum coll_refusal coll_copy_read(struct coll_group *g, const u8 *packet, u32 bytes,
				 struct coll_copy *copy)
{
	enum coll_refusal refusal = copy_authenticate(g, packet, bytes);

	if (refusal != COLL_ACCEPTED)
		return refusal;
	coll_wire_read_body(packet, bytes, &copy->body);
	copy->source = coll_wire_source(packet);
	copy->known = copy_is_known(g, copy->source, coll_wire_epoch(packet));
	return COLL_ACCEPTED;
}

/* ---- what it is about ---- */

static void copy_refuse(struct coll_group *g, const struct coll_copy *copy)
{
	g->stats.invalid++;
	coll_env_drop(g, copy->source, g->self, &copy->body, COLL_DROP_INVALID);
}

static void copy_leave(struct coll_group *g, const struct coll_copy *copy)
{
	g->stats.copies_unused++;
	coll_env_drop(g, copy->source, g->self, &copy->body, COLL_DROP_COPY_UNUSED);
}

/*
 * Count a copy beyond the window. The parent's message will also be refused, and is then held until
 * there is room.
 */
static void copy_exceed(struct coll_group *g, const struct coll_copy *copy)
{
	g->stats.beyond_window++;
	coll_env_drop(g, copy->source, g->self, &copy->body, COLL_DROP_BEYOND_WINDOW);
}

/* Can its lane have reached the downward phase? Not before this host began, if it contributes. */
static bool copy_is_possible(const struct coll_op *op, const struct coll_body *body)
{
	if (body->segment >= op->layout.segments)
		return false;
	return !coll_operation_contributes(op->head.signature.operation, false) ||
	       body->segment < op->begun;
}

/* Is it what the source of this operation sends to all? */
static bool copy_fits(const struct coll_op *op, const struct coll_copy *copy)
{
	const struct coll_body *body = &copy->body;
	u32 edge = op->schedule->down_fold;

	return op->down_send != COLL_NO_DOWN && edge != COLL_NO_DOWN &&
	       op->schedule->source == copy->source && copy_is_possible(op, body) &&
	       body->payload_bytes ==
	       (op->layout.bytes ? coll_engine_edge_bytes(op, body->segment, edge) : 0);
}

/*
 * Find the operation of a copy, opening it if need be; NULL if there cannot be one. Messages along
 * the tree show whether ranks disagree.
 */
static struct coll_op *copy_open(struct coll_group *g, const struct coll_copy *copy, u64 now)
{
	const struct coll_signature *sig = &copy->body.signature;
	struct coll_op *op = coll_group_slot(g, copy->body.operation);

	if (op->state == COLL_OP_FREE && (!coll_operation_find(sig->operation) ||
					  coll_operation_contributes(sig->operation, false)))
		return NULL;
	op = coll_window_open_early(g, copy->source, &copy->body, now);
	if (!op || !coll_signature_equal(&op->head.signature, sig) || !copy_fits(op, copy))
		return NULL;
	return op;
}

/* Note that the message has come by multicast, perhaps after that of the parent. */
static void copy_note(struct coll_op *op, struct coll_lane *lane)
{
	lane->copied = true;
	op->group->multicast.copied = COLL_FLAG_COPIED;
}

/*
 * Store the copy as the parent's message. Returns false if that message has come, or is not needed
 * any more; a repeated copy changes nothing.
 */
static bool copy_store(struct coll_op *op, struct coll_copy *copy, u64 now)
{
	struct coll_lane *lane = &op->lanes[copy->body.segment];
	const struct coll_schedule *s = op->schedule;

	if (!lane->copied || !coll_engine_lane_arrived(lane, s->down_fold))
		copy_note(op, lane);
	if (op->state >= COLL_OP_ABORTED || coll_engine_lane_arrived(lane, s->down_fold))
		return false;
	copy->op = op;
	copy->parent = coll_peers_get(op->group, s->fold[s->down_fold].host, now);
	/* Memory is reserved for the peers of every schedule. */
	if (WARN_ON_ONCE(!copy->parent))
		return false;
	copy->body.round = s->down_round;
	coll_engine_store(op, s->down_fold, &copy->body);
	op->group->stats.copies_received++;
	coll_ahead_accept(copy->parent, op->head.number, s->down_round, copy->body.segment,
			  copy->body.ack_now, now);
	return true;
}

/**
 * coll_copy_accept() - store a copy
 * @g: the group
 * @copy: read; out: its operation and the parent
 * @now: time in ns
 *
 * Return: true if it is new; then the same must follow as after coll_engine_store().
 */
bool coll_copy_accept(struct coll_group *g, struct coll_copy *copy, u64 now)
{
	s64 ahead = copy->body.operation - g->window.oldest;
	struct coll_op *op;

	if (!copy->known || ahead < 0 || g->failure.terminal) {
		copy_leave(g, copy);
		return false;
	}
	if (ahead >= (s64)g->window.size) {
		copy_exceed(g, copy);
		return false;
	}
	op = copy_open(g, copy, now);
	if (!op) {
		copy_refuse(g, copy);
		return false;
	}
	if (copy_store(op, copy, now))
		return true;
	copy_leave(g, copy);
	return false;
}
