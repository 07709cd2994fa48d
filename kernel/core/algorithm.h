/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Algorithms: pure functions from (operation, algorithm, hosts, self, root,
 * fan-out) to a schedule. All of them are in one registry, so that the proofs,
 * the module and the simulator work through the same list.
 */
#ifndef COLL_CORE_ALGORITHM_H
#define COLL_CORE_ALGORITHM_H

#include "schedule.h"

/**
 * struct coll_algorithm - one entry of the registry
 * @name: the field's name for it
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm, never COLLSOCK_AUTO
 * @build: write the schedule of @self into @s; 0, -EINVAL or -E2BIG
 * @rounds: our exact formula: rounds of the slowest host
 * @messages: our exact formula: messages of all hosts together
 */
struct coll_algorithm {
	const char	*name;
	u8		operation;
	u8		algorithm;
	int		(*build)(struct coll_schedule *s, u32 hosts, u32 self);
	u32		(*rounds)(u32 hosts);
	u64		(*messages)(u32 hosts);
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
int coll_dissemination_build(struct coll_schedule *s, u32 hosts, u32 self);
u32 coll_dissemination_rounds(u32 hosts);
u64 coll_dissemination_messages(u32 hosts);

/* algo_pairwise.c */
int coll_pairwise_build(struct coll_schedule *s, u32 hosts, u32 self);
u32 coll_pairwise_rounds(u32 hosts);
u64 coll_pairwise_messages(u32 hosts);

#endif
