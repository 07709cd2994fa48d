/* SPDX-License-Identifier: GPL-2.0 */
/* Names of operations and algorithms, which the core itself does not need */
#ifndef COLL_UNIT_NAMES_H
#define COLL_UNIT_NAMES_H

#include "algorithm.h"

static inline const char *operation_name(u32 operation)
{
	static const char *const names[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };

	return names[operation];
}

static inline const char *algorithm_name(const struct coll_algorithm *a)
{
	static const char *const names[] = { COLLSOCK_ALGORITHM_LIST(COLLSOCK_NAME) };

	return a->algorithm < ARRAY_SIZE(names) ? names[a->algorithm] : "an algorithm of a test";
}

#endif
