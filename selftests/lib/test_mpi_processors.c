// SPDX-License-Identifier: GPL-2.0
/* Do ranks of a machine that are bound to processors, or not, share some? */
#include <sched.h>

#include "../../libcollsock/mpi/processors.h"
#include "../harness.h"

#define MOST_RANKS 8

static struct cm_processors of[MOST_RANKS];

/* A rank may run on the processors from @first on. */
static void bind_rank(unsigned int rank, unsigned int first, unsigned int count)
{
	unsigned int i;

	of[rank] = (struct cm_processors){ };
	for (i = first; i < first + count; i++)
		of[rank].bits[i % CM_PROCESSORS / 64] |= 1ULL << i % 64;
}

static bool shares(unsigned int rank, unsigned int ranks)
{
	return cm_processors_are_shared(of, ranks, rank);
}

TEST(ranks_that_may_run_anywhere_share_if_they_are_more_than_processors)
{
	unsigned int i;

	for (i = 0; i < MOST_RANKS; i++)
		bind_rank(i, 60, 6);
	for (i = 0; i < MOST_RANKS; i++) {
		EXPECT_FALSE(shares(i, 6));
		EXPECT_TRUE(shares(i, 7));
	}
}

TEST(a_rank_on_each_processor_shares_with_none)
{
	unsigned int i;

	for (i = 0; i < MOST_RANKS; i++)
		bind_rank(i, i, 1);
	for (i = 0; i < MOST_RANKS; i++)
		EXPECT_FALSE(shares(i, MOST_RANKS));
}

TEST(two_ranks_on_a_processor_share_it_and_others_do_not)
{
	bind_rank(0, 5, 1);
	bind_rank(1, 5, 1);
	bind_rank(2, 6, 1);
	bind_rank(3, 7, 2);
	EXPECT_TRUE(shares(0, 4));
	EXPECT_TRUE(shares(1, 4));
	EXPECT_FALSE(shares(2, 4));
	EXPECT_FALSE(shares(3, 4));
}

TEST(ranks_that_may_run_elsewhere_are_counted_where_all_may)
{
	/* Two of them have a processor together, one may run beside it. */
	bind_rank(0, 0, 1);
	bind_rank(1, 0, 1);
	bind_rank(2, 0, 4);
	EXPECT_TRUE(shares(0, 3));
	EXPECT_FALSE(shares(2, 3));
	/* The only other processor is that of rank 3. */
	bind_rank(2, 0, 2);
	bind_rank(3, 1, 1);
	EXPECT_TRUE(shares(2, 4));
	EXPECT_TRUE(shares(3, 4));
}

TEST(sets_that_overlap_are_added_up)
{
	/* Four ranks on three processors */
	bind_rank(0, 0, 2);
	bind_rank(1, 0, 2);
	bind_rank(2, 1, 2);
	bind_rank(3, 1, 2);
	EXPECT_FALSE(shares(0, 3));
	EXPECT_TRUE(shares(0, 4));
	EXPECT_TRUE(shares(3, 4));
}

TEST(a_rank_whose_processors_are_not_known_shares_them)
{
	bind_rank(0, 0, 0);
	bind_rank(1, 0, 2);
	EXPECT_TRUE(shares(0, 2));
	EXPECT_FALSE(shares(1, 2));
}

TEST(high_numbers_begin_again)
{
	bind_rank(0, CM_PROCESSORS - 1, 2);
	EXPECT_EQ(1, of[0].bits[0]);
	EXPECT_FALSE(shares(0, 1));
}

TEST(a_thread_has_those_that_it_is_bound_to)
{
	struct cm_processors set;
	unsigned int word, cpu = sched_getcpu();
	cpu_set_t before, one;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	cm_processors_read(&set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(before), &before));
	for (word = 0; word < CM_PROCESSORS / 64; word++)
		EXPECT_EQ(word == cpu / 64 ? 1ULL << cpu % 64 : 0, set.bits[word]);
}

TEST_HARNESS_MAIN
