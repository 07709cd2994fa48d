/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine runs one schedule for one operation. One loop, no case per
 * algorithm, no network. The states of an operation are in state.h.
 *
 * The ranks of a host check in when they post. Their contributions are folded in
 * the order of ranks, and the rounds begin when the last rank that contributes has
 * posted; if no rank of this host contributes they begin with the first post or
 * message of the operation (SCI collectives paper, §4.1; application-bypass paper, §4).
 * Ranks check out when the rounds are over; a rank that receives no result has done its
 * part when it has posted.
 *
 * A payload larger than a segment is worked on in lanes, one for each segment. A
 * lane is a run of the schedule of its own; blocks divide its segment. Lanes do not
 * wait for each other.
 *
 * Everything here is called under the group's lock. Rounds advance only in an event
 * context (env.h): coll_env_round() watches it.
 */
#ifndef COLL_CORE_ENGINE_H
#define COLL_CORE_ENGINE_H

#include "state.h"

/**
 * struct coll_post - a post of one rank
 * @local: which rank of this host
 * @receives: it receives the result
 * @contributes: it contributes
 * @payload: what it contributes
 * @token: for coll_env_complete()
 */
struct coll_post {
	u32		local;
	bool		receives;
	bool		contributes;
	const void	*payload;
	void		*token;
};

/*
 * A rank of this host, or another host, names the operation first: make it EARLY. Already
 * set are its number and source, its signature and what follows from that, and how many
 * ranks have not posted.
 */
static inline void coll_engine_make(struct coll_op *op)
{
	op->head.done = op->head.number - 1;
	op->head.unacked = 0;
	op->unfinished = op->segments;
	op->locals.contributed = 0;
	op->locals.folded = 0;
	op->state = COLL_OP_EARLY;
	op->probed = false;
	op->begun = false;
	if (likely(op->segments == 1))
		op->lanes[0] = (struct coll_lane) { };
	else
		memset(op->lanes, 0, op->segments * sizeof(*op->lanes));
}

/*
 * Nothing more of this host is needed for it: begin. This and the next two are true if the
 * operation is DONE with that: the caller tells the window.
 */
bool coll_engine_begin(struct coll_op *op, u64 now);

/* A rank of this host has posted. */
bool coll_engine_post(struct coll_op *op, const struct coll_post *post, u64 now);

/* Are all its rounds over? */
static inline bool coll_engine_finished(const struct coll_op *op)
{
	return !op->unfinished;
}

/* Does fold entry @edge take a message that has not come, in any lane? */
bool coll_engine_misses(const struct coll_op *op, u32 edge);

/* Bytes of the message that fold entry @edge takes in a lane of an operation with data. */
u32 coll_engine_edge_bytes(const struct coll_op *op, u32 lane, u32 edge);

/*
 * A message came along fold entry @edge: store it. True if it is new. The
 * caller acknowledges, then calls coll_engine_advance().
 */
bool coll_engine_store(struct coll_op *op, u32 edge, const struct coll_body *body);

/* Run the rounds of a lane that can run. */
bool coll_engine_advance(struct coll_op *op, u32 lane, u64 now);

/* It cannot complete: nothing more is sent for it. Before and after it was posted. */
void coll_engine_stop(struct coll_op *op, u64 now);
void coll_engine_abort(struct coll_op *op, u64 now);

/* End what was aborted. */
void coll_engine_report(struct coll_op *op, u32 error, u32 failed_rank);

/* Forget all messages that are not acknowledged. @sample: they were received. */
void coll_engine_forget(struct coll_op *op, bool sample, u64 now);

#endif
