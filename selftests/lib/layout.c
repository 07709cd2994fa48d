// SPDX-License-Identifier: GPL-2.0
/* Prints the layouts and numbers of the C header, for tests in other languages. */
#include <stddef.h>
#include <stdio.h>

/* All of the header, and no structure in it, may be padded. */
#pragma GCC diagnostic error "-Wpadded"
#include <linux/collsock.h>
#pragma GCC diagnostic ignored "-Wpadded"
#include "layout.h"
#include "collsock.h"

#define OPTION(field) \
	printf("number OPTION_%s %zu\n", #field, offsetof(struct collsock_options, field))
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
	NUMBER(ALLGATHER);
	NUMBER(GATHER);
	NUMBER(SCATTER);
	NUMBER(REDUCE_SCATTER_BLOCK);
	NUMBER(SCAN);
	NUMBER(EXSCAN);
	NUMBER(QUIET);
	NUMBER(AUTO);
	NUMBER(DISSEMINATION);
	NUMBER(EXCHANGE);
	NUMBER(BINOMIAL);
	NUMBER(KARY);
	NUMBER(FLAT);
	NUMBER(MCS);
	NUMBER(HILLIS_STEELE);
	NUMBER(NONE);
	NUMBER(INT64);
	NUMBER(UINT64);
	NUMBER(DOUBLE);
	NUMBER(INT8);
	NUMBER(INT16);
	NUMBER(INT32);
	NUMBER(UINT8);
	NUMBER(UINT16);
	NUMBER(UINT32);
	NUMBER(FLOAT);
	NUMBER(FLOAT_INT);
	NUMBER(DOUBLE_INT);
	NUMBER(INT64_INT);
	NUMBER(INT32_INT);
	NUMBER(INT16_INT);
	NUMBER(BYTE);
	NUMBER(EXACT);
	NUMBER(FLOAT16);
	NUMBER(BFLOAT16);
	NUMBER(NOP);
	NUMBER(SUM);
	NUMBER(MIN);
	NUMBER(MAX);
	NUMBER(PRODUCT);
	NUMBER(LOGICAL_AND);
	NUMBER(LOGICAL_OR);
	NUMBER(LOGICAL_XOR);
	NUMBER(BITWISE_AND);
	NUMBER(BITWISE_OR);
	NUMBER(BITWISE_XOR);
	NUMBER(MINLOC);
	NUMBER(MAXLOC);
	NUMBER(MAC_SIPHASH);
	NUMBER(MAC_NH_SIPHASH);
	NUMBER(NO_RANK);
	NUMBER(MAX_SEGMENT);
	NUMBER(MAX_OPERATIONS);
	NUMBER(MAX_COMPLETION_BYTES);
	NUMBER(COOKIE_GROUP);
	NUMBER(SELF);
	NUMBER(FEATURES);
	NUMBER(COMPLETION_BYTES);
	NUMBER(RUN);
	NUMBER(WAIT);
	NUMBER(STATS);
	NUMBER(NET_STATS);
	NUMBER(PORT);
	NUMBER(MAX_HOSTS);
	NUMBER(MAX_RANKS);
	NUMBER(MAX_LOCAL_RANKS);
	NUMBER(MAX_LOCAL_BYTES);
	NUMBER(MAX_PAYLOAD);
	NUMBER(MAX_WINDOW);
	NUMBER(DEFAULT_WINDOW);
	NUMBER(DEFAULT_SEGMENT);
	NUMBER(MAX_SPIN_US);
	NUMBER(MAX_DEGREE);
	NUMBER(MAX_EXCHANGE_DEGREE);
	NUMBER(MAX_KARY_HOSTS);
	NUMBER(MAX_FLAT_HOSTS);
	OPTION(degrees);
	OPTION(failed_rank);
	OPTION(text_bytes);
	OPTION(backend);
	OPTION(multicast);
	printf("number OPTIONS_BYTES %zu\n", sizeof(struct collsock_options));
	return 0;
}
