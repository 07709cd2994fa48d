// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "engine.h"
#include "env.h"
#include "extent.h"
#include "fold.h"
#include "locals.h"
#include "multicast.h"
#include "peers.h"
#include "prefix.h"
#include "result.h"
#include "values.h"

/**
 * coll_engine_edge_bytes() - length of the payload of a fold entry's message
 * @op: EARLY or RUNNING, with data
 * @lane: lane of the operation
 * @edge: index of the entry
 *
 * Return: its bytes. Context: group lock held.
 */
u32 coll_engine_edge_bytes(const struct coll_op *op, u32 lane, u32 edge)
{
	return coll_values_range(op, lane, &op->schedule->fold[edge]).bytes;
}

static void engine_toggle(struct coll_op *op, u32 lane, u32 edge)
{
	if (lane < op->layout.segments)
		op->lanes[lane].arrived[edge / 64] ^= 1ULL << (edge % 64);
}

/* Toggle the bit of an edge where a range of lanes with bytes of it begins, and where it ends. */
static void engine_mark_lanes(struct coll_op *op, u32 edge, const struct coll_extent *e)
{
	struct coll_span lanes[2];
	u32 i, ranges = coll_extent_lanes(e, op->layout.segment_bytes, lanes);

	for (i = 0; i < ranges; i++) {
		engine_toggle(op, lanes[i].first, edge);
		engine_toggle(op, lanes[i].end, edge);
	}
}

/*
 * Empty messages are not awaited: mark them as arrived. There may be more than a thousand
 * lanes, so one pass over the lanes serves all edges.
 */
static void engine_skip_empty(struct coll_op *op)
{
	const struct coll_span vector = { 0, op->layout.bytes };
	u64 has[ARRAY_SIZE(op->lanes->arrived)] = {};
	struct coll_extent e;
	u32 i, word;

	for (i = 0; i < op->schedule->folds; i++) {
		e = coll_values_extent(op, &op->schedule->fold[i], &vector);
		if (e.bytes)
			engine_mark_lanes(op, i, &e);
	}
	for (i = 0; i < op->layout.segments; i++) {
		for (word = 0; word < ARRAY_SIZE(has); word++) {
			has[word] ^= op->lanes[i].arrived[word];
			op->lanes[i].arrived[word] = ~has[word];
		}
	}
}

/**
 * coll_engine_reset_lanes() - reset the lanes of an operation that has several, or is in parts
 * @op: being made
 *
 * If there is one lane, and it is the whole vector of all blocks, no message is empty, and the
 * caller may reset that lane alone.
 */
void coll_engine_reset_lanes(struct coll_op *op)
{
	u32 i;

	for (i = 0; i < op->layout.segments; i++)
		coll_engine_reset_lane(&op->lanes[i]);
	if (coll_schedule_has_blocks(op->schedule))
		engine_skip_empty(op);
}

/**
 * coll_engine_arrived() - which messages have arrived in all lanes?
 * @op: EARLY, RUNNING or ABORTED
 *
 * Return: a bit for each fold entry. Context: group lock held.
 */
struct coll_arrived coll_engine_arrived(const struct coll_op *op)
{
	struct coll_arrived all;
	u32 i, word;

	memset(&all, 0xff, sizeof(all));
	for (i = 0; i < op->layout.segments; i++)
		for (word = 0; word < ARRAY_SIZE(all.bits); word++)
			all.bits[word] &= op->lanes[i].arrived[word];
	return all;
}

/**
 * coll_engine_misses_host() - is this the first message that the operation misses from a host?
 * @op: EARLY or RUNNING
 * @arrived: coll_engine_arrived()
 * @edge: the fold entry of the message
 *
 * Return: true if it is missing, and no message of an earlier fold entry with the same host is.
 * Context: group lock held.
 */
