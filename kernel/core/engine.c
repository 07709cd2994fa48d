// SPDX-License-Identifier: GPL-2.0
#include "engine.h"
#include "group.h"
#include "reduce.h"

/**
 * coll_op_size_add() - make room for a schedule
 * @size: grows to what an operation with @s needs as well
 * @s: the schedule
 */
void coll_op_size_add(struct coll_op_size *size, const struct coll_schedule *s)
{
	u32 i, values = 1;

	for (i = 0; i < s->rounds; i++)
		values += !!s->round[i].folds;
	size->messages = max_t(u32, size->messages, s->sends);
	size->values = max(size->values, values * s->registers);
	size->early = max_t(u32, size->early, s->folds);
}

/* The registers as they were after so many rounds that fold. */
static u8 *op_value(const struct coll_op *op, u32 index, u32 reg)
{
	return op->values + (size_t)(index * op->schedule->registers + reg) * op->group->max_bytes;
}

static u8 *op_early(const struct coll_op *op, u32 edge)
{
	return op->early + (size_t)edge * op->group->max_bytes;
}

/* Where a block of the payload begins: blocks have equally many elements, but the last. */
static u32 op_block_start(const struct coll_op *op, u32 block)
{
	u32 elements = (op->signature.count + op->schedule->blocks - 1) / op->schedule->blocks;

	return min(block * elements, op->signature.count) * coll_type_bytes(op->signature.type);
}

/* The part of the payload that an edge concerns. */
struct op_range {
	u32	first;
	u32	bytes;
};

static struct op_range op_range(const struct coll_op *op, const struct coll_edge *e)
{
	struct op_range range = { 0, op->bytes };

	if (unlikely(e->blocks != op->schedule->blocks)) {
		range.first = op_block_start(op, e->first_block);
		range.bytes = op_block_start(op, e->first_block + e->blocks) - range.first;
	}
	return range;
}

/**
 * coll_op_edge_bytes() - length of the payload that a fold entry takes
 * @op: EARLY or RUNNING
 * @edge: index of the entry
 */
u32 coll_op_edge_bytes(const struct coll_op *op, int edge)
{
	return op_range(op, &op->schedule->fold[edge]).bytes;
}

static bool op_arrived(const struct coll_op *op, u32 edge)
{
	return op->arrived[edge / 64] >> (edge % 64) & 1;
}

/**
 * coll_op_begin_early() - a message created the operation
 * @op: FREE; its number is set
 * @s: what its signature names
 * @sig: its signature
 * @bytes: of its payload
 * @source: host that sent the message
 */
void coll_op_begin_early(struct coll_op *op, const struct coll_schedule *s,
			 const struct coll_signature *sig, u32 bytes, u32 source)
{
	op->schedule = s;
	op->begun = false;
	op->answered = false;
	op->signature = *sig;
	op->bytes = bytes;
	op->source = source;
	op->state = COLL_OP_EARLY;
	op->round = 0;
	op->value = 0;
	op->unacked = 0;
	op->probed = false;
	op->done = op->number - 1;
	memset(op->arrived, 0, sizeof(op->arrived));
}

/* Send along the edges of the present round, and see what it waits for. */
static void op_begin_round(struct coll_op *op, u64 now)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_round *r = &s->round[op->round];
	u32 i;

	op->missing = r->recvs;
	for (i = r->fold_first; i < r->fold_first + r->folds; i++)
		op->missing -= op_arrived(op, i);

	for (i = r->send_first; i < r->send_first + r->sends; i++) {
		const struct coll_edge *e = &s->send[i];
		struct op_range range = op_range(op, e);
		struct coll_message *m = &op->messages[i];
		struct coll_peer *peer = coll_group_peer(op->group, e->host, now);

		/* Memory was reserved for the peers of every schedule. */
		if (WARN_ON_ONCE(!peer))
			continue;
		m->peer = peer;
		m->op = op;
		m->round = op->round;
		m->payload = op_value(op, op->value, e->reg) + range.first;
		m->bytes = range.bytes;
		op->unacked++;
		coll_peer_send(peer, m, now);
	}
}

/* A line of the fold list: a message, or what the register held, goes into it. */
static void op_fold_entry(struct coll_op *op, u32 index)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_signature *sig = &op->signature;
	const struct coll_edge *e = &s->fold[index];
	struct op_range range = op_range(op, e);
	u32 count = range.bytes / coll_type_bytes(sig->type);
	u8 *result = op_value(op, op->value + 1, e->reg) + range.first;
	const u8 *operand = op_early(op, index);

	if (e->host == s->self)
		operand = op_value(op, op->value, e->reg) + range.first;
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
 * Apply the fold list in its order. The results go into buffers of their own,
 * so that what this round has sent stays as it was until it is acknowledged.
 */
static void op_fold(struct coll_op *op)
{
	const struct coll_schedule *s = op->schedule;
	const struct coll_round *r = &s->round[op->round];
	u32 i;

	/* One register of one block is written as a whole; else something may stay. */
	if (s->registers > 1 || s->blocks > 1)
		for (i = 0; i < s->registers; i++)
			memcpy(op_value(op, op->value + 1, i), op_value(op, op->value, i),
			       op->bytes);
	for (i = r->fold_first; i < r->fold_first + r->folds; i++)
		op_fold_entry(op, i);
	op->value++;
}

