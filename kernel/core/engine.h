/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine runs one schedule for one operation: one loop, with no special case for any
 * algorithm, and no knowledge of the network. The states of an operation are in state.h.
 *
 * The ranks of a host check in when they post. Their contributions are folded along a fixed
 * tree of local ranks, and the rounds begin when that is over; if no rank of this host
 * contributes they begin with the first post or message of the operation (SCI collectives
 * paper, §4.1; application-bypass paper, §4). Ranks check out when the rounds are over; a
 * rank that receives no result checks out when it posts.
 *
 * A payload larger than a segment is processed in lanes, one for each segment. Each lane
 * runs the whole schedule on its segment. Lanes do not wait for each other. In a schedule of
 * parts the vector is divided into blocks, and a message has those bytes of the lane that are in
 * the blocks of its edge. A place-only schedule folds no register: messages go directly into one
 * vector, of which a lane is a range. If a message would be empty, none is sent or awaited. If
 * an event has done what it may (work.h), the lane remembers how far it got, and waits for its
 * turn.
 *
 * Everything here is called under the group's lock. Rounds advance only in an event
 * context (env.h): coll_env_round() watches it.
 */
#ifndef COLL_CORE_ENGINE_H
#define COLL_CORE_ENGINE_H

#include "fold.h"

/* Nothing has arrived, and nothing has been done. */
static inline void coll_engine_reset_lane(struct coll_lane *lane)
{
	memset(lane->arrived, 0, sizeof(lane->arrived));
	lane->round = 0;
	lane->missing = 0;
	lane->value = 0;
	lane->unsent = 0;
	lane->part = 0;
	lane->at = 0;
	lane->last = NULL;
}

void coll_engine_reset_lanes(struct coll_op *op);

/*
 * Make an operation EARLY: the first post of this host, or the first packet about it, has
 * arrived. The caller has set its number, source, signature and what follows from that, and
 * the number of ranks that have not posted.
 */
static inline void coll_engine_make(struct coll_op *op)
{
	op->head.done = op->head.number - 1;
	op->head.unacked = 0;
	op->head.copied = op->group->multicast.copied;
	op->unfinished = op->layout.segments;
	op->locals.contributed = 0;
	op->state = COLL_OP_EARLY;
	op->probed = false;
	op->begun = 0;
	op->vector.last_value = 0;
	coll_engine_reset_lane(&op->lanes[0]);
	if (unlikely(op->layout.segments > 1 || op->layout.part_bytes))
		coll_engine_reset_lanes(op);
}

bool coll_engine_begin(struct coll_op *op, u64 now);
bool coll_engine_post(struct coll_op *op, u32 local, const void *payload, void *token, u64 now);
bool coll_engine_folded(struct coll_op *op, const struct coll_fold *fold, u64 now);

/* Are all its rounds over? */
static inline bool coll_engine_finished(const struct coll_op *op)
{
	return !op->unfinished;
}

/* For each fold entry: have its messages arrived in all lanes? */
struct coll_arrived {
	u64	bits[COLL_MAX_EDGES / 64];
};

struct coll_arrived coll_engine_arrived(const struct coll_op *op);

/* Does a fold entry wait for a message, in any lane? */
static inline bool coll_engine_misses(const struct coll_op *op,
				      const struct coll_arrived *arrived, u32 edge)
{
	return !(arrived->bits[edge / 64] >> (edge % 64) & 1) &&
	       op->schedule->fold[edge].host != op->schedule->self;
}

bool coll_engine_misses_host(const struct coll_op *op, const struct coll_arrived *arrived,
			     u32 edge);

u32 coll_engine_edge_bytes(const struct coll_op *op, u32 lane, u32 edge);

/* Has the message of a fold entry arrived in the lane? */
static inline bool coll_engine_lane_arrived(const struct coll_lane *lane, u32 edge)
{
	return lane->arrived[edge / 64] >> (edge % 64) & 1;
}

/**
 * coll_engine_store() - store a message until its round
 * @op: EARLY or RUNNING
 * @edge: the fold entry of the message
 * @body: the message; its signature equals the operation's
 *
 * If its lane has begun, coll_engine_advance() or coll_fold_keep() must follow
 * (coll_fold_receive()).
 *
 * Return: true if it is new. Context: group lock held.
 */
static inline bool coll_engine_store(struct coll_op *op, u32 edge,
				     const struct coll_body *body)
{
	struct coll_lane *lane = &op->lanes[body->segment];

	if (coll_engine_lane_arrived(lane, edge))
		return false;
	lane->arrived[edge / 64] |= 1ULL << (edge % 64);
	if (coll_before(body->done, op->head.done))
		op->head.done = body->done;
	if (op->layout.bytes)
		coll_fold_receive(op, edge, body);
	if (body->segment < op->begun && body->round == lane->round)
		lane->missing--;
	return true;
}

bool coll_engine_advance(struct coll_op *op, u32 lane, u64 now);
bool coll_engine_resume(struct coll_lane *lane, u64 now);
void coll_engine_stop(struct coll_op *op);
void coll_engine_abort(struct coll_op *op);
bool coll_engine_report(struct coll_op *op, u32 error, u32 failed_rank);
void coll_engine_settle_up(struct coll_op *op, u32 lane, u64 now);
void coll_engine_forget(struct coll_op *op, u64 now);
void coll_engine_forget_later(struct coll_op *op, bool received);
bool coll_engine_forget_rest(struct coll_op *op, u64 now);

#endif
