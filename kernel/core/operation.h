/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Operations as data: whatever is specific to a barrier or a broadcast is in its row of one
 * table. A new operation is a row here, a line in collsock_lists.h, and an algorithm that
 * implements it (registry.h). Pure; any context.
 *
 * An operation without a root has root 0 in posts and signatures; this has no effect, as
 * all ranks contribute and receive (in an exscan, all but rank 0 receive).
 */
#ifndef COLL_CORE_OPERATION_H
#define COLL_CORE_OPERATION_H

#include "base.h"

/* Numbers of operations are below this; JOIN and groups have arrays of this size. */
#define COLL_MAX_OPERATIONS	COLLSOCK_MAX_OPERATIONS

/* Sets of ranks relative to the root, as bits, so that a look-up is one shift */
#define COLL_OTHERS		BIT(false)
#define COLL_ROOT		BIT(true)
#define COLL_ALL		(COLL_OTHERS | COLL_ROOT)

/* Lengths of vectors for which other algorithms are chosen */
enum coll_length {
	COLL_SHORT,
	COLL_MEDIUM,
	COLL_LONG,
	COLL_LENGTHS,
};

#define COLL_NEVER_LONG		U32_MAX

/**
 * struct coll_choice - how an operation is carried out
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @degree: of the algorithm; 0 if it has none
 */
struct coll_choice {
	u8	algorithm;
	u8	degree;
};

/**
 * struct coll_operation - a row of the table
 * @contributes: ranks whose payload enters the result: COLL_ALL, COLL_ROOT
 * @receives: ranks that receive the result: COLL_ALL, COLL_ROOT, COLL_OTHERS
 * @rooted: one rank is the root
 * @typed: it has elements, which have a type
 * @reduces: elements are combined by an operator
 * @blocks: the operation's vector has a block of elements for each rank
 * @own_in: what ranks contribute is their own block only
 * @own_out: what ranks receive is their own block only
 * @prefix: what ranks receive is folded of the ranks up to them: ranks must be placed on hosts
 *	in their order
 * @exclusive: without themselves, so that rank 0 receives nothing
 * @schedules_of: if not 0: the operation whose schedules, and so algorithms, it uses
 * @medium: the longest vector that is not long, for a number of hosts above 2; NULL: none is long
 * @choose: what COLLSOCK_AUTO selects for a number of hosts, a degree, 0 being the usual one, and
 *	a vector of that length; the degree is 0 if it need not be another than this. Pure: hosts
 *	that chose differently would wait for each other indefinitely
 */
struct coll_operation {
	u8	contributes;
	u8	receives;
	bool	rooted;
	bool	typed;
	bool	reduces;
	bool	blocks;
	bool	own_in;
	bool	own_out;
	bool	prefix;
	bool	exclusive;
	u8	schedules_of;
	u32 (*medium)(u32 hosts);
	struct coll_choice (*choose)(u32 hosts, u32 degree, enum coll_length length);
};

/* By number; unused numbers have all-zero rows. */
extern const struct coll_operation coll_operations[COLL_MAX_OPERATIONS];

/* Does it only move blocks, one for each rank? Such a vector may be longer than others. */
static inline bool coll_operation_moves(u32 operation)
{
	return coll_operations[operation].blocks && !coll_operations[operation].reduces;
}

/*
 * The longest vector that is short: up to this length, folding costs less time than the rounds
 * saved.
 */
static inline u32 coll_operation_short(u32 hosts)
{
	return hosts <= 4 ? 512 : 128;
}

/*
 * The degree of dissemination and exchange where nobody selects one. Three hosts exchange with each
 * other in one round, instead of two in a barrier and three in an all-reduce.
 */
static inline u32 coll_operation_usual_degree(u32 hosts)
{
	return hosts == 3 ? 3 : 2;
}

/*
 * The longest vector of an existing operation that is not long. A longer vector has a number of
 * packets, and it matters how often a host sends each of them.
 */
static inline u32 coll_operation_medium(u32 operation, u32 hosts)
{
	if (hosts < 3 || !coll_operations[operation].medium)
		return COLL_NEVER_LONG;
	return coll_operations[operation].medium(hosts);
}

/* The row of a number, or NULL; any number is allowed. */
static inline const struct coll_operation *coll_operation_find(u32 operation)
{
	if (unlikely(operation >= COLL_MAX_OPERATIONS || !coll_operations[operation].contributes))
		return NULL;
	return &coll_operations[operation];
}

/* Does the root, or any other rank, contribute to this existing operation? */
static inline bool coll_operation_contributes(u32 operation, bool root)
{
	return coll_operations[operation].contributes >> root & 1;
}

/*
 * In a group with multicast, does a tree up which everything is gathered save rounds and messages?
 * It does if all ranks receive the same result. But two hosts exchange in one round, and with
 * longer vectors a host of a tree takes too long to fold several of them in each round.
 */
static inline bool coll_operation_gathers(u32 operation, u32 hosts, enum coll_length length)
{
	const struct coll_operation *row = &coll_operations[operation];

	return row->receives == COLL_ALL && !row->blocks && !row->prefix && hosts > 2 &&
	       hosts <= COLLSOCK_MAX_KARY_HOSTS && length == COLL_SHORT;
}

/* The operation whose schedules this one uses */
static inline u32 coll_operation_scheduled(u32 operation)
{
	return coll_operations[operation].schedules_of ?: operation;
}

static inline bool coll_operation_receives(u32 operation, bool root)
{
	return coll_operations[operation].receives >> root & 1;
}

#endif
