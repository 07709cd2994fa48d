// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The page of a socket. The kernel leaves it out of a forked child, in which its address may be
 * that of something else; so a page belongs to the process that has mapped it.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fork.h"
#include "page.h"
#include "user.h"

static size_t page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

static int page_map(struct collsock *s)
{
	void *page;

	if (s->fd < 0)
		return -EBADF;
	page = mmap(NULL, page_bytes(), PROT_READ, MAP_SHARED, s->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	s->page = page;
	return 0;
}

COLLSOCK_PUBLIC int collsock_map_page(struct collsock *s, const struct collsock_page **page)
{
	unsigned int forks = collsock_forks();
	int err = 0;

	if (s->user)
		return user_page(s->user, page);
	collsock_hold_forks();
	if (s->forks != forks)
		s->page = NULL;
	s->forks = forks;
	if (!s->page)
		err = page_map(s);
	if (!err)
		*page = s->page;
	collsock_release_forks();
	return err;
}

void collsock_unmap_page(struct collsock *s)
{
	if (s->page && s->forks == collsock_forks())
		munmap(s->page, page_bytes());
	s->page = NULL;
}
