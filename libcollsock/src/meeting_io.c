// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <sys/socket.h>

#include "meeting_io.h"

void meeting_io_add(struct meeting_io *io, const void *data, size_t bytes)
{
	if (bytes)
		io->part[io->parts++] = (struct iovec){ (void *)data, bytes };
}

static void io_advance(struct meeting_io *io, size_t bytes)
{
	struct iovec *part = &io->part[io->first];

	for (; bytes >= part->iov_len; part++) {
		bytes -= part->iov_len;
		if (++io->first == io->parts)
			return;
	}
	part->iov_base += bytes;
	part->iov_len -= bytes;
}

static int io_run(struct meeting_io *io, int fd,
		  ssize_t (*call)(int fd, struct msghdr *m))
{
	while (!meeting_io_done(io)) {
		struct msghdr m = {
			.msg_iov = &io->part[io->first], .msg_iovlen = io->parts - io->first,
		};
		ssize_t bytes = call(fd, &m);

		if (!bytes)
			return -ECONNRESET;
		if (bytes > 0)
			io_advance(io, bytes);
		else if (errno != EINTR)
			return errno == EPIPE ? -ECONNRESET : -errno;
	}
	return 0;
}

static ssize_t io_send(int fd, struct msghdr *m)
{
	return sendmsg(fd, m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t io_receive(int fd, struct msghdr *m)
{
	return recvmsg(fd, m, MSG_DONTWAIT);
}

int meeting_io_send(struct meeting_io *io, int fd)
{
	return io_run(io, fd, io_send);
}

int meeting_io_receive(struct meeting_io *io, int fd)
{
	return io_run(io, fd, io_receive);
}
