// SPDX-License-Identifier: GPL-2.0
/* The structures have the layout that every program relies on. */
#include "../harness.h"
#include "layout_check.h"

TEST(sizes_and_offsets_never_change)
{
	layout_check(_metadata, layouts, ARRAY_SIZE(layouts));
}

TEST(numbers_of_family_options_ioctls_and_flags_never_change)
{
	EXPECT_EQ(25, AF_COLLSOCK);
	EXPECT_EQ(425, SOL_COLLSOCK);
	EXPECT_EQ(0x4b70, COLLSOCK_RUN);
	EXPECT_EQ(0x4b71, COLLSOCK_WAIT);
	EXPECT_EQ(1, COLLSOCK_JOIN);
	EXPECT_EQ(2, COLLSOCK_STATS);
	EXPECT_EQ(3, COLLSOCK_NET_STATS);
	EXPECT_EQ(4, COLLSOCK_SELF);
	EXPECT_EQ(5, COLLSOCK_FEATURES);
	EXPECT_EQ(6, COLLSOCK_COMPLETION_BYTES);
	EXPECT_EQ(7, COLLSOCK_DEVICES);
	EXPECT_EQ(1, COLLSOCK_QUIET);
	EXPECT_EQ(~0ULL, COLLSOCK_COOKIE_GROUP);
}

/* Accepted by every kernel, however long the structures become. */
TEST(the_first_versions_never_change)
{
	EXPECT_EQ(112, COLLSOCK_JOIN_VER0);
	EXPECT_EQ(32, COLLSOCK_POST_VER0);
	EXPECT_EQ(40, COLLSOCK_COMPLETION_VER0);
	EXPECT_EQ(40, COLLSOCK_RUN_VER0);
	EXPECT_EQ(32, COLLSOCK_WAIT_VER0);
}

TEST_HARNESS_MAIN