bool coll_engine_misses_host(const struct coll_op *op, const struct coll_arrived *arrived,
			     u32 edge)
{
	const struct coll_edge *fold = op->schedule->fold;
	u32 i;

	if (!coll_engine_misses(op, arrived, edge))
		return false;
	for (i = 0; i < edge; i++)
		if (fold[i].host == fold[edge].host && coll_engine_misses(op, arrived, i))
			return false;
	return true;
}

/* ---- rounds ---- */

/* Set the payload of a message along a send edge. False if it is empty. */
static noinline bool engine_load(struct coll_op *op, const struct coll_lane *lane,
				 const struct coll_edge *e, struct coll_message *m)
{
	struct coll_extent range = coll_values_range(op, lane->index, e);

	m->payload = coll_values_register(op, lane->value, e->reg) + range.first;
	m->bytes = range.bytes;
	m->rest = range.rest;
	m->gap = range.gap;
	coll_work_do(op->group, range.bytes * COLL_WORK_PACKET_BYTE);
	return range.bytes;
}

/* Send along an edge of the current round. */
static noinline void engine_send(struct coll_op *op, const struct coll_lane *lane, u32 edge,
				 u64 now)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_edge *e = &s->send[edge];
	struct coll_message *m = &op->messages[lane->index * s->sends + edge];
	struct coll_peer *peer;

	m->head = &op->head;
	m->segment = lane->index;
	m->round = lane->round;
	m->fan_in = e->fan_in;
	m->bytes = 0;
	if (op->layout.bytes && unlikely(!engine_load(op, lane, e, m))) {
		coll_work_do(op->group, COLL_WORK_EMPTY);
		return;
	}
	peer = coll_peers_get(op->group, e->host, now);
	/* Memory is reserved for the peers of every schedule. */
	if (WARN_ON_ONCE(!peer))
		return;
	if (unlikely(edge >= op->down_send))
		coll_multicast_send(op, lane->index, edge, peer, m, now);
	else
		coll_peer_send(peer, m, now);
}

/*
 * Send along the last @left edges of the round, at least along one. False if the event has
 * done what it may, and something is left.
 */
static noinline bool engine_send_round(struct coll_op *op, struct coll_lane *lane, u32 left,
				       u64 now)
{
	const struct coll_round *r = &op->schedule->round[lane->round];
	u32 end = r->send_first + r->sends, i = end - left;

	for (;;) {
		engine_send(op, lane, i, now);
		if (likely(++i == end))
			return true;
		if (coll_work_over(op->group)) {
			lane->unsent = end - i;
			return false;
		}
	}
}

/*
 * Count the messages that the round waits for, and send. Most rounds of a tree are empty on most
 * hosts, and others send one message. False as for engine_send_round().
 */
static inline bool engine_begin_round(struct coll_op *op, struct coll_lane *lane, u64 now)
{
	const struct coll_round *r = &op->schedule->round[lane->round];
	u32 i, end = r->fold_first + r->folds, missing = r->recvs;

	for (i = r->fold_first; i < end; i++)
		missing -= coll_engine_lane_arrived(lane, i);
	lane->missing = missing;
	if (likely(r->sends == 1)) {
		engine_send(op, lane, r->send_first, now);
		return true;
	}
	return !r->sends || engine_send_round(op, lane, r->sends, now);
}

/* ---- the ranks of this host ---- */

/* Complete one rank's post. */
static __always_inline void engine_complete(struct coll_op *op, u32 local, const u8 *result,
					    u32 bytes, u32 error, u32 failed_rank)
{
	struct coll_local_post *post = &op->locals.post[local];
	struct coll_group *g = op->group;

	post->waits = false;
	coll_work_do(g, COLL_WORK_COMPLETION);
	if (error) {
		g->stats.failed++;
		coll_work_do(g, COLL_WORK_REPORT);
	} else {
		g->stats.completed++;
	}
	coll_env_complete(g, local, op->head.number, post->token, result, bytes, error,
			  failed_rank);
}

