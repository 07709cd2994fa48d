// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "seed.h"

/* The harness runs each test in a child: the environment reaches them all. */
static void __attribute__((constructor)) seed_choose(void)
{
	struct timespec now;
	char text[32];

	if (!getenv("COLLSOCK_SEED")) {
		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(text, sizeof(text), "0x%llx",
			 (now.tv_sec * 1000000000ULL + now.tv_nsec) ^ ((u64)getpid() << 44));
		setenv("COLLSOCK_SEED", text, 1);
	}
	fprintf(stderr, "# COLLSOCK_SEED=%s\n", getenv("COLLSOCK_SEED"));
}

u64 seed_start(void)
{
	return strtoull(getenv("COLLSOCK_SEED"), NULL, 0);
}

u64 seed_soak(void)
{
	const char *text = getenv("COLLSOCK_SOAK");
	u64 factor = text ? strtoull(text, NULL, 0) : 1;

	return factor ? factor : 1;
}
