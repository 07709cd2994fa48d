// SPDX-License-Identifier: GPL-2.0
/*
 * A program of 32 bits uses a collective socket in each way that has structures: three sums by
 * send(), recv() and WAIT, and by RUN, the page, and socket options.
 *
 *	bits32 DESCRIPTOR
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <linux/collsock.h>

static const struct collsock_post sum = {
	.size		= sizeof(sum),
	.operation	= COLLSOCK_ALLREDUCE,
	.type		= COLLSOCK_INT64,
	.op		= COLLSOCK_SUM,
	.count		= 1,
	.cookie		= UINT64_MAX / 3,
};

static void check(int failed, const char *what)
{
	if (failed) {
		perror(what);
		exit(1);
	}
}

static void say(const char *how, const struct collsock_completion *done, __s64 value)
{
	printf("%s error %u bytes %u cookie %d result %lld\n", how, done->error, done->bytes,
	       done->cookie == sum.cookie, (long long)value);
}

static void post(int fd)
{
	struct {
		struct collsock_post post;
		__s64 value;
	} message = { sum, 1 };

	check(send(fd, &message, sizeof(message), 0) != sizeof(message), "send");
}

static void by_recv(int fd)
{
	struct {
		struct collsock_completion done;
		__s64 value;
	} message;

	check(recv(fd, &message, sizeof(message), 0) != sizeof(message), "recv");
	say("recv", &message.done, message.value);
}

static void by_wait(int fd)
{
	__s64 value = 0;
	struct {
		struct collsock_wait wait;
		struct collsock_completion done;
	} request = {
		.wait = {
			.size			= sizeof(request.wait),
			.completion_bytes	= sizeof(request.done),
			.result_bytes		= sizeof(value),
			.result			= (uintptr_t)&value,
			.cookie			= sum.cookie,
		},
	};

	check(ioctl(fd, COLLSOCK_WAIT, &request), "WAIT");
	say("WAIT", &request.done, value);
}

static void by_run(int fd)
{
	__s64 own = 1, value = 0;
	struct {
		struct collsock_run run;
		struct collsock_post post;
		struct collsock_completion done;
	} request = {
		.run = {
			.size			= sizeof(request.run),
			.post_bytes		= sizeof(request.post),
			.completion_bytes	= sizeof(request.done),
			.payload		= (uintptr_t)&own,
			.result			= (uintptr_t)&value,
			.payload_bytes		= sizeof(own),
			.result_bytes		= sizeof(value),
		},
		.post = sum,
	};

	check(ioctl(fd, COLLSOCK_RUN, &request), "RUN");
	say("RUN", &request.done, value);
}

static void in_the_page(int fd)
{
	const struct collsock_page *page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);

	check(page == MAP_FAILED, "mmap");
	printf("page %llu %llu %llu\n", page->posted, page->ended, page->completed);
}

static void options(int fd)
{
	struct collsock_self self = { 0 };
	socklen_t bytes = sizeof(self);

	check(getsockopt(fd, SOL_COLLSOCK, COLLSOCK_SELF, &self, &bytes), "SELF");
	printf("rank %u of %u\n", self.rank, self.ranks);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? atoi(argv[1]) : -1;

	puts("ready");
	fflush(stdout);
	post(fd);
	by_recv(fd);
	post(fd);
	by_wait(fd);
	by_run(fd);
	in_the_page(fd);
	options(fd);
	return 0;
}