/*
 * Complete a rank's post with a block of its own. This is noinline, or the usual case would save
 * registers for these calls.
 */
static noinline void engine_answer_block(struct coll_op *op, u32 local)
{
	coll_work_do(op->group, op->layout.block * COLL_WORK_BYTE);
	engine_complete(op, local, coll_values_register(op, op->lanes[0].value, 0) +
				   coll_values_own_block(op, local),
			op->layout.block, 0, COLLSOCK_NO_RANK);
}

static noinline void engine_answer_prefix(struct coll_op *op, u32 local)
{
	const u8 *result = coll_prefix_result(op, local);

	coll_work_do(op->group, op->layout.bytes * COLL_WORK_BYTE);
	engine_complete(op, local, result, result ? op->layout.bytes : 0, 0, COLLSOCK_NO_RANK);
}

/* Complete a rank's post with its part of the shared result, all of which has been copied. */
static noinline void engine_answer_shared(struct coll_op *op, u32 local)
{
	struct coll_extent part = coll_result_part(op, local);
	struct coll_result *shared = op->result.to;

	coll_env_result_share(op->group, local, op->locals.post[local].token, shared);
	engine_complete(op, local, shared->data + part.first, part.bytes, 0, COLLSOCK_NO_RANK);
}

/* Complete a rank's post with a result other than the operation's whole vector. */
static void engine_answer_other(struct coll_op *op, u32 local)
{
	if (op->result.bytes)
		engine_answer_shared(op, local);
	else if (op->layout.block)
		engine_answer_block(op, local);
	else
		engine_answer_prefix(op, local);
}

/*
 * Hand over a vector that was only received, if it is not being forwarded. Memory that has been
 * handed over is not written any more.
 */
static bool engine_hand_over(struct coll_op *op, u32 local)
{
	struct coll_op_vector *v = &op->vector;
	u8 *with;

	if (!v->direct || v->first != v->buffer || op->group->ranks.locals > 1 || op->head.unacked)
		return false;
	with = coll_env_exchange(op->group, local, op->locals.post[local].token, NULL, v->buffer);
	if (!with)
		return false;
	v->buffer = with;
	v->first = with;
	return true;
}

/* Complete a rank's post with a long result, which is not copied if the platform has it already. */
static noinline void engine_answer_long(struct coll_op *op, u32 local)
{
	const u8 *result = coll_values_register(op, op->lanes[0].value, 0);

	if (!op->vector.last_value && !engine_hand_over(op, local))
		coll_work_do(op->group, op->layout.bytes * COLL_WORK_BYTE);
	engine_complete(op, local, result, op->layout.bytes, 0, COLLSOCK_NO_RANK);
}

static void engine_answer(struct coll_op *op, u32 local, u32 error, u32 failed_rank)
{
	u32 bytes = error || !op->locals.post[local].receives ? 0 : op->layout.bytes;

	if (unlikely((op->layout.own_out || op->result.bytes) && bytes)) {
		engine_answer_other(op, local);
		return;
	}
	if (unlikely(bytes >= COLL_VALUES_LONG)) {
		engine_answer_long(op, local);
		return;
	}
	coll_work_do(op->group, bytes * COLL_WORK_BYTE);
	engine_complete(op, local,
			bytes ? coll_values_register(op, op->lanes[0].value, 0) : NULL,
			bytes, error, failed_rank);
}

/* Complete all posts. Returns false if the event has done what it may, and something is left. */
static __always_inline bool engine_answer_all(struct coll_op *op, u32 error, u32 failed_rank)
{
	u32 i;

	if (unlikely(op->result.to) && !error && !coll_result_copy(op))
		return false;
	for (i = 0; i < op->group->ranks.locals; i++) {
		if (!op->locals.post[i].waits)
			continue;
		if (coll_work_over(op->group))
			return false;
		engine_answer(op, i, error, failed_rank);
	}
	return true;
}

