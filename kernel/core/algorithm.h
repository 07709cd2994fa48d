/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Algorithms: pure functions from a shape (hosts, self, root, degree) to a schedule. Which there
 * are is a list (algorithm_list.h), and the registry (registry.h) finds one. Any context.
 */
#ifndef COLL_CORE_ALGORITHM_H
#define COLL_CORE_ALGORITHM_H

#include "algorithm_list.h"
#include "operation.h"
#include "schedule.h"
#include "shape.h"

/* Numbers of algorithms are below this. */
#define COLL_MAX_ALGORITHMS	16

/**
 * struct coll_algorithm - one row of the registry
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @exchanges: the usual degree is coll_operation_usual_degree()
 * @usual_degree: else the degree where nobody selects one; 0: it has no degree
 * @most_degree: the largest; the least is 2. 0: it has no degree
 * @most_hosts: it is for groups of at most this size; 0: of any size
 * @by_name: a group has it only if its JOIN names it, or if posts that name no algorithm get it;
 *	other groups need no memory for it
 * @build: write the schedule of a host into @s; 0, -EINVAL or -E2BIG
 * @peers: if the operation has a root: add the hosts with which @shape->self may exchange
 *	messages, whatever the root
 * @room: if the operation has a root: add the memory that it needs, whatever the root. Without a
 *	root both follow from the one schedule.
 */
struct coll_algorithm {
	u8		operation;
	u8		algorithm;
	bool		exchanges;
	u8		usual_degree;
	u8		most_degree;
	bool		by_name;
	u32		most_hosts;
	int		(*build)(struct coll_schedule *s, const struct coll_shape *shape);
	void		(*peers)(const struct coll_shape *shape, u64 *hosts);
	void		(*room)(const struct coll_shape *shape, struct coll_room *room);
};

#define COLL_ALGORITHM_ROW(operation, algorithm, row)	\
	extern const struct coll_algorithm row;
COLL_ALGORITHM_LIST(COLL_ALGORITHM_ROW)

/* Does its schedule depend on the root? */
static inline bool coll_algorithm_rooted(const struct coll_algorithm *a)
{
	return coll_operations[a->operation].rooted;
}

/* Its degree where nobody selects one; 0: it has none */
static inline u32 coll_algorithm_usual_degree(const struct coll_algorithm *a, u32 hosts)
{
	return a->exchanges ? coll_operation_usual_degree(hosts) : a->usual_degree;
}

/* Can it be built for this number of hosts with this degree? */
static inline bool coll_algorithm_fits(const struct coll_algorithm *a, u32 hosts, u32 degree)
{
	if (a->most_hosts && hosts > a->most_hosts)
		return false;
	return a->most_degree ? degree >= 2 && degree <= a->most_degree : !degree;
}

#endif
