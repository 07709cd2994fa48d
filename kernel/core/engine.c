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
	size->values = max(size->values, values);
	size->early = max_t(u32, size->early, s->folds);
}

static u8 *op_value(const struct coll_op *op, u32 index)
{
	return op->values + (size_t)index * op->group->max_bytes;
}

static u8 *op_early(const struct coll_op *op, u32 edge)
{
	return op->early + (size_t)edge * op->group->max_bytes;
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
	op->signature = *sig;
	op->bytes = bytes;
	op->source = source;
	op->state = COLL_OP_EARLY;
	op->round = 0;
	op->value = 0;
	op->unacked = 0;
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
		struct coll_message *m = &op->messages[i];
		struct coll_peer *peer = coll_group_peer(op->group, s->send[i].host, now);

		/* Without memory for the peer the deadline of the group strikes. */
		if (!peer)
			continue;
		m->peer = peer;
		m->op = op;
		m->round = op->round;
		m->payload = op_value(op, op->value);
		op->unacked++;
		coll_peer_send(peer, m, now);
	}
}

/* What a line of the fold list brings: a message, or the register itself. */
static const u8 *op_operand(const struct coll_op *op, u32 index)
{
	if (op->schedule->fold[index].host == op->schedule->self)
		return op_value(op, op->value);
	return op_early(op, index);
}

/*
 * Apply the fold list in its order. The result goes into a buffer of its own,
 * so that what this round has sent stays as it was until it is acknowledged.
 */
static void op_fold(struct coll_op *op)
{
	const struct coll_round *r = &op->schedule->round[op->round];
	const struct coll_signature *sig = &op->signature;
	u8 *result = op_value(op, op->value + 1);
	const u8 *held = NULL;
	u32 i;

	for (i = r->fold_first; i < r->fold_first + r->folds; i++) {
		const u8 *operand = op_operand(op, i);

		switch (op->schedule->fold[i].action) {
		case COLL_PLACE:
			held = operand;
			continue;
		case COLL_FOLD_LEFT:
			coll_reduce(result, operand, held, sig->count, sig->type, sig->op);
			break;
		default:
			coll_reduce(result, held, operand, sig->count, sig->type, sig->op);
			break;
		}
		held = result;
	}
	if (held != result)
		memcpy(result, held, op->bytes);
	op->value++;
}

static void op_complete(struct coll_op *op, u32 error, u32 failed_rank, u64 now)
{
	struct coll_group *g = op->group;

	op->state = COLL_OP_DONE;
	g->running--;
	if (error)
		g->stats.failed++;
	else
		g->stats.completed++;
	coll_env_complete(g, op->token, error ? NULL : op_value(op, op->value),
			  error ? 0 : op->bytes, error, failed_rank);
	coll_group_completed(g, op, now);
}

/**
 * coll_op_advance() - run the rounds that can run
 * @op: RUNNING
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
	op_complete(op, 0, COLLSOCK_NO_RANK, now);
}

/**
 * coll_op_start() - this rank has posted
 * @op: EARLY, or made so by the caller
 * @payload: op->bytes of it
 * @now: time in ns
 *
 * Context: BH disabled; group lock held.
 */
void coll_op_start(struct coll_op *op, const void *payload, u64 now)
{
	struct coll_group *g = op->group;

	op->state = COLL_OP_RUNNING;
	g->running++;
	if (coll_before(g->completed, op->done))
		op->done = g->completed;
	if (op->bytes)
		memcpy(op_value(op, 0), payload, op->bytes);
	if (op->schedule->rounds)
		op_begin_round(op, now);
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
		memcpy(op_early(op, edge), body->payload, op->bytes);
	if (op->state == COLL_OP_RUNNING && body->round == op->round)
		op->missing--;
	return true;
}

/**
 * coll_op_forget() - the operation's messages need no acknowledgement any more
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
 * coll_op_abort() - end an operation with an error
 * @op: RUNNING
 * @error: errno, positive
 * @failed_rank: who is to blame
 * @now: time in ns
 */
void coll_op_abort(struct coll_op *op, u32 error, u32 failed_rank, u64 now)
{
	coll_op_forget(op, false, now);
	op_complete(op, error, failed_rank, now);
}
