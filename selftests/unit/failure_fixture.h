/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of failures: a group with open connections, and how an operation is to end. */
#ifndef UNIT_FAILURE_FIXTURE_H
#define UNIT_FAILURE_FIXTURE_H

#include "net_fixture.h"
#include "seed.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* A group with all connections of dissemination open */
static inline void begin_with_seed(struct __test_metadata *_metadata, struct unit_network *n,
				   u32 hosts, u64 seed)
{
	u32 op, i;

	unit_network_init(n, hosts, seed);
	n->join.algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	/* Two rounds, even of three hosts: who cannot send has not heard all by the first. */
	n->join.degree = 2;
	ASSERT_EQ(0, unit_join_all(n, NULL));
	for (op = 0; op < 3; op++) {
		for (i = 0; i < hosts; i++)
			ASSERT_EQ(0, unit_barrier(n, i));
		ASSERT_TRUE(unit_await_all(n, SECOND));
	}
	unit_run(n, SECOND);
}

static inline void begin(struct __test_metadata *_metadata, struct unit_network *n, u32 hosts)
{
	begin_with_seed(_metadata, n, hosts, seed_start());
}

static inline void ends_with(struct __test_metadata *_metadata, struct unit_network *n,
			     u32 host, u32 op, u32 error, u32 rank)
{
	ASSERT_TRUE(unit_await(n, host, op, 20 * SECOND)) {
		TH_LOG("host %u waits indefinitely", host);
	}
	EXPECT_EQ(error, n->ranks[host].ops[op].error);
	EXPECT_EQ(rank, n->ranks[host].ops[op].failed_rank);
}

#endif
