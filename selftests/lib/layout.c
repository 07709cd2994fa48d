// SPDX-License-Identifier: GPL-2.0
/* Prints the layouts and numbers of the C header for tests in other languages. */
#include <stdio.h>

/* All of the header, and no structure in it, may be padded. */
#pragma GCC diagnostic error "-Wpadded"
#include <linux/collsock.h>
#pragma GCC diagnostic ignored "-Wpadded"
#include "layout.h"

#define NUMBER(name) printf("number %s %llu\n", #name, (unsigned long long)COLLSOCK_##name)

int main(void)
{
	const struct layout *l;

	for (l = layouts; l < layouts + sizeof(layouts) / sizeof(*l); l++)
		printf("%s %s %zu\n", l->structure, l->field, l->seen);
	printf("number AF_COLLSOCK %d\nnumber SOL_COLLSOCK %d\n", AF_COLLSOCK, SOL_COLLSOCK);
	printf("number COLLSOCK_JOIN %d\n", COLLSOCK_JOIN);
	NUMBER(BARRIER);
	NUMBER(ALLREDUCE);
	NUMBER(REDUCE);
	NUMBER(BROADCAST);
	NUMBER(QUIET);
	NUMBER(AUTO);
	NUMBER(DISSEMINATION);
	NUMBER(PAIRWISE_EXCHANGE);
	NUMBER(BINOMIAL);
	NUMBER(KARY);
	NUMBER(NONE);
	NUMBER(INT64);
	NUMBER(UINT64);
	NUMBER(DOUBLE);
	NUMBER(NOP);
	NUMBER(SUM);
	NUMBER(MIN);
	NUMBER(MAX);
	NUMBER(NO_RANK);
	NUMBER(MAX_SEGMENT);
	NUMBER(RUN);
	NUMBER(WAIT);
	NUMBER(STATS);
	NUMBER(NET_STATS);
	NUMBER(PORT);
	NUMBER(MAX_HOSTS);
	NUMBER(MAX_WINDOW);
	NUMBER(DEFAULT_WINDOW);
	NUMBER(DEFAULT_SEGMENT);
	NUMBER(MAX_SPIN_US);
	NUMBER(MAX_FANOUT);
	NUMBER(MAX_KARY_HOSTS);
	return 0;
}
