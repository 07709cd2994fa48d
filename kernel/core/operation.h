/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Operations as data: what is peculiar to a barrier or a broadcast is in its row of one
 * table, and nowhere else. A new operation is a row here, a line in collsock_lists.h, and
 * an algorithm that can do it (registry.h). Pure; any context.
 *
 * An operation without a root has root 0 in posts and signatures; that rank is no
 * different from others, as they all contribute and receive.
 */
#ifndef COLL_CORE_OPERATION_H
#define COLL_CORE_OPERATION_H

#include "base.h"

/* Numbers of operations are less than this; JOIN and groups have room for that many. */
#define COLL_MAX_OPERATIONS	COLLSOCK_MAX_OPERATIONS

/* Sets of ranks as the root sees them: bits, so that a look-up is one shift. */
#define COLL_OTHERS		BIT(false)
#define COLL_ROOT		BIT(true)
#define COLL_ALL		(COLL_OTHERS | COLL_ROOT)

/**
 * struct coll_operation - a row of the table
 * @contributes: whose payload goes into the result: COLL_ALL, COLL_ROOT
 * @receives: who gets the result: COLL_ALL, COLL_ROOT, COLL_OTHERS
 * @rooted: one rank is the root
 * @typed: there are elements, which have a type
 * @reduces: and are combined by an operator
 * @choose: what COLLSOCK_AUTO means for a number of hosts. Pure: two hosts that chose
 *	differently would wait for each other indefinitely
 */
struct coll_operation {
	u8	contributes;
	u8	receives;
	bool	rooted;
	bool	typed;
	bool	reduces;
	u8	(*choose)(u32 hosts);
};

/* By number; a row that is all zero is no operation. */
extern const struct coll_operation coll_operations[COLL_MAX_OPERATIONS];

/* The row of any number, or NULL. */
static inline const struct coll_operation *coll_operation_find(u32 operation)
{
	if (unlikely(operation >= COLL_MAX_OPERATIONS || !coll_operations[operation].contributes))
		return NULL;
	return &coll_operations[operation];
}

/* Of an operation that exists: does the root, or another rank, contribute to it? */
static inline bool coll_operation_contributes(u32 operation, bool root)
{
	return coll_operations[operation].contributes >> root & 1;
}

static inline bool coll_operation_receives(u32 operation, bool root)
{
	return coll_operations[operation].receives >> root & 1;
}

#endif
