/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The window of a group: which operations are open, which are complete here, and what
 * synchronising operations reveal about all hosts. A slot is opened by the first post of a
 * rank of this host or the first message of another host, whichever comes first, and is
 * freed when no host needs the operation any more. A free slot keeps the signature of its
 * operation until it is reused.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_WINDOW_H
#define COLL_CORE_WINDOW_H

#include "engine.h"
#include "signature.h"

/* Open the slot of an operation that a rank of this host posts. */
void coll_window_open(struct coll_group *g, struct coll_op *op, u64 number,
		      const struct coll_signature *sig, u32 source);
bool coll_window_make_early(struct coll_group *g, struct coll_op *op, u32 source,
			    const struct coll_body *body, u64 now);

/*
 * The slot of an operation named by another host, opened if need be; NULL if its signature
 * is not valid in this group.
 */
static inline struct coll_op *coll_window_open_early(struct coll_group *g, u32 source,
						     const struct coll_body *body, u64 now)
{
	struct coll_op *op = coll_group_slot(g, body->operation);

	if (op->state != COLL_OP_FREE || coll_window_make_early(g, op, source, body, now))
		return op;
	return NULL;
}

void coll_window_completed(struct coll_group *g, struct coll_op *op, u64 now);
void coll_window_forget(struct coll_group *g, u64 now);
void coll_window_free_slots(struct coll_group *g, u64 now);

/* Can the oldest slot be freed? */
static inline bool coll_window_advances(const struct coll_group *g)
{
	const struct coll_op *op = coll_group_slot(g, g->window.oldest);

	return g->window.oldest != g->window.next && op->state == COLL_OP_DONE &&
	       !op->head.unacked;
}

static inline void coll_window_advance(struct coll_group *g, u64 now)
{
	if (coll_window_advances(g))
		coll_window_free_slots(g, now);
}

#endif