static void engine_done(struct coll_op *op)
{
	op->state = COLL_OP_DONE;
	op->group->window.running--;
	if (unlikely(op->result.to))
		coll_result_drop(op);
}

/* Complete the posts if the rounds are over. True if that makes the operation DONE. */
static inline bool engine_check_out(struct coll_op *op)
{
	if (!coll_engine_finished(op) || op->state != COLL_OP_RUNNING)
		return false;
	if (unlikely(!engine_answer_all(op, 0, COLLSOCK_NO_RANK))) {
		coll_work_leave_lane(op, &op->lanes[0]);
		return false;
	}
	if (unlikely(op->locals.unposted))
		return false;
	engine_done(op);
	return true;
}

/* Like engine_check_out(), but leave it to a turn if lanes wait for theirs. */
static inline bool engine_check_out_in_turn(struct coll_op *op)
{
	if (!coll_work_waits(op->group))
		return engine_check_out(op);
	if (coll_engine_finished(op) && op->state == COLL_OP_RUNNING)
		coll_work_leave_lane(op, &op->lanes[0]);
	return false;
}

/* Have the ranks of this host contributed all? */
static bool engine_may_begin(const struct coll_op *op)
{
	return !op->begun && op->locals.contributed == op->locals.contributors &&
	       !op->locals.folding;
}

/* ---- running ---- */

/*
 * Fold in a round with a payload. Returns false if the event has done what it may. Barriers do not
 * ask this, as their rounds are cheap enough for one event to run them all.
 */
static inline bool engine_may_fold(struct coll_op *op, u32 index)
{
	const struct coll_round *r = &op->schedule->round[op->lanes[index].round];

	if (coll_work_over(op->group) || (r->folds && !coll_fold_round(op, index)))
		return false;
	op->arrival.payload = NULL;
	return true;
}

/**
 * coll_engine_advance() - run the rounds of a lane that are ready
 * @op: begun, EARLY or RUNNING
 * @index: index of the lane, which has rounds left and does not wait for its turn
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
		if (op->layout.bytes && unlikely(!engine_may_fold(op, index)))
			goto over;
		if (!coll_env_round(g, op->head.number, index, lane->round))
			g->stats.rounds_misplaced++;
		g->stats.rounds++;
		if (++lane->round < s->rounds && unlikely(!engine_begin_round(op, lane, now)))
			goto over;
	}
	return likely(!--op->unfinished) && engine_check_out(op);
over:
	coll_fold_keep(op);
	coll_work_leave_lane(op, lane);
	return false;
}

/* Begin a lane. */
static __always_inline bool engine_begin_lane(struct coll_op *op, u32 index, u64 now)
{
	struct coll_lane *lane = &op->lanes[index];

	op->begun = index + 1;
	if (likely(op->schedule->rounds) && unlikely(!engine_begin_round(op, lane, now))) {
		coll_work_leave_lane(op, lane);
		return false;
	}
	return !lane->missing && coll_engine_advance(op, index, now);
}

/* Begin the lanes that have not begun, as many as the event may. */
static noinline bool engine_begin_lanes(struct coll_op *op, u64 now)
{
	bool done = false;

	while (op->begun < op->layout.segments) {
		if (coll_work_over(op->group)) {
			coll_work_leave_lane(op, &op->lanes[op->begun]);
			return false;
		}
		coll_work_do(op->group, COLL_WORK_LANE);
		done = engine_begin_lane(op, op->begun, now);
	}
	return done;
}

/* An operation is complete: count its last message, or its last post. */
static void engine_note_last(struct coll_op *op, const struct coll_lane *lane)
{
	if (lane->last)
		lane->last->recv.last_arrivals++;
	else if (op->state == COLL_OP_RUNNING &&
		 (op->source != op->schedule->self || op->group->ranks.locals > 1))
		op->group->ranks.local[op->locals.latest].last++;
}

