/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The registry: all algorithms, by operation and number. There is one, so that the proofs, the
 * module and the simulator use the same. Which of them a group has, and with which degrees, is its
 * menu (menu.h). Any context.
 */
#ifndef COLL_CORE_REGISTRY_H
#define COLL_CORE_REGISTRY_H

#include "algorithm.h"

/* The rows, and the position of each plus 1 by operation and algorithm */
extern const struct coll_algorithm *const coll_registry[];
extern const unsigned int coll_registry_count;
extern const u8 coll_registry_index[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS];

/* Position of the row for any two numbers, or -ENOENT; COLLSOCK_AUTO has no row. */
static inline int coll_registry_position(u32 operation, u32 algorithm)
{
	if (operation >= COLL_MAX_OPERATIONS || algorithm >= COLL_MAX_ALGORITHMS)
		return -ENOENT;
	operation = coll_operation_scheduled(operation);
	if (!coll_registry_index[operation][algorithm])
		return -ENOENT;
	return coll_registry_index[operation][algorithm] - 1;
}

/* The row itself, or NULL. */
static inline const struct coll_algorithm *coll_registry_find(u32 operation, u32 algorithm)
{
	int position = coll_registry_position(operation, algorithm);

	return position < 0 ? NULL : coll_registry[position];
}

#define COLL_REGISTRY_POSITION(operation, algorithm, row)	POSITION_##row,
#define COLL_REGISTRY_ROW(operation, algorithm, row)		&row,
#define COLL_REGISTRY_INDEX(operation, algorithm, row)		\
	[COLLSOCK_##operation][COLLSOCK_##algorithm] = 1 + POSITION_##row,

/* Defines the tables of a list: of COLL_ALGORITHM_LIST, or of one that a test has instead. */
#define COLL_REGISTRY(LIST)							\
	enum { LIST(COLL_REGISTRY_POSITION) };					\
	const struct coll_algorithm *const coll_registry[] = {		\
		LIST(COLL_REGISTRY_ROW)						\
	};									\
	const unsigned int coll_registry_count = ARRAY_SIZE(coll_registry);	\
	const u8 coll_registry_index[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS] = { \
		LIST(COLL_REGISTRY_INDEX)					\
	}

#endif
