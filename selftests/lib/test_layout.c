// SPDX-License-Identifier: GPL-2.0
/* The structures have the bytes that every program relies on. */
#include "kselftest_harness.h"
#include "layout.h"

TEST(sizes_and_offsets_never_change)
{
	const struct layout *l;

	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++)
		EXPECT_EQ(l->wanted, l->seen)
			TH_LOG("%s %s", l->structure, l->field);
}

TEST(ioctl_numbers_never_change)
{
	EXPECT_EQ(0xc0584b70, COLLSOCK_RUN);
	EXPECT_EQ(0xc0404b71, COLLSOCK_WAIT);
}

TEST_HARNESS_MAIN
