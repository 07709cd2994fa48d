/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine runs one schedule for one operation. One loop, no case per
 * algorithm, no network.
 *
 * States of an operation (a slot in the group's window):
 *   FREE -> EARLY	a message came before a rank of this host posted
 *   FREE, EARLY -> RUNNING	one has posted
 *   RUNNING -> DONE	the rounds are over, and all ranks of this host have posted
 *   RUNNING -> ABORTED	cannot complete; or posted so
 *   ABORTED -> DONE	has reported the error
 *   DONE -> FREE	all its messages are acknowledged
 *
 * The ranks of a host check in when they post. What they contribute is folded in
 * the order of ranks, and when the last of those that contribute has posted the
 * rounds begin: for what needs no contribution of this host, with the first that
 * is heard of the operation (SCI collectives paper, §4.1; application-bypass paper,
 * §4). They check out when the rounds are over; who takes no result has done its
 * part when it has posted.
 *
 * A payload larger than a segment is worked on in lanes, one for each segment. A
 * lane is a run of the schedule of its own; blocks divide its segment. Lanes do not
 * wait for each other.
 *
 * Everything here is called under the group's lock. Rounds advance only in
 * softirq context (or with BH disabled, outside work queues): coll_env_round()
 * watches it.
 */
#ifndef COLL_CORE_ENGINE_H
#define COLL_CORE_ENGINE_H

#include "peer.h"
#include "schedule.h"

struct coll_algorithm;

enum coll_op_state {
	COLL_OP_FREE,
	COLL_OP_EARLY,
	COLL_OP_RUNNING,
	COLL_OP_ABORTED,
	COLL_OP_DONE,
};

/**
 * struct coll_lane - the run of the schedule for one segment
 * @arrived: a bit for each fold entry of the schedule
 * @round: present round
 * @missing: messages that the present round still waits for
 * @value: rounds that have folded
 */
struct coll_lane {
	u64	arrived[COLL_MAX_EDGES / 64];
	u8	round;
	u8	missing;
	u8	value;
};

/**
 * struct coll_part - a rank of this host in an operation
 * @token: of its post, handed to coll_env_complete()
 * @waits: it has posted, and was not told yet what became of it
 * @takes: it takes the result
 */
struct coll_part {
	void	*token;
	bool	waits;
	bool	takes;
};

/**
 * struct coll_post - a post of one rank
 * @local: which rank of this host
 * @takes: it takes the result
 * @contributes: it brings
 * @payload: this
 * @token: for coll_env_complete()
 */
struct coll_post {
	u32		local;
	bool		takes;
	bool		contributes;
	const void	*payload;
	void		*token;
};

/**
 * struct coll_op - one operation in the window
 * @group: whose
 * @schedule: what to do
 * @lanes: one for each segment
 * @parts: one for each rank of this host
 * @messages: one for each send edge of the schedule in each lane
 * @values: the registers at the beginning, then again for each round that
 *	folds, so that what was sent stays as it was
 * @early: a buffer for each fold entry of the schedule
 * @local: one for each rank of this host, if there are several
 * @awaited_ns: since when it is waited for: the first rank of this host posted, or another
 *	host asked
 * @signature: what all ranks must agree on
 * @number: of the operation
 * @bytes: of its payload
 * @done: minimum of "done" over all messages and the own post
 * @source: host that spoke of it first
 * @unacked: messages not acknowledged
 * @segments: lanes
 * @unfinished: of these, those that have rounds left
 * @contributors: ranks of this host that contribute
 * @contributed: of these, those that have posted
 * @folded: so many of the first ranks of this host are folded
 * @unposted: ranks of this host that have not posted
 * @state: enum coll_op_state
 * @probed: while EARLY: others wait for this host
 * @begun: its rounds run
 * @own: room for a schedule that depends on the root
 * @own_algorithm: what was built there last, NULL if nothing was
 * @own_root: root of that
 */
struct coll_op {
	struct coll_group		*group;
	const struct coll_schedule	*schedule;
	struct coll_lane		*lanes;
	struct coll_part		*parts;
	struct coll_message		*messages;
	u8				*values;
	u8				*early;
	u8				*local;
	u64				awaited_ns;
	struct coll_signature		signature;
	u32				number;
	u32				bytes;
	u32				done;
	u32				source;
	u32				unacked;
	u16				segments;
	u16				unfinished;
	u16				contributors;
	u16				contributed;
	u16				folded;
	u16				unposted;
	u8				state;
	bool				probed;
	bool				begun;
	struct coll_schedule		*own;
	const struct coll_algorithm	*own_algorithm;
	u32				own_root;
};

/*
 * Somebody spoke of the operation first: make it, EARLY. Its number and source are set,
 * its signature and what follows from that, and how many have not posted.
 */
static inline void coll_op_make(struct coll_op *op)
{
	op->done = op->number - 1;
	op->unacked = 0;
	op->unfinished = op->segments;
	op->contributed = 0;
	op->folded = 0;
	op->state = COLL_OP_EARLY;
	op->probed = false;
	op->begun = false;
	if (likely(op->segments == 1))
		op->lanes[0] = (struct coll_lane) { };
	else
		memset(op->lanes, 0, op->segments * sizeof(*op->lanes));
}

/* Nothing of this host is needed for it: begin. */
void coll_op_begin(struct coll_op *op, u64 now);

/* A rank of this host has posted. May complete the operation. */
void coll_op_post(struct coll_op *op, const struct coll_post *post, u64 now);

/* Are all its rounds over? */
static inline bool coll_op_finished(const struct coll_op *op)
{
	return !op->unfinished;
}

/* Does fold entry @edge take a message that has not come, in any lane? */
bool coll_op_misses(const struct coll_op *op, u32 edge);

/* Bytes of the message that fold entry @edge takes in a lane of an operation with data. */
u32 coll_op_edge_bytes(const struct coll_op *op, u32 lane, u32 edge);

/*
 * A message came along fold entry @edge: store it. True if it is new. The
 * caller acknowledges, then calls coll_op_advance().
 */
bool coll_op_store(struct coll_op *op, u32 edge, const struct coll_body *body);

/* Run the rounds of a lane that can run. May complete the operation. */
void coll_op_advance(struct coll_op *op, u32 lane, u64 now);

/* It cannot complete: nothing more is sent for it. Before and after it was posted. */
void coll_op_stop(struct coll_op *op, u64 now);
void coll_op_abort(struct coll_op *op, u64 now);

/* End what was aborted. */
void coll_op_report(struct coll_op *op, u32 error, u32 failed_rank, u64 now);

/* Forget all messages that are not acknowledged. @sample: they were received. */
void coll_op_forget(struct coll_op *op, bool sample, u64 now);

#endif
