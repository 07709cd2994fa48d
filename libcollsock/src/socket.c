// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The socket: open, close, and the number of its family. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fork.h"
#include "launch_environment.h"
#include "page.h"
#include "socket.h"
#include "user.h"

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

int socket_choose_backend(enum collsock_backend wanted, enum collsock_backend *chosen)
{
	static const char *const words[] = {
		[COLLSOCK_BACKEND_AUTO] = "auto", [COLLSOCK_BACKEND_KERNEL] = "kernel",
		[COLLSOCK_BACKEND_USER] = "user",
	};
	const char *word = launch_variable("COLLSOCK_BACKEND");
	unsigned int i;

	*chosen = wanted;
	if (wanted != COLLSOCK_BACKEND_AUTO || !word)
		return 0;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i])) {
			*chosen = i;
			return 0;
		}
	return -EINVAL;
}

static int socket_open_kernel(struct collsock *s, unsigned int flags)
{
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC;

	if (flags & COLLSOCK_OPEN_NONBLOCK)
		type |= SOCK_NONBLOCK;
	if (flags & COLLSOCK_OPEN_INHERIT)
		type &= ~SOCK_CLOEXEC;
	s->fd = socket(collsock_family(), type, 0);
	return s->fd < 0 ? -errno : 0;
}

/* A rank in user space ends with the process that joined. */
static int socket_open_user(struct collsock *s, unsigned int flags)
{
	if (flags & COLLSOCK_OPEN_INHERIT)
		return -EOPNOTSUPP;
	return user_open(&s->user, flags & COLLSOCK_OPEN_NONBLOCK, &s->fd);
}

/* Does the error mean that there is no module, or that a container's filter refuses its family? */
static bool socket_is_refused(int err)
{
	return err == -EAFNOSUPPORT || err == -ESOCKTNOSUPPORT || err == -EPROTONOSUPPORT ||
	       err == -EPERM || err == -EACCES;
}

static int socket_open_any(struct collsock *s, unsigned int flags, enum collsock_backend backend)
{
	int err = -EAFNOSUPPORT;

	if (backend != COLLSOCK_BACKEND_USER)
		err = socket_open_kernel(s, flags);
	if (socket_is_refused(err) && backend != COLLSOCK_BACKEND_KERNEL)
		err = socket_open_user(s, flags);
	return err;
}

int socket_open(struct collsock **opened, unsigned int flags, enum collsock_backend backend)
{
	struct collsock *s;
	int err;

	if (flags & ~(COLLSOCK_OPEN_NONBLOCK | COLLSOCK_OPEN_INHERIT | COLLSOCK_OPEN_KEEP))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	collsock_hold_forks();
	err = socket_open_any(s, flags, backend);
	if (!err && (s->user || !(flags & (COLLSOCK_OPEN_INHERIT | COLLSOCK_OPEN_KEEP))))
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

__u16 socket_port(void)
{
	struct sockaddr_collsock name = { .port = 0 };
	socklen_t bytes = sizeof(name);
	struct collsock *s;

	if (socket_open(&s, 0, COLLSOCK_BACKEND_KERNEL))
		return COLLSOCK_PORT;
	if (getsockname(s->fd, (struct sockaddr *)&name, &bytes))
		name.port = 0;
	collsock_close(s);
	return name.port ? name.port : COLLSOCK_PORT;
}

COLLSOCK_PUBLIC int collsock_open_backend(struct collsock **opened, unsigned int flags,
					  enum collsock_backend wanted)
{
	enum collsock_backend backend;
	int err;

	if (wanted > COLLSOCK_BACKEND_USER)
		return -EINVAL;
	err = socket_choose_backend(wanted, &backend);
	return err ? err : socket_open(opened, flags, backend);
}

COLLSOCK_PUBLIC int collsock_open(struct collsock **opened, unsigned int flags)
{
	return collsock_open_backend(opened, flags, COLLSOCK_BACKEND_AUTO);
}

COLLSOCK_PUBLIC void collsock_close(struct collsock *s)
{
	if (!s)
		return;
	collsock_hold_forks();
	collsock_forget_child(s);
	/* A mapping would keep the rank in its group. */
	collsock_unmap_page(s);
	if (s->user)
		user_close(s->user, s->fd);
	else if (s->fd >= 0)
		close(s->fd);
	collsock_release_forks();
	free(s);
}

COLLSOCK_PUBLIC int collsock_fd(const struct collsock *s)
{
	if (s->user)
		user_expose(s->user);
	return s->fd;
}

COLLSOCK_PUBLIC int collsock_set_spin(struct collsock *s, unsigned int spin_us)
{
	if (spin_us > COLLSOCK_MAX_SPIN_US)
		return -EINVAL;
	s->spin_us = spin_us;
	return 0;
}
