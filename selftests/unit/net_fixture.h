/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture "net": a network that the test initialises. After each test the core must
 * have freed all memory, without a state of the MAC in it.
 */
#ifndef UNIT_NET_FIXTURE_H
#define UNIT_NET_FIXTURE_H

#include "../harness.h"
#include "network.h"

FIXTURE(net)
{
	struct unit_network n;
};

FIXTURE_SETUP(net)
{
}

FIXTURE_TEARDOWN(net)
{
	unit_network_free(&self->n);
	EXPECT_EQ(0, world_memory);
	EXPECT_EQ(0, world_states_left);
}

#endif
