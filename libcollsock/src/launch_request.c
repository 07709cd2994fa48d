// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "group.h"
#include "joining_options.h"
#include "launch_request.h"
#include "socket.h"
#include "user.h"
#include "user_udp.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define MOST_BYTES \
	(sizeof(struct collsock_join) + COLLSOCK_MAX_HOSTS * sizeof(struct collsock_member) + \
	 COLLSOCK_MAX_RANKS * sizeof(__u32))

/* ---- write ---- */

static int launch_fill(int fd, const __u8 *request, size_t bytes)
{
	ssize_t written;
	size_t done;

	for (done = 0; done < bytes; done += written) {
		written = write(fd, request + done, bytes - done);
		if (written < 0)
			return -errno;
	}
	return fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

static int launch_make(const __u8 *request, size_t bytes, char value[LAUNCH_REQUEST_BYTES])
{
	int fd = memfd_create("collsock-request", MFD_ALLOW_SEALING);
	struct stat status;
	int err;

	if (fd < 0)
		return -errno;
	err = launch_fill(fd, request, bytes);
	if (!err && fstat(fd, &status))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	snprintf(value, LAUNCH_REQUEST_BYTES, "%d:%llu", fd, (unsigned long long)status.st_ino);
	return fd;
}

int launch_request_write(const struct collsock_group *group, __u32 rank,
			 char value[LAUNCH_REQUEST_BYTES])
{
	__u8 *request;
	size_t bytes = group_flatten(group, rank, &request);
	int fd;

	if (!bytes)
		return -ENOMEM;
	fd = launch_make(request, bytes, value);
	explicit_bzero(request, sizeof(struct collsock_join));
	free(request);
	return fd;
}

int launch_request_pass_socket(int fd, char value[LAUNCH_REQUEST_BYTES])
{
	struct stat status;

	if (fcntl(fd, F_SETFD, 0) || fstat(fd, &status))
		return -errno;
	snprintf(value, LAUNCH_REQUEST_BYTES, "%d:%llu", fd, (unsigned long long)status.st_ino);
	return 0;
}

/* ---- join ---- */

/* Find the file that the value names. -EBADMSG if its number is another file's by now */
static int launch_find_file(const char *value, struct stat *status)
{
	unsigned long long inode;
	int fd, end = 0;

	if (sscanf(value, "%d:%llu%n", &fd, &inode, &end) != 2 || value[end])
		return -EBADMSG;
	if (fd < 0 || fstat(fd, status) || status->st_ino != inode)
		return -EBADMSG;
	return fd;
}

static int launch_open(const char *value, size_t *bytes)
{
	struct stat status;
	int fd = launch_find_file(value, &status), seals;

	if (fd < 0)
		return fd;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EBADMSG;
	if (status.st_size < (off_t)sizeof(struct collsock_join) ||
	    status.st_size > (off_t)MOST_BYTES)
		return -EBADMSG;
	*bytes = status.st_size;
	return fd;
}

/*
 * Open the socket that the value names; -1 if it is NULL. From now on programs that this process
 * starts do not inherit the socket.
 */
static int launch_open_socket(const char *value)
{
	struct stat status;
	int fd;

	if (!value)
		return -1;
	fd = launch_find_file(value, &status);
	if (fd < 0 || !S_ISSOCK(status.st_mode) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -EBADMSG;
	return fd;
}

static void launch_close(int socket)
{
	if (socket >= 0)
		close(socket);
}

/*
 * Join with the request. It has a key, so no copy of it is left. The backend that joins checks the
 * rest.
 */
static int launch_pass(struct collsock *s, const struct collsock_options *o, int fd, size_t bytes,
		       int socket)
{
	void *request = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	int err;

	if (request == MAP_FAILED) {
		err = -errno;
		launch_close(socket);
		return err;
	}
	joining_options_set_request(request, o);
	err = group_join_request(s, request, bytes, socket);
	explicit_bzero(request, sizeof(struct collsock_join));
	munmap(request, bytes);
	return err;
}

int launch_request_join(struct collsock *s, const struct collsock_options *o, const char *value,
			const char *socket_value)
{
	int socket = launch_open_socket(socket_value), fd, err;
	size_t bytes;

	if (socket_value && socket < 0)
		return socket;
	fd = launch_open(value, &bytes);
	if (fd < 0) {
		launch_close(socket);
		return fd;
	}
	err = launch_pass(s, o, fd, bytes, socket);
	close(fd);
	return err;
}

/* ---- decline ---- */

int launch_request_decline(const struct collsock_group *group, __u32 rank, int socket)
{
	bool user = socket >= 0, joined = user && user_udp_has_joined(socket);
	struct collsock *s;
	int err, copy = -1;

	if (user && user_udp_is_used(socket))
		return -EADDRINUSE;
	/* Senders may have heard from the program meanwhile. All others will send again. */
	if (joined)
		user_udp_discard(socket);
	err = socket_open(&s, 0, user ? COLLSOCK_BACKEND_USER : COLLSOCK_BACKEND_KERNEL);
	if (err)
		return err;
	if (user)
		copy = fcntl(socket, F_DUPFD_CLOEXEC, 0);
	err = user && copy < 0 ? -errno : group_join(s, group, rank, copy);
	if (!err && user)
		user_answer_always(s->user);
	collsock_close(s);
	return err ? err : joined ? -EADDRINUSE : 0;
}
