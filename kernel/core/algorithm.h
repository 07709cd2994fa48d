/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Algorithms: pure functions from a shape (hosts, self, root, fan-out) to a
 * schedule. All of them are in one registry, so that the proofs,
 * the module and the simulator work through the same list.
 */
#ifndef COLL_CORE_ALGORITHM_H
#define COLL_CORE_ALGORITHM_H

#include "schedule.h"

/**
 * struct coll_shape - what a schedule depends on
 * @hosts: hosts of the group
 * @self: the host whose schedule it is
 * @root: the host of the operation's root; 0 if it has none
 * @fanout: of the group's trees; 0 if it has none but binomial ones
 */
struct coll_shape {
	u32	hosts;
	u32	self;
	u32	root;
	u32	fanout;
};

/**
 * struct coll_algorithm - one entry of the registry
 * @name: the field's name for it
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @rooted: the schedule depends on the root
 * @fans_out: it depends on the fan-out, which is not 0
 * @build: write the schedule of a host into @s; 0, -EINVAL or -E2BIG
 * @rounds: our exact formula: rounds of the slowest host
 * @messages: our exact formula: messages of all hosts together
 */
struct coll_algorithm {
	const char	*name;
	u8		operation;
	u8		algorithm;
	bool		rooted;
	bool		fans_out;
	int		(*build)(struct coll_schedule *s, const struct coll_shape *shape);
	u32		(*rounds)(const struct coll_shape *shape);
	u64		(*messages)(const struct coll_shape *shape);
};

extern const struct coll_algorithm coll_algorithms[];
extern const unsigned int coll_algorithms_count;

/*
 * What COLLSOCK_AUTO means for an operation on so many hosts; and the entry of
 * an operation and algorithm, NULL if there is none. Both are pure, so all
 * hosts decide alike.
 */
u8 coll_algorithm_auto(u8 operation, u32 hosts);
const struct coll_algorithm *coll_algorithm_find(u8 operation, u8 algorithm);

/* algo_dissemination.c */
int coll_dissemination_build(struct coll_schedule *s, const struct coll_shape *shape);
u32 coll_dissemination_rounds(const struct coll_shape *shape);
u64 coll_dissemination_messages(const struct coll_shape *shape);

/* algo_pairwise.c */
int coll_pairwise_build(struct coll_schedule *s, const struct coll_shape *shape);
u32 coll_pairwise_rounds(const struct coll_shape *shape);
u64 coll_pairwise_messages(const struct coll_shape *shape);

/* algo_tree.c; "both" is a reduction and a broadcast of its result */
int coll_binomial_build_reduce(struct coll_schedule *s, const struct coll_shape *shape);
int coll_binomial_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape);
int coll_binomial_build_both(struct coll_schedule *s, const struct coll_shape *shape);
u32 coll_binomial_rounds(const struct coll_shape *shape);
u32 coll_binomial_rounds_both(const struct coll_shape *shape);
int coll_kary_build_reduce(struct coll_schedule *s, const struct coll_shape *shape);
int coll_kary_build_broadcast(struct coll_schedule *s, const struct coll_shape *shape);
int coll_kary_build_both(struct coll_schedule *s, const struct coll_shape *shape);
u32 coll_kary_rounds(const struct coll_shape *shape);
u32 coll_kary_rounds_both(const struct coll_shape *shape);
u64 coll_tree_messages(const struct coll_shape *shape);
u64 coll_tree_messages_both(const struct coll_shape *shape);

#endif
