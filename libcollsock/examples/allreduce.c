// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Sum, minimum and maximum of the contributions of all ranks. */
#include <stdio.h>

#include "common.h"

#define ELEMENTS 2

static const char * const operators[] = {
	[COLLSOCK_SUM] = "sum",
	[COLLSOCK_MIN] = "min",
	[COLLSOCK_MAX] = "max",
};

static void reduce(const struct example *e, struct collsock *socket, int operator)
{
	/* Every rank contributes its number and a half; the operators apply to each element. */
	const double mine[ELEMENTS] = { e->rank, 0.5 };
	struct collsock_completion completion;
	double all[ELEMENTS];
	int err;

	err = collsock_allreduce(socket, mine, all, ELEMENTS, COLLSOCK_DOUBLE, operator,
				 &completion);
	if (err)
		example_fail("allreduce", err, completion.failed_rank);
	printf("rank %ld: %s is %g and %g\n", e->rank, operators[operator], all[0], all[1]);
}

int main(int argc, char **argv)
{
	struct collsock *socket;
	struct example e;
	unsigned long round;
	int operator;

	example_parse(&e, argc, argv, "sum, min and max over the hosts of a file");
	socket = example_join(&e, 0);
	for (round = 0; round < e.count; round++)
		for (operator = COLLSOCK_SUM; operator <= COLLSOCK_MAX; operator++)
			reduce(&e, socket, operator);
	collsock_close(socket);
	return EXIT_DONE;
}
