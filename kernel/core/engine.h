/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine runs one schedule for one operation. One loop, no case per
 * algorithm, no network.
 *
 * States of an operation (a slot in the group's window):
 *   FREE -> EARLY	a message came before this rank posted. If the schedule does not
 *			use its contribution the rounds run nevertheless
 *   FREE, EARLY -> RUNNING	posted
 *   RUNNING -> DONE	completed
 *   RUNNING -> ABORTED	cannot complete; or posted so
 *   ABORTED -> DONE	has reported the error
 *   DONE -> FREE	all its messages are acknowledged
 *
 * Everything here is called under the group's lock. Rounds advance only in
 * softirq context (or with BH disabled, outside work queues): coll_env_round()
 * watches it.
 */
#ifndef COLL_CORE_ENGINE_H
#define COLL_CORE_ENGINE_H

#include "peer.h"
#include "schedule.h"

enum coll_op_state {
	COLL_OP_FREE,
	COLL_OP_EARLY,
	COLL_OP_RUNNING,
	COLL_OP_ABORTED,
	COLL_OP_DONE,
};

/**
 * struct coll_op - one operation in the window
 * @group: whose
 * @schedule: what to do
 * @token: of the post, handed to coll_env_complete()
 * @messages: one for each send edge of the schedule
 * @values: the registers at the beginning, then again for each round that
 *	folds, so that what was sent stays as it was
 * @early: a buffer for each fold entry of the schedule
 * @posted_ns: when this rank posted
 * @arrived: a bit for each fold entry of the schedule
 * @signature: what all ranks must agree on
 * @number: of the operation
 * @bytes: of its payload
 * @done: minimum of "done" over all messages and the own post
 * @source: host whose message created it, while EARLY
 * @state: enum coll_op_state
 * @round: present round
 * @missing: messages that the present round still waits for
 * @value: rounds that have folded
 * @unacked: messages not acknowledged
 * @probed: while EARLY: others wait for this rank to post
 * @begun: its rounds run
 * @answered: the post has been told what becomes of it
 * @own: room for a schedule that depends on the root, and what was built there last
 * @own_root: root of that
 */
struct coll_op {
	struct coll_group		*group;
	const struct coll_schedule	*schedule;
	void				*token;
	struct coll_message		*messages;
	u8				*values;
	u8				*early;
	u64				posted_ns;
	u64				arrived[COLL_MAX_EDGES / 64];
	struct coll_signature		signature;
	u32				number;
	u32				bytes;
	u32				done;
	u32				source;
	u8				state;
	u8				round;
	u8				missing;
	u8				value;
	u8				unacked;
	bool				probed;
	bool				begun;
	bool				answered;
	struct coll_schedule		*own;
	u32				own_root;
};

/* Memory that any operation of a group can need. */
struct coll_op_size {
	u32	messages;
	u32	values;
	u32	early;
};

void coll_op_size_add(struct coll_op_size *size, const struct coll_schedule *s);

/* A message created the operation. */
void coll_op_begin_early(struct coll_op *op, const struct coll_schedule *s,
			 const struct coll_signature *sig, u32 bytes, u32 source);

/* Begin the first round. */
void coll_op_begin(struct coll_op *op, u64 now);

/* This rank has posted: start. May complete the operation. */
void coll_op_start(struct coll_op *op, const void *payload, u64 now);

/* Does fold entry @edge take a message that has not come? */
static inline bool coll_op_misses(const struct coll_op *op, u32 edge)
{
	return op->schedule->fold[edge].host != op->schedule->self &&
	       !(op->arrived[edge / 64] >> (edge % 64) & 1);
}

/* Bytes of the message that fold entry @edge takes. */
u32 coll_op_edge_bytes(const struct coll_op *op, int edge);

/*
 * A message came along fold entry @edge: store it. True if it is new. The
 * caller acknowledges, then calls coll_op_advance().
 */
bool coll_op_store(struct coll_op *op, int edge, const struct coll_body *body);

/* Run the rounds that can run. May complete the operation. */
void coll_op_advance(struct coll_op *op, u64 now);

/* It cannot complete: nothing more is sent for it. Before and after it was posted. */
void coll_op_stop(struct coll_op *op, u64 now);
void coll_op_abort(struct coll_op *op, u64 now);

/* End what was aborted. */
void coll_op_report(struct coll_op *op, u32 error, u32 failed_rank, u64 now);

/* Forget all messages that are not acknowledged. @sample: they were received. */
void coll_op_forget(struct coll_op *op, bool sample, u64 now);

#endif