/**
 * coll_engine_resume() - it is the turn of a lane
 * @lane: the first in coll_work.ready; it keeps its place if something is left
 * @now: time in ns
 *
 * Return: true if that makes the operation DONE. Context: as coll_engine_advance().
 */
bool coll_engine_resume(struct coll_lane *lane, u64 now)
{
	struct coll_op *op = lane->op;
	u32 unsent = lane->unsent;
	bool done;

	list_del_init(&lane->link);
	if (lane->index == op->begun)
		return engine_begin_lanes(op, now);
	if (coll_engine_finished(op))
		return engine_check_out(op);
	lane->unsent = 0;
	if (unsent && !engine_send_round(op, lane, unsent, now)) {
		coll_work_leave_lane(op, lane);
		return false;
	}
	done = coll_engine_advance(op, lane->index, now);
	if (coll_engine_finished(op))
		engine_note_last(op, lane);
	return done;
}

static __always_inline bool engine_begin(struct coll_op *op, u64 now)
{
	if (coll_before(op->group->window.completed, op->head.done))
		op->head.done = op->group->window.completed;
	if (!coll_work_waits(op->group))
		return likely(op->layout.segments == 1) ? engine_begin_lane(op, 0, now) :
						   engine_begin_lanes(op, now);
	coll_work_leave_lane(op, &op->lanes[0]);
	return false;
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
	return engine_begin(op, now);
}

/**
 * coll_engine_post() - a rank of this host has posted
 * @op: EARLY or RUNNING
 * @local: which one
 * @payload: if it contributes: op->layout.bytes of payload
 * @token: for coll_env_complete()
 * @now: time in ns
 *
 * A rank that receives no result has done its part: its post completes at once, and the
 * operation proceeds without it (the application-bypass paper, §4).
 *
 * Return: true if that makes the operation DONE. Context: event context (env.h).
 */
bool coll_engine_post(struct coll_op *op, u32 local, const void *payload, void *token, u64 now)
{
	const struct coll_signature *sig = &op->head.signature;
	struct coll_local_post *own = &op->locals.post[local];
	struct coll_rank *rank = &op->group->ranks.local[local];
	bool root = sig->root == rank->rank, contributes, done;

	if (op->state == COLL_OP_EARLY) {
		op->state = COLL_OP_RUNNING;
		if (likely(!op->probed))
			op->awaited_ns = now;
		op->group->window.running++;
	}
	own->token = token;
	own->receives = coll_operation_receives(sig->operation, root);
	own->waits = true;
	op->locals.unposted--;
	contributes = coll_operation_contributes(sig->operation, root);
	op->locals.contributed += contributes;
	op->locals.latest = local;
	if (op->layout.bytes && contributes)
		coll_locals_contribute(op, local, payload);
	if (unlikely(op->result.bytes) && own->receives)
		coll_result_take(op, local, token);
	/*
	 * A rank without a result is done, unless its payload, in the poster's memory, is still to
	 * be copied.
	 */
	if (unlikely(!own->receives) && !coll_work_copies(op->group))
		engine_answer(op, local, 0, COLLSOCK_NO_RANK);
	if (engine_may_begin(op))
		done = engine_begin(op, now);
	else
		done = engine_check_out_in_turn(op);
	/* Another rank or host had begun it, and only this post was missing. */
	if (done && (op->source != op->schedule->self || op->group->ranks.locals > 1))
		rank->last++;
	return done;
}

/**
 * coll_engine_folded() - a pair of values of local ranks has been folded outside the lock, or
 *	a contribution copied
 * @op: in any state but FREE
 * @fold: that pair
 * @now: time in ns
 *
 * If the operation was aborted meanwhile, the value is not used.
 *
 * Return: true if that makes the operation DONE. Context: event context (env.h).
 */
