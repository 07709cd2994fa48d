/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine runs one schedule for one operation: one loop, with no special case for any
 * algorithm, and no knowledge of the network. The states of an operation are in state.h.
 *
 * The ranks of a host check in when they post. Their contributions are folded in rank
 * order, and the rounds begin when the last contributing rank has posted; if no rank of
 * this host contributes they begin with the first post or message of the operation (SCI
 * collectives paper, §4.1; application-bypass paper, §4). Ranks check out when the rounds
 * are over; a rank that receives no result checks out when it posts.
 *
 * A payload larger than a segment is processed in lanes, one for each segment. Each lane
 * runs the whole schedule on its segment, which is divided into blocks. Lanes do not wait
 * for each other.
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
 * Make an operation EARLY: the first post of this host, or the first packet about it, has
 * arrived. The caller has set its number, source, signature and what follows from that, and
 * the number of ranks that have not posted.
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

bool coll_engine_begin(struct coll_op *op, u64 now);
bool coll_engine_post(struct coll_op *op, const struct coll_post *post, u64 now);

/* Are all its rounds over? */
static inline bool coll_engine_finished(const struct coll_op *op)
{
	return !op->unfinished;
}

bool coll_engine_misses(const struct coll_op *op, u32 edge);
u32 coll_engine_edge_bytes(const struct coll_op *op, u32 lane, u32 edge);
bool coll_engine_store(struct coll_op *op, u32 edge, const struct coll_body *body);
bool coll_engine_advance(struct coll_op *op, u32 lane, u64 now);
void coll_engine_stop(struct coll_op *op, u64 now);
void coll_engine_abort(struct coll_op *op, u64 now);
void coll_engine_report(struct coll_op *op, u32 error, u32 failed_rank);
void coll_engine_forget(struct coll_op *op, bool sample, u64 now);

#endif
