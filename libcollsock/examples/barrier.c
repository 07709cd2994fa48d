// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Wait until all ranks have reached the barrier. */
#include <stdio.h>

#include "common.h"

int main(int argc, char **argv)
{
	struct collsock_completion completion;
	struct collsock *socket;
	struct example e;
	unsigned long i;
	int err;

	example_parse(&e, argc, argv, "a barrier over the hosts of a file");
	socket = example_join(&e, 0);
	for (i = 0; i < e.count; i++) {
		err = collsock_barrier(socket, &completion);
		if (err)
			example_fail("barrier", err, completion.failed_rank);
		printf("rank %ld: barrier %lu done after %.1f us\n", e.rank, i,
		       (completion.completed_ns - completion.posted_ns) / 1000.0);
	}
	collsock_close(socket);
	return EXIT_DONE;
}
