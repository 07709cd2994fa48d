/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How much one event does. There is no bound to the work that a packet, a post or a timer may cause
 * in a group: a post may complete a thousand others, a packet a fold of 64 KiB from each of 64
 * hosts. So each event may do a certain amount, and the rest waits for turns of its own: the
 * platform calls coll_group_run() for each (coll_env_run_soon()). Few events of small operations
 * leave anything.
 *
 * Amounts are about numbers of instructions. An event ends the step that exceeds its amount,
 * so that each does something; a step is at most COLL_WORK_UNIT elements, one packet, or one
 * completion.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_WORK_H
#define COLL_CORE_WORK_H

#include "env.h"
#include "state.h"

/* Elements that are folded in one step */
#define COLL_WORK_UNIT		256

/* Bytes of a contribution that are copied while one element could be folded, at most */
#define COLL_WORK_COPY		(COLLSOCK_MAX_PAYLOAD / COLL_WORK_UNIT)

/* How much one event may do: 16 completions without a result */
#define COLL_WORK_MOST		(16 * COLL_WORK_COMPLETION)

/* Amounts of the steps */
#define COLL_WORK_COMPLETION	3000
#define COLL_WORK_PACKET	2500
#define COLL_WORK_PACKET_BYTE	5	/* of a packet, which is authenticated and copied */
#define COLL_WORK_BYTE		1	/* that is copied */
#define COLL_WORK_LANE		300	/* that begins or is resumed */
#define COLL_WORK_EMPTY		180	/* a message with nothing in it, which is left out */
#define COLL_WORK_HELD		500	/* a message that is not sent yet */
#define COLL_WORK_FORGET	80	/* a message that is forgotten, or a lane */
#define COLL_WORK_LOOK		4	/* at a message, in a loop over many */
#define COLL_WORK_CHECK		50	/* whether a message is late */
#define COLL_WORK_REPORT	2500	/* for which listeners are sent a message */

/* Work that waits for the next turn besides lanes */
#define COLL_WORK_PEERS		0x1	/* messages that wait, credit that was refused */
#define COLL_WORK_GOODBYES	0x2	/* goodbyes */
#define COLL_WORK_MESSAGES	0x4	/* messages that nobody needs: to be forgotten */
#define COLL_WORK_IDLE		0x8	/* idle connections: to be opened for goodbyes */

/* An event begins. */
static inline void coll_work_begin(struct coll_group *g)
{
	g->work.left = g->work.most;
}

/* The event does this much. */
static inline void coll_work_do(struct coll_group *g, u32 amount)
{
	g->work.left -= amount;
}

/* Has the event done all that it may? */
static inline bool coll_work_over(const struct coll_group *g)
{
	return unlikely(g->work.left <= 0);
}

/* May the event do what can wait? Half of its amount is for what cannot. */
static inline bool coll_work_may_look_ahead(const struct coll_group *g)
{
	return g->work.left > g->work.most / 2;
}

/*
 * May messages be sent that have waited? Not before messages that nobody needs are forgotten, as
 * they may be among those.
 */
static inline bool coll_work_may_send(const struct coll_group *g)
{
	return !coll_work_over(g) && likely(!(g->work.rest & COLL_WORK_MESSAGES));
}

/* Has the present event left the copy of a contribution to its caller? */
static inline bool coll_work_copies(const struct coll_group *g)
{
	return g->work.fold.op && !g->work.fold.right;
}

/* Do lanes wait for their turn? Then an event only stores and acknowledges. */
static inline bool coll_work_waits(const struct coll_group *g)
{
	return unlikely(!list_empty(&g->work.ready));
}

/* Is anything left for the next turn? */
static inline bool coll_work_remains(const struct coll_group *g)
{
	return g->work.rest || coll_work_waits(g);
}

/* Leave the rest of this kind, COLL_WORK_*, for the next turn. */
static inline void coll_work_leave(struct coll_group *g, u8 rest)
{
	g->work.rest |= rest;
	coll_env_run_soon(g);
}

/* Leave the rest of a lane for its turn; nothing happens if it waits already. */
static inline void coll_work_leave_lane(struct coll_op *op, struct coll_lane *lane)
{
	if (!list_empty(&lane->link))
		return;
	lane->op = op;
	list_add_tail(&lane->link, op->group->work.before);
	coll_env_run_soon(op->group);
}

#endif
