// SPDX-License-Identifier: GPL-2.0
/*
 * Read a collective socket by io_uring until its end: with POLL_ADD and then RECV, or RECV alone.
 * Or post a barrier by SENDMSG, which waits until there is room.
 *
 *	uring poll|recv|post DESCRIPTOR
 */
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock.h>

static struct io_uring ring;
static unsigned int wakeups;

/* One request, and what it gives */
static int submit(void)
{
	struct io_uring_cqe *cqe;
	int result;

	if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &cqe))
		abort();
	result = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	wakeups++;
	return result;
}

static int await_events(int fd)
{
	io_uring_prep_poll_add(io_uring_get_sqe(&ring), fd, POLLIN);
	return submit();
}

static int receive(int fd, void *data, unsigned int bytes)
{
	io_uring_prep_recv(io_uring_get_sqe(&ring), fd, data, bytes, 0);
	return submit();
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* The request is made before it is ready, and waits. */
static int post(int fd)
{
	struct collsock_post barrier = {
		.size		= sizeof(barrier),
		.operation	= COLLSOCK_BARRIER,
	};
	struct iovec part = { &barrier, sizeof(barrier) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	io_uring_prep_sendmsg(io_uring_get_sqe(&ring), fd, &message, 0);
	if (io_uring_submit(&ring) != 1)
		abort();
	say_ready();
	printf("sent %d\n", submit());
	return 0;
}

int main(int argc, char **argv)
{
	union {
		struct collsock_completion	c;
		char				room[4096];
	} data;
	int err, fd, bytes, polls;

	if (argc != 3)
		return 2;
	polls = !strcmp(argv[1], "poll");
	fd = atoi(argv[2]);
	err = io_uring_queue_init(4, &ring, 0);
	if (err) {
		printf("no io_uring: %s\n", strerror(-err));
		return 77;
	}
	if (!strcmp(argv[1], "post"))
		return post(fd);
	say_ready();
	do {
		if (polls)
			printf("events %s\n", await_events(fd) & POLLIN ? "POLLIN" : "none");
		bytes = receive(fd, &data, sizeof(data));
		if (bytes >= (int)sizeof(data.c))
			printf("error %u rank %u group %d\n", data.c.error, data.c.failed_rank,
			       data.c.cookie == COLLSOCK_COOKIE_GROUP);
	} while (bytes > 0);
	printf("end %d\nwakeups %u\n", bytes, wakeups);
	return 0;
}
