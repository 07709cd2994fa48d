// SPDX-License-Identifier: GPL-2.0
/* The table of operations: each row is as documented in Documentation/uapi.md. */
#include "../harness.h"

#include "registry.h"

static const struct promise {
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
} promises[] = {
	[COLLSOCK_BARRIER] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
	},
	[COLLSOCK_ALLREDUCE] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
		.typed = true, .reduces = true,
	},
	[COLLSOCK_REDUCE] = {
		.contributes = COLL_ALL, .receives = COLL_ROOT,
		.rooted = true, .typed = true, .reduces = true,
	},
	[COLLSOCK_BROADCAST] = {
		.contributes = COLL_ROOT, .receives = COLL_OTHERS,
		.rooted = true, .typed = true,
	},
	[COLLSOCK_ALLGATHER] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
		.typed = true, .blocks = true, .own_in = true,
	},
	[COLLSOCK_GATHER] = {
		.contributes = COLL_ALL, .receives = COLL_ROOT,
		.rooted = true, .typed = true, .blocks = true, .own_in = true,
	},
	[COLLSOCK_SCATTER] = {
		.contributes = COLL_ROOT, .receives = COLL_ALL,
		.rooted = true, .typed = true, .blocks = true, .own_out = true,
	},
	[COLLSOCK_REDUCE_SCATTER_BLOCK] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
		.typed = true, .reduces = true, .blocks = true, .own_out = true,
	},
	[COLLSOCK_SCAN] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
		.typed = true, .reduces = true, .prefix = true,
	},
	[COLLSOCK_EXSCAN] = {
		.contributes = COLL_ALL, .receives = COLL_ALL,
		.typed = true, .reduces = true, .prefix = true, .exclusive = true,
	},
};

TEST(every_operation_contributes_and_receives_as_documented)
{
	u32 i;

	for (i = 1; i < ARRAY_SIZE(promises); i++) {
		const struct promise *p = &promises[i];
		const struct coll_operation *row = coll_operation_find(i);

		ASSERT_NE(NULL, row);
		EXPECT_EQ(p->contributes, row->contributes);
		EXPECT_EQ(p->receives, row->receives);
		EXPECT_EQ(p->rooted, row->rooted);
		EXPECT_EQ(p->typed, row->typed);
		EXPECT_EQ(p->reduces, row->reduces);
		EXPECT_EQ(p->blocks, row->blocks);
		EXPECT_EQ(p->own_in, row->own_in);
		EXPECT_EQ(p->own_out, row->own_out);
		EXPECT_EQ(p->prefix, row->prefix);
		EXPECT_EQ(p->exclusive, row->exclusive);
	}
}

TEST(the_root_and_other_ranks_are_distinguished)
{
	EXPECT_TRUE(coll_operation_contributes(COLLSOCK_BROADCAST, true));
	EXPECT_FALSE(coll_operation_contributes(COLLSOCK_BROADCAST, false));
	EXPECT_FALSE(coll_operation_receives(COLLSOCK_BROADCAST, true));
	EXPECT_TRUE(coll_operation_receives(COLLSOCK_BROADCAST, false));
	EXPECT_TRUE(coll_operation_contributes(COLLSOCK_REDUCE, false));
	EXPECT_FALSE(coll_operation_receives(COLLSOCK_REDUCE, false));
	EXPECT_TRUE(coll_operation_receives(COLLSOCK_REDUCE, true));
}

/* Any byte of a post or a packet may be looked up. */
TEST(there_are_no_other_operations)
{
	u32 i, seen = 0;

	for (i = 0; i < 256; i++)
		seen += !!coll_operation_find(i);
	EXPECT_EQ(ARRAY_SIZE(promises) - 1, seen);
}

static u32 whose_schedules(u32 operation)
{
	switch (operation) {
	case COLLSOCK_REDUCE_SCATTER_BLOCK:
		return COLLSOCK_ALLREDUCE;
	case COLLSOCK_EXSCAN:
		return COLLSOCK_SCAN;
	default:
		return operation;
	}
}

TEST(only_what_the_registry_lists_is_found)
{
	u32 operation, algorithm, seen = 0;

	for (operation = 0; operation < 256; operation++)
		for (algorithm = 0; algorithm < 256; algorithm++) {
			const struct coll_algorithm *a = coll_registry_find(operation, algorithm);

			if (!a)
				continue;
			seen += operation == a->operation;
			EXPECT_EQ(whose_schedules(operation), a->operation);
			EXPECT_EQ(algorithm, a->algorithm);
		}
	EXPECT_EQ(coll_registry_count, seen);
}

/* A line of collsock_lists.h without a row would be an operation that cannot be posted. */
TEST(every_named_operation_and_algorithm_exists)
{
#define OPERATION(identifier, number, name) EXPECT_NE(NULL, coll_operation_find(number));
	COLLSOCK_OPERATION_LIST(OPERATION)
#define ALGORITHM(identifier, number, name)					\
	{									\
		u32 i, operations = 0;						\
										\
		for (i = 0; i < COLL_MAX_OPERATIONS; i++)			\
			operations += !!coll_registry_find(i, number);		\
		EXPECT_NE(0, operations) TH_LOG("%s", name);			\
	}
	COLLSOCK_ALGORITHM_LIST(ALGORITHM)
}

TEST_HARNESS_MAIN
