// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "engine.h"
#include "env.h"
#include "peers.h"
#include "reduce.h"

/* A register as it was after @index rounds that fold. */
static u8 *engine_value(const struct coll_op *op, u32 index, u32 reg)
{
	size_t room = op->group->payload.room;

	return op->values + (size_t)(index * op->schedule->registers + reg) * room;
}

static u8 *engine_early(const struct coll_op *op, u32 edge)
{
	return op->early + (size_t)edge * op->group->payload.room;
}

/* The part of the payload that an edge concerns. */
struct engine_range {
	u32	first;
	u32	bytes;
};

/* The segment of a lane: all but the last have the same size. */
static struct engine_range engine_segment(const struct coll_op *op, u32 lane)
{
	struct engine_range range = { 0, op->bytes };

	if (unlikely(op->segments > 1)) {
		range.first = lane * op->group->payload.segment_bytes;
		range.bytes = min(op->bytes - range.first, op->group->payload.segment_bytes);
	}
	return range;
}

/*
 * Offset of a block in its segment: all blocks but the last have the same number of
 * elements.
 */
static u32 engine_block_start(const struct coll_op *op, u32 segment_bytes, u32 block)
{
	u32 element = coll_type_bytes(op->head.signature.type), count = segment_bytes / element;
	u32 each = (count + op->schedule->blocks - 1) / op->schedule->blocks;

	return min(block * each, count) * element;
}

static struct engine_range engine_range(const struct coll_op *op, u32 lane,
					const struct coll_edge *e)
{
	struct engine_range range = engine_segment(op, lane);

	if (unlikely(e->blocks != op->schedule->blocks && range.bytes)) {
		u32 first = engine_block_start(op, range.bytes, e->first_block);
		u32 end = engine_block_start(op, range.bytes, e->first_block + e->blocks);

		range.first += first;
		range.bytes = end - first;
	}
	return range;
}

/**
 * coll_engine_edge_bytes() - length of the payload of a fold entry's message
 * @op: EARLY or RUNNING, with data
 * @lane: lane of the operation
 * @edge: index of the entry
 */
u32 coll_engine_edge_bytes(const struct coll_op *op, u32 lane, u32 edge)
{
	return engine_range(op, lane, &op->schedule->fold[edge]).bytes;
}

static bool engine_lane_arrived(const struct coll_lane *lane, u32 edge)
{
	return lane->arrived[edge / 64] >> (edge % 64) & 1;
}

/**
 * coll_engine_misses() - does a fold entry wait for a message?
 * @op: EARLY, RUNNING or ABORTED
 * @edge: index of the entry
 *
 * Return: true if its message is missing in any lane.
 */
bool coll_engine_misses(const struct coll_op *op, u32 edge)
{
	u32 i;

	if (op->schedule->fold[edge].host == op->schedule->self)
		return false;
	for (i = 0; i < op->segments; i++)
		if (!engine_lane_arrived(&op->lanes[i], edge))
			return true;
	return false;
}

/* ---- rounds ---- */

/* Send along the edges of the current round, and count the messages that it waits for. */
static void engine_send(struct coll_op *op, u32 index, u32 edge, u64 now)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_edge *e = &s->send[edge];
	const struct coll_lane *lane = &op->lanes[index];
	struct coll_message *m = &op->messages[index * s->sends + edge];
	struct coll_peer *peer = coll_peers_get(op->group, e->host, now);
	struct engine_range range;

	/* Memory is reserved for the peers of every schedule. */
	if (WARN_ON_ONCE(!peer))
		return;
	m->head = &op->head;
	m->segment = index;
	m->round = lane->round;
	m->fan_in = e->fan_in;
	m->bytes = 0;
	if (op->bytes) {
		range = engine_range(op, index, e);
		m->payload = engine_value(op, lane->value, e->reg) + range.first;
		m->bytes = range.bytes;
	}
	coll_peer_send(peer, m, now);
}

static noinline void engine_send_round(struct coll_op *op, u32 index, u64 now)
{
	const struct coll_round *r = &op->schedule->round[op->lanes[index].round];
	u32 i, end = r->send_first + r->sends;

	for (i = r->send_first; i < end; i++)
		engine_send(op, index, i, now);
}

/* Most rounds of a tree are empty on most hosts. */
static inline void engine_begin_round(struct coll_op *op, u32 index, u64 now)
{
	struct coll_lane *lane = &op->lanes[index];
	const struct coll_round *r = &op->schedule->round[lane->round];
	u32 i, end = r->fold_first + r->folds, missing = r->recvs;

	for (i = r->fold_first; i < end; i++)
		missing -= engine_lane_arrived(lane, i);
	lane->missing = missing;
	if (r->sends)
		engine_send_round(op, index, now);
}

