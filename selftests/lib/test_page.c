// SPDX-License-Identifier: GPL-2.0
/* The page of a socket: mapped once for each process, and no longer than the socket is open */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls_fixture.h"

/* What the kernel shows from now on */
static void show(struct collsock *socket, __u64 posted, __u64 ended, __u64 completed)
{
	const struct collsock_page page = {
		.size		= sizeof(page),
		.posted		= posted,
		.ended		= ended,
		.completed	= completed,
	};

	if (pwrite(collsock_fd(socket), &page, sizeof(page), 0) != sizeof(page))
		abort();
}

static bool mapped(const void *page)
{
	unsigned char resident;

	return !mincore((void *)page, sysconf(_SC_PAGESIZE), &resident);
}

TEST_F(calls, page_shows_what_has_ended)
{
	const struct collsock_page *page;
	__u64 posted;

	show(self->socket, 3, 2, 1);
	ASSERT_EQ(0, collsock_map_page(self->socket, &page));
	posted = collsock_posted(page);
	EXPECT_EQ(3, posted);
	EXPECT_EQ(2, collsock_ended(page));
	EXPECT_TRUE(collsock_have_ended(page, 1));
	EXPECT_FALSE(collsock_have_ended(page, 2));
	show(self->socket, 4, 3, 3);
	EXPECT_TRUE(collsock_have_ended(page, posted));
	EXPECT_FALSE(collsock_have_ended(page, collsock_posted(page)));
}

TEST_F(calls, page_is_mapped_once)
{
	const struct collsock_page *first, *second;

	show(self->socket, 0, 0, 0);
	ASSERT_EQ(0, collsock_map_page(self->socket, &first));
	ASSERT_EQ(0, collsock_map_page(self->socket, &second));
	EXPECT_EQ(first, second);
}

TEST_F(calls, closing_unmaps_the_page)
{
	const struct collsock_page *page;
	struct collsock *other;

	ASSERT_EQ(0, collsock_open(&other, 0));
	show(other, 0, 0, 0);
	ASSERT_EQ(0, collsock_map_page(other, &page));
	EXPECT_TRUE(mapped(page));
	collsock_close(other);
	EXPECT_FALSE(mapped(page));
}

/* An error that mmap() itself makes: no socket there */
TEST_F(calls, page_that_cannot_be_mapped_is_an_error)
{
	const struct collsock_page *page = NULL;
	int fd = collsock_fd(self->socket), kept = dup(fd);

	close(fd);
	EXPECT_EQ(-EBADF, collsock_map_page(self->socket, &page));
	EXPECT_EQ(NULL, page);
	ASSERT_EQ(fd, dup2(kept, fd));
	close(kept);
}

/* Its address may be that of something else there. */
TEST_F(calls, child_that_keeps_a_socket_does_not_unmap_the_page_of_its_parent)
{
	const struct collsock_page *page, *own;
	struct collsock *kept;
	int status;
	pid_t pid;

	ASSERT_EQ(0, collsock_open(&kept, COLLSOCK_OPEN_KEEP));
	show(kept, 5, 5, 5);
	ASSERT_EQ(0, collsock_map_page(kept, &page));
	pid = fork();
	if (!pid) {
		bool good = !collsock_map_page(kept, &own) && own != page &&
			    collsock_posted(own) == 5;

		collsock_close(kept);
		/* Unlike a socket's, memory's stays mapped in a child. */
		_exit(!(good && mapped(page) && !mapped(own)));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	collsock_close(kept);
}

TEST_F(calls, child_whose_socket_is_closed_gets_no_page)
{
	const struct collsock_page *page;
	int status;
	pid_t pid;

	show(self->socket, 0, 0, 0);
	ASSERT_EQ(0, collsock_map_page(self->socket, &page));
	pid = fork();
	if (!pid)
		_exit(collsock_map_page(self->socket, &page) != -EBADF);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
