// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compute while the kernels reduce: post an all-reduce, compute piece by piece, and check
 * with epoll between two pieces whether the result has arrived.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common.h"

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

static int watch(struct collsock *socket)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, collsock_fd(socket), &event))
		example_fail("epoll", errno, COLLSOCK_NO_RANK);
	return epoll;
}

/* Has it completed? Sleeps for at most @timeout_ms. */
static int completed(int epoll, int timeout_ms)
{
	struct epoll_event event;
	int ready;

	do {
		ready = epoll_wait(epoll, &event, 1, timeout_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		example_fail("epoll_wait", errno, COLLSOCK_NO_RANK);
	return ready;
}

static void take(const struct example *e, struct collsock *socket, unsigned long pieces)
{
	struct collsock_completion completion;
	__s64 sum = 0;
	int err;

	err = collsock_complete(socket, &completion, &sum, sizeof(sum));
	if (err)
		example_fail("completion", err, COLLSOCK_NO_RANK);
	if (completion.error)
		example_fail("allreduce", completion.error, completion.failed_rank);
	printf("rank %ld: operation %llu: the sum is %lld; computed %lu pieces meanwhile\n",
	       e->rank, (unsigned long long)completion.cookie, (long long)sum, pieces);
}

int main(int argc, char **argv)
{
	struct collsock *socket;
	unsigned long i, pieces;
	double x = 1.0;
	struct example e;
	__s64 mine;
	int epoll, err;

	example_parse(&e, argc, argv, "computes while an allreduce is under way");
	socket = example_join(&e, COLLSOCK_OPEN_NONBLOCK);
	epoll = watch(socket);
	for (i = 0; i < e.count; i++) {
		mine = e.rank;
		err = collsock_post_allreduce(socket, &mine, 1, COLLSOCK_INT64,
					      COLLSOCK_SUM, i);
		if (err)
			example_fail("post", err, COLLSOCK_NO_RANK);
		for (pieces = 0; pieces < MOST_PIECES && !completed(epoll, NOT_AT_ALL); pieces++)
			x = compute(x);
		if (pieces == MOST_PIECES)
			completed(epoll, NO_TIMEOUT);
		take(&e, socket, pieces);
	}
	printf("rank %ld: the work gave %g\n", e.rank, x);
	close(epoll);
	collsock_close(socket);
	return EXIT_DONE;
}