bool coll_engine_folded(struct coll_op *op, const struct coll_fold *fold, u64 now)
{
	op->locals.folding--;
	op->head.unacked--;
	if (op->state != COLL_OP_RUNNING)
		return false;
	coll_locals_folded(op, fold);
	if (!fold->right && !op->locals.post[fold->low].receives)
		engine_answer(op, fold->low, 0, COLLSOCK_NO_RANK);
	return engine_may_begin(op) && coll_engine_begin(op, now);
}

/* ---- forgetting messages ---- */

/* Forget the messages of a lane, which does not wait for its turn any more. */
static void engine_forget_lane(struct coll_op *op, u32 index, bool received, u64 now)
{
	u32 i, before = op->head.unacked, sends = op->schedule->sends;
	struct coll_message *m = &op->messages[index * sends];

	if (!received && !list_empty(&op->lanes[index].link))
		list_del_init(&op->lanes[index].link);
	for (i = 0; op->head.unacked && i < sends; i++)
		if (m[i].peer)
			coll_peer_forget(&m[i], received, now);
	coll_work_do(op->group, COLL_WORK_FORGET * (1 + before - op->head.unacked) +
				COLL_WORK_LOOK * i);
}

/**
 * coll_engine_settle_up() - the message of the downward phase has come
 * @op: begun; it has that phase
 * @lane: lane of the operation
 * @now: time in ns
 *
 * So all that this host has sent up the tree has arrived, acknowledged or not.
 */
void coll_engine_settle_up(struct coll_op *op, u32 lane, u64 now)
{
	struct coll_message *m = &op->messages[lane * op->schedule->sends];
	u32 i;

	for (i = 0; i < op->schedule->down_send; i++)
		if (m[i].peer && m[i].first)
			coll_peer_forget(&m[i], false, now);
}

/**
 * coll_engine_forget() - messages need not be sent again: forget them
 * @op: DONE, of one segment; all hosts have received its messages
 * @now: time in ns
 */
void coll_engine_forget(struct coll_op *op, u64 now)
{
	engine_forget_lane(op, 0, true, now);
}

/**
 * coll_engine_forget_later() - messages are not to be sent any more
 * @op: in any state but FREE
 * @received: they have been received
 *
 * Its lanes advance no more. Its slot is not free until coll_engine_forget_rest() is over.
 */
void coll_engine_forget_later(struct coll_op *op, bool received)
{
	if (op->forget.in_turns)
		return;
	op->forget.in_turns = true;
	op->forget.received = received;
	op->forget.lanes = 0;
	op->head.unacked++;
}

/**
 * coll_engine_forget_rest() - forget messages after coll_engine_forget_later()
 * @op: in any state but FREE
 * @now: time in ns
 *
 * Return: false if the event has done what it may, and something is left.
 */
bool coll_engine_forget_rest(struct coll_op *op, u64 now)
{
	for (; op->forget.lanes < op->layout.segments; op->forget.lanes++) {
		if (coll_work_over(op->group))
			return false;
		engine_forget_lane(op, op->forget.lanes, op->forget.received, now);
	}
	op->forget.in_turns = false;
	op->head.unacked--;
	return true;
}

/**
 * coll_engine_stop() - stop an operation that no rank of this host has posted
 * @op: EARLY
 */
void coll_engine_stop(struct coll_op *op)
{
	coll_engine_forget_later(op, false);
	op->begun = 0;
}

/**
 * coll_engine_abort() - abort an operation that cannot complete
 * @op: RUNNING
 */
void coll_engine_abort(struct coll_op *op)
{
	coll_engine_forget_later(op, false);
	op->state = COLL_OP_ABORTED;
}

/**
 * coll_engine_report() - end an operation with an error
 * @op: ABORTED
 * @error: errno, positive
 * @failed_rank: rank to blame
 *
 * It is DONE then.
 *
 * Return: false if the event has done what it may, and something is left.
 */
bool coll_engine_report(struct coll_op *op, u32 error, u32 failed_rank)
{
	if (!engine_answer_all(op, error, failed_rank))
		return false;
	engine_done(op);
	return true;
}