/* Apply one fold entry: its operand is a message, or the register's former value. */
static void engine_fold_entry(struct coll_op *op, u32 lane, u32 edge)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_signature *sig = &op->head.signature;
	const struct coll_edge *e = &s->fold[edge];
	struct engine_range range = engine_range(op, lane, e);
	u32 value = op->lanes[lane].value, count = range.bytes / coll_type_bytes(sig->type);
	u8 *result = engine_value(op, value + 1, e->reg) + range.first;
	const u8 *operand = engine_early(op, edge) + range.first;

	if (e->host == s->self)
		operand = engine_value(op, value, e->reg) + range.first;
	switch (e->action) {
	case COLL_PLACE:
		memcpy(result, operand, range.bytes);
		break;
	case COLL_FOLD_LEFT:
		coll_reduce(result, operand, result, count, sig->type, sig->op);
		break;
	default:
		coll_reduce(result, result, operand, count, sig->type, sig->op);
		break;
	}
}

/*
 * Apply the fold list in its order. Results go into separate buffers, so that what this
 * round has sent stays unchanged until it is acknowledged. Not inline, since that would
 * slow down the rounds of barriers, which fold nothing.
 */
static noinline void engine_fold(struct coll_op *op, u32 index)
{
	const struct coll_schedule *s = op->schedule;
	struct coll_lane *lane = &op->lanes[index];
	const struct coll_round *r = &s->round[lane->round];
	struct engine_range range = engine_segment(op, index);
	u32 i;

	/* A single register of a single block is overwritten; otherwise parts must be kept. */
	if (s->registers > 1 || s->blocks > 1)
		for (i = 0; i < s->registers; i++)
			memcpy(engine_value(op, lane->value + 1, i) + range.first,
			       engine_value(op, lane->value, i) + range.first, range.bytes);
	for (i = r->fold_first; i < r->fold_first + r->folds; i++)
		engine_fold_entry(op, index, i);
	lane->value++;
}

/* ---- the ranks of this host ---- */

/* Complete one rank's post. */
static void engine_answer(struct coll_op *op, u32 local, u32 error, u32 failed_rank)
{
	struct coll_local_post *post = &op->locals.post[local];
	struct coll_group *g = op->group;
	bool result = !error && post->receives;

	post->waits = false;
	if (error)
		g->stats.failed++;
	else
		g->stats.completed++;
	coll_env_complete(g, local, op->head.number, post->token,
			  result ? engine_value(op, op->lanes[0].value, 0) : NULL,
			  result ? op->bytes : 0, error, failed_rank);
}

static void engine_answer_all(struct coll_op *op, u32 error, u32 failed_rank)
{
	u32 i;

	for (i = 0; i < op->group->ranks.locals; i++)
		if (op->locals.post[i].waits)
			engine_answer(op, i, error, failed_rank);
}

static void engine_done(struct coll_op *op)
{
	op->state = COLL_OP_DONE;
	op->group->window.running--;
}

/* Complete the posts if the rounds are over. True if that makes the operation DONE. */
static inline bool engine_check_out(struct coll_op *op)
{
	if (!coll_engine_finished(op) || op->state != COLL_OP_RUNNING)
		return false;
	engine_answer_all(op, 0, COLLSOCK_NO_RANK);
	if (unlikely(op->locals.unposted))
		return false;
	engine_done(op);
	return true;
}

static void engine_fold_local(struct coll_op *op, const u8 *payload)
{
	const struct coll_signature *sig = &op->head.signature;
	u8 *value = engine_value(op, 0, 0);

	if (op->locals.folded++)
		coll_reduce(value, value, payload, sig->count, sig->type, sig->op);
	else
		memcpy(value, payload, op->bytes);
}

/* Contributions are folded in rank order: one that arrives out of order is kept. */
static noinline void engine_contribute(struct coll_op *op, u32 local, const void *payload)
{
	const struct coll_group *g = op->group;

	if (op->locals.contributors > 1 && local != op->locals.folded) {
		memcpy(op->locals.buffers + (size_t)local * g->payload.room, payload, op->bytes);
		return;
	}
	engine_fold_local(op, payload);
	if (op->locals.contributors == 1)
		return;
	while (op->locals.folded < g->ranks.locals &&
	       coll_after(g->ranks.local[op->locals.folded].next, op->head.number))
		engine_fold_local(op, op->locals.buffers +
				      (size_t)op->locals.folded * g->payload.room);
}

/**
 * coll_engine_advance() - run the rounds of a lane that are ready
 * @op: begun, EARLY or RUNNING
 * @index: index of the lane, which has rounds left
 * @now: time in ns
 *
 * Return: true if that makes the operation DONE. Context: event context (env.h).
 */
bool coll_engine_advance(struct coll_op *op, u32 index, u64 now)
{
	const struct coll_schedule *s = op->schedule;
	struct coll_lane *lane = &op->lanes[index];
	struct coll_group *g = op->group;

	while (lane->round < s->rounds) {
		if (lane->missing)
			return false;
		if (!coll_env_round(g, op->head.number, index, lane->round))
			g->stats.rounds_misplaced++;
		g->stats.rounds++;
		if (op->bytes && s->round[lane->round].folds)
			engine_fold(op, index);
		if (++lane->round < s->rounds)
			engine_begin_round(op, index, now);
	}
	return likely(!--op->unfinished) && engine_check_out(op);
}

