// SPDX-License-Identifier: GPL-2.0
#include "sim.h"

int sim_large(int argc, char **argv)
{
	return 2;
}
