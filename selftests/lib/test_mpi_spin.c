// SPDX-License-Identifier: GPL-2.0
/* Waits of libcollsock-mpi spin while that pays, and sleep first where processors are shared. */
#include <collsock.h>

#include "../../libcollsock/mpi/spin.h"
#include "../harness.h"

#define ONCE_US		50
#define AUTO_US		100
#define LONG_US		200
#define IN_VAIN		8	/* spins in a row after which waits sleep first */
#define PAUSE		256

/* What the socket was told last */
static unsigned int socket_us;

int __wrap_collsock_set_spin(struct collsock *socket, unsigned int us)
{
	socket_us = us;
	return 0;
}

static void lose(struct cm_spin *spin, unsigned int count)
{
	while (count--)
		cm_spin_lost(spin);
}

TEST(ranks_spin_if_each_has_a_processor)
{
	EXPECT_EQ(AUTO_US, cm_spin_auto(false));
	EXPECT_EQ(0, cm_spin_auto(true));
}

TEST(a_long_spin_is_of_parts_between_which_mpi_is_driven)
{
	struct cm_spin spin = { };

	cm_spin_init(&spin, NULL, LONG_US);
	EXPECT_EQ(ONCE_US, socket_us);
	EXPECT_EQ(LONG_US / ONCE_US - 1, cm_spin_begin(&spin));
	cm_spin_init(&spin, NULL, 20);
	EXPECT_EQ(20, socket_us);
	EXPECT_EQ(0, cm_spin_begin(&spin));
}

TEST(waits_that_never_spin_are_not_told_to_sleep)
{
	struct cm_spin spin = { };

	cm_spin_init(&spin, NULL, 0);
	socket_us = 1;
	lose(&spin, 10 * IN_VAIN);
	EXPECT_EQ(1, socket_us);
	EXPECT_EQ(0, cm_spin_begin(&spin));
}

TEST(after_spins_in_vain_waits_sleep_first_and_then_one_tries_again)
{
	struct cm_spin spin = { };
	unsigned int i;

	cm_spin_init(&spin, NULL, LONG_US);
	lose(&spin, IN_VAIN - 1);
	EXPECT_EQ(ONCE_US, socket_us);
	lose(&spin, 1);
	for (i = 0; i < PAUSE; i++) {
		EXPECT_EQ(0, socket_us);
		EXPECT_EQ(0, cm_spin_begin(&spin));
	}
	EXPECT_EQ(ONCE_US, socket_us);
	EXPECT_LT(0, cm_spin_begin(&spin));
	/* One more in vain is enough. */
	lose(&spin, 1);
	EXPECT_EQ(0, socket_us);
}

TEST(one_spin_in_vain_of_three_does_not_end_spinning)
{
	struct cm_spin spin = { };
	unsigned int i;

	cm_spin_init(&spin, NULL, ONCE_US);
	for (i = 0; i < 100; i++) {
		cm_spin_lost(&spin);
		cm_spin_won(&spin);
		cm_spin_won(&spin);
	}
	EXPECT_EQ(ONCE_US, socket_us);
}

TEST_HARNESS_MAIN
