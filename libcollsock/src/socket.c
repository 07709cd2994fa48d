// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The socket: open, close, and the number of its family. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fork.h"
#include "internal.h"
#include "page.h"

#define FAMILY_PARAMETER "/sys/module/collsock/parameters/family"
#define FAMILY_LIMIT 256

/* The module reports the number that it uses; without the module it is the default. */
COLLSOCK_PUBLIC int collsock_family(void)
{
	char text[16] = "";
	ssize_t bytes;
	long family;
	int fd;

	fd = open(FAMILY_PARAMETER, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return AF_COLLSOCK;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes <= 0)
		return AF_COLLSOCK;
	family = strtol(text, NULL, 10);
	return family > 0 && family < FAMILY_LIMIT ? (int)family : AF_COLLSOCK;
}

COLLSOCK_PUBLIC int collsock_open(struct collsock **opened, unsigned int flags)
{
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC;
	struct collsock *s;
	int err;

	if (flags & ~(COLLSOCK_OPEN_NONBLOCK | COLLSOCK_OPEN_INHERIT | COLLSOCK_OPEN_KEEP))
		return -EINVAL;
	if (flags & COLLSOCK_OPEN_NONBLOCK)
		type |= SOCK_NONBLOCK;
	if (flags & COLLSOCK_OPEN_INHERIT)
		type &= ~SOCK_CLOEXEC;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	collsock_hold_forks();
	s->fd = socket(collsock_family(), type, 0);
	err = s->fd < 0 ? -errno : 0;
	if (!err && !(flags & (COLLSOCK_OPEN_INHERIT | COLLSOCK_OPEN_KEEP)))
		collsock_close_in_child(s);
	collsock_release_forks();
	if (err) {
		free(s);
		return err;
	}
	atomic_init(&s->next_cookie, COLLSOCK_LIBRARY_COOKIES);
	*opened = s;
	return 0;
}

COLLSOCK_PUBLIC void collsock_close(struct collsock *s)
{
	if (!s)
		return;
	collsock_hold_forks();
	collsock_forget_child(s);
	/* A mapping would keep the rank in its group. */
	collsock_unmap_page(s);
	if (s->fd >= 0)
		close(s->fd);
	collsock_release_forks();
	free(s);
}

COLLSOCK_PUBLIC int collsock_fd(const struct collsock *s)
{
	return s->fd;
}

COLLSOCK_PUBLIC int collsock_set_spin(struct collsock *s, unsigned int spin_us)
{
	if (spin_us > COLLSOCK_MAX_SPIN_US)
		return -EINVAL;
	s->spin_us = spin_us;
	return 0;
}
