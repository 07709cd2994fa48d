/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Algorithms: pure functions from a shape (hosts, self, root, fan-out) to a schedule. All
 * are in one registry (registry.h), so that the proofs, the module and the simulator use
 * the same list. Any context.
 */
#ifndef COLL_CORE_ALGORITHM_H
#define COLL_CORE_ALGORITHM_H

#include "operation.h"
#include "registry.h"
#include "schedule.h"

/* Numbers of algorithms are below this. */
#define COLL_MAX_ALGORITHMS	16
#define COLL_ALL_ALGORITHMS	(~0ULL)

/**
 * struct coll_shape - what a schedule depends on
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 * @root: the host of the operation's root; 0 if it has none
 * @fanout: of the group's k-ary trees; 0 if it has none
 */
struct coll_shape {
	u32	hosts;
	u32	self;
	u32	root;
	u32	fanout;
};

/* A set of hosts of a group: one bit each */
#define COLL_HOSTS_WORDS(hosts)	DIV_ROUND_UP(hosts, 64)

static inline void coll_hosts_add(u64 *set, u32 host)
{
	set[host / 64] |= BIT_ULL(host % 64);
}

static inline bool coll_hosts_has(const u64 *set, u32 host)
{
	return set[host / 64] & BIT_ULL(host % 64);
}

/**
 * struct coll_needs - what is reserved when a group is created
 * @room: memory for any operation
 * @hosts: hosts with which this host may exchange messages
 */
struct coll_needs {
	struct coll_room	room;
	u64			*hosts;
};

/**
 * struct coll_algorithm - one row of the registry
 * @name: its name in the literature
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @fans_out: it depends on the fan-out, which must not be 0
 * @build: write the schedule of a host into @s; 0, -EINVAL or -E2BIG
 * @peers: if the operation has a root: add the hosts with which @shape->self may exchange
 *	messages, whatever the root
 * @room: likewise: add the memory that it needs, whatever the root. Without a root both
 *	follow from the one schedule.
 */
struct coll_algorithm {
	const char	*name;
	u8		operation;
	u8		algorithm;
	bool		fans_out;
	int		(*build)(struct coll_schedule *s, const struct coll_shape *shape);
	void		(*peers)(const struct coll_shape *shape, u64 *hosts);
	void		(*room)(const struct coll_shape *shape, struct coll_room *room);
};

COLL_ALGORITHM_LIST(COLL_REGISTRY_DECLARATION)

/* The rows, and the position of each plus 1 by operation and algorithm */
extern const struct coll_algorithm *const coll_algorithms[];
extern const unsigned int coll_algorithms_count;
extern const u8 coll_algorithm_index[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS];

/* Position of the row for any two numbers, or -ENOENT; COLLSOCK_AUTO has no row. */
static inline int coll_algorithm_position(u32 operation, u32 algorithm)
{
	if (operation >= COLL_MAX_OPERATIONS || algorithm >= COLL_MAX_ALGORITHMS ||
	    !coll_algorithm_index[operation][algorithm])
		return -ENOENT;
	return coll_algorithm_index[operation][algorithm] - 1;
}

/* The row itself, or NULL. */
static inline const struct coll_algorithm *coll_algorithm_find(u32 operation, u32 algorithm)
{
	int position = coll_algorithm_position(operation, algorithm);

	return position < 0 ? NULL : coll_algorithms[position];
}

/* Does its schedule depend on the root? */
static inline bool coll_algorithm_rooted(const struct coll_algorithm *a)
{
	return coll_operations[a->operation].rooted;
}

/* May posts name it in a group with this mask of algorithms and this fan-out? */
static inline bool coll_algorithm_usable(const struct coll_algorithm *a, u64 algorithms,
					 u32 fanout)
{
	return algorithms >> a->algorithm & 1 && (fanout || !a->fans_out);
}

int coll_algorithms_need(u64 algorithms, const struct coll_shape *shape,
			 struct coll_schedule *scratch, struct coll_needs *needs);

/* The meaning of COLLSOCK_AUTO; COLLSOCK_AUTO itself if there is no such operation. */
static inline u8 coll_algorithm_auto(u8 operation, u32 hosts)
{
	const struct coll_operation *row = coll_operation_find(operation);

	return row ? row->choose(hosts) : COLLSOCK_AUTO;
}

#endif
