// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Ranks that receive no result do not block. In every round each rank contributes its
 * number to a reduce to rank 0 and continues at once; the kernels add up, and rank 0
 * computes until poll() reports the sum. Finally it broadcasts the sum.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "common.h"

#define ROOT 0
#define PIECE_STEPS 20000
#define MOST_PIECES 1000
#define NO_TIMEOUT (-1)
#define NOT_AT_ALL 0

/* One piece of the program's own work. */
static double compute(double x)
{
	int i;

	for (i = 0; i < PIECE_STEPS; i++)
		x = 0.5 * (x + 2.0 / x);
	return x;
}

static int completed(struct collsock *socket, int timeout_ms)
{
	struct pollfd readable = { .fd = collsock_fd(socket), .events = POLLIN };
	int ready;

	do {
		ready = poll(&readable, 1, timeout_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		example_fail("poll", errno, COLLSOCK_NO_RANK);
	return ready;
}

/* The root receives a result; the others need no completion for their posts. */
static void hand_in(const struct example *e, struct collsock *socket, __u64 round)
{
	const __s64 mine = e->rank;
	int err;

	err = collsock_post_reduce(socket, &mine, 1, COLLSOCK_INT64, COLLSOCK_SUM, ROOT,
				   e->rank == ROOT ? 0 : COLLSOCK_QUIET, round);
	if (err)
		example_fail("post", err, COLLSOCK_NO_RANK);
}

static __s64 take(struct collsock *socket)
{
	struct collsock_completion completion;
	unsigned long pieces;
	double x = 1.0;
	__s64 sum = 0;
	int err;

	for (pieces = 0; pieces < MOST_PIECES && !completed(socket, NOT_AT_ALL); pieces++)
		x = compute(x);
	if (pieces == MOST_PIECES)
		completed(socket, NO_TIMEOUT);
	err = collsock_complete(socket, &completion, &sum, sizeof(sum));
	if (err)
		example_fail("completion", err, COLLSOCK_NO_RANK);
	if (completion.error)
		example_fail("reduce", completion.error, completion.failed_rank);
	printf("round %llu: the sum is %lld; computed %lu pieces meanwhile, which gave %g\n",
	       (unsigned long long)completion.cookie, (long long)sum, pieces, x);
	return sum;
}

int main(int argc, char **argv)
{
	struct collsock_completion completion;
	struct collsock *socket;
	struct example e;
	unsigned long i;
	__s64 total = 0;
	int err;

	example_parse(&e, argc, argv, "rank 0 computes while the kernels add up for it");
	socket = example_join(&e, 0);
	for (i = 0; i < e.count; i++) {
		hand_in(&e, socket, i);
		if (e.rank == ROOT)
			total += take(socket);
	}
	err = collsock_broadcast(socket, &total, 1, COLLSOCK_INT64, ROOT, &completion);
	if (err)
		example_fail("broadcast", err, completion.failed_rank);
	printf("rank %ld: the sum of all rounds is %lld\n", e.rank, (long long)total);
	collsock_close(socket);
	return EXIT_DONE;
}