/**
 * coll_engine_begin() - start the rounds
 * @op: EARLY or RUNNING; all contributing ranks of this host have posted
 * @now: time in ns
 *
 * Return: true if that makes the operation DONE. Context: as coll_engine_advance().
 */
bool coll_engine_begin(struct coll_op *op, u64 now)
{
	bool done = false;
	u32 i;

	if (coll_before(op->group->window.completed, op->head.done))
		op->head.done = op->group->window.completed;
	op->begun = true;
	for (i = 0; i < op->segments; i++) {
		if (likely(op->schedule->rounds))
			engine_begin_round(op, i, now);
		if (!op->lanes[i].missing)
			done = coll_engine_advance(op, i, now);
	}
	return done;
}

/**
 * coll_engine_post() - a rank of this host has posted
 * @op: EARLY or RUNNING
 * @post: its post: if it contributes, with op->bytes of payload
 * @now: time in ns
 *
 * A rank that receives no result has done its part: its post completes at once, and the
 * operation proceeds without it (the application-bypass paper, §4).
 *
 * Return: true if that makes the operation DONE. Context: event context (env.h).
 */
bool coll_engine_post(struct coll_op *op, const struct coll_post *post, u64 now)
{
	struct coll_local_post *own = &op->locals.post[post->local];
	bool done;

	if (op->state == COLL_OP_EARLY) {
		op->state = COLL_OP_RUNNING;
		if (likely(!op->probed))
			op->awaited_ns = now;
		op->group->window.running++;
	}
	own->token = post->token;
	own->receives = post->receives;
	own->waits = true;
	op->locals.unposted--;
	op->locals.contributed += post->contributes;
	if (op->bytes && post->contributes)
		engine_contribute(op, post->local, post->payload);
	if (unlikely(!post->receives))
		engine_answer(op, post->local, 0, COLLSOCK_NO_RANK);
	if (!op->begun && op->locals.contributed == op->locals.contributors)
		done = coll_engine_begin(op, now);
	else
		done = engine_check_out(op);
	/* It began earlier by another rank or host, and only this post was missing. */
	if (done && (op->source != op->schedule->self || op->group->ranks.locals > 1))
		op->group->ranks.local[post->local].last++;
	return done;
}

/**
 * coll_engine_store() - store a message until its round
 * @op: EARLY or RUNNING
 * @edge: the fold entry of the message
 * @body: the message; its signature equals the operation's
 *
 * Return: true if it is new. Context: group lock held.
 */
bool coll_engine_store(struct coll_op *op, u32 edge, const struct coll_body *body)
{
	struct coll_lane *lane = &op->lanes[body->segment];
	u32 first;

	if (engine_lane_arrived(lane, edge))
		return false;
	lane->arrived[edge / 64] |= 1ULL << (edge % 64);
	if (coll_before(body->done, op->head.done))
		op->head.done = body->done;
	if (op->bytes) {
		first = engine_range(op, body->segment, &op->schedule->fold[edge]).first;
		memcpy(engine_early(op, edge) + first, body->payload, body->payload_bytes);
	}
	if (op->begun && body->round == lane->round)
		lane->missing--;
	return true;
}

static void engine_forget_messages(struct coll_op *op, bool held, bool sample, u64 now)
{
	u32 i;

	for (i = 0; op->head.unacked && i < (u32)op->segments * op->schedule->sends; i++)
		if (op->messages[i].peer && held == !op->messages[i].first)
			coll_peer_forget(&op->messages[i], sample, now);
}

/**
 * coll_engine_forget() - stop retransmitting the operation's messages
 * @op: in any state but FREE
 * @sample: they have been received
 * @now: time in ns
 *
 * Held messages go first, so that they are not sent when others make room.
 */
void coll_engine_forget(struct coll_op *op, bool sample, u64 now)
{
	if (unlikely(op->group->peers.held))
		engine_forget_messages(op, true, sample, now);
	engine_forget_messages(op, false, sample, now);
}

/**
 * coll_engine_stop() - stop an operation that no rank of this host has posted
 * @op: EARLY
 * @now: time in ns
 */
void coll_engine_stop(struct coll_op *op, u64 now)
{
	coll_engine_forget(op, false, now);
	op->begun = false;
}

/**
 * coll_engine_abort() - abort an operation that cannot complete
 * @op: RUNNING
 * @now: time in ns
 */
void coll_engine_abort(struct coll_op *op, u64 now)
{
	coll_engine_forget(op, false, now);
	op->state = COLL_OP_ABORTED;
}

/**
 * coll_engine_report() - end an operation with an error
 * @op: ABORTED
 * @error: errno, positive
 * @failed_rank: rank to blame
 *
 * It is DONE then.
 */
void coll_engine_report(struct coll_op *op, u32 error, u32 failed_rank)
{
	engine_answer_all(op, error, failed_rank);
	engine_done(op);
}