/* What becomes of the post, once. */
static void op_answer(struct coll_op *op, u32 error, u32 failed_rank)
{
	struct coll_group *g = op->group;
	bool result = !error && op->schedule->takes;

	if (op->answered)
		return;
	op->answered = true;
	if (error)
		g->stats.failed++;
	else
		g->stats.completed++;
	coll_env_complete(g, op->token, result ? op_value(op, op->value, 0) : NULL,
			  result ? op->bytes : 0, error, failed_rank);
}

static void op_complete(struct coll_op *op, u32 error, u32 failed_rank, u64 now)
{
	op->state = COLL_OP_DONE;
	op->group->running--;
	op_answer(op, error, failed_rank);
	coll_group_completed(op->group, op, now);
}

/**
 * coll_op_advance() - run the rounds that can run
 * @op: begun, EARLY or RUNNING
 * @now: time in ns
 *
 * Context: softirq, or BH disabled outside work queues; group lock held.
 */
void coll_op_advance(struct coll_op *op, u64 now)
{
	const struct coll_schedule *s = op->schedule;
	struct coll_group *g = op->group;

	while (op->round < s->rounds) {
		if (op->missing)
			return;
		if (!coll_env_round(g))
			g->stats.rounds_misplaced++;
		g->stats.rounds++;
		if (op->bytes && s->round[op->round].folds)
			op_fold(op);
		if (++op->round < s->rounds)
			op_begin_round(op, now);
	}
	if (likely(op->state == COLL_OP_RUNNING))
		op_complete(op, 0, COLLSOCK_NO_RANK, now);
}

/**
 * coll_op_begin() - begin the first round
 * @op: not begun: RUNNING, or EARLY if its schedule does without the own rank
 * @now: time in ns
 *
 * The caller goes on with coll_op_advance().
 *
 * Context: as coll_op_advance().
 */
void coll_op_begin(struct coll_op *op, u64 now)
{
	op->begun = true;
	if (op->schedule->rounds)
		op_begin_round(op, now);
}

/**
 * coll_op_start() - this rank has posted
 * @op: EARLY, or made so by the caller
 * @payload: op->bytes of it, if the schedule says that we contribute
 * @now: time in ns
 *
 * Who takes no result has done its part: its post is answered at once, and what
 * is left to do goes on without it (the application-bypass paper, §4).
 *
 * Context: BH disabled; group lock held.
 */
void coll_op_start(struct coll_op *op, const void *payload, u64 now)
{
	struct coll_group *g = op->group;

	op->state = COLL_OP_RUNNING;
	op->posted_ns = now;
	g->running++;
	if (coll_before(g->completed, op->done))
		op->done = g->completed;
	if (op->bytes && op->schedule->contributes)
		memcpy(op_value(op, 0, 0), payload, op->bytes);
	if (unlikely(!op->schedule->takes))
		op_answer(op, 0, COLLSOCK_NO_RANK);
	if (likely(!op->begun))
		coll_op_begin(op, now);
	coll_op_advance(op, now);
}

/**
 * coll_op_store() - keep a message until its turn
 * @op: EARLY or RUNNING
 * @edge: the fold entry that takes it
 * @body: the message; its signature is the operation's
 *
 * Return: true if it is new. Context: group lock held.
 */
bool coll_op_store(struct coll_op *op, int edge, const struct coll_body *body)
{
	if (op_arrived(op, edge))
		return false;
	op->arrived[edge / 64] |= 1ULL << (edge % 64);
	if (coll_before(body->done, op->done))
		op->done = body->done;
	if (op->bytes)
		memcpy(op_early(op, edge), body->payload, body->payload_bytes);
	if (op->begun && body->round == op->round)
		op->missing--;
	return true;
}

/**
 * coll_op_forget() - the operation's messages need no acknowledgment any more
 * @op: any state but FREE
 * @sample: they have been received
 * @now: time in ns
 */
void coll_op_forget(struct coll_op *op, bool sample, u64 now)
{
	u32 i;

	for (i = 0; op->unacked && i < op->schedule->sends; i++)
		if (op->messages[i].peer)
			coll_peer_forget(&op->messages[i], sample, now);
}

/**
 * coll_op_stop() - an operation that runs without our rank cannot complete
 * @op: EARLY
 * @now: time in ns
 */
void coll_op_stop(struct coll_op *op, u64 now)
{
	coll_op_forget(op, false, now);
	op->begun = false;
}

/**
 * coll_op_abort() - an operation cannot complete
 * @op: RUNNING
 * @now: time in ns
 */
void coll_op_abort(struct coll_op *op, u64 now)
{
	coll_op_forget(op, false, now);
	op->state = COLL_OP_ABORTED;
}

/**
 * coll_op_report() - end an operation with an error
 * @op: ABORTED
 * @error: errno, positive
 * @failed_rank: who is to blame
 * @now: time in ns
 */
void coll_op_report(struct coll_op *op, u32 error, u32 failed_rank, u64 now)
{
	op_complete(op, error, failed_rank, now);
}
